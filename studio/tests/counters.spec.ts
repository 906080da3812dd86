// Counters of a document: shown, created, raised, set and deleted beside its text.
import { expect, test, type Studio } from "./studio";

async function raised(studio: Studio, database: string, id: string, name: string, delta: string) {
  const data = `{"Documents":[{"DocumentId":"${id}","Operations":[{"Type":"Increment","CounterName":"${name}","Delta":${delta}}]}]}`;
  const headers = { "Content-Type": "application/json" };
  const answer = await studio.page.request.post(`${studio.url}/databases/${database}/counters`, { data, headers });
  expect(answer.status()).toBe(200);
}

const isTooWide = (studio: Studio) =>
  studio.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

test("counters are created, raised, set and deleted, with all of their digits", async ({ page, studio }) => {
  await studio.database("CountersHere", { "posts/1": { Title: "One", "@metadata": { "@collection": "Posts" } } });
  await studio.open("/databases/CountersHere/document?id=posts%2F1");
  const part = page.getByRole("region", { name: "Counters" });
  await expect(part).toContainText("None.");
  await part.getByRole("button", { name: "New counter" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("textbox", { name: "Name" })).toBeFocused();
  await page.keyboard.type("Likes");
  const value = dialog.getByRole("textbox", { name: "Value" });
  await value.fill("1.5");
  await expect(dialog.getByText("A whole number of 64 bits")).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Create" })).toBeDisabled();
  await value.fill("9007199254740993");
  await studio.isAccessible("dialog");
  await page.keyboard.press("Enter");
  const row = part.getByRole("listitem").filter({ hasText: "Likes" });
  await expect(row).toContainText("9,007,199,254,740,993");
  // The server lists the name in the metadata, which is no change of the text.
  await expect(page.getByText("Somebody else changed it.")).toHaveCount(0);
  await studio.isAccessible();

  await row.getByRole("button", { name: "Actions for the counter Likes" }).click();
  await page.getByRole("menuitem", { name: "Raise or lower…" }).click();
  await dialog.getByRole("textbox", { name: "Raise by" }).fill("-3");
  await dialog.getByRole("button", { name: "Raise" }).click();
  await expect(row).toContainText("9,007,199,254,740,990");

  await row.getByRole("button", { name: "Actions for the counter Likes" }).click();
  await page.getByRole("menuitem", { name: "Set…" }).click();
  // What others add meanwhile does not count.
  await raised(studio, "CountersHere", "posts/1", "Likes", "5");
  await dialog.getByRole("textbox", { name: "Value" }).fill("12");
  await dialog.getByRole("button", { name: "Set" }).click();
  await expect(row.getByText("12", { exact: true })).toBeVisible();

  await part.getByRole("button", { name: "New counter" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("likes");
  await expect(dialog.getByText("The document has a counter 'Likes': raise it or set it.")).toBeVisible();
  await page.keyboard.press("Escape");

  await row.getByRole("button", { name: "Actions for the counter Likes" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(part).toContainText("None.");
});

test("what others raise is shown at once, and the document is saved all the same", async ({ page, studio }) => {
  await studio.database("Raised", { "posts/1": { Title: "One", "@metadata": { "@collection": "Posts" } } });
  await studio.open("/databases/Raised/document?id=posts%2F1");
  const part = page.getByRole("region", { name: "Counters" });
  await expect(part).toContainText("None.");
  const editor = page.getByRole("textbox", { name: "Document as JSON" });
  await studio.write("Document as JSON", '{"Title": "Two", "@metadata": {"@collection": "Posts"}}');
  await raised(studio, "Raised", "posts/1", "Views", "1");
  await expect(part.getByRole("listitem")).toContainText(["Views1"]);
  await raised(studio, "Raised", "posts/1", "Views", "41");
  await expect(part.getByRole("listitem")).toContainText(["Views42"]);
  await editor.click();
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("posts/1 saved")).toBeVisible();
  expect((await studio.stored("Raised", "posts/1"))!["Title"]).toBe("Two");
  await expect(part.getByRole("listitem")).toContainText(["Views42"]);
  // The names of counters are the server's, so they are no part of the text.
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(editor).toContainText('"Two"');
  await expect(editor).not.toContainText("@counters");
});

test("on a narrow screen, and in the dark, counters stand below the text", async ({ page, studio }) => {
  await studio.database("Narrowed", { "posts/1": { Title: "One" } });
  await raised(studio, "Narrowed", "posts/1", "a-name-without-any-blanks-that-is-rather-long", "-9223372036854775807");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 400, height: 800 });
  await studio.open("/databases/Narrowed/document?id=posts%2F1");
  await expect(page.getByText("-9,223,372,036,854,775,807")).toBeVisible();
  await expect.poll(() => isTooWide(studio)).toBe(false);
  await studio.isAccessible();
});
