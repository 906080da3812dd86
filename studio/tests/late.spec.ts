// Answers that come late: one has gone elsewhere, or typed on.
import { expect, test } from "./studio";

const USER = { Name: "Ann", "@metadata": { "@collection": "Users" } };

test("a document that is saved when one has left takes nobody back", async ({ page, studio }) => {
  await studio.database("Left", { "users/1": USER });
  await studio.open("/databases/Left/document?cloneOf=users/1");
  await expect(page.getByRole("textbox", { name: "Document as JSON" })).toContainText("Ann");
  const put = await studio.hold("**/databases/Left/docs/size*");
  await page.getByRole("button", { name: "Save" }).click();
  await put.first;
  await page.getByRole("navigation", { name: "Database Left" }).getByRole("link", { name: "Documents" }).click();
  await expect(page.getByRole("heading", { name: "All documents" })).toBeVisible();
  const size = page.waitForResponse("**/databases/Left/docs/size*");
  put.go();
  await size;
  await expect(page.getByRole("grid")).toHaveAttribute("aria-rowcount", "3");
  await expect(page).toHaveURL(/\/databases\/Left\/documents$/);
});

test("a database that is made when one has gone elsewhere is told of, not gone to", async ({ page, studio }) => {
  await studio.open("/databases");
  await page.getByRole("button", { name: "New database" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("MadeLate");
  const made = await studio.hold("**/admin/databases?name=MadeLate*");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await made.first;
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Get started" }).click();
  await expect(page.getByRole("heading", { name: "Connect an application", exact: true })).toBeVisible();
  made.go();
  await expect(page.getByText("'MadeLate' was created")).toBeVisible();
  await expect(page).toHaveURL(/#\/about/);
});

test("chosen documents are deleted to the last, whichever screen is open", async ({ page, studio }) => {
  await studio.database("Onward");
  const commands = Array.from({ length: 1200 }, (_, at) => ({ Id: `users/${at}`, Type: "PUT", Document: USER }));
  await page.request.post(`${studio.url}/databases/Onward/bulk_docs`, { data: { Commands: commands } });
  await studio.open("/databases/Onward/documents?collection=Users");
  await page.getByRole("checkbox", { name: "Choose all" }).click();
  await page.getByRole("button", { name: "Delete 1,200" }).click();
  const second = await studio.hold("**/databases/Onward/bulk_docs", (_, count) => count === 2);
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await second.first;
  await page.getByRole("button", { name: "Continue in the background" }).click();
  await page.getByRole("link", { name: "Get started" }).click();
  await expect(page.getByRole("heading", { name: "Connect an application", exact: true })).toBeVisible();
  // What is gone is chosen no more.
  await page.goBack();
  await expect(page.getByRole("button", { name: "Delete 700" })).toBeVisible();
  await page.goForward();
  await expect(page.getByRole("heading", { name: "Connect an application", exact: true })).toBeVisible();
  second.go();
  await expect(page.getByText("1,200 documents deleted")).toBeVisible();
  expect(await studio.stored("Onward", "users/1199")).toBeUndefined();
});

test("what is typed while it is read again stays", async ({ page, studio }) => {
  await studio.database("Typing", { "users/1": USER });
  await studio.open("/databases/Typing/document?id=users/1");
  const text = page.getByRole("textbox", { name: "Document as JSON" });
  await expect(text).toContainText("Ann");
  await studio.put("Typing", "users/1", { ...USER, Name: "Bo" });
  await expect(page.getByText("Somebody else changed it.")).toBeVisible();
  const read = await studio.hold("**/databases/Typing/docs/size*");
  await page.getByRole("button", { name: "Show the change" }).click();
  await read.first;
  await text.click();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.insertText(" ");
  const size = page.waitForResponse("**/databases/Typing/docs/size*");
  read.go();
  await size;
  await expect(page.getByText("When you save, both texts are shown.")).toBeVisible();
  await expect(text).toContainText("Ann");
});

test("a changed query is sent once, and not the one before it again", async ({ page, studio }) => {
  const sent: string[] = [];
  page.on("request", (request) => {
    const body = request.postData() ?? "";
    // Completion asks for documents too.
    if (request.url().endsWith("/databases/Northwind/queries") && body.includes("Freight")) sent.push(body);
  });
  await studio.open(`/databases/Northwind/query?q=${encodeURIComponent("from Orders where Freight > 800")}`);
  await expect(page.getByText(/^4 results in/)).toBeVisible();
  await page.getByRole("textbox", { name: "Query in RQL" }).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText("from Orders where Freight > 8000");
  sent.length = 0;
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^0 results in/)).toBeVisible();
  expect(sent.filter((body) => !body.includes("Freight > 8000"))).toEqual([]);
  expect(sent).toHaveLength(1);
  // The same once more is run anew.
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect.poll(() => sent.length).toBe(2);
});

test("a question whose action runs is not closed, and its end closes no other", async ({ page, studio }) => {
  await studio.database("Asked");
  await studio.open("/databases");
  const card = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Asked", exact: true }) });
  await card.getByRole("button", { name: "Actions for Asked" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete 'Asked'?" });
  await dialog.getByRole("textbox").fill("Asked");
  const deleting = await studio.hold("**/admin/databases", (request) => request.method() === "DELETE");
  await dialog.getByRole("button", { name: "Delete database" }).click();
  await deleting.first;
  await page.keyboard.press("Escape");
  await expect(dialog.getByRole("button", { name: "Close" })).toBeDisabled();
  await page.mouse.click(5, 5);
  await expect(dialog).toBeVisible();
  deleting.go();
  await expect(dialog).toBeHidden();
  await expect(card).toHaveCount(0);
});

test("a database has one name, in whatever case an address has it", async ({ page, studio }) => {
  await studio.open("/databases/northWIND/documents?collection=Orders");
  await expect(page).toHaveURL(/#\/databases\/Northwind\/documents\?collection=Orders$/);
  await expect(page.getByRole("grid").getByRole("link", { name: "orders/1-A", exact: true })).toBeVisible();
});

test("what was left unsaved is not offered again", async ({ page, studio }) => {
  await studio.database("Discarded", { "users/1": USER });
  const text = page.getByRole("textbox", { name: "Document as JSON" });
  await studio.open("/databases/Discarded/document?id=users/1");
  await text.click();
  await page.keyboard.press("ControlOrMeta+Home");
  await page.keyboard.insertText(" ");
  await page.getByRole("navigation", { name: "Database Discarded" }).getByRole("link", { name: "Documents" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("grid")).toBeVisible();
  await page.request.post(`${studio.url}/admin/databases/disable`, { data: { DatabaseNames: ["Discarded"] } });
  await expect(page.getByRole("heading", { name: "'Discarded' is disabled" })).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(/id=users/);
  await expect(page.getByRole("heading", { name: "'Discarded' is disabled" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Unsaved changes" })).toHaveCount(0);
});
