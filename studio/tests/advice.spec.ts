// The index adviser: cards for each problem, and what their actions do.
import { expect, test, type Studio } from "./studio";

const ORDERS = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => [
    `orders/${at}`,
    { Freight: at, Company: "companies/1", Lines: [{ Product: "products/1" }], "@metadata": { "@collection": "Orders" } },
  ]),
);

/** Runs a query that gets an automatic index of its own. */
async function query(studio: Studio, database: string, text: string) {
  const answer = await studio.page.request.post(`${studio.url}/databases/${database}/queries?neverWidenAutoIndexes=true`, {
    data: { Query: text },
  });
  expect(answer.status()).toBe(200);
}

async function indexNames(studio: Studio, database: string): Promise<string[]> {
  const answer = await studio.page.request.get(`${studio.url}/databases/${database}/indexes?namesOnly=true`);
  return ((await answer.json()) as { Results: string[] }).Results;
}

test("an index for a misspelt field is deleted after a question", async ({ page, studio }) => {
  await studio.database("Misspelt", ORDERS);
  await query(studio, "Misspelt", "from Orders where Freigth = 1");
  await studio.open("/databases/Misspelt/indexes");
  await page.getByRole("link", { name: "Advice (1)" }).click();
  await expect(page.getByRole("heading", { name: "Index advice" })).toBeVisible();
  const card = page.getByRole("article", { name: "Auto/Orders/ByFreigth: Fields without values" });
  await expect(card).toContainText("No indexed document has a value in Freigth.");
  await expect(card).toContainText("The next query creates the index again with the fields that it needs.");
  await studio.isAccessible();
  const ask = async () => {
    await card.getByRole("button", { name: "Delete…" }).click();
    await expect(page.getByRole("heading", { name: "Delete Auto/Orders/ByFreigth?" })).toBeVisible();
  };
  await ask();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(await indexNames(studio, "Misspelt")).toEqual(["Auto/Orders/ByFreigth"]);
  await ask();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "No advice" })).toBeVisible();
  expect(await indexNames(studio, "Misspelt")).toEqual([]);
});

test("two automatic indexes become one, or a definition to edit", async ({ page, studio }) => {
  await studio.database("Merged", ORDERS);
  await query(studio, "Merged", "from Orders where Freight = 1");
  await query(studio, "Merged", "from Orders where Lines[].Product = 'products/1'");
  const before = ["Auto/Orders/ByFreight", "Auto/Orders/ByLines[].Product"];
  await studio.open("/databases/Merged/advice");
  const card = page.getByRole("article", { name: `${before.join(", ")}: Can be merged` });
  await expect(card).toContainText("2 automatic indexes read Orders.");
  await expect(card).toContainText("Auto/Orders/ByFreightAndLines[].Product");
  await card.getByRole("link", { name: "Open as a definition" }).click();
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Orders/ByFreightAndLines_Product");
  await expect(page.getByRole("textbox", { name: "Map" })).toContainText("Lines_Product = doc.Lines.Select(x => x.Product)");
  // It is not saved, and a reload keeps it.
  expect(await indexNames(studio, "Merged")).toEqual(before);
  await page.reload();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name: "Orders/ByFreightAndLines_Product" })).toBeVisible();
  expect(await indexNames(studio, "Merged")).toContain("Orders/ByFreightAndLines_Product");

  await studio.open("/databases/Merged/advice");
  await card.getByRole("button", { name: "Create it…" }).click();
  await expect(page.getByRole("dialog")).toContainText("exists(Freight) and exists(Lines[].Product)");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await expect(card).toHaveCount(0);
  await expect
    .poll(async () => (await indexNames(studio, "Merged")).filter((name) => name.startsWith("Auto")))
    .toEqual(["Auto/Orders/ByFreightAndLines[].Product"]);
});

test("an index that is gone cannot be merged", async ({ page, studio }) => {
  await studio.database("Gone", ORDERS);
  await studio.open("/databases/Gone/index?merge=Auto%2FOrders%2FByA%0AAuto%2FOrders%2FByB");
  await expect(page.getByRole("heading", { name: "These indexes cannot be merged" })).toBeVisible();
  await page.getByRole("link", { name: "Show the advice" }).click();
  await expect(page.getByRole("heading", { name: "No advice" })).toBeVisible();
});

test("a failed index is reset by keyboard on a narrow dark screen", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  await studio.database("Reset", {});
  await studio.index("Reset", { Name: "Users/Broken", Maps: ["map('Users', user => ({ A: user.Name.Nope.Nope }))"] });
  const commands = Array.from({ length: 200 }, (_, at) => ({
    Id: `users/${at}`,
    Type: "PUT",
    Document: { Name: "x", "@metadata": { "@collection": "Users" } },
  }));
  const written = await page.request.post(`${studio.url}/databases/Reset/bulk_docs`, { data: { Commands: commands } });
  expect(written.status()).toBe(201);
  await studio.open("/databases/Reset/advice");
  const card = page.getByRole("article", { name: "Users/Broken: Failed" });
  await expect(card).toContainText("The index has failed, and its queries are refused");
  await studio.isAccessible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  const reset = page.waitForRequest((request) => request.method() === "RESET");
  await card.getByRole("button", { name: "Reset…" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect((await reset).url()).toContain("name=Users%2FBroken");
  await expect(page.getByText("Users/Broken reset")).toBeVisible();
  await card.getByRole("link", { name: "Show its errors" }).click();
  await expect(page.getByRole("columnheader", { name: "Document" })).toBeVisible();
});

test("the palette leads to the advice, which says since when the server has watched", async ({ page, studio }) => {
  await studio.database("Sound", ORDERS);
  await studio.index("Sound", { Name: "Orders/ByCompany", Maps: ["from order in docs.Orders select new { order.Company }"] });
  await studio.open("/databases/Sound/indexes");
  await expect(
    page.getByRole("row", { name: /Orders\/ByCompany/ }).getByRole("cell", { name: "never", exact: true }),
  ).toBeVisible();
  await page.keyboard.press("ControlOrMeta+K");
  await page.keyboard.type("advice");
  await page.getByRole("option", { name: "Index advice Sound" }).waitFor();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "No advice" })).toBeVisible();
  await expect(page.getByText(/^The server has watched since it started, .* \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)\.$/)).toBeVisible();
  await studio.isAccessible();
  // The server gets the time after which an index counts as unused, and the address keeps it.
  const asked = page.waitForRequest(/indexes\/advice\?unusedAfter=7\.00/);
  await page.getByRole("combobox", { name: "Unused after" }).click();
  await page.getByRole("option", { name: "a week" }).click();
  await asked;
  await expect(page).toHaveURL(/unused=week/);
  await expect(page.getByText("was without a query for a week")).toBeVisible();
});

test("an unused index says what its deletion frees", async ({ page, studio }) => {
  await studio.database("Idle", ORDERS);
  await studio.index("Idle", { Name: "Orders/ByCompany", Maps: ["from order in docs.Orders select new { order.Company }"] });
  // No test waits for an hour: the request asks for indexes without a query for no time at all.
  await page.route(/indexes\/advice/, (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/unusedAfter=[^&]*/, "unusedAfter=00:00:00"),
    }),
  );
  await studio.open("/databases/Idle/advice");
  const card = page.getByRole("article", { name: "Orders/ByCompany: Unused" });
  await expect(card).toContainText("No query used the index since it was created or the database was opened.");
  await expect(card).toContainText(/Frees [\d.]+ [KM]B, and writes to Orders update one index less\./);
});
