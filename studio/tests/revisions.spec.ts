// Revisions of a document: in the order of time, compared, reverted; and the documents that were deleted.
import { expect, test, type Studio } from "./studio";

const post = (title: string) => ({ Title: title, Price: 1, "@metadata": { "@collection": "Posts" } });

async function withRevisions(studio: Studio, name: string) {
  await studio.database(name);
  const data = { Default: null, Collections: { Posts: { Disabled: false, MinimumRevisionsToKeep: 100 } } };
  const answer = await studio.page.request.post(`${studio.url}/databases/${name}/admin/revisions/config`, { data });
  expect(answer.status()).toBe(200);
}

test("revisions are compared, and a document is reverted to one", async ({ page, studio }) => {
  await withRevisions(studio, "Revised");
  for (const title of ["One", "Two", "Three"]) await studio.put("Revised", "posts/1", post(title));
  await studio.open("/databases/Revised/document?id=posts%2F1");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Revisions" }).click();
  const timeline = page.getByRole("navigation", { name: "Revisions, the newest first" });
  await expect(timeline.getByText("3 revisions")).toBeVisible();
  await expect(timeline.getByRole("link")).toHaveCount(3);
  const left = page.getByRole("textbox", { name: /^Revision of/ }).first();
  await expect(left).toContainText("Two");
  await expect(page.getByRole("textbox", { name: /^Revision of/ }).last()).toContainText("Three");
  await studio.isAccessible();

  // By arrows through the list.
  await timeline.getByRole("link").first().focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await expect(page.getByText("This is the first revision that is kept.")).toBeVisible();
  await page.getByText("Compared with now", { exact: true }).click();
  await expect(left).toContainText("One");
  await expect(page.getByRole("textbox", { name: "The document now" })).toContainText("Three");
  await page.reload();
  await expect(page.getByRole("textbox", { name: "The document now" })).toContainText("Three");
  await page.getByRole("button", { name: "Revert to this revision…" }).click();
  await studio.isAccessible("dialog");
  await page.getByRole("dialog").getByRole("button", { name: "Revert" }).click();
  await expect(page.getByText("The document has the text of this revision.")).toBeVisible();
  await expect(timeline.getByRole("link")).toHaveCount(4);
  expect((await studio.stored("Revised", "posts/1"))!["Title"]).toBe("One");

  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 400, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)).toBe(false);
  await studio.isAccessible();
});

test("revisions are configured for a collection, and then kept", async ({ page, studio }) => {
  // Nothing is configured yet.
  studio.allow(/404 \(Not Found\)/);
  await studio.database("Configured", { "posts/1": post("One") });
  await studio.open("/databases/Configured/revisions");
  await page.getByRole("button", { name: "Configure…" }).click();
  const dialog = page.getByRole("dialog", { name: "Which revisions are kept" });
  await dialog.getByRole("combobox", { name: "Collection" }).selectOption("Posts");
  const save = dialog.getByRole("button", { name: "Save" });
  await expect(save).toBeDisabled();
  await dialog.getByRole("combobox", { name: "Revisions" }).selectOption("Kept with each change");
  const count = dialog.getByRole("textbox", { name: "Revisions of a document that stay" });
  await count.fill("none");
  await expect(save).toBeDisabled();
  await count.fill("2");
  await studio.isAccessible("dialog");
  await save.click();
  await expect(dialog.getByRole("option", { name: "Posts (own setting)" })).toBeAttached();
  await expect(count).toHaveValue("2");
  await page.keyboard.press("Escape");
  for (const title of ["Two", "Three", "Four"]) await studio.put("Configured", "posts/1", post(title));
  await studio.open("/databases/Configured/revisions?id=posts%2F1");
  await expect(page.getByText("2 revisions")).toBeVisible();
});

test("a deleted document is found and taken back", async ({ page, studio }) => {
  studio.allow(/404 \(Not Found\)/);
  await withRevisions(studio, "Binned");
  await studio.open("/databases/Binned/revisions");
  await expect(page.getByRole("heading", { name: "No deleted documents with revisions" })).toBeVisible();
  await studio.isAccessible();
  await studio.put("Binned", "posts/1", post("One"));
  await page.request.delete(`${studio.url}/databases/Binned/docs?id=posts/1`);
  await studio.open("/databases/Binned/document?id=posts%2F1");
  await page.getByRole("link", { name: "Show its revisions" }).click();
  const timeline = page.getByRole("navigation", { name: "Revisions, the newest first" });
  await expect(timeline.getByRole("link").first()).toContainText("Deleted");
  await expect(page.getByText("The document was deleted then, and has no text.")).toBeVisible();
  await page.getByRole("navigation", { name: "Database Binned" }).getByRole("link", { name: "Revisions" }).click();
  await page
    .getByRole("row", { name: /posts\/1/ })
    .getByRole("link")
    .click();
  await timeline.getByRole("link").last().click();
  await expect(page.getByRole("textbox", { name: /^Revision of/ })).toContainText("One");
  await page.getByRole("button", { name: "Revert to this revision…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revert" }).click();
  await expect(timeline.getByRole("link")).toHaveCount(3);
  expect((await studio.stored("Binned", "posts/1"))!["Title"]).toBe("One");
  await page.getByRole("textbox", { name: "Go to the revisions of a document" }).fill("posts/none");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "There are no revisions of 'posts/none'" })).toBeVisible();
});
