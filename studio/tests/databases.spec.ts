// Databases: the cards, creating, deleting, switching off and on.
import { expect, test } from "./studio";

test("the cards tell of each database, live", async ({ page, studio }) => {
  await studio.open("/databases");
  const card = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Northwind" }) });
  await expect(card.getByText("1,059")).toBeVisible();
  await expect(card.getByRole("img", { name: /Writes per second of Northwind/ })).toBeVisible();
  await studio.isAccessible();
});

test("a database is created with sample data, disabled, enabled and deleted", async ({ page, studio }) => {
  await studio.open("/databases");
  await page.getByRole("button", { name: "New database" }).click();
  const dialog = page.getByRole("dialog", { name: "New database" });
  await dialog.getByLabel("Name").fill("no/slash");
  await dialog.getByRole("button", { name: "Create" }).click();
  studio.allow(/400 \(Bad Request\)/);
  await expect(dialog.getByText(/no\/slash/)).toBeVisible();
  await studio.isAccessible();
  await dialog.getByLabel("Name").fill("Shop");
  await dialog.getByRole("switch", { name: "Begin with sample data" }).check();
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name: "All documents", exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: /Orders 830/ })).toBeVisible();

  await studio.open("/databases");
  const actions = page.getByRole("button", { name: "Actions for Shop" });
  await actions.click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await expect(page.getByText("It answers no requests until it is enabled.")).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "Enable", exact: true }).click();
  await expect(page.getByText("It answers no requests until it is enabled.")).toBeHidden();

  await actions.click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const question = page.getByRole("dialog", { name: "Delete 'Shop'?" });
  const button = question.getByRole("button", { name: "Delete database" });
  await expect(button).toBeDisabled();
  await question.getByRole("textbox").fill("shop");
  await expect(button).toBeDisabled();
  await question.getByRole("textbox").fill("Shop");
  await button.click();
  await expect(actions).toBeHidden();
  const names = (await (await page.request.get(`${studio.url}/databases?namesOnly=true`)).json()) as { Databases: string[] };
  expect(names.Databases).not.toContain("Shop");
});

test("the export of a database is a download of its documents", async ({ page, studio }) => {
  await studio.database("Exported", { "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases");
  await page.getByRole("button", { name: "Actions for Exported" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as JSON lines" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("Exported.jsonl");
  const { readFileSync } = await import("node:fs");
  expect(readFileSync(await download.path(), "utf8")).toContain('"Name":"Ann"');
});

test("a file of JSON lines is imported, and a bad line has its number", async ({ page, studio }) => {
  await studio.database("Imported");
  await studio.open("/databases");
  const file = page.getByLabel("File to import into Imported");
  const line = (id: string, rest: string) =>
    `{"Size":${rest},"@metadata":{"@id":"${id}","@collection":"Users","@change-vector":"A:1-x"}}`;
  const good = `${line("users/1", "1.50")}\n${line("users/2", "2")}\n`;
  await file.setInputFiles({ name: "users.jsonl", mimeType: "application/json", buffer: Buffer.from(good) });
  const dialog = page.getByRole("dialog", { name: "Import into Imported" });
  await expect(dialog.getByText("2 documents imported.")).toBeVisible();
  await studio.isAccessible();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  expect(await (await page.request.get(`${studio.url}/databases/Imported/docs?id=users/1`)).text()).toContain('"Size":1.50');

  const bad = `${line("users/3", "3")}\n{"Size":\n`;
  await file.setInputFiles({ name: "bad.jsonl", mimeType: "application/json", buffer: Buffer.from(bad) });
  await expect(dialog.getByText(/^Line 2: /)).toBeVisible();
  expect(await studio.stored("Imported", "users/3")).toBeDefined();
});
