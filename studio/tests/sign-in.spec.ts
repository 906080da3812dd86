// Signing in to the studio over HTTPS, by API key and by certificate, what each user sees, and signing out.
import type { Page } from "@playwright/test";
import { Secured } from "./secured";
import { expect, Studio, test } from "./studio";

let secured: Secured;

test.use({ ignoreHTTPSErrors: true });
test.describe.configure({ mode: "serial" });

test.beforeAll(async () => {
  secured = await Secured.start();
  await secured.database("Shop");
  await secured.database("Books");
});

test.afterAll(() => secured.stop());

test.beforeEach(({ studio }) => {
  studio.url = secured.url;
  // The browser's note of the refusal by which the studio learns that somebody has to sign in.
  studio.allow(/status of 40[13]/);
});

async function signIn(studio: Studio, key: string) {
  await studio.page.getByRole("textbox", { name: "API key" }).fill(key);
  await studio.page.getByRole("button", { name: "Sign in" }).click();
}

test("an operator signs in by a key, works, and signs out", async ({ page, studio }) => {
  const key = await secured.key("ann", "Operator");
  await studio.open("/databases/Shop/documents");
  await expect(page.getByRole("heading", { name: "Sign in", exact: true })).toBeVisible();
  await expect(page.getByText("This server requires a client certificate or an API key")).toBeVisible();
  await expect(page.getByRole("heading", { name: "With a certificate" })).toBeVisible();
  await studio.isAccessible();

  await expect(page.getByRole("textbox", { name: "API key" })).toBeFocused();
  await page.keyboard.type("rookery_wrong");
  await page.keyboard.press("Enter");
  await expect(page.getByText("This server does not know the API key")).toBeVisible();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(key);
  await page.keyboard.press("Enter");

  // Where it was meant to go.
  await expect(page.getByRole("heading", { name: "Nothing here yet" })).toBeVisible();
  await expect(page.getByRole("group", { name: "Signed in as" })).toContainText("annOperator, by API key");
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: "Strict", path: "/" });
  expect(cookie!.value).not.toContain(key);
  expect(await page.evaluate(() => document.cookie)).toBe("");

  await page.getByRole("link", { name: "Databases" }).click();
  await page.getByRole("button", { name: "New database" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("Made");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByText("'Made' was created")).toBeVisible();
  await studio.isAccessible();

  await page.reload();
  await expect(page.getByRole("group", { name: "Signed in as" })).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("heading", { name: "Sign in", exact: true })).toBeVisible();
  expect(await page.context().cookies()).toEqual([]);
});

test("a user sees the databases that were granted, and not what operators do", async ({ page, studio }) => {
  const key = await secured.key("bob", "ValidUser", { Shop: "Read" });
  await secured.admin.put("/databases/Shop/docs?id=items/1", { data: { Name: "Pen" } });
  await studio.open("/databases");
  await signIn(studio, key);
  await expect(page.getByRole("link", { name: "Shop", exact: true })).toBeVisible();
  await expect(page.getByText("Books")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "New database" })).toHaveCount(0);
  for (const name of ["Server", "Access"]) await expect(page.getByRole("link", { name, exact: true })).toHaveCount(0);
  await expect(page.getByText("The server does not answer")).toHaveCount(0);
  await page.getByRole("button", { name: "Actions for Shop" }).click();
  await expect(page.getByRole("menuitem", { name: "Export", exact: true })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Delete…" })).toHaveCount(0);
  await page.keyboard.press("Escape");

  const refused: string[] = [];
  page.on("response", (response) => response.status() === 403 && refused.push(response.url()));
  await page.getByRole("link", { name: "Shop", exact: true }).click();
  await expect(page.getByRole("gridcell", { name: "items/1", exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Statistics" }).click();
  await expect(page.getByRole("heading", { name: "Numbers" })).toBeVisible();
  await expect(page.getByText("Memory, whole server")).toHaveCount(0);
  expect(refused).toEqual([]);
});

const WRITING =
  /^(New (document|index|task)|Save$|Delete|Patch|Import|Clone|Format|Reset|Disable|Enable|Pause|Stop|Load sample|Test on|Clear|Create|Back up|Run )/;

/** What a screen offers to do, with what is in its menu. */
async function offered(page: Page): Promise<string[]> {
  await expect(page.getByText(/^Loading .*…$/).filter({ visible: true })).toHaveCount(0);
  const main = page.getByRole("main");
  const buttons = await main.getByRole("button").allInnerTexts();
  const labels = await main.getByRole("button").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? ""));
  const menu = main.getByRole("button", { name: "More actions" });
  if ((await menu.count()) === 0) return [...buttons, ...labels];
  await menu.click();
  await expect(page.getByRole("menuitem").first()).toBeVisible();
  const items = await page.getByRole("menuitem").allInnerTexts();
  await page.keyboard.press("Escape");
  // It fades away.
  await expect(page.getByRole("menuitem")).toHaveCount(0);
  return [...buttons, ...labels, ...items];
}

test("a user who may only read is offered nothing that writes", async ({ page, studio }) => {
  test.slow();
  await secured.database("Reading");
  await secured.admin.put("/databases/Reading/docs?id=items/1", { data: { Name: "Pen", "@metadata": { "@collection": "Items" } } });
  const Indexes = [{ Name: "Items/ByName", Maps: ["from item in docs.Items select new { item.Name }"] }];
  expect((await secured.admin.put("/databases/Reading/admin/indexes", { data: { Indexes } })).status()).toBe(201);
  const Operations = [{ Type: "Increment", CounterName: "Likes", Delta: 3 }];
  await secured.admin.post("/databases/Reading/counters", { data: { Documents: [{ DocumentId: "items/1", Operations }] } });
  await secured.admin.put("/databases/Reading/attachments?id=items/1&name=notes.txt", { data: "a text" });
  await secured.admin.put("/databases/Reading/cmpxchg?key=lock&index=0", { data: { Object: "worker-1" } });
  await secured.admin.put("/databases/Reading/subscriptions", { data: { Name: "pens", Query: "from Items" } });
  await studio.open("/databases");
  await signIn(studio, await secured.key("reader", "ValidUser", { Reading: "Read" }));
  await page.getByRole("button", { name: "Actions for Reading" }).click();
  await expect(page.getByRole("menuitem", { name: "Export", exact: true })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: /^Import/ })).toHaveCount(0);
  await page.keyboard.press("Escape");

  const refused: string[] = [];
  page.on("response", (response) => response.status() === 403 && refused.push(response.url()));
  const badge = page.getByRole("main").getByText("Read only", { exact: false }).first();
  for (const [place, ready] of [
    ["documents?collection=Items", "items/1"],
    ["document?id=items%2F1", "Likes"],
    ["query?q=from%20Items", "1 result"],
    ["indexes", "Items/ByName"],
    ["index?name=Items%2FByName", "Definition"],
    ["index?name=Items%2FByName&tab=errors", "No errors recorded"],
    ["advice", "Index advice"],
    ["compare-exchange", "worker-1"],
    ["compare-exchange?key=lock", "You may read this database, but not change it."],
    ["subscriptions", "pens"],
    ["revisions", "No deleted documents with revisions"],
    ["statistics", "Numbers"],
    ["operations", "No operations"],
    ["lifetimes", "Only administrators of this database can change this."],
    ["backups", "No backups are made by the clock"],
  ] as const) {
    await studio.open(`/databases/Reading/${place}`);
    await expect(page.getByText(new RegExp(ready)).filter({ visible: true }).first()).toBeVisible();
    await expect(badge).toBeVisible();
    expect(
      (await offered(page)).filter((text) => WRITING.test(text)),
      place,
    ).toEqual([]);
    await studio.isAccessible();
  }
  // What is shown of it cannot be changed.
  await studio.open("/databases/Reading/lifetimes");
  await expect(page.getByRole("switch").first()).toBeDisabled();
  await studio.open("/databases/Reading/compare-exchange?key=lock");
  await expect(page.getByRole("dialog").getByLabel("Expires")).toBeDisabled();
  await expect(page.getByRole("dialog").getByRole("button", { name: "Save" })).toHaveCount(0);
  await studio.open("/databases/Reading/subscriptions");
  await page.getByRole("button", { name: "Actions for pens" }).click();
  await expect(page.getByRole("menuitem")).toHaveText(["What comes next…"]);
  await page.keyboard.press("Escape");
  await studio.open("/databases/Reading/feed");
  await expect(page.getByRole("main").getByText("Live", { exact: true })).toBeVisible();
  await studio.open("/databases/Reading/document?id=items%2F1");
  await page.getByRole("button", { name: "More actions" }).click();
  await expect(page.getByRole("menuitem")).toHaveText(["Revisions", "Raw, as stored"]);
  await page.keyboard.press("Escape");
  const files = page.getByRole("region", { name: "Attachments" });
  await expect(files.getByRole("button", { name: "Attach files" })).toHaveCount(0);
  await files.getByRole("button", { name: "Actions for the attachment notes.txt" }).click();
  await expect(page.getByRole("menuitem")).toHaveText(["Download"]);
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Document as JSON" }).click();
  await page.keyboard.type("changed");
  await expect(page.getByRole("textbox", { name: "Document as JSON" })).not.toContainText("changed");
  // An address leads nowhere else.
  for (const place of ["document", "document?cloneOf=items%2F1", "index"]) {
    await studio.open(`/databases/Reading/${place}`);
    await expect(page.getByRole("heading", { name: "You cannot do this" })).toBeVisible();
  }
  await studio.isAccessible();
  await studio.open("/databases/Reading/query");
  await studio.write("Query in RQL", "from Items update { this.Name = 'x' }");
  const patch = page.getByRole("button", { name: "Patch…" });
  await expect(patch).toHaveAttribute("aria-disabled", "true");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("alert")).toContainText("You may read this database, but not change it.");
  expect(refused).toEqual([]);
});

test("a user who may write, but not administer, writes documents and leaves the rest", async ({ page, studio }) => {
  await secured.database("Writing");
  await studio.open("/databases/Writing/documents");
  await signIn(studio, await secured.key("writer", "ValidUser", { Writing: "ReadWrite" }));
  await expect(page.getByRole("button", { name: "New document" })).toBeVisible();
  await expect(page.getByText("Read only")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Load sample data" })).toHaveCount(0);
  await page.getByRole("button", { name: "New document" }).click();
  await page.getByRole("textbox", { name: "Id" }).fill("items/1");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("items/1 saved")).toBeVisible();
  // It is read again before the screen is that of the document.
  await expect(page.getByRole("heading", { level: 1, name: "items/1" })).toBeVisible();
  await page.getByRole("link", { name: "Indexes" }).click();
  await expect(page.getByRole("heading", { name: "No indexes yet" })).toBeVisible();
  await expect(page.getByRole("button", { name: "New index" })).toHaveCount(0);
  await page.getByRole("link", { name: "Lifetimes" }).click();
  await expect(page.getByText("Only administrators of this database can change this.")).toBeVisible();
});

test("what was typed is still there after a session has ended", async ({ page, studio }) => {
  const key = await secured.key("eve", "Operator");
  await studio.open("/databases/Shop/document");
  await signIn(studio, key);
  const editor = page.getByRole("textbox", { name: "Document as JSON" });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText('{"Kept": true}');
  expect((await secured.admin.delete("/admin/api-keys?name=eve")).status()).toBe(204);
  await expect(page.getByText("The session in the studio is over")).toBeVisible();
  await expect(editor).toBeHidden();
  await signIn(studio, await secured.key("eve", "Operator"));
  await expect(editor).toContainText('{"Kept": true}');

  // Another one finds nothing of it.
  expect((await secured.admin.delete("/admin/api-keys?name=eve")).status()).toBe(204);
  await signIn(studio, await secured.key("zoe", "Operator"));
  await expect(page.getByRole("group", { name: "Signed in as" })).toContainText("zoe");
  await expect(editor).toBeVisible();
  await expect(editor).not.toContainText("Kept");
});

test("a page of another port cannot use the session", async ({ page, studio }) => {
  const key = await secured.key("kim", "Operator");
  await studio.open("/databases");
  await signIn(studio, key);
  await expect(page.getByRole("group", { name: "Signed in as" })).toBeVisible();
  const other = await Secured.start();
  try {
    // The page of another program on the same host: its requests have the cookies of the host.
    await page.goto(`${other.url}/build/version`);
    studio.allow(/ERR_BLOCKED_BY_RESPONSE|response code: 403|left the server/);
    studio.url = other.url;
    const outcome = await page.evaluate(async (url) => {
      const body = JSON.stringify({ Name: "stolen", SecurityClearance: "Operator" });
      await fetch(`${url}/admin/api-keys`, { method: "POST", mode: "no-cors", credentials: "include", body }).catch(
        () => undefined,
      );
      const socket = new WebSocket(`${url.replace("https", "wss")}/databases/Shop/changes`);
      return new Promise((resolve) => {
        socket.onopen = () => resolve("open");
        socket.onerror = () => resolve("refused");
      });
    }, secured.url);
    expect(outcome).toBe("refused");
    const keys = await (await secured.admin.get("/admin/api-keys?name=stolen")).json();
    expect(keys).toEqual({ Results: [] });
  } finally {
    await other.stop();
  }
});

test.describe("with a certificate", () => {
  test("the studio shows who it is, and no sign-out", async ({ browser }) => {
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      clientCertificates: [{ origin: secured.url, pfx: secured.adminPfx }],
    });
    const page = await context.newPage();
    await page.goto(`${secured.url}/studio/index.html#/databases`);
    await expect(page.getByRole("group", { name: "Signed in as" })).toContainText("Cluster admin, by certificate");
    await expect(page.getByRole("button", { name: "Sign out" })).toHaveCount(0);
    await expect(page.getByRole("link", { name: "Shop", exact: true })).toBeVisible();
    await context.close();
  });
});

test("on a narrow screen one signs in, too", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  await studio.open("/databases");
  await expect(page.getByRole("button", { name: "Sign in" })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await studio.isAccessible();
});
