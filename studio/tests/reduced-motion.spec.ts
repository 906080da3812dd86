// With motion reduced, as on remote desktops, all is where it is without.
import type { Page } from "@playwright/test";
import { expect, test } from "./studio";

test.use({ contextOptions: { reducedMotion: "reduce" } });

/** How far line numbers are from their lines, in pixels, at most. */
const offset = (page: Page) =>
  page.evaluate(() => {
    const lines = [...document.querySelectorAll(".cm-line")].map((line) => line.getBoundingClientRect().top);
    const numbers = [...document.querySelectorAll(".cm-lineNumbers .cm-gutterElement")]
      // The first one is hidden: it is as wide as the widest.
      .filter((number) => getComputedStyle(number).visibility !== "hidden")
      .map((number) => number.getBoundingClientRect().top);
    if (lines.length === 0 || numbers.length !== lines.length) return Infinity;
    return Math.max(...lines.map((top, at) => Math.abs(top - numbers[at]!)));
  });

test("editors are measured as they are drawn", async ({ page, studio }) => {
  expect(await page.evaluate(() => matchMedia("(prefers-reduced-motion: reduce)").matches)).toBe(true);
  for (const place of ["document?id=orders%2F1-A", "document", "query", "index"]) {
    await studio.open(`/databases/Northwind/${place}`);
    await page.reload();
    await expect(page.locator(".cm-line").first()).toBeVisible();
    await expect.poll(() => offset(page), place).toBeLessThan(1);
  }
});

test("what is searched in a long document is scrolled to", async ({ page, studio }) => {
  const items = Array.from({ length: 4000 }, (_, at) => ({ Name: `item ${at}` }));
  await studio.database("Long", { "lists/1": { Items: items } });
  await studio.open("/databases/Long/document?id=lists%2F1");
  const text = page.getByRole("textbox", { name: "Document as JSON" });
  await expect(text).toContainText("item 0");
  await text.focus();
  await page.keyboard.press("ControlOrMeta+f");
  await page.getByRole("textbox", { name: "Find" }).pressSequentially("item 3990");
  await page.keyboard.press("Enter");
  await expect(page.locator(".cm-searchMatch-selected")).toBeInViewport();
});
