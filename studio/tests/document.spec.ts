// One document: reading, changing, saving, what others saved meanwhile, cloning, deleting.
import type { Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import { expect, test, type Held } from "./studio";

const text = (page: Page) => page.getByRole("textbox", { name: "Document as JSON" });

test("a document is read with all its digits, and leads to those it names", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/document?id=orders%2F1-A");
  await expect(text(page)).toContainText('"PricePerUnit": 34.8000');
  await expect(text(page)).not.toContainText("@change-vector");
  await studio.isAccessible();
  const related = page.getByRole("complementary", { name: "About the document" });
  await related.getByRole("link", { name: "companies/85-A" }).click();
  await expect(page.getByRole("heading", { name: "companies/85-A", exact: true })).toBeVisible();
  await expect(text(page)).toContainText("Vins et alcools Chevalier");
  // By keyboard, from within the text.
  await page.goBack();
  await expect(text(page)).toContainText("employees/5-A");
  await page.locator(".cm-line", { hasText: "employees/5-A" }).click();
  await page.keyboard.press("End");
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("heading", { name: "employees/5-A", exact: true })).toBeVisible();
});

test("a change is saved by keyboard, and a mistake has its place", async ({ page, studio }) => {
  await studio.database("Edited", { "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases/Edited/document?id=users%2F1");
  await expect(page.getByRole("button", { name: "Save" })).toBeDisabled();
  await studio.write("Document as JSON", '{"Name":"Bo",\n"Size":1.50,}');
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByRole("alert")).toContainText("Line 2, column 13");
  // What only the server refuses has its place, too, as long as the text stays what it was.
  studio.allow(/400 \(Bad/);
  await studio.write("Document as JSON", '{"Name":"Bo",\n"Size":1,\n"Size":2}');
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByRole("alert")).toHaveText("Not saved. Line 3, column 1: the property 'Size' occurs twice in one object.");
  await expect(page.locator(".cm-lintRange-error")).toHaveText('"Size"');
  await page.keyboard.press("End");
  await page.keyboard.type(" ");
  await expect(page.locator(".cm-lintRange-error")).toHaveCount(0);
  await studio.write("Document as JSON", '{"Name":"Bo","Size":1.50,"@metadata":{"@collection":"Users"}}');
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("users/1 saved")).toBeVisible();
  // The message leaves free how one leaves the editor.
  const hintBottom = await page.locator(".cm-editor[data-hint]").evaluate((editor) => {
    const { top, height } = getComputedStyle(editor, "::after");
    return editor.getBoundingClientRect().top + parseFloat(top) + parseFloat(height);
  });
  expect(hintBottom).toBeLessThan((await page.getByText("users/1 saved").boundingBox())!.y);
  await expect(page.getByRole("alert")).toHaveCount(0);
  const raw = await (await page.request.get(`${studio.url}/databases/Edited/docs?id=users/1`)).text();
  expect(raw).toContain('"Name":"Bo","Size":1.50');
  await page.getByRole("button", { name: "Format" }).click();
  await expect(text(page)).toContainText('    "Name": "Bo"');
});

test("what somebody else saved meanwhile is shown, and merged", async ({ page, studio }) => {
  const user = { "@metadata": { "@collection": "Users" } };
  await studio.database("Clash", { "users/1": { Name: "Ann", ...user } });
  await studio.open("/databases/Clash/document?id=users%2F1");
  await studio.write("Document as JSON", '{"Name":"Mine","@metadata":{"@collection":"Users"}}');
  await studio.put("Clash", "users/1", { Name: "Theirs", ...user });
  studio.allow(/409 \(Conflict\)/);
  await page.getByRole("button", { name: "Save" }).click();
  const dialog = page.getByRole("dialog", { name: "Somebody else saved it first" });
  await expect(dialog.getByRole("textbox", { name: "Stored by somebody else" })).toContainText("Theirs");
  await expect(dialog.getByRole("textbox", { name: "Your text" })).toContainText("Mine");
  await studio.isAccessible();

  // A third one saves while one looks: that is noticed as well.
  await studio.put("Clash", "users/1", { Name: "Third", ...user });
  await dialog.getByRole("button", { name: "Save the right side" }).click();
  await expect(dialog.getByRole("textbox", { name: "Stored by somebody else" })).toContainText("Third");
  expect((await studio.stored("Clash", "users/1"))!["Name"]).toBe("Third");
  await dialog.getByRole("button", { name: "Save the right side" }).click();
  await expect(dialog).toBeHidden();
  expect((await studio.stored("Clash", "users/1"))!["Name"]).toBe("Mine");
});

test("theirs can be taken, and what was deleted meanwhile saved again", async ({ page, studio }) => {
  const user = { "@metadata": { "@collection": "Users" } };
  await studio.database("Clash2", { "users/1": { Name: "Ann", ...user }, "users/2": { Name: "Bo", ...user } });
  studio.allow(/409 \(Conflict\)|404 \(Not Found\)/);
  await studio.open("/databases/Clash2/document?id=users%2F1");
  await studio.write("Document as JSON", '{"Name":"Mine"}');
  await studio.put("Clash2", "users/1", { Name: "Theirs", ...user });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Take theirs" }).click();
  await expect(text(page)).toContainText("Theirs");
  await expect(page.getByText("Not saved yet")).toBeHidden();

  await studio.open("/databases/Clash2/document?id=users%2F2");
  await expect(text(page)).toContainText("Bo");
  await studio.write("Document as JSON", '{"Name":"Again"}');
  await page.request.delete(`${studio.url}/databases/Clash2/docs?id=users/2`);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog", { name: "Somebody else deleted it" }).getByRole("button", { name: "Save it again" }).click();
  await expect(page.getByText("users/2 saved")).toBeVisible();
  expect((await studio.stored("Clash2", "users/2"))!["Name"]).toBe("Again");
});

test("a new document gets its id from the server, one that is there is not overwritten", async ({ page, studio }) => {
  await studio.database("Fresh", { "users/7": { Name: "Seven", "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases/Fresh/document?collection=Users");
  await expect(page.getByLabel("Id")).toHaveValue("users/");
  await studio.isAccessible();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: /^users\/\d+-A$/ })).toBeVisible();
  await expect(page.getByRole("complementary").getByRole("link", { name: "Users" })).toBeVisible();

  await studio.open("/databases/Fresh/document?collection=Users");
  await page.getByLabel("Id").fill("users/7");
  studio.allow(/409 \(Conflict\)/);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("dialog", { name: "There is a document with this id" })).toBeVisible();
  expect((await studio.stored("Fresh", "users/7"))!["Name"]).toBe("Seven");
});

test("a document is cloned and deleted, and a missing one says so", async ({ page, studio }) => {
  await studio.database("Cloned", { "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases/Cloned/document?id=users%2F1");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Clone" }).click();
  await expect(page.getByLabel("Id")).toHaveValue("users/");
  await page.getByLabel("Id").fill("users/copy");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: "users/copy", exact: true })).toBeVisible();
  expect((await studio.stored("Cloned", "users/copy"))!["Name"]).toBe("Ann");

  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "Users", exact: true })).toBeVisible();
  expect(await studio.stored("Cloned", "users/copy")).toBeUndefined();
  studio.allow(/404 \(Not Found\)/);
  await studio.open("/databases/Cloned/document?id=users%2Fcopy");
  await expect(page.getByText("There is no document 'users/copy'")).toBeVisible();
});

test("what is not saved is not left by accident", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/document?id=shippers%2F1-A");
  await studio.write("Document as JSON", '{"Name":"Changed"}');
  await page.getByRole("link", { name: "Databases" }).click();
  const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
  await dialog.getByRole("button", { name: "Stay" }).click();
  await expect(text(page)).toContainText("Changed");
  await page.getByRole("link", { name: "Databases" }).click();
  await dialog.getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("heading", { name: "Databases", exact: true })).toBeVisible();
});

test("what somebody else changed is said at once while one reads", async ({ page, studio }) => {
  const user = { "@metadata": { "@collection": "Users" } };
  await studio.database("Watched", { "users/1": { Name: "Ann", ...user } });
  const connecting = page.waitForEvent("websocket");
  await studio.open("/databases/Watched/document?id=users%2F1");
  await expect(text(page)).toContainText("Ann");
  const socket = await connecting;
  expect(socket.url()).toBe(`${studio.url.replace("http", "ws")}/databases/Watched/changes`);
  const telling = socket.waitForEvent("framereceived", ({ payload }) => /"DocumentChange".*"users\/1"/.test(String(payload)));
  await studio.put("Watched", "users/1", { Name: "Theirs", ...user });
  await telling;
  await studio.isAccessible();
  await page.getByRole("button", { name: "Show the change" }).click();
  await expect(text(page)).toContainText("Theirs");
  await expect(page.getByText("Somebody else changed it.")).toBeHidden();
});

test("without the socket of changes it is said all the same", async ({ page, studio }) => {
  const user = { "@metadata": { "@collection": "Users" } };
  await studio.database("Polled", { "users/1": { Name: "Ann", ...user } });
  await page.routeWebSocket("**/databases/Polled/changes", (socket) => void socket.close());
  await studio.open("/databases/Polled/document?id=users%2F1");
  await expect(text(page)).toContainText("Ann");
  await studio.put("Polled", "users/1", { Name: "Theirs", ...user });
  await page.getByRole("button", { name: "Show the change" }).click();
  await expect(text(page)).toContainText("Theirs");
});

test("a new document without an id gets one, with and without a collection", async ({ page, studio }) => {
  await studio.database("Nameless");
  await studio.open("/databases/Nameless/documents");
  await page
    .getByRole("link", { name: "New document" })
    .or(page.getByRole("button", { name: "New document" }))
    .first()
    .click();
  await expect(page.getByLabel("Id")).toHaveValue("");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: /^[0-9a-f]{8}-[0-9a-f-]{27}$/ })).toBeVisible();

  await studio.open("/databases/Nameless/document?collection=Users");
  await page.getByLabel("Id").fill("");
  await studio.write("Document as JSON", '{"Size":1.50,"@metadata":{"@collection":"Users"}}');
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: /^users\/\d+-A$/ })).toBeVisible();
  await expect(text(page)).toContainText("1.50");
});

/** Saves, and adds a property before the request goes on. */
async function saveAndType(page: Page, saving: Held) {
  await page.keyboard.press("ControlOrMeta+s");
  await saving.first;
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.type('"More":1,');
  saving.go();
}

test("what is typed while it is being saved stays, and is not saved yet", async ({ page, studio }) => {
  const user = { "@metadata": { "@collection": "Users" } };
  await studio.database("SlowSave", { "users/1": { Name: "Ann", ...user } });
  const saving = await studio.hold("**/databases/SlowSave/docs?id=*", (request) => request.method() === "PUT");
  await studio.open("/databases/SlowSave/document?id=users%2F1");
  await studio.write("Document as JSON", '{"Name":"Bo","@metadata":{"@collection":"Users"}}');
  await saveAndType(page, saving);
  await expect(page.getByText("users/1 saved")).toBeVisible();
  await expect(text(page)).toContainText('{"More":1,"Name":"Bo"');
  await expect(page.getByText("Not saved yet")).toBeVisible();
  // The first save has read what it made of the document.
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeEnabled();
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("Not saved yet")).toBeHidden();
  expect((await studio.stored("SlowSave", "users/1"))!["More"]).toBe(1);
});

test("what is typed while a new document is being saved stays too", async ({ page, studio }) => {
  await studio.database("SlowNew");
  const saving = await studio.hold("**/databases/SlowNew/docs?id=*", (request) => request.method() === "PUT");
  await studio.open("/databases/SlowNew/document?collection=Users");
  await studio.write("Document as JSON", '{"Name":"Bo","@metadata":{"@collection":"Users"}}');
  await saveAndType(page, saving);
  const id = /^users\/\d+-A$/;
  await expect(page.getByRole("heading", { name: id })).toBeVisible();
  await page.keyboard.type('"Most":2,');
  await expect(text(page)).toContainText('{"More":1,"Most":2,"Name":"Bo"');
  await expect(page.getByText("Not saved yet")).toBeVisible();
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("Not saved yet")).toBeHidden();
  const name = (await page.getByRole("heading", { name: id }).textContent())!;
  expect(await studio.stored("SlowNew", name)).toMatchObject({ More: 1, Most: 2, Name: "Bo" });
  // The next new one is another.
  await page.goBack();
  await page.goForward();
  await expect(text(page)).toContainText('"Most": 2');
  await studio.open("/databases/SlowNew/document?collection=Users");
  await expect(page.getByRole("heading", { name: "New document" })).toBeVisible();
  // It has the fields of the one that was saved, not what is in them.
  await expect(text(page)).toContainText('"Most": 0');
});

test("a document is shown as it is stored, with all of its metadata", async ({ page, studio }) => {
  await studio.database("AsStored");
  const data = '{"Price":34.8000,"@metadata":{"@collection":"Users"}}';
  await page.request.put(`${studio.url}/databases/AsStored/docs?id=users/1`, { data });
  await studio.open("/databases/AsStored/document?id=users%2F1");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Raw, as stored" }).click();
  const dialog = page.getByRole("dialog", { name: "users/1 as stored" });
  const shown = dialog.getByRole("textbox", { name: "The stored document" });
  await expect(shown).toContainText(/^{ *"Price": 34.8000, *"@metadata": {.*"@change-vector": "A:1-.*"@id": "users\/1"/);
  await studio.isAccessible();
  const downloading = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download" }).click();
  const file = await downloading;
  expect(file.suggestedFilename()).toBe("users-1.json");
  expect(readFileSync(await file.path(), "utf8")).toContain('"Price": 34.8000');
});

test("somebody who saves right behind us is not overwritten", async ({ page, studio }) => {
  const user = { "@metadata": { "@collection": "Users" } };
  await studio.database("Quick", { "users/1": { Name: "Ann", ...user } });
  await page.routeWebSocket("**/databases/Quick/changes", () => {});
  await page.route("**/databases/Quick/docs?id=*", async (route) => {
    if (route.request().method() !== "PUT") return route.continue();
    const answer = await route.fetch();
    await studio.put("Quick", "users/1", { Name: "Theirs", ...user });
    await route.fulfill({ response: answer });
    await page.unroute("**/databases/Quick/docs?id=*");
  });
  await studio.open("/databases/Quick/document?id=users%2F1");
  await studio.write("Document as JSON", '{"Name":"Ours","@metadata":{"@collection":"Users"}}');
  await page.keyboard.press("ControlOrMeta+s");
  await expect(page.getByText("Somebody else changed it.")).toBeVisible();
  await expect(text(page)).toContainText("Ours");
  await studio.write("Document as JSON", '{"Name":"Ours again","@metadata":{"@collection":"Users"}}');
  studio.allow(/409 \(Conflict\)/);
  await page.keyboard.press("ControlOrMeta+s");
  const dialog = page.getByRole("dialog", { name: "Somebody else saved it first" });
  await expect(dialog).toBeVisible();
  expect((await studio.stored("Quick", "users/1"))!["Name"]).toBe("Theirs");

  // What is merged survives a click beside the dialog, and going back to the editor.
  const mine = dialog.getByRole("textbox", { name: "Your text" });
  await mine.click();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.type('"Merged":1,');
  await page.mouse.click(5, 400);
  await expect(mine).toContainText('"Merged":1');
  await dialog.getByRole("button", { name: "Back to the editor" }).click();
  await expect(text(page)).toContainText('{"Merged":1,"Name":"Ours again"');
});

test("what somebody else changed is not deleted unseen", async ({ page, studio }) => {
  const user = { "@metadata": { "@collection": "Users" } };
  await studio.database("Unseen", { "users/1": { Name: "Ann", ...user } });
  await page.routeWebSocket("**/databases/Unseen/changes", () => {});
  await studio.open("/databases/Unseen/document?id=users%2F1");
  await expect(text(page)).toContainText("Ann");
  await studio.put("Unseen", "users/1", { Name: "Theirs", ...user });
  studio.allow(/409 \(Conflict\)/);
  const remove = async () => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  };
  await remove();
  await expect(page.getByText("Somebody else changed it.")).toBeVisible();
  expect((await studio.stored("Unseen", "users/1"))!["Name"]).toBe("Theirs");
  await page.getByRole("button", { name: "Show the change" }).click();
  await expect(text(page)).toContainText("Theirs");
  await remove();
  await expect(page.getByRole("heading", { name: "Nothing here yet", exact: true })).toBeVisible();
  expect(await studio.stored("Unseen", "users/1")).toBeUndefined();
});

test("a long line of any depth is continued below its own beginning", async ({ page, studio }) => {
  let deep: unknown = "word ".repeat(100).trim();
  for (let depth = 0; depth < 11; depth++) deep = { In: deep };
  await studio.database("Deep", { "users/1": { ...(deep as object), "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases/Deep/document?id=users%2F1");
  const line = page.locator(".cm-line", { hasText: "word word" });
  const [name, lefts] = await line.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const rects = [...range.getClientRects()];
    const name = [...element.querySelectorAll("span")].find((span) => span.textContent === '"In"')!.getBoundingClientRect();
    return [name.left, rects.filter((rect) => rect.top > name.bottom).map((rect) => rect.left)] as const;
  });
  expect(lefts.length).toBeGreaterThan(3);
  for (const left of lefts) expect(Math.abs(left - name)).toBeLessThan(2);
});

test("a document that somebody deleted can be put back as it is, and ids have no blanks at their ends", async ({
  page,
  studio,
}) => {
  await studio.database("PutBack", { "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases/PutBack/document?id=users/1");
  await expect(page.getByRole("textbox", { name: "Document as JSON" })).toContainText("Ann");
  await page.request.delete(`${studio.url}/databases/PutBack/docs?id=users/1`);
  await expect(page.getByText("Somebody else deleted it.")).toBeVisible();
  studio.allow(/409 \(Conflict|404 \(Not Found/);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog", { name: "Somebody else deleted it" }).getByRole("button", { name: "Save it again" }).click();
  await expect(page.getByText("users/1 saved")).toBeVisible();
  expect(await studio.stored("PutBack", "users/1")).toMatchObject({ Name: "Ann" });
  await studio.open("/databases/PutBack/document");
  await page.getByRole("textbox", { name: "Id" }).fill(" users/7 ");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("heading", { name: "users/7", exact: true })).toBeVisible();
  expect(await studio.stored("PutBack", "users/7")).toBeDefined();
});

test("a new document has the fields of its collection", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/document?collection=Products");
  const text = page.getByRole("textbox", { name: "Document as JSON" });
  await expect(text).toContainText('"PricePerUnit": 0');
  await expect(text).toContainText('"Name": ""');
  await expect(text).toContainText('"@collection": "Products"');
  await expect(page.getByRole("textbox", { name: "Id" })).toHaveValue("products/");
});

test("messages do not lie over the panel that searches", async ({ page, studio }) => {
  await studio.database("Searched", { "notes/1": { Text: "x" } });
  await studio.open("/databases/Searched/document?id=notes%2F1");
  const text = page.getByRole("textbox", { name: "Document as JSON" });
  await text.click();
  await page.keyboard.press("ControlOrMeta+f");
  const panel = page.locator(".cm-panel.cm-search");
  await expect(panel).toBeVisible();
  await studio.write("Document as JSON", '{ "Text": "y" }');
  await page.keyboard.press("ControlOrMeta+s");
  const toast = page.getByText("notes/1 saved");
  await expect(toast).toBeVisible();
  const [above, below] = [(await panel.boundingBox())!, (await toast.boundingBox())!];
  expect(above.y + above.height).toBeLessThan(below.y);
});
