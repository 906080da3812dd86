// What surrounds the screens: navigation by keyboard alone, the palette, light and dark, a server that is gone; and the files.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { created, serve, stopped } from "./server";
import { expect, test } from "./studio";

test("everything is reached by keyboard", async ({ page, studio }) => {
  // One walk through most screens.
  test.slow();
  await studio.open("/databases");
  await expect(page.getByRole("heading", { name: "Databases", exact: true })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+k");
  const field = page.getByRole("combobox", { name: "Jump to" });
  await expect(field).toBeFocused();
  await studio.isAccessible();
  await page.keyboard.type("Northw");
  await expect(page.getByRole("option", { selected: true })).toContainText("Northwind");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "All documents", exact: true })).toBeVisible();
  // Whoever listens is told where they are.
  await expect(page.getByRole("heading", { name: "All documents", exact: true })).toBeFocused();
  await expect(page).toHaveTitle("All documents · Northwind · Rookery");

  await page.keyboard.press("ControlOrMeta+k");
  await expect(field).toBeFocused();
  await page.keyboard.type("orders/82");
  await expect(page.getByRole("option", { name: /orders\/82-A/ })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "orders/82-A", exact: true })).toBeVisible();

  // By what is inside of an id, where none begins so.
  await page.keyboard.press("ControlOrMeta+k");
  await expect(field).toBeFocused();
  await page.keyboard.type("ERS/83-");
  await expect(page.getByRole("option")).toHaveText([/^orders\/83-A/]);
  await page.keyboard.press("Escape");

  await page.keyboard.press("ControlOrMeta+k");
  await expect(field).toBeFocused();
  await page.keyboard.type("products");
  await expect(page.getByRole("option", { selected: true })).toContainText("Products");
  await page.keyboard.press("Enter");
  const grid = page.getByRole("grid", { name: "Products" });
  await expect(grid).toBeVisible();
  for (let presses = 0; presses < 60; presses++) {
    if (await grid.evaluate((box) => box === document.activeElement)) break;
    await page.keyboard.press("Tab");
  }
  await expect(grid).toBeFocused();
  await page.keyboard.press("End");
  await expect(page.getByRole("link", { name: "products/77-A" })).toBeVisible();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "products/76-A", exact: true })).toBeVisible();
  // From within the editor too.
  await page.getByRole("textbox", { name: "Document as JSON" }).focus();
  await page.keyboard.press("ControlOrMeta+k");
  await expect(field).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(field).toBeHidden();
});

test("light and dark are chosen and kept", async ({ page, studio }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await studio.open("/databases");
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
  await expect(page.getByRole("link", { name: "Northwind", exact: true })).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "Switch to light" }).click();
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "light");
  await expect(page.getByRole("button", { name: "Switch to dark" })).toBeVisible();
});

test("the first program of each client has this server and database", async ({ page, studio }) => {
  await studio.open("/about");
  await page.getByText("Python", { exact: true }).click();
  await expect(page.getByText(`DocumentStore("${studio.url}", "`)).toBeVisible();
  await studio.isAccessible();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy: First program with Python" }).click();
  await expect(page.getByText("Copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("with store.open_session() as session:");
  // As over plain HTTP from another machine.
  await page.evaluate(() => Reflect.deleteProperty(Navigator.prototype, "clipboard"));
  await page.getByRole("button", { name: "Copy: First program with Python" }).click();
  await expect(page.getByText("Not copied: Browsers let pages copy over HTTPS only.")).toBeVisible();
});

test("a server that is gone, or fails, is said", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Orders");
  await expect(page.getByRole("link", { name: "orders/1-A", exact: true })).toBeVisible();
  studio.allow(/Failed to load resource/);
  await page.route("**/admin/live*", (route) => route.abort());
  await page.route("**/databases/Northwind/**", (route) =>
    route.fulfill({ status: 500, json: { Type: "System.IO.IOException", Message: "The disk is gone" } }),
  );
  await expect(page.getByText("The server does not answer")).toBeVisible();
  await page.setViewportSize({ width: 400, height: 800 });
  await expect(page.getByText("The server does not answer")).toBeVisible();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(page.getByText("– req/s")).toBeVisible();
  // Nothing is green while nothing is known.
  const dot = page.getByRole("button", { name: "Database Northwind, choose another" }).locator("span").first();
  await expect(dot).not.toHaveCSS("background-color", "rgb(47, 163, 107)");
  await page
    .getByRole("navigation", { name: "Collections" })
    .getByRole("link", { name: /^Products/ })
    .click();
  await expect(page.getByRole("alert")).toContainText("The disk is gone");
  await studio.isAccessible();
  await page.unroute("**/databases/Northwind/**");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("link", { name: "products/1-A", exact: true })).toBeVisible();
});

test("a shortcut is named only where there may be a keyboard", async ({ page, studio, browser }) => {
  await studio.open("/databases");
  await expect(page.getByText(/^(Ctrl K|⌘K)$/)).toBeVisible();
  const touched = await browser.newPage({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });
  await touched.goto(`${studio.url}/studio/index.html#/databases`);
  await touched.getByRole("button", { name: "Open navigation" }).tap();
  await expect(touched.getByRole("dialog", { name: "Navigation" }).getByText("Jump to…")).toBeVisible();
  await expect(touched.getByText(/^(Ctrl K|⌘K)$/)).toBeHidden();
  await touched.close();
});

test("on a narrow screen everything is there", async ({ page, studio }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await studio.open("/databases/Northwind/documents?collection=Orders");
  await expect(page.getByRole("link", { name: "orders/1-A", exact: true })).toBeVisible();
  const isTooWide = () => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(await isTooWide()).toBe(false);
  await studio.isAccessible();
  await page.getByRole("button", { name: "Open navigation" }).click();
  await page.getByRole("link", { name: "Get started" }).click();
  await expect(page.getByRole("heading", { name: "Connect an application", exact: true })).toBeVisible();
  expect(await isTooWide()).toBe(false);
});

test("something is drawn before scripts are there", async ({ page, studio }) => {
  const { go } = await studio.hold("**/assets/*.js");
  const opened = studio.open("/databases");
  await expect(page.getByText("Loading…")).toBeVisible();
  const background = () => page.locator(".wait").evaluate((box) => getComputedStyle(box).backgroundColor);
  expect(await background()).toBe("rgb(255, 255, 255)");
  const html = await (await page.request.get(`${studio.url}/studio/index.html`)).text();
  const skeleton = /<style>[^]*<\/style>/.exec(html)![0] + /<div id="root">[^]*<\/div>/.exec(html)![0];
  expect(skeleton.length).toBeLessThan(1024);
  go();
  await opened;
  await expect(page.getByRole("link", { name: "Northwind", exact: true })).toBeVisible();
  await expect(page.getByText("Loading…")).toHaveCount(0);
});

test("a click is answered before the screen's file has come", async ({ page, studio }) => {
  await studio.open("/databases");
  await expect(page.getByRole("link", { name: "Northwind", exact: true })).toBeVisible();
  const { go } = await studio.hold("**/assets/*");
  await page.getByRole("link", { name: "Get started" }).click();
  await expect(page.getByText("Loading the screen…")).toBeVisible();
  go();
  await expect(page.getByRole("heading", { name: "Connect an application", exact: true })).toBeVisible();
});

test("the palette leads to a database where none was opened yet", async ({ page, studio }) => {
  await studio.open("/databases");
  await expect(page.getByRole("link", { name: "Northwind", exact: true })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("orders/12-A");
  await expect(page.getByText("No database is open yet: choose one first")).toBeVisible();
  await studio.isAccessible("dialog");
  await page.getByRole("combobox", { name: "Jump to" }).fill("query");
  await page
    .getByRole("option", { name: /^Query/ })
    .first()
    .click();
  await expect(page.getByRole("textbox", { name: "Query in RQL" })).toBeVisible();
});

test("files are kept by the browser, small enough, and nothing else is allowed", async ({ page, studio }) => {
  const sizes: Promise<{ responseBodySize: number }>[] = [];
  page.on("requestfinished", (request) => {
    if (/\/studio\//.test(request.url())) sizes.push(request.sizes());
  });
  await studio.open("/databases");
  await expect(page.getByRole("link", { name: "Northwind", exact: true })).toBeVisible();
  const size = (await Promise.all(sizes)).reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
  expect(size).toBeGreaterThan(100_000);
  expect(size).toBeLessThan(400 * 1024);

  const index = await page.request.get(`${studio.url}/studio/index.html`);
  const headers = index.headers();
  expect(headers["content-security-policy"]).toContain("script-src 'self';");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["cache-control"]).toBe("no-cache");
  const script = /src="\.\/(assets\/[^"]+)"/.exec(await index.text())![1];
  const asset = await page.request.get(`${studio.url}/studio/${script}`);
  expect(asset.headers()["cache-control"]).toContain("immutable");
  expect(asset.headers()["content-type"]).toContain("javascript");
  const again = await page.request.get(`${studio.url}/studio/${script}`, {
    headers: { "If-None-Match": asset.headers()["etag"]! },
  });
  expect(again.status()).toBe(304);
  expect((await page.request.get(`${studio.url}/`, { maxRedirects: 0 })).headers()["location"]).toBe("/studio/index.html");
  expect((await page.request.get(`${studio.url}/studio/nothing.js`)).status()).toBe(404);
});

test("each screen can be read in light and dark, and fits on a narrow one", async ({ page, studio }) => {
  // Each screen is read by axe twice.
  test.slow();
  const screens: [string, string | RegExp][] = [
    ["/databases/Northwind/document?id=orders%2F1-A", "Related documents"],
    [`/databases/Northwind/query?q=${encodeURIComponent("from Orders where Freight > 500")}`, /results in/],
    ["/databases/Northwind/indexes", /index/],
    ["/databases/Northwind/compare-exchange", "No compare-exchange values"],
    ["/databases/Northwind/subscriptions", "No subscriptions"],
    ["/databases/Northwind/revisions", "No deleted documents with revisions"],
    ["/databases/Northwind/feed", "No changes yet"],
    ["/databases/Northwind/statistics", "What takes the space"],
    ["/server?tab=settings", "Limits.Connections"],
    ["/server", "the server is ready"],
    ["/about", "Connect an application"],
    ["/help?page=docs%2Frql", "from Orders"],
  ];
  for (const [place, text] of screens) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await studio.open(place);
    await expect(page.getByRole("main").getByText(text).first()).toBeVisible();
    for (const colorScheme of ["light", "dark"] as const) {
      // Without motion colours change at once.
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", colorScheme);
      await studio.isAccessible();
    }
    await page.setViewportSize({ width: 400, height: 800 });
    await expect(page.getByRole("button", { name: "Open navigation" })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), place).toBe(0);
  }
});

test("dialogs can be read in the dark", async ({ page, studio }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await studio.open("/databases");
  await page.getByRole("button", { name: "New database" }).click();
  await expect(page.getByRole("dialog", { name: "New database" })).toBeVisible();
  await studio.isAccessible("dialog");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Actions for Northwind" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await expect(page.getByRole("dialog", { name: "Delete 'Northwind'?" })).toBeVisible();
  await studio.isAccessible("dialog");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("ControlOrMeta+k");
  await expect(page.getByRole("option").first()).toBeVisible();
  await studio.isAccessible("dialog");
});

test("a database that is disabled or deleted elsewhere is said, and what was typed stays", async ({ page, studio }) => {
  await studio.database("Fleeting", { "notes/1": { Text: "before" } });
  await studio.open("/databases/Fleeting/document?id=notes%2F1");
  studio.allow(/Failed to load resource|WebSocket connection/);
  const text = page.getByRole("textbox", { name: "Document as JSON" });
  await text.click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText('{ "Text": "typed" }');
  const admin = `${studio.url}/admin/databases`;
  expect((await page.request.post(`${admin}/disable`, { data: { DatabaseNames: ["Fleeting"] } })).ok()).toBe(true);
  await expect(page.getByRole("heading", { name: "'Fleeting' is disabled" })).toBeVisible();
  await expect(text).toBeHidden();
  await studio.isAccessible();
  await page.getByRole("button", { name: "Enable" }).click();
  await expect(text).toContainText("typed");
  expect((await page.request.delete(admin, { data: { DatabaseNames: ["Fleeting"], HardDelete: true } })).ok()).toBe(true);
  await expect(page.getByRole("heading", { name: "There is no database 'Fleeting'" })).toBeVisible();
  // It is gone, what was typed is not.
  await expect(page.getByRole("textbox", { name: "What you changed in this document is not saved" })).toHaveValue(
    '{ "Text": "typed" }',
  );
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy the text" }).click();
  await expect(page.getByText("The text was copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('{ "Text": "typed" }');
  await studio.isAccessible();
  await page.getByRole("link", { name: "Go to the databases" }).click();
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  await question.getByRole("button", { name: "Stay" }).click();
  await page.getByRole("link", { name: "Go to the databases" }).click();
  await question.getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("heading", { name: "Databases", exact: true })).toBeVisible();
});

test("a server that is killed and comes back is noticed, and what was typed is saved then", async ({ page, studio }) => {
  const folder = mkdtempSync(join(tmpdir(), "rookery-studio-killed-"));
  let { url, server } = await serve(folder);
  try {
    studio.url = url;
    studio.allow(/Failed to load resource|WebSocket connection/);
    await created(url, "Killed");
    await studio.put("Killed", "notes/1", { Text: "before" });
    await studio.open("/databases/Killed/document?id=notes%2F1");
    const text = page.getByRole("textbox", { name: "Document as JSON" });
    await expect(text).toContainText("before");
    await stopped(server, "SIGKILL");
    await expect(page.getByText("The server does not answer")).toBeVisible();
    await text.click();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type('{ "Text": "typed meanwhile" ');
    await page.keyboard.press("ControlOrMeta+s");
    await expect(page.getByRole("alert")).toContainText("The server cannot be reached");
    ({ server } = await serve(folder, url));
    await expect(page.getByText("The server does not answer")).toBeHidden();
    await text.press("ControlOrMeta+s");
    await expect(page.getByText("notes/1 saved")).toBeVisible();
    expect(await studio.stored("Killed", "notes/1")).toMatchObject({ Text: "typed meanwhile" });
  } finally {
    await stopped(server);
    rmSync(folder, { recursive: true, force: true });
  }
});

test("rows and results come back by themselves with the server", async ({ page, studio }) => {
  const folder = mkdtempSync(join(tmpdir(), "rookery-studio-back-"));
  let { url, server } = await serve(folder);
  try {
    studio.url = url;
    studio.allow(/Failed to load resource|WebSocket connection/);
    await created(url, "Back");
    const commands = Array.from({ length: 600 }, (_, at) => ({
      Id: `notes/${at}`,
      Type: "PUT",
      Document: { Text: `number ${at}`, "@metadata": { "@collection": "Notes" } },
    }));
    await page.request.post(`${url}/databases/Back/bulk_docs`, { data: { Commands: commands } });
    await studio.open("/databases/Back/documents?collection=Notes");
    const grid = page.getByRole("grid");
    await expect(grid.getByRole("link").first()).toBeVisible();
    await stopped(server, "SIGKILL");
    await grid.evaluate((box) => box.scrollTo({ top: 12_000 }));
    await expect(grid.getByText(/^Could not be read/).first()).toBeVisible();
    ({ server } = await serve(folder, url));
    await expect(grid.getByText(/^Could not be read/)).toHaveCount(0);
    await expect(grid.getByRole("link").first()).toBeVisible();

    await studio.open("/databases/Back/query?q=from Notes");
    await expect(page.getByText(/^600 results in/)).toBeVisible();
    await stopped(server, "SIGKILL");
    await page.getByRole("button", { name: "Run" }).click();
    await expect(page.getByRole("alert")).toContainText("The server cannot be reached");
    ({ server } = await serve(folder, url));
    await expect(page.getByText(/^600 results in/)).toBeVisible();
    await expect(page.getByRole("alert")).toHaveCount(0);
  } finally {
    await stopped(server);
    rmSync(folder, { recursive: true, force: true });
  }
});
