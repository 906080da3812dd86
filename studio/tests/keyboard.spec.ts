// A first quarter of an hour without a mouse: nothing here clicks, and nothing is given the focus but by keys.
import { expect, test, type Studio } from "./studio";
import type { Locator, Page } from "@playwright/test";

/** More stops than any screen has before what one wants. */
const TAB_COUNT_MAX = 40;

/** Goes on from where the focus is until it is here. */
async function tabTo(page: Page, wanted: Locator) {
  await expect(wanted).toBeVisible();
  for (let presses = 0; presses < TAB_COUNT_MAX; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  await expect(wanted).toBeFocused();
}

/** Goes to a place by the palette. */
async function jump(page: Page, typed: string, found: RegExp) {
  await page.keyboard.press("ControlOrMeta+k");
  await expect(page.getByRole("combobox", { name: "Jump to" })).toBeFocused();
  await page.keyboard.type(typed);
  await expect(page.getByRole("option", { selected: true })).toHaveText(found);
  await page.keyboard.press("Enter");
}

async function inEditor(page: Page, name: string) {
  const editor = page.getByRole("textbox", { name, exact: true });
  await expect(editor).toBeFocused();
  return editor;
}

test("a database is created, a document written, changed and found by the keyboard alone", async ({
  page,
  studio,
}: {
  page: Page;
  studio: Studio;
}) => {
  await studio.open("/about");
  await expect(page.getByRole("heading", { name: "Get started" })).toBeVisible();
  await jump(page, "datab", /^Databases/);

  await tabTo(page, page.getByRole("button", { name: "New database" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Name", exact: true })).toBeFocused();
  await page.keyboard.type("ByKeys");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Nothing here yet" })).toBeVisible();

  await tabTo(page, page.getByRole("button", { name: "New document" }));
  await page.keyboard.press("Enter");
  await inEditor(page, "Document as JSON");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText('{"Name":"Ann","@metadata":{"@collection":"Users"}}');
  // Out of the editor and back into the field before it.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+Tab");
  await expect(page.getByRole("textbox", { name: "Id" })).toBeFocused();
  await page.keyboard.type("users/1");
  await page.keyboard.press("Tab");
  await inEditor(page, "Document as JSON");
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByRole("heading", { name: "users/1" })).toBeVisible();

  const editor = await inEditor(page, "Document as JSON");
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.insertText('"City":"Oslo",');
  await expect(page.getByText("Not saved yet")).toBeVisible();
  // By its button this time.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+Tab");
  await expect(editor).not.toBeFocused();
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Not saved yet")).toBeHidden();
  expect(await studio.stored("ByKeys", "users/1")).toMatchObject({ Name: "Ann", City: "Oslo" });

  await jump(page, "query", /^Query/);
  await inEditor(page, "Query in RQL");
  await page.keyboard.insertText("from Users where City = 'Oslo'");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  await tabTo(page, page.getByRole("grid", { name: "Results" }));
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "users/1" })).toBeVisible();

  // Back to the results, which is a key of the browser itself, and from there to where it began.
  await page.goBack();
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  await jump(page, "get st", /^Get started/);
  await expect(page.getByRole("heading", { name: "Get started" })).toBeFocused();
});
