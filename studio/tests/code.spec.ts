// The code of a query in each client's language.
import { expect, test } from "./studio";

const QUERY = "from Orders\nwhere ShipTo.City = $city";

test("the code of a query is shown for each client, copied, and the client is remembered", async ({ page, studio, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await studio.open(`/databases/Northwind/query?q=${encodeURIComponent(QUERY)}&p={"city":"Reims"}`);
  await expect(page.getByText(/^5 results in/)).toBeVisible();
  await page.getByRole("button", { name: "Code", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Code of this query" });
  const code = dialog.getByRole("textbox", { name: "Code of this query" });
  await expect(code).toContainText(".rawQuery(");
  for (const [client, words] of [
    ["Python", 'query.add_parameter("city", "Reims")'],
    ["Java", '.addParameter("city", "Reims")'],
    ["Go", 'query.AddParameter("city", "Reims")'],
    ["C#", ".AsyncRawQuery<JObject>("],
    ["curl", '"QueryParameters":{"city":"Reims"}'],
  ] as const) {
    await dialog.getByText(client, { exact: true }).click();
    await expect(code).toContainText(words);
    await expect(code).toContainText(studio.url);
  }
  await dialog.getByRole("button", { name: "Copy" }).click();
  await expect(dialog.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("curl 'http");
  await studio.isAccessible("dialog");
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByRole("button", { name: "Code", exact: true }).press("Enter");
  await expect(dialog.getByRole("radio", { name: "curl" })).toBeChecked();
});

test("on a narrow screen the code fits, and parameters that are no object are an error", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await studio.open(`/databases/Northwind/query?q=${encodeURIComponent(QUERY)}&p=[1]&run=no`);
  await page.getByRole("button", { name: "Code", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("no JSON object");
  await studio.write("Parameters as JSON", '{"city":"Reims"}');
  await page.getByRole("button", { name: "Code", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Code of this query" });
  const copy = (await dialog.getByRole("button", { name: "Copy" }).boundingBox())!;
  expect(copy.x + copy.width).toBeLessThanOrEqual(390);
  await studio.isAccessible("dialog");
});
