// Backups: tasks that make them, one by hand, what fails, and restoring into a new database.
import { join } from "node:path";
import { card, choose, fact, task, test, USERS } from "./backups";
import { created, serve, stopped } from "./server";
import { expect } from "./studio";

test("a task is made, run, and its backup becomes a new database", async ({ page, studio, folder }) => {
  await studio.database("Kept", USERS);
  await studio.open("/databases/Kept/backups");
  await expect(page.getByRole("heading", { name: "No backups are made by the clock" })).toBeVisible();
  await studio.isAccessible();

  await page.getByRole("button", { name: "New task" }).click();
  const dialog = page.getByRole("dialog", { name: "New backup task" });
  const save = dialog.getByRole("button", { name: "Save" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("nightly");
  await expect(save).toBeDisabled();
  await dialog.getByRole("textbox", { name: "Folder" }).fill(folder);
  const full = dialog.getByRole("group", { name: "Full backup" });
  await expect(full.getByText("every day at 02:00 UTC")).toBeVisible();
  await full.getByRole("combobox").selectOption({ label: "Every Sunday" });
  await expect(full.getByText("every Sunday at 02:00 UTC")).toBeVisible();
  await full.getByRole("textbox").fill("zork");
  await expect(full.getByRole("combobox")).toHaveValue("own");
  await studio.isAccessible("dialog");
  studio.allow(/400 \(Bad Request\)/);
  await save.click();
  await expect(dialog.getByRole("alert")).toContainText("'zork', which is no cron expression");
  await full.getByRole("textbox").fill("30 1 * * *");
  await dialog.getByRole("textbox", { name: "Days that backups are kept" }).fill("0");
  await expect(save).toBeDisabled();
  await dialog.getByRole("textbox", { name: "Days that backups are kept" }).fill("7");
  await save.click();
  await expect(dialog).toBeHidden();

  const nightly = card(page, "nightly");
  await expect(fact(nightly, "Full")).toContainText("every day at 01:30 UTC");
  await expect(fact(nightly, "Incremental")).toContainText("every hour, on the hour");
  await expect(fact(nightly, "Kept")).toContainText("7 days");
  await expect(fact(nightly, "To")).toContainText(folder);
  await expect(fact(nightly, "Last full backup")).toContainText("none yet");
  await expect(fact(nightly, "Next backup")).toContainText(/^Next backup\d{4}-\d\d-\d\d (\d\d:00|01:30):00, full in \d/);
  await expect(nightly.getByRole("button", { name: "Run incremental" })).toBeDisabled();
  await nightly.getByRole("button", { name: "Run full" }).click();
  await expect(page.getByText("'nightly': the backup is complete, 2 documents")).toBeVisible();
  await expect(fact(nightly, "Last full backup")).toContainText(/just now|\d s ago/);
  await studio.put("Kept", "users/3", { Name: "Cyd", "@metadata": { "@collection": "Users" } });
  await nightly.getByRole("button", { name: "Run incremental" }).click();
  await expect(page.getByText("'nightly': the backup is complete, 1 document", { exact: true })).toBeVisible();
  await studio.isAccessible();

  await choose(page, "nightly", "Verify or restore…");
  const points = page.getByRole("region", { name: "Backups" }).getByRole("row");
  await expect(points).toHaveCount(3);
  const incremental = points.filter({ hasText: /Kept\s*incremental.* in 2 files/ });
  await incremental.getByRole("radio").check();
  await studio.isAccessible();
  await page.getByRole("button", { name: "Only verify" }).click();
  await expect(page.getByText("The backup can be restored: it has 3 documents.")).toBeVisible();
  // The name of before is taken.
  const name = page.getByRole("textbox", { name: "Name of the new database" });
  await expect(name).toHaveValue("Kept-restored");
  await points
    .filter({ hasText: /Kept\s*full.* in 1 file/ })
    .getByRole("radio")
    .check();
  await name.fill("kept");
  await expect(page.getByRole("button", { name: "Restore", exact: true })).toBeDisabled();
  await name.fill("Kept again");
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("Kept again");
  await name.fill("Kept2");
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await expect(page.getByText("The database Kept2 is restored, with 2 documents.")).toBeVisible();
  // What was begun is in the address.
  await page.reload();
  await page.getByRole("link", { name: "Kept2" }).click();
  await expect(page.getByText("users/2", { exact: true })).toBeVisible();
  expect((await studio.stored("Kept2", "users/1"))!["Name"]).toBe("Ann");
  expect(await studio.stored("Kept2", "users/3")).toBeUndefined();

  // The copy does not write into the folder of the original.
  await studio.open("/databases/Kept2/backups");
  await expect(card(page, "nightly").getByText("Disabled", { exact: true })).toBeVisible();
});

test("a folder that cannot be written is told in full", async ({ page, studio, folder }) => {
  await studio.database("Unkept", USERS);
  await task(studio, "Unkept", { Name: "wrong", LocalSettings: { FolderPath: "/proc/nowhere" } });
  await studio.open("/databases/Unkept/backups");
  const wrong = card(page, "wrong");
  await wrong.getByRole("button", { name: "Run full" }).click();
  await expect(wrong.getByText("Failed", { exact: true })).toBeVisible();
  await expect(wrong).toContainText("create '/proc/nowhere/");
  await expect(wrong).toContainText(/may write to the folder.*The server tries again at \d{4}-/);
  await studio.isAccessible();

  await choose(page, "wrong", "Change…");
  await page.getByRole("dialog").getByRole("textbox", { name: "Folder" }).fill(folder);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(fact(wrong, "To")).toContainText(folder);
  await wrong.getByRole("button", { name: "Run full" }).click();
  await expect(page.getByText("'wrong': the backup is complete, 2 documents")).toBeVisible();
  await expect(wrong.getByText("Enabled", { exact: true })).toBeVisible();
  await expect(wrong).not.toContainText("/proc/nowhere");

  await page.getByRole("button", { name: "Back up now…" }).click();
  const once = page.getByRole("dialog", { name: "Back up 'Unkept' now" });
  await once.getByRole("textbox", { name: "Folder" }).fill("/proc/nowhere");
  await once.getByRole("button", { name: "Back up" }).click();
  await expect(once.getByRole("alert")).toContainText("The backup was not made: create '");
  studio.allow(/400 \(Bad Request\)/);
  await once.getByRole("textbox", { name: "Folder" }).fill("../elsewhere");
  await once.getByRole("button", { name: "Back up" }).click();
  await expect(once.getByRole("alert")).toContainText("must not have '..' in it");
  await once.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("link", { name: "Databases" }).click();
  await page.getByRole("link", { name: "Restore a backup" }).click();
  await page.getByRole("textbox", { name: "Folder of the backups" }).fill("/proc/nowhere");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("Backup location doesn't exist, path: /proc/nowhere");
});

test("a backup with a key is restored with it alone", async ({ page, studio, folder }) => {
  await studio.database("Sealed", USERS);
  await studio.open("/databases/Sealed/backups");
  await page.getByRole("button", { name: "Back up now…" }).click();
  const once = page.getByRole("dialog", { name: "Back up 'Sealed' now" });
  await once.getByRole("textbox", { name: "Folder" }).fill(folder);
  await once.getByRole("combobox", { name: "Encryption" }).selectOption({ label: "With a new key" });
  const key = await once.getByRole("textbox", { name: "Key" }).inputValue();
  expect(Buffer.from(key, "base64")).toHaveLength(32);
  await expect(once.getByText("Whoever loses the key loses the backups.")).toBeVisible();
  await studio.isAccessible("dialog");
  const saved = page.waitForEvent("download");
  await once.getByRole("button", { name: "Download" }).click();
  expect((await saved).suggestedFilename()).toBe("Sealed.key");
  await expect(once.getByRole("button", { name: "Back up" })).toBeDisabled();
  await once.getByRole("checkbox", { name: "I have stored the key" }).check();
  await once.getByRole("button", { name: "Back up" }).click();
  await expect(once.getByText("The backup is complete: 2 documents")).toBeVisible();
  await once.getByRole("link", { name: "Verify or restore it" }).click();

  await expect(page.getByRole("region", { name: "Backups" })).toContainText("full, encrypted");
  const verify = page.getByRole("button", { name: "Only verify" });
  await expect(verify).toBeDisabled();
  const field = page.getByRole("textbox", { name: "Key" });
  await field.fill("short");
  await field.blur();
  await expect(page.getByText("This is not a key: it must be 32 bytes in base64")).toBeVisible();
  await field.fill(Buffer.alloc(32, 7).toString("base64"));
  await verify.click();
  await expect(page.getByRole("alert")).toContainText("The backup cannot be restored.");
  await field.fill(key);
  await verify.click();
  await expect(page.getByText("The backup can be restored: it has 2 documents.")).toBeVisible();
});

test("a task is delayed, disabled, ended and deleted, by keyboard too", async ({ page, studio, folder }) => {
  await studio.database("SlowBackup");
  const Commands = Array.from({ length: 40 }, (_, at) => ({ Id: `users/${at}`, Type: "PUT", Document: { At: at } }));
  await page.request.post(`${studio.url}/databases/SlowBackup/bulk_docs`, { data: { Commands } });
  // At one document a second it takes far longer than ending it does.
  await task(studio, "SlowBackup", { Name: "slow", MaxReadOpsPerSecond: 1, LocalSettings: { FolderPath: folder } });
  await studio.open("/databases/SlowBackup/backups");
  const slow = card(page, "slow");
  await slow.getByRole("button", { name: "Run full" }).press("Enter");
  await expect(slow.getByText("Running", { exact: true })).toBeVisible();
  await expect(slow.getByText(/^Full backup/)).toBeVisible();
  await expect(slow.getByRole("button", { name: "Run full" })).toBeDisabled();
  await studio.isAccessible();
  await slow.getByRole("button", { name: "End" }).press("Enter");
  await expect(page.getByText("'slow': the backup was ended before it was complete")).toBeVisible();

  await page.getByRole("button", { name: "Actions for slow" }).press("Enter");
  const menu = page.getByRole("menu");
  await expect(menu).toBeVisible();
  for (const item of ["Change…", "Disable", "Delay…"]) {
    await page.keyboard.press("ArrowDown");
    await expect(menu.getByRole("menuitem", { name: item })).toBeFocused();
  }
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("combobox", { name: "No backup for" }).selectOption({ label: "7 days" });
  await page.getByRole("dialog").getByRole("button", { name: "Delay" }).press("Enter");
  await expect(fact(slow, "Next backup")).toContainText(/in [67] d, delayed from/);

  await choose(page, "slow", "Disable");
  await expect(slow.getByText("Disabled", { exact: true })).toBeVisible();
  await expect(fact(slow, "Next backup")).toContainText("none, the task is disabled");
  await choose(page, "slow", "Enable");
  await expect(slow.getByText("Disabled", { exact: true })).toHaveCount(0);
  await choose(page, "slow", "Delete…");
  await page.getByRole("dialog").getByRole("button", { name: "Delete task" }).click();
  await expect(page.getByRole("heading", { name: "No backups are made by the clock" })).toBeVisible();
});

test("all databases are backed up but the excluded", async ({ page, studio, folder }) => {
  const { url, server } = await serve(folder);
  studio.url = url;
  try {
    for (const name of ["Shop", "Scratch"]) await created(url, name);
    await studio.open("/server?tab=backups");
    await expect(page.getByText("There is no backup of all databases.")).toBeVisible();
    await page.getByRole("button", { name: "New backup of all databases" }).click();
    const dialog = page.getByRole("dialog", { name: "New backup of all databases" });
    await dialog.getByRole("textbox", { name: "Name" }).fill("all");
    await dialog.getByRole("textbox", { name: "Folder" }).fill("everything");
    const excluded = { name: "Excluded databases" };
    await dialog.getByRole("combobox", excluded).or(dialog.getByRole("textbox", excluded)).fill("Scratch");
    await page.keyboard.press("Enter");
    await studio.isAccessible("dialog");
    await dialog.getByRole("button", { name: "Save" }).click();
    const all = card(page, "all");
    await expect(fact(all, "Excluded databases")).toContainText("Scratch");
    await studio.isAccessible();

    await studio.open("/databases/Shop/backups");
    const own = card(page, "Server Wide Backup, all");
    await expect(own.getByText("of all databases")).toBeVisible();
    await own.getByRole("button", { name: "Run full" }).click();
    await expect(page.getByText("the backup is complete, 0 documents")).toBeVisible();
    await studio.open("/databases/Scratch/backups");
    await expect(page.getByRole("heading", { name: "No backups are made by the clock" })).toBeVisible();

    await page.getByRole("link", { name: "Backups of all databases" }).click();
    await choose(page, "all", "Change…");
    await expect(page.getByRole("dialog").getByRole("textbox", { name: "Name" })).not.toBeEditable();
    await page.getByRole("dialog").getByRole("textbox", { name: "Days that backups are kept" }).fill("");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await expect(fact(all, "Kept")).toContainText("for ever");
    await choose(page, "all", "Disable");
    await expect(all.getByText("Disabled", { exact: true })).toBeVisible();
    await choose(page, "all", "Delete…");
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await expect(page.getByText("There is no backup of all databases.")).toBeVisible();
  } finally {
    // It would ask a server that is gone.
    await page.close();
    await stopped(server);
  }
});

test("backups fit a narrow and a wide screen, light and dark", async ({ page, studio, folder }) => {
  test.slow();
  await studio.database("Fitting", USERS);
  const long = join(folder, "a-folder-with-a-name-that-is-longer-than-a-telephone-is-wide", "and-one-below-it");
  await task(studio, "Fitting", {
    Name: "fits",
    IncrementalBackupFrequency: "*/7 1-5 * * 1#2",
    LocalSettings: { FolderPath: long },
  });
  await task(studio, "Fitting", { Name: "fails", LocalSettings: { FolderPath: "/proc/nowhere" } });
  await studio.open("/databases/Fitting/backups");
  for (const name of ["fits", "fails"]) await card(page, name).getByRole("button", { name: "Run full" }).click();
  await expect(page.getByText("'fits': the backup is complete, 2 documents")).toBeVisible();
  await expect(card(page, "fails").getByText("Failed", { exact: true })).toBeVisible();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [width, height] of [
      [390, 844],
      [1920, 1080],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const [place, ready] of [
        ["/databases/Fitting/backups", "Last full backup"],
        [`/restore?folder=${encodeURIComponent(folder)}`, "Name of the new database"],
        ["/server?tab=backups", "There is no backup of all databases."],
      ] as const) {
        await studio.open(place);
        await expect(page.getByText(ready).first()).toBeVisible();
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${place} at ${width}`).toBe(true);
        await studio.isAccessible();
        // Neither the page nor what is in it stands askew, and the chosen tab of the server is seen.
        expect((await page.getByRole("main").getByRole("heading", { level: 1 }).boundingBox())!.x).toBeGreaterThan(0);
        if (place.startsWith("/server")) {
          const tab = await page.getByText("Backups", { exact: true }).filter({ visible: true }).last().boundingBox();
          expect(tab!.x + tab!.width).toBeLessThanOrEqual(width);
        }
      }
      await studio.open("/databases/Fitting/backups");
      await page.getByRole("button", { name: "New task" }).click();
      await page.getByRole("combobox", { name: "Encryption" }).selectOption({ label: "With a new key" });
      await studio.isAccessible("dialog");
      await page.getByRole("button", { name: "Cancel" }).click();
      await expect(page.getByRole("dialog")).toBeHidden();
    }
  }
});
