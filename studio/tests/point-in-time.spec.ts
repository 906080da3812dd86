// Archives: a task with them, how far they reach, what stops them, and going back to a second or a transaction.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { card, choose, fact, task, test, USERS } from "./backups";
import { expect, type Studio } from "./studio";

// Not that of the server's machine.
const TIME_ZONE = "America/New_York";
test.use({ timezoneId: TIME_ZONE });
// An archive is written every five seconds.
test.slow();

type Archive = { LastTransaction: number; LastTime: string; IsBehind: boolean; Error: string | null };

async function archiveOf(studio: Studio, database: string, taskId: number): Promise<Archive | null> {
  const answer = await studio.page.request.get(`${studio.url}/periodic-backup/status?name=${database}&taskId=${taskId}`);
  return ((await answer.json()) as { Archive: Archive | null }).Archive;
}

/** Waits until a transaction behind that one is archived, and nothing waits. */
async function archivedAfter(studio: Studio, database: string, taskId: number, transaction: number): Promise<Archive> {
  let archive: Archive | null = null;
  const isArchived = async () => {
    archive = await archiveOf(studio, database, taskId);
    return archive !== null && !archive.IsBehind && archive.LastTransaction > transaction;
  };
  await expect.poll(isArchived).toBe(true);
  return archive!;
}

/** A time as the field of a form has it, and as people read it. */
function inTimeZone(ms: number): string {
  const options = { timeZone: TIME_ZONE, dateStyle: "short", timeStyle: "medium" } as const;
  return new Intl.DateTimeFormat("sv-SE", options).format(ms);
}

const restored = (page: Page) => page.getByRole("status").filter({ hasText: /is restored|can be restored/ });

test("a second of an archive becomes a new database", async ({ page, studio, folder }) => {
  await studio.database("Seconds", USERS);
  await studio.open("/databases/Seconds/backups");
  await page.getByRole("button", { name: "New task" }).click();
  const dialog = page.getByRole("dialog", { name: "New backup task" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("archive");
  await dialog.getByRole("textbox", { name: "Folder" }).fill(folder);
  const anySecond = dialog.getByRole("switch", { name: "Restore to any second" });
  await expect(anySecond).toHaveCount(0);
  await dialog.getByRole("combobox", { name: "Kind" }).selectOption({ label: "Snapshot: an image of the storage, with indexes" });
  await anySecond.focus();
  await page.keyboard.press("Space");
  await expect(anySecond).toBeChecked();
  await studio.isAccessible("dialog");
  await dialog.getByRole("button", { name: "Save" }).click();

  const archive = card(page, "archive");
  for (const badge of ["Snapshots", "Any second"]) await expect(archive.getByText(badge, { exact: true })).toBeVisible();
  const reach = fact(archive, "Restores to");
  await expect(reach).toContainText("any second up to now, last change");
  const record = await (await page.request.get(`${studio.url}/databases/Seconds/admin/record`)).json();
  const [{ TaskId: id, ...made }] = record.PeriodicBackups;
  expect(made).toMatchObject({ BackupType: "Snapshot", PointInTime: true });
  await studio.isAccessible();

  const first = (await archiveOf(studio, "Seconds", id))!;
  await studio.put("Seconds", "users/3", { Name: "Cyd", "@metadata": { "@collection": "Users" } });
  const second = await archivedAfter(studio, "Seconds", id, first.LastTransaction);
  // The next second begins before they are deleted.
  const before = Math.ceil(Date.parse(second.LastTime) / 1000) * 1000;
  await expect.poll(() => Date.now()).toBeGreaterThan(before);
  // In one transaction, so that no archive ends between them.
  const Commands = ["users/1", "users/2", "users/3"].map((Id) => ({ Id, Type: "DELETE" }));
  const deleted = await page.request.post(`${studio.url}/databases/Seconds/bulk_docs`, { data: { Commands } });
  expect(deleted.status()).toBe(201);
  const last = await archivedAfter(studio, "Seconds", id, second.LastTransaction);

  await choose(page, "archive", "Verify or restore…");
  const archives = page.getByRole("region", { name: "Archives" });
  await expect(archives.getByRole("row")).toHaveCount(2);
  await expect(archives.getByRole("radio")).toBeChecked();
  await expect(archives.getByRole("cell", { name: "Seconds" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Backups" }).getByRole("row")).toHaveCount(2);
  const time = page.getByLabel("Time", { exact: true });
  const restore = page.getByRole("button", { name: "Restore", exact: true });
  await time.fill("2020-01-01T00:00:00");
  await expect(page.getByText(/^The archive begins at \d{4}-/)).toBeVisible();
  await expect(restore).toBeDisabled();
  await time.fill("2120-01-01T00:00:00");
  await expect(page.getByText(/^The archive ends at \d{4}-/)).toBeVisible();
  await time.fill(inTimeZone(before).replace(" ", "T"));
  await expect(page.getByText(`${new Date(before).toISOString().slice(0, 19).replace("T", " ")} UTC`)).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("textbox", { name: "Name of the new database" }).fill("SecondsBefore");
  await restore.click();
  await expect(restored(page)).toContainText("The database SecondsBefore is restored, with 3 documents.");
  await expect(restored(page)).toContainText(`The state is that of ${inTimeZone(Date.parse(second.LastTime))}, transaction `);
  expect((await studio.stored("SecondsBefore", "users/3"))!["Name"]).toBe("Cyd");

  await page.getByText("The last state", { exact: true }).click();
  await page.getByRole("button", { name: "Only verify" }).click();
  await expect(restored(page)).toContainText("The backup can be restored: it has 0 documents.");
  await page.getByText("A transaction", { exact: true }).click();
  const transaction = page.getByRole("textbox", { name: "Transaction" });
  await expect(transaction).toHaveValue(String(last.LastTransaction));
  await transaction.fill("0");
  await expect(page.getByText(/^A number from \d+ to \d+$/)).toBeVisible();
  await transaction.fill(String(first.LastTransaction));
  await studio.isAccessible();
  await page.getByRole("button", { name: "Only verify" }).click();
  await expect(restored(page)).toContainText("The backup can be restored: it has 2 documents.");
});

test("an archive that stops is told, and a dump has none", async ({ page, studio, folder }) => {
  await studio.database("ArchiveStops", USERS);
  const place = join(folder, "archive");
  const configuration = { Name: "stops", BackupType: "Snapshot", PointInTime: true, LocalSettings: { FolderPath: place } };
  const id = await task(studio, "ArchiveStops", configuration);
  const { LastTransaction } = await archivedAfter(studio, "ArchiveStops", id, 0);
  rmSync(place, { recursive: true });
  writeFileSync(place, "no folder");
  await studio.put("ArchiveStops", "users/3", { Name: "Cyd" });
  await studio.open("/databases/ArchiveStops/backups");
  const stops = card(page, "stops");
  await expect(stops.getByText("Archive stopped", { exact: true })).toBeVisible();
  await expect(stops).toContainText(/The archive stopped at \d{4}-.* ago\. .+/);
  await expect(stops).toContainText("A restore does not reach what was written since.");
  expect((await archiveOf(studio, "ArchiveStops", id))!.LastTransaction).toBe(LastTransaction);
  await studio.isAccessible();

  // Only snapshots are archived.
  await choose(page, "stops", "Change…");
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("switch", { name: "Restore to any second" })).toBeChecked();
  await dialog.getByRole("combobox", { name: "Kind" }).selectOption({ label: "Dump: the documents as JSON" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toBeHidden();
  await expect(stops.getByText("Archive stopped", { exact: true })).toHaveCount(0);
  await expect(fact(stops, "Restores to")).toHaveCount(0);
  expect(await archiveOf(studio, "ArchiveStops", id)).toBeNull();
});

test("archives fit a narrow and a wide screen, light and dark", async ({ page, studio, folder }) => {
  await studio.database("Archiving", USERS);
  const place = join(folder, "a-folder-with-a-name-that-is-longer-than-a-telephone-is-wide");
  const configuration = { Name: "fits", BackupType: "Snapshot", PointInTime: true, LocalSettings: { FolderPath: place } };
  await archivedAfter(studio, "Archiving", await task(studio, "Archiving", configuration), 0);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [width, height] of [
      [390, 844],
      [1920, 1080],
    ] as const) {
      await page.setViewportSize({ width, height });
      const fits = async (what: string) => {
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what} at ${width}`).toBe(true);
        await studio.isAccessible();
      };
      await studio.open("/databases/Archiving/backups");
      await expect(fact(card(page, "fits"), "Restores to")).toContainText("any second");
      await fits("a task");
      await choose(page, "fits", "Change…");
      await expect(page.getByRole("switch", { name: "Restore to any second" })).toBeVisible();
      await studio.isAccessible("dialog");
      await page.getByRole("button", { name: "Cancel" }).click();
      await expect(page.getByRole("dialog")).toBeHidden();
      await studio.open(`/restore?folder=${encodeURIComponent(place)}`);
      await expect(page.getByLabel("Time", { exact: true })).toBeVisible();
      await fits("a time");
      await page.getByText("A transaction", { exact: true }).click();
      await expect(page.getByRole("textbox", { name: "Transaction" })).toBeVisible();
      await fits("a transaction");
    }
  }
});
