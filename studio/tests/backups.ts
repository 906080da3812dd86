// What tests of backups share: a folder of their own, and the cards of tasks.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { expect, test as plain, type Studio } from "./studio";

export const test = plain.extend<{ folder: string }>({
  // A folder that only this test writes to.
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), "rookery-backups-"));
    await use(folder);
    rmSync(folder, { recursive: true, force: true });
  },
});

export const USERS = {
  "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } },
  "users/2": { Name: "Bob", "@metadata": { "@collection": "Users" } },
};

export const card = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
export const fact = (card: Locator, name: string) =>
  card.locator("dl > div").filter({ has: card.page().getByText(name, { exact: true }) });

/** Adds a task over HTTP; gives its number. */
export async function task(studio: Studio, database: string, configuration: object): Promise<number> {
  const data = { FullBackupFrequency: "0 2 * * *", ...configuration };
  const answer = await studio.page.request.post(`${studio.url}/databases/${database}/admin/periodic-backup`, { data });
  expect(answer.status()).toBe(200);
  return ((await answer.json()) as { TaskId: number }).TaskId;
}

export async function choose(page: Page, name: string, item: string) {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: item }).click();
}
