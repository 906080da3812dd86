// Filtering the grid by a column, as a condition of the query.
import type { Page } from "@playwright/test";
import { expect, test } from "./studio";

const editor = (page: Page) => page.getByRole("textbox", { name: "Query in RQL" });
const menu = (page: Page) => page.getByRole("dialog", { name: "Filter" });

test("results are filtered by columns, and conditions are removed again", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query?q=from Companies");
  await expect(page.getByText(/^91 results in/)).toBeVisible();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await menu(page).getByLabel("Column").selectOption("Name");
  await menu(page).getByLabel("Comparison").selectOption("starts with");
  await menu(page).getByRole("combobox", { name: "Value" }).fill("A");
  await studio.isAccessible();
  await page.keyboard.press("Enter");
  await expect(editor(page)).toHaveText("from Companies where startsWith(Name, 'A')");
  await expect(page.getByText(/^4 results in/)).toBeVisible();
  // Nothing has it: the condition can still be removed.
  await page.getByRole("button", { name: "Filter, 1 in use" }).click();
  await menu(page).getByLabel("Column").selectOption("Phone");
  await menu(page).getByRole("combobox", { name: "Value" }).fill("none");
  await menu(page).getByRole("button", { name: "Filter", exact: true }).click();
  await expect(editor(page)).toHaveText("from Companies where startsWith(Name, 'A') and Phone = 'none'");
  await expect(page.getByText("Nothing was found")).toBeVisible();
  await page.getByRole("button", { name: "Filter, 2 in use" }).click();
  await menu(page).getByRole("button", { name: "Remove Phone = 'none'" }).click();
  await expect(page.getByText(/^4 results in/)).toBeVisible();
});

test("a filter offers the values of a column, and suits their type", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query?q=from Products");
  await expect(page.getByText(/^77 results in/)).toBeVisible();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await menu(page).getByLabel("Column").selectOption("Discontinued");
  await expect(menu(page).getByLabel("Comparison").getByRole("option")).toHaveText(["is", "is not", "is one of", "exists"]);
  await menu(page).getByRole("combobox", { name: "Value" }).click();
  await menu(page).getByRole("option", { name: "true" }).click();
  await menu(page).getByRole("button", { name: "Filter", exact: true }).click();
  await expect(editor(page)).toHaveText("from Products where Discontinued = true");
  await expect(page.getByText(/^8 results in/)).toBeVisible();
});

test("what cannot be filtered says why", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query?q=from Companies select Name");
  await expect(page.getByText(/^91 results in/)).toBeVisible();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await expect(menu(page)).toContainText("The query makes its columns with select");
});

test("a collection is filtered by a query, on a telephone and in the dark", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await studio.open("/databases/Northwind/documents?collection=Orders");
  await expect(page.getByRole("grid")).toBeVisible();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await menu(page).getByLabel("Column").selectOption("Freight");
  await menu(page).getByLabel("Comparison").selectOption("is between");
  await menu(page).getByRole("combobox", { name: "From" }).fill("800");
  await menu(page).getByRole("combobox", { name: "To" }).fill("900");
  await studio.isAccessible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await menu(page).getByRole("button", { name: "Filter", exact: true }).click();
  await expect(editor(page)).toHaveText("from Orders where Freight between 800 and 900");
  await expect(page.getByText(/results? in/)).toBeVisible();
});
