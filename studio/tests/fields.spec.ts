// The fields of a collection: what a sample of its documents tells, and the queries that its values open.
import { expect, test } from "./studio";

const fieldsOf = (database: string, collection: string) => `/databases/${database}/documents?collection=${collection}&tab=fields`;
const editor = "Query in RQL";

test("fields have types, shares and values, and a value opens the query that finds it", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Orders");
  await page.getByText("Fields", { exact: true }).click();
  await expect(page.getByText("All 830 documents were read.")).toBeVisible();
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
  await expect(row("Freight number")).toContainText("0.02 to 1007.64");
  await expect(row("Lines array")).toContainText("1 to 25 items");
  await expect(row("ShipTo.Region null")).toContainText("null 61%text 39%");
  await expect(row("OrderedAt date")).toContainText("1996-07-04 to 1998-05-06");
  await studio.isAccessible();
  const countries = page.getByRole("group", { name: "Most frequent values of ShipTo.Country" });
  await expect(countries.getByRole("link")).toHaveCount(6);
  await countries.getByRole("link", { name: "Germany: 122" }).click();
  await expect(page.getByRole("textbox", { name: editor })).toHaveText("from Orders where ShipTo.Country = 'Germany'");
  await expect(page.getByText(/^122 results in/)).toBeVisible();
  await page.goBack();
  await expect(page.getByText("All 830 documents were read.")).toBeVisible();
});

test("each bar finds as many documents as it counts", async ({ page, studio }) => {
  const find = async (group: string, bar: string, text: string) => {
    await studio.open(fieldsOf("Northwind", "Orders"));
    const link = page.getByRole("group", { name: group }).getByRole("link", { name: bar, exact: true });
    await link.click();
    await expect(page.getByRole("textbox", { name: editor })).toHaveText(text);
    await expect(page.getByText(new RegExp(`^${/: (\d+)$/.exec(bar)![1]} results? in`))).toBeVisible();
  };
  await find("Histogram of OrderedAt", "1996-07: 22", "from Orders where OrderedAt >= '1996-07-01' and OrderedAt < '1996-08-01'");
  await find("Histogram of Freight", "1000 to 1050: 1", "from Orders where Freight >= 1000 and Freight < 1050");
  await find("Most frequent values of Employee", "employees/4-A: 156", "from Orders where Employee = 'employees/4-A'");
  await find("Histogram of Lines[].Quantity", "130 to 139: 2", "from Orders where Lines[].Quantity between 130 and 139");
  await studio.open(fieldsOf("Northwind", "Orders"));
  await page.getByRole("link", { name: "Documents where ShipTo.Region is null" }).click();
  await expect(page.getByText(/^507 results in/)).toBeVisible();
});

test("odd names, mixed types and missing fields", async ({ page, studio }) => {
  const Xs = { "@metadata": { "@collection": "Xs" } };
  await studio.database("Odd", {
    "xs/1": { "my field": "it's", select: 1, "a.b": "x", ...Xs },
    "xs/2": { "my field": "it's", select: "one", Big: 1, ...Xs },
    "xs/3": { "my field": "", select: null, ...Xs },
  });
  await studio.open(fieldsOf("Odd", "Xs"));
  const row = (name: RegExp) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
  await expect(row(/^select/)).toContainText("number 33%text 33%null 33%");
  await expect(row(/^Big/)).toContainText("33% · 1");
  // A query cannot name a field with a dot in its name: its values lead nowhere.
  await expect(row(/^a\.b/)).toContainText("x");
  await expect(row(/^a\.b/).getByRole("link")).toHaveCount(0);
  await expect(row(/^my field/)).toContainText("(empty)");
  await row(/^my field/)
    .getByRole("link", { name: "it's: 2" })
    .click();
  await expect(page.getByRole("textbox", { name: editor })).toHaveText("from Xs where 'my field' = 'it\\'s'");
  await expect(page.getByText(/^2 results in/)).toBeVisible();
  await page.goBack();
  await page.getByRole("link", { name: "Documents without Big" }).click();
  await expect(page.getByRole("textbox", { name: editor })).toHaveText("from Xs where true and not exists(Big)");
  await expect(page.getByText(/^2 results in/)).toBeVisible();
});

test("fields by keyboard", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Products");
  await page.getByRole("radio", { name: "Documents" }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByText("All 77 documents were read.")).toBeVisible();
  await expect(page.getByRole("radio", { name: "Fields" })).toBeFocused();
  const filter = page.getByRole("textbox", { name: "Filter fields by name" });
  for (let stops = 0; stops < 6 && !(await filter.evaluate((box) => box === document.activeElement)); stops++) {
    await page.keyboard.press("Tab");
  }
  await expect(filter).toBeFocused();
  await page.keyboard.type("discon");
  await expect(page.getByRole("rowheader")).toHaveCount(1);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "false: 69" })).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("link", { name: "true: 8" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: editor })).toHaveText("from Products where Discontinued = true");
  await expect(page.getByText(/^8 results in/)).toBeVisible();
});

for (const scheme of ["light", "dark"] as const) {
  test(`fields on a narrow screen, ${scheme}`, async ({ page, studio }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 390, height: 800 });
    await studio.open(fieldsOf("Northwind", "Orders"));
    await expect(page.getByText("All 830 documents were read.")).toBeVisible();
    await studio.isAccessible();
    const beside = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("main a, main button, main th")]
        .filter((element) => element.getBoundingClientRect().right > innerWidth && !element.closest("nav"))
        .map((element) => element.outerHTML.slice(0, 200)),
    );
    expect(beside).toEqual([]);
  });
}

test("of many documents a part is read, and of large ones few", async ({ page, studio }) => {
  await studio.open(fieldsOf("Cities", "Cities"));
  await expect(page.getByText(/^1,000 of 69,472 documents were read, from 40 places spread over the collection/)).toBeVisible();
  await studio.database("Heavy");
  const Lines = Array.from({ length: 50_000 }, (_, at) => ({ Number: at, Text: "a line of some length" }));
  for (let at = 0; at < 6; at++) await studio.put("Heavy", `heavy/${at}`, { Lines, "@metadata": { "@collection": "Heavies" } });
  await studio.open(fieldsOf("Heavy", "Heavies"));
  await expect(page.getByText(/^[345] of 6 documents were read, .* in part: 100 items of an array/)).toBeVisible();
  await expect(page.getByRole("rowheader", { name: /^Lines\[\]\.Number/ })).toBeVisible();
});

test("what failed is read again", async ({ page, studio }) => {
  studio.allow(/net::ERR_FAILED/);
  await page.route("**/queries", (route) => route.abort());
  await studio.open(fieldsOf("Northwind", "Shippers"));
  await expect(page.getByText("The documents cannot be read")).toBeVisible();
  await page.unroute("**/queries");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("All 3 documents were read.")).toBeVisible();
});
