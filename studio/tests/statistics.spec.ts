// Statistics and operations.
import { expect, test } from "./studio";

test("charts are live, and what takes the space leads to its documents", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/statistics");
  for (const title of ["Writes per second", "Requests per second, whole server", "Memory, whole server"]) {
    await expect(page.getByRole("region", { name: title }).locator("canvas")).toBeVisible();
  }
  await expect(page.getByRole("region", { name: "Requests per second, whole server" }).locator("b")).toHaveText(/\d/);
  await expect(page.getByRole("region", { name: "Numbers" }).getByText("1,059").first()).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("link", { name: /^Orders, / }).click();
  await expect(page.getByRole("heading", { name: "Orders", exact: true })).toBeVisible();
});

test("operations are listed with what came of them", async ({ page, studio }) => {
  await studio.database("Worked", { "users/1": { Age: 1, "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases/Worked/operations");
  await expect(page.getByRole("heading", { name: "Nothing goes on", exact: true })).toBeVisible();
  await page.request.delete(`${studio.url}/databases/Worked/queries`, { data: { Query: "from Users" } });
  const row = page.getByRole("row", { name: /Done/ });
  await expect(row).toBeVisible();
  await studio.isAccessible();
});
