// API keys and certificates: made, changed and revoked by an operator, and what they are good for.
import { request as requestOf, type Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import { Secured } from "./secured";
import { expect, test, type Studio } from "./studio";

let secured: Secured;

test.use({ ignoreHTTPSErrors: true });
test.describe.configure({ mode: "serial" });

test.beforeAll(async () => {
  secured = await Secured.start();
  await secured.database("Shop");
  await secured.database("Books");
});

test.afterAll(() => secured.stop());

/** Opens a screen as a cluster admin who has signed in. */
async function open(studio: Studio, place: string, clearance = "ClusterAdmin") {
  studio.url = secured.url;
  studio.allow(/status of 40[13]/);
  const key = await secured.key(`${clearance} ${Math.random()}`, clearance);
  await studio.open(place);
  await studio.page.getByRole("textbox", { name: "API key" }).fill(key);
  await studio.page.getByRole("button", { name: "Sign in" }).click();
  await expect(studio.page.getByRole("group", { name: "Signed in as" })).toBeVisible();
}

async function statusWith(key: string, path: string): Promise<number> {
  const context = await requestOf.newContext({ ignoreHTTPSErrors: true, extraHTTPHeaders: { Authorization: `Bearer ${key}` } });
  const status = (await context.get(`${secured.url}${path}`)).status();
  await context.dispose();
  return status;
}

/** Chooses in a field with a list. */
async function choose(page: Page, field: string, option: string) {
  await page.getByRole("combobox", { name: field, exact: true }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

test("a key is made, shown once, changed and revoked", async ({ page, studio, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(studio, "/access");
  await page.getByRole("button", { name: "New API key" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("textbox", { name: "Name" })).toBeFocused();
  await page.keyboard.type("dashboard");
  const create = dialog.getByRole("button", { name: "Create" });
  await expect(create).toBeDisabled();
  await dialog.getByRole("combobox", { name: "Database 1", exact: true }).fill("Shop");
  await page.keyboard.press("Escape");
  await choose(page, "Right on database 1", "Read");
  await studio.isAccessible("dialog");
  await create.click();
  const shown = dialog.getByRole("textbox", { name: "API key" });
  await expect(shown).toHaveValue(/^rookery_/);
  const key = await shown.inputValue();
  await studio.isAccessible("dialog");
  await dialog.getByRole("button", { name: "Copy" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.getByText(key)).toHaveCount(0);
  expect([await statusWith(key, "/databases/Shop/stats"), await statusWith(key, "/databases/Books/stats")]).toEqual([200, 403]);

  const row = page.getByRole("row", { name: /^dashboard/ });
  await expect(row).toContainText("Shop read");
  await page.reload();
  await expect(row).not.toContainText("Never");
  await studio.isAccessible();
  await row.getByRole("button", { name: "Actions for dashboard" }).click();
  await page.getByRole("menuitem", { name: "Change rights…" }).click();
  await dialog.getByRole("button", { name: "Add a database" }).click();
  await dialog.getByRole("combobox", { name: "Database 2", exact: true }).fill("Books");
  await page.keyboard.press("Escape");
  await dialog.getByLabel("Expires").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("Books read and write");
  await expect(row).toContainText("Never");
  expect(await statusWith(key, "/databases/Books/stats")).toBe(200);

  await row.getByRole("button", { name: "Actions for dashboard" }).click();
  await page.getByRole("menuitem", { name: "Revoke…" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect(row).toHaveCount(0);
  expect(await statusWith(key, "/databases/Shop/stats")).toBe(401);
});

test("a key that cannot be made says why", async ({ page, studio }) => {
  await secured.key("taken", "Operator");
  await open(studio, "/access");
  studio.allow(/status of 400/);
  await page.getByRole("button", { name: "New API key" }).click();
  await expect(page.getByRole("dialog").getByRole("textbox", { name: "Name" })).toBeFocused();
  await page.keyboard.type("Taken");
  await choose(page, "May use", "Operator");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("alert")).toContainText("There is an API key 'taken' already");
});

test("an operator cannot touch cluster admins", async ({ page, studio }) => {
  await secured.key("boss", "ClusterAdmin");
  await open(studio, "/access", "Operator");
  await expect(page.getByRole("row", { name: /^boss/ })).toContainText("Cluster admin");
  await expect(page.getByRole("button", { name: "Actions for boss" })).toHaveCount(0);
  await page.getByRole("button", { name: "New API key" }).click();
  await page.getByRole("combobox", { name: "May use", exact: true }).click();
  await expect(page.getByRole("option")).toHaveText(["Single databases", "Operator"]);
});

test("a certificate is made, downloaded, changed and removed", async ({ page, studio }) => {
  await open(studio, "/access?tab=certificates");
  await expect(page.getByRole("row", { name: /^Certificate of the server/ })).toBeVisible();
  await expect(page.getByRole("region", { name: "Cluster admins by the settings" })).toContainText(/[0-9A-F]{40}/);
  await page.getByRole("button", { name: "New certificate" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("textbox", { name: "Name" })).toBeFocused();
  await page.keyboard.type("jobs");
  await dialog.getByRole("combobox", { name: "Database 1", exact: true }).fill("Shop");
  await page.keyboard.press("Escape");
  await studio.isAccessible("dialog");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    dialog.getByRole("button", { name: "Create and download" }).click(),
  ]);
  expect(file.suggestedFilename()).toBe("jobs.zip");
  const content = readFileSync(await file.path());
  expect(content.subarray(0, 2).toString()).toBe("PK");
  expect(content.includes("jobs.pfx")).toBe(true);

  const row = page.getByRole("row", { name: /^jobs/ });
  await expect(row).toContainText("Shop read and write");
  await studio.isAccessible();
  await row.getByRole("button", { name: "Actions for jobs" }).click();
  await page.getByRole("menuitem", { name: "Change rights…" }).click();
  await choose(page, "Right on database 1", "Admin");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("Shop admin");
  await row.getByRole("button", { name: "Actions for jobs" }).click();
  await page.getByRole("menuitem", { name: "Remove…" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await expect(row).toHaveCount(0);
});

test("a certificate is registered from a file, without its key", async ({ page, studio }) => {
  await open(studio, "/access?tab=certificates");
  const file = secured.unknownCertificate;
  await page.getByRole("button", { name: "Register a file" }).click();
  const dialog = page.getByRole("dialog");
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), dialog.getByRole("button", { name: "File" }).click()]);
  await chooser.setFiles(file);
  await dialog.getByRole("textbox", { name: "Name" }).fill("app");
  await choose(page, "May use", "Operator");
  await studio.isAccessible("dialog");
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === "PUT" && request.url().endsWith("/admin/certificates")),
    dialog.getByRole("button", { name: "Register" }).click(),
  ]);
  expect(readFileSync(file, "utf8")).toContain("PRIVATE KEY");
  const { Certificate } = sent.postDataJSON() as { Certificate: string };
  const text = Buffer.from(Certificate, "base64").toString();
  expect(text).toContain("BEGIN CERTIFICATE");
  expect(text).not.toContain("PRIVATE KEY");
  await expect(page.getByRole("row", { name: /^app/ })).toContainText("Operator");
});

test("the lists fit a narrow screen in the dark", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  studio.url = secured.url;
  studio.allow(/status of 40[13]/);
  const key = await secured.key("narrow", "ClusterAdmin");
  await studio.open("/access");
  await page.getByRole("textbox", { name: "API key" }).fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("row", { name: /^narrow/ })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await studio.isAccessible();
  await page.getByText("Certificates", { exact: true }).click();
  await expect(page.getByRole("row", { name: /^Certificate of the server/ })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await studio.isAccessible();
});
