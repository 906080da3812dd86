// Several queries, a tab each.
import type { Page } from "@playwright/test";
import { expect, test } from "./studio";

const editor = (page: Page) => page.getByRole("textbox", { name: "Query in RQL" });
const tabs = (page: Page) => page.getByRole("tablist", { name: "Open queries" });
const tab = (page: Page, name: string) => tabs(page).getByRole("tab", { name, exact: true });
const status = (page: Page, text: RegExp) => page.getByRole("tabpanel").getByText(text);
const placed = (query: string) => `/databases/Northwind/query?q=${encodeURIComponent(query)}`;

async function run(page: Page, query: string) {
  await editor(page).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText(query);
  await page.keyboard.press("ControlOrMeta+Enter");
}

test("each tab keeps its text, parameters, results and view, also after a reload", async ({ page, studio }) => {
  await studio.open(placed("from Orders where ShipTo.City = $city") + '&p={"city":"Reims"}');
  await expect(status(page, /^5 results in/)).toBeVisible();
  await page.getByRole("tabpanel").getByText("JSON", { exact: true }).click();
  await page.getByRole("button", { name: "New tab" }).click();
  await expect(tabs(page).getByRole("tab")).toHaveCount(2);
  await expect(editor(page)).toBeFocused();
  await run(page, "from Orders");
  await expect(status(page, /^830 results in/)).toBeVisible();
  const grid = page.getByRole("grid", { name: "Results" });
  await grid.evaluate((element) => element.scrollTo({ top: 3000 }));
  await expect(grid.getByRole("link", { name: "orders/101-A", exact: true })).toBeVisible();
  await studio.isAccessible();

  let requests = 0;
  page.on("request", (request) => {
    if (request.url().includes("/queries")) requests++;
  });
  await tab(page, "from Orders where ShipTo.City = $city").click();
  await expect(page.getByRole("textbox", { name: "Results as JSON" })).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Parameters as JSON" })).toHaveText('{"city":"Reims"}');
  expect(new URL(page.url().replace("#", "")).searchParams.get("q")).toBe("from Orders where ShipTo.City = $city");
  await tab(page, "from Orders").click();
  await expect(grid.getByRole("link", { name: "orders/101-A", exact: true })).toBeVisible();
  expect(requests).toBe(0);

  await page.reload();
  await expect(status(page, /^830 results in/)).toBeVisible();
  await expect(tab(page, "from Orders")).toHaveAttribute("aria-selected", "true");
  await tab(page, "from Orders where ShipTo.City = $city").click();
  await expect(page.getByRole("textbox", { name: "Results as JSON" })).toContainText("Reims");
});

test("tabs are opened, switched, named, closed and reopened by keyboard", async ({ page, studio }) => {
  await studio.open(placed("from Shippers"));
  await expect(status(page, /^3 results in/)).toBeVisible();
  await page.keyboard.press("Alt+t");
  await expect(tab(page, "New query")).toHaveAttribute("aria-selected", "true");
  await run(page, "from Regions");
  await expect(status(page, /^4 results in/)).toBeVisible();
  await page.keyboard.press("Alt+1");
  await expect(status(page, /^3 results in/)).toBeVisible();
  await expect(editor(page)).toBeFocused();
  await expect(editor(page)).toHaveText("from Shippers");

  await tab(page, "from Shippers").focus();
  await page.keyboard.press("ArrowRight");
  await expect(tab(page, "from Regions")).toBeFocused();
  await expect(status(page, /^4 results in/)).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await expect(tab(page, "from Shippers")).toBeFocused();
  await page.keyboard.press("End");
  await page.keyboard.press("F2");
  const dialog = page.getByRole("dialog", { name: "Rename the tab" });
  await expect(dialog.getByRole("textbox", { name: "Name" })).toBeFocused();
  await studio.isAccessible("dialog");
  await page.keyboard.type("Areas");
  await page.keyboard.press("Enter");
  await expect(dialog).toHaveCount(0);
  await expect(tab(page, "Areas")).toHaveAttribute("aria-selected", "true");

  await tab(page, "Areas").press("Delete");
  await expect(tabs(page).getByRole("tab")).toHaveCount(1);
  await expect(tab(page, "from Shippers")).toBeFocused();
  await page.keyboard.press("Alt+Shift+T");
  await expect(tab(page, "Areas")).toHaveAttribute("aria-selected", "true");
  await expect(status(page, /^4 results in/)).toBeVisible();
  await page.keyboard.press("Alt+w");
  await page.keyboard.press("Alt+w");
  await expect(tab(page, "New query")).toHaveAttribute("aria-selected", "true");
  await expect(tabs(page).getByRole("tab")).toHaveCount(1);
});

test("a link opens the tab with its query, else a new one, and going back stays in the tab", async ({ page, studio }) => {
  await studio.open(placed("from Shippers"));
  await expect(status(page, /^3 results in/)).toBeVisible();
  await studio.open(placed("from Regions"));
  await expect(status(page, /^4 results in/)).toBeVisible();
  await expect(tabs(page).getByRole("tab")).toHaveCount(2);
  await studio.open(placed("from Shippers"));
  await expect(status(page, /^3 results in/)).toBeVisible();
  await expect(tabs(page).getByRole("tab")).toHaveCount(2);
  await run(page, "from Employees");
  await expect(status(page, /^9 results in/)).toBeVisible();
  await page.goBack();
  await expect(status(page, /^3 results in/)).toBeVisible();
  await expect(tabs(page).getByRole("tab")).toHaveCount(2);
  await tab(page, "from Regions").locator("[data-close]").click();
  await expect(tabs(page).getByRole("tab")).toHaveCount(1);
  await page.getByRole("button", { name: "Tabs", exact: true }).click();
  await page.getByRole("menuitem", { name: /^Reopen/ }).click();
  await expect(tab(page, "from Regions")).toHaveAttribute("aria-selected", "true");
});

test("a query in another tab runs on, and its tab says so", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query");
  const held = await studio.hold("**/databases/Northwind/queries", (request) =>
    (request.postData() ?? "").includes('"Query":"from Suppliers"'),
  );
  await run(page, "from Suppliers");
  await held.first;
  await page.keyboard.press("Alt+t");
  await run(page, "from Shippers");
  await expect(status(page, /^3 results in/)).toBeVisible();
  const first = tabs(page).getByRole("tab", { name: /from Suppliers/ });
  await expect(first.getByRole("img", { name: "Running" })).toBeVisible();
  await studio.isAccessible();
  held.go();
  await expect(first.getByRole("img", { name: "Running" })).toHaveCount(0);
  await first.click();
  await expect(status(page, /^29 results in/)).toBeVisible();
});

test("on a narrow screen the tabs scroll, and the active one is seen", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await studio.open(placed("from Shippers"));
  await expect(status(page, /^3 results in/)).toBeVisible();
  for (const name of ["from Orders where Freight > 800", "from Companies where Address.City = 'Reims'", "from Employees"]) {
    await page.getByRole("button", { name: "New tab" }).click();
    await run(page, name);
  }
  await expect(status(page, /^9 results in/)).toBeVisible();
  const seen = async (name: string) => (await tab(page, name).boundingBox())!;
  const last = await seen("from Employees");
  expect(last.x + last.width).toBeLessThanOrEqual(330);
  await page.keyboard.press("Alt+1");
  await expect.poll(async () => (await seen("from Shippers")).x).toBeGreaterThanOrEqual(0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await studio.isAccessible();
});
