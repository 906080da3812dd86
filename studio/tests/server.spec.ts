// The server itself: log, slow requests, settings.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { created, serve, stopped } from "./server";
import { expect, test } from "./studio";

test("the log is filtered by level and text, and the address keeps the filter", async ({ page, studio }) => {
  await studio.open("/databases");
  await page.getByRole("link", { name: "Server", exact: true }).click();
  const lines = page.getByRole("table", { name: /Lines of the log/ });
  await expect(lines.getByRole("row", { name: /Info the server is ready/ })).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("textbox", { name: "Filter the log by text" }).fill("SERVER is ready");
  await expect(lines.getByRole("row")).toHaveCount(1);
  await page.getByText("Error", { exact: true }).click();
  await expect(page.getByText(/No line matches/)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/No line matches/)).toBeVisible();
  await page.getByText("All", { exact: true }).click();
  await expect(lines.getByRole("row")).toHaveCount(1);
});

test("settings are told with where they came from", async ({ page, studio }) => {
  await studio.open("/server?tab=settings");
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  await expect(row("ServerUrl").getByText("http://127.0.0.1:0")).toBeVisible();
  await expect(row("ServerUrl").getByText("the flag")).toBeVisible();
  await expect(row("Limits.Connections")).toContainText("10000");
  await expect(row("Limits.Connections")).toContainText("default");
  await studio.isAccessible();
  await page.getByRole("switch", { name: "Only what was set" }).check();
  await expect(row("Limits.Connections")).toBeHidden();
  await expect(row("DataDir")).toBeVisible();
  await page.getByRole("textbox", { name: "Filter settings" }).fill("no such setting");
  await expect(page.getByText("No setting matches.")).toBeVisible();
});

test("slow requests of all databases are listed", async ({ page, studio }) => {
  const folder = mkdtempSync(join(tmpdir(), "rookery-studio-slow-"));
  const { url, server } = await serve(folder, undefined, ["--Limits.SlowRequestInMs=1"]);
  try {
    studio.url = url;
    await created(url, "Slow");
    await page.request.post(`${url}/databases/Slow/studio/sample-data`);
    // It waits for an index that is made for it.
    const Query = "from Orders where Freight > 800";
    await page.request.post(`${url}/databases/Slow/queries`, { data: { Query, WaitForNonStaleResults: true } });
    await studio.open("/server?tab=slow");
    const row = page.getByRole("row").filter({ hasText: Query });
    await expect(row.getByRole("cell", { name: "Slow", exact: true })).toBeVisible();
    await studio.isAccessible();
    await row.getByRole("link", { name: Query }).click();
    await expect(page.getByRole("textbox", { name: "Query in RQL" })).toHaveText(Query);
  } finally {
    // So that it asks nothing of a server that is gone.
    await page.goto("about:blank");
    await stopped(server);
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a query that runs is listed with its time, and is ended", async ({ page, studio }) => {
  const folder = mkdtempSync(join(tmpdir(), "rookery-studio-running-"));
  const { url, server } = await serve(folder, undefined, ["--Patching.MaxStepsForScript=2000000000"]);
  try {
    studio.url = url;
    await created(url, "Busy");
    // Some milliseconds for each of 5,000 documents: most of a minute, unless somebody ends it.
    const Document = { "@metadata": { "@collection": "Users" } };
    const Commands = Array.from({ length: 5000 }, (_, number) => ({ Id: `users/${number}`, Type: "PUT", Document }));
    expect((await page.request.post(`${url}/databases/Busy/bulk_docs`, { data: { Commands } })).status()).toBe(201);
    await studio.open("/server?tab=running");
    await expect(page.getByText("No query runs")).toBeVisible();
    const Query = "declare function f() { for (let i = 0; i < 200000; i++) { } return 1; } from Users as u select { a: f() }";
    const asking = page.request.post(`${url}/databases/Busy/queries`, { data: { Query } });
    const row = page.getByRole("table", { name: "Running queries" }).getByRole("row").filter({ hasText: Query });
    await expect(row.getByRole("cell", { name: "Busy", exact: true })).toBeVisible();
    await studio.isAccessible();
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await page.setViewportSize({ width: 390, height: 800 });
    await studio.isAccessible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await row.getByRole("button", { name: "End…" }).press("Enter");
    await page.getByRole("dialog", { name: "End this query?" }).getByRole("button", { name: "End" }).click();
    const answer = await asking;
    expect(answer.status()).toBe(500);
    expect(await answer.text()).toContain("The query was ended by an operator");
    await expect(page.getByText("No query runs")).toBeVisible();
  } finally {
    await page.goto("about:blank");
    await stopped(server);
    rmSync(folder, { recursive: true, force: true });
  }
});

test("levels that are not logged are not offered", async ({ page, studio }) => {
  await studio.open("/server?tab=log&level=Debug");
  const levels = page.getByRole("radiogroup", { name: "Minimum level" });
  await expect(levels.getByText("Warn")).toBeVisible();
  await expect(levels.getByText("Debug")).toHaveCount(0);
  await expect(levels.getByRole("radio", { name: "All" })).toBeChecked();
});

test("what the server refuses is said on each part", async ({ page, studio }) => {
  studio.allow(/Failed to load resource/);
  for (const [pattern, tab, text] of [
    ["**/admin/logs/recent*", "log", "The log cannot be read"],
    ["**/admin/running-queries", "running", "The running queries cannot be read"],
    ["**/admin/slow-requests*", "slow", "The slow requests cannot be read"],
    ["**/admin/configuration/settings", "settings", "The settings cannot be read"],
  ] as const) {
    await page.route(pattern, (route) => route.fulfill({ status: 500, json: { Type: "X", Message: "No" } }));
    await studio.open(`/server?tab=${tab}`);
    // Other parts may have read the settings already.
    await page.reload();
    await expect(page.getByRole("alert")).toContainText(text);
  }
  await page.unroute("**/admin/configuration/settings");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("rowheader", { name: "ServerUrl", exact: true })).toBeVisible();
});
