// The bell: what somebody should look at, on a server of its own whose troubles are known.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { created, serve, stopped } from "./server";
import { expect, test as plain, type Studio } from "./studio";

type Own = { folder: string; restart: (meanwhile?: () => void) => Promise<void> };

const test = plain.extend<{ own: Own }>({
  own: async ({ studio }, use) => {
    const folder = mkdtempSync(join(tmpdir(), "rookery-notices-"));
    let { url, server } = await serve(folder);
    studio.url = url;
    await use({
      folder,
      restart: async (meanwhile) => {
        await stopped(server);
        meanwhile?.();
        ({ server } = await serve(folder, url));
      },
    });
    // It would ask a server that is gone.
    await studio.page.close();
    await stopped(server);
    rmSync(folder, { recursive: true, force: true });
  },
});

const users = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    Id: `users/${from + at}`,
    Type: "PUT",
    Document: { Part: 0, "@metadata": { "@collection": "Users" } },
  }));

async function write(studio: Studio, database: string, commands: object[]) {
  const answer = await studio.page.request.post(`${studio.url}/databases/${database}/bulk_docs`, { data: { Commands: commands } });
  expect(answer.status()).toBe(201);
}

/** The disk is that of a test, not that of the machine. */
async function withDisk(studio: Studio, disk: { DiskInBytes: number; FreeDiskInBytes: number }) {
  await studio.page.route("**/admin/live*", async (route) => {
    const answer = await route.fetch().catch(() => undefined);
    // The page or the server has gone meanwhile.
    if (!answer) return route.abort().catch(() => undefined);
    await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), ...disk } }).catch(() => undefined);
  });
}

const ROOMY = { DiskInBytes: 1000 * 1024 ** 3, FreeDiskInBytes: 500 * 1024 ** 3 };
const DIVIDED = { Name: "Users/Divided", Maps: ["from user in docs.Users select new { Part = 1 / user.Part }"] };

test("errors of an index are shown, dismissed, and come back when there are many more", async ({ page, studio, own: _ }) => {
  await withDisk(studio, ROOMY);
  await created(studio.url, "Shop");
  await studio.open("/databases");
  const bell = page.getByRole("button", { name: /^Notices/ });
  await expect(bell).toHaveAccessibleName("Notices: none");
  await bell.click();
  await expect(page.getByText("No notices. Failed indexes")).toBeVisible();
  await page.keyboard.press("Escape");
  await studio.index("Shop", DIVIDED);
  await write(studio, "Shop", users(0, 4));
  const text = "The index 'Users/Divided' of 'Shop' has 4 errors. Queries do not find the documents that it could not index.";
  // It is announced while the page is open.
  await expect(page.getByRole("status", { name: "New notices" })).toHaveText(`New notice: ${text}`);
  await expect(bell).toHaveAccessibleName("Notices: 1");
  await bell.click();
  const list = page.getByRole("dialog", { name: "Notices" });
  await expect(list.getByRole("listitem")).toContainText([text]);
  await studio.isAccessible();
  await list.getByRole("button", { name: `Dismiss: ${text}` }).click();
  await expect(list).toContainText("No new notices.");
  await expect(bell).toHaveAccessibleName("Notices: none");
  await page.reload();
  await expect(page.getByRole("link", { name: "Shop", exact: true })).toBeVisible();
  await bell.click();
  await expect(list).toContainText("1 notice dismissed");
  await page.keyboard.press("Escape");
  await write(studio, "Shop", users(4, 4));
  await expect(bell).toHaveAccessibleName("Notices: 1");
  await bell.click();
  await list.getByRole("link", { name: "Errors of the index" }).click();
  await expect(page.getByRole("heading", { name: "Users/Divided" })).toBeVisible();
  await expect(list).toBeHidden();
});

test("a failed index is shown by keyboard on a narrow dark screen", async ({ page, studio, own: _ }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  await withDisk(studio, ROOMY);
  await created(studio.url, "Shop");
  await studio.index("Shop", DIVIDED);
  await write(studio, "Shop", users(0, 200));
  await studio.open("/databases");
  const bell = page.getByRole("button", { name: /^Notices/ });
  await expect(bell).toHaveAccessibleName("Notices: 1");
  await bell.focus();
  await page.keyboard.press("Enter");
  const list = page.getByRole("dialog", { name: "Notices" });
  await expect(list).toContainText("The index 'Users/Divided' of 'Shop' failed. Queries that use it are refused.");
  await expect(list.getByRole("time")).toHaveText(/ago|just now/);
  const box = (await list.boundingBox())!;
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(390);
  await studio.isAccessible();
  await page.keyboard.press("Escape");
  await expect(list).toBeHidden();
  await expect(bell).toBeFocused();
  await page.keyboard.press("Enter");
  // The focus comes into the list a moment after it opened.
  await expect(list.locator("[data-autofocus]")).toBeFocused();
  await page.keyboard.press("Tab");
  await expect(list.getByRole("link", { name: "Errors of the index" })).toBeFocused();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(list).toContainText("No new notices.");
  await list.getByRole("button", { name: "Show again" }).click();
  await expect(list.getByRole("listitem")).toHaveCount(1);
});

test("a database that cannot be opened is shown with the reason and the log", async ({ page, studio, own }) => {
  await withDisk(studio, ROOMY);
  await created(studio.url, "Damaged");
  await own.restart(() => writeFileSync(join(own.folder, "data/databases/damaged/data"), "x".repeat(20_000)));
  expect((await page.request.get(`${studio.url}/databases/Damaged/stats`)).status()).toBe(500);
  await studio.open("/databases");
  await page.getByRole("button", { name: "Notices: 1" }).click();
  const list = page.getByRole("dialog", { name: "Notices" });
  await expect(list).toContainText(/The database 'Damaged' cannot be opened: .* is damaged/);
  await list.getByRole("link", { name: "Log" }).click();
  await expect(page).toHaveURL(/#\/server\?level=Error&text=Damaged/);
  await expect(page.getByText(/a database cannot be opened/).first()).toBeVisible();
});

test("a disk that is nearly full and errors of the log are shown, and all are dismissed at once", async ({
  page,
  studio,
  own: _,
}) => {
  await withDisk(studio, { DiskInBytes: 100 * 1024 ** 3, FreeDiskInBytes: 4 * 1024 ** 3 });
  await page.route("**/admin/logs/recent*", async (route) => {
    const answer = await route.fetch();
    const { Results } = (await answer.json()) as { Results: object[] };
    const line = { Number: 9, At: new Date().toISOString(), Level: "Error", Message: "a socket broke" };
    await route.fulfill({ response: answer, json: { Results: [line, ...Results] } });
  });
  await created(studio.url, "Shop");
  await page.request.get(`${studio.url}/databases/Shop/stats`);
  await studio.open("/databases");
  const bell = page.getByRole("button", { name: /^Notices/ });
  await expect(bell).toHaveAccessibleName("Notices: 2");
  await bell.click();
  const list = page.getByRole("dialog", { name: "Notices" });
  await expect(list.getByRole("listitem")).toContainText([
    "The disk of the databases is nearly full: 4 GB of 100 GB (4 %) are free.",
    "The log has an error: a socket broke",
  ]);
  await expect(list.getByRole("link", { name: "What takes the space of 'Shop'" })).toBeVisible();
  await list.getByRole("button", { name: "Dismiss all" }).click();
  await expect(bell).toHaveAccessibleName("Notices: none");
});

test("a hidden page does not read the log", async ({ page, studio, own: _ }) => {
  await page.clock.install();
  let askedCount = 0;
  page.on("request", (request) => request.url().includes("/admin/logs/recent") && askedCount++);
  await studio.open("/databases");
  await expect(page.getByRole("heading", { name: "No databases yet" })).toBeVisible();
  await expect.poll(() => askedCount).toBe(1);
  const seen = (state: "hidden" | "visible") =>
    page.evaluate((shown) => {
      Object.defineProperty(document, "visibilityState", { value: shown, configurable: true });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    }, state);
  // The page counts its half minute from the answer, which the test cannot see being taken up: it lets time pass until then.
  await expect
    .poll(async () => {
      await page.clock.runFor(31_000);
      return askedCount;
    })
    .toBeGreaterThanOrEqual(2);
  await seen("hidden");
  const count = askedCount;
  await page.clock.runFor(120_000);
  expect(askedCount).toBe(count);
  await seen("visible");
  await expect.poll(() => askedCount).toBe(count + 1);
});
