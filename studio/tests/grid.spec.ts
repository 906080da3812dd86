// The grid: sorting as a query, widths that follow what is in view, and the keyboard.
import { expect, test } from "./studio";

const placed = (database: string, query: string) => `/databases/${database}/query?q=${encodeURIComponent(query)}`;
const editor = "Query in RQL";

test("a click on a column sorts, as a query that can be taken along", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Orders");
  await page.getByRole("columnheader", { name: "Freight" }).getByRole("button").click();
  const text = page.getByRole("textbox", { name: editor });
  await expect(text).toHaveText("from Orders order by Freight as double");
  await expect(page.getByText(/^830 results in/)).toBeVisible();
  const head = page.getByRole("columnheader", { name: "Freight" });
  await expect(head).toHaveAttribute("aria-sort", "ascending");
  await head.getByRole("button").click();
  await expect(text).toHaveText("from Orders order by Freight as double desc");
  await expect(page.getByRole("grid").getByRole("link").first()).toHaveText("orders/293-A");
  await expect(head).toHaveAttribute("aria-sort", "descending");
  await studio.isAccessible();
  await head.getByRole("button").click();
  await expect(text).toHaveText("from Orders");
  await page.goBack();
  await expect(text).toHaveText("from Orders order by Freight as double desc");
});

test("columns of a projection are sorted by their names, those of a script are not", async ({ page, studio }) => {
  await studio.open(placed("Northwind", "from Orders as o where o.Freight > 700 select o.Freight as F, o.Company"));
  await page.getByRole("columnheader", { name: "F", exact: true }).getByRole("button").click();
  await expect(page.getByRole("textbox", { name: editor })).toHaveText(
    "from Orders as o where o.Freight > 700 order by F as double select o.Freight as F, o.Company",
  );
  await expect(page.getByRole("columnheader", { name: "F", exact: true })).toHaveAttribute("aria-sort", "ascending");
  const first = page.getByRole("row").nth(1).getByRole("gridcell");
  await expect(first.filter({ hasText: /^7\d\d/ })).toHaveCount(1);
  await studio.open(placed("Northwind", "from Orders as o select { F: o.Freight } limit 3"));
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  await expect(page.getByRole("columnheader", { name: "F", exact: true }).getByRole("button")).toHaveCount(0);
});

test("sorting is reached by keyboard, and collections are one stop before the grid", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Products");
  const collection = page.getByRole("navigation", { name: "Collections" }).getByRole("link", { name: /^Products/ });
  await expect(page.getByRole("link", { name: "products/1-A", exact: true })).toBeVisible();
  await collection.focus();
  const grid = page.getByRole("grid");
  let stops = 0;
  while (!(await grid.evaluate((box) => box === document.activeElement)) && stops++ < 20) await page.keyboard.press("Tab");
  expect(stops).toBeLessThan(9);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("columnheader", { name: "Id" }).getByRole("button")).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("columnheader", { name: "Name" }).getByRole("button")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: editor })).toHaveText("from Products order by Name");
  await page.goBack();
  await collection.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Regions" })).toBeVisible();
});

test("numbers that come into view are never cut, and columns fill a wide screen", async ({ page, studio }) => {
  await studio.database("Growing");
  const commands = Array.from({ length: 400 }, (_, at) => ({
    Id: `users/${at}`,
    Type: "PUT",
    Document: {
      N: at < 300 ? at : 1e15 + at,
      Home: { City: "Oslo", Zip: "0150", Street: "Karl Johans gate 22" },
      "@metadata": { "@collection": "Users" },
    },
  }));
  await page.request.post(`${studio.url}/databases/Growing/bulk_docs`, { data: { Commands: commands } });
  await page.setViewportSize({ width: 1920, height: 900 });
  await studio.open("/databases/Growing/documents?collection=Users");
  const grid = page.getByRole("grid");
  await expect(grid.getByRole("link").first()).toBeVisible();
  const home = (await page.getByRole("columnheader", { name: "Home" }).boundingBox())!;
  expect(home.width).toBeGreaterThan(300);
  await grid.focus();
  await page.keyboard.press("End");
  await expect(grid.getByText("1000000000000399")).toBeVisible();
  const cut = await grid
    .locator('[role="gridcell"] [data-kind="number"]')
    .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
  expect(cut).toBe(0);
  // All columns of the orders have room.
  await studio.open("/databases/Northwind/documents?collection=Orders");
  await expect(page.getByRole("columnheader", { name: "ShippedAt" })).toBeVisible();
  await expect(page.getByRole("columnheader", { name: "ShipVia" })).toBeVisible();
});

test("a field with a dot in its name is told from a nested one", async ({ page, studio }) => {
  await studio.database("Dotted", { "x/1": { "a.b": 1, a: { b: 2 }, "@metadata": { "@collection": "Xs" } } });
  await studio.open("/databases/Dotted/documents?collection=Xs");
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "a.b", exact: true }).check();
  await page.keyboard.press("Escape");
  const row = page.getByRole("row").nth(1);
  const heads = await page.getByRole("columnheader").allTextContents();
  const cells = await row.getByRole("gridcell").allTextContents();
  expect([cells[heads.indexOf("'a.b'")], cells[heads.indexOf("a.b")]]).toEqual(["1", "2"]);
});

test("the menu of a collection queries, patches and exports it", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Shippers");
  const menu = async (item: string) => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const downloading = page.waitForEvent("download");
  await menu("Export as CSV");
  expect((await downloading).suggestedFilename()).toMatch(/\.csv$/);
  await page.keyboard.press("Escape");
  await menu("Query");
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  await page.goBack();
  await menu("Patch…");
  await expect(page.getByRole("textbox", { name: editor })).toContainText("from Shippers update {");
  await expect(page.getByRole("button", { name: "Patch…" })).toBeVisible();
});

test("what one presses is large enough for a finger", async ({ browser, studio }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await page.goto(`${studio.url}/studio/index.html#${placed("Northwind", "from Shippers")}`);
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  // What is about keys is not said to a finger.
  await page.getByRole("button", { name: "Run" }).tap();
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  await expect(page.getByText("Ctrl+Enter", { exact: true })).toBeHidden();
  await page.goto(`${studio.url}/studio/index.html#/databases/Northwind/documents?collection=Shippers`);
  const link = page.getByRole("grid").getByRole("link").first();
  await expect(link).toBeVisible();
  await expect.poll(async () => (await link.boundingBox())?.height).toBeGreaterThanOrEqual(24);
  // Beside the box itself, within its cell; a tap waits until the cell has come to rest.
  const chosen = page.getByRole("checkbox", { name: /^Choose shippers/ }).first();
  await page
    .getByRole("gridcell")
    .filter({ has: chosen })
    .first()
    .tap({ position: { x: 3, y: 3 } });
  await expect(page.getByRole("button", { name: "Delete 1" })).toBeVisible();
  await context.close();
});
