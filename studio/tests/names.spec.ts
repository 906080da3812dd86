// Ids and names of databases that mean something in addresses, queries or HTML.
import { expect, test } from "./studio";

const IDS = ["100% sure/1", "what? #1", `it's "so" <b>`, "a&b=c+d/1", "Zoë/東京 ☃", "back\\slash\\"];

for (const [at, id] of IDS.entries()) {
  test(`a document called ${id} is found, saved, read again and deleted`, async ({ page, studio }) => {
    const database = `Odd.names-${at}_x.y`;
    await studio.database(database, { [id]: { N: 1, "@metadata": { "@collection": "Odd things" } } });
    await studio.open(`/databases/${database}/documents`);
    await page.getByRole("navigation", { name: "Collections" }).getByRole("link", { name: "Odd things" }).click();
    await page.getByRole("grid", { name: "Odd things" }).getByRole("link", { name: id, exact: true }).click();
    await expect(page.getByRole("heading", { name: id, exact: true })).toBeVisible();
    const text = page.getByRole("textbox", { name: "Document as JSON" });
    await expect(text).toContainText('"N": 1');
    await text.click();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.insertText('{ "N": 2, "@metadata": { "@collection": "Odd things" } }');
    await page.getByRole("button", { name: "Save", exact: true }).click();
    // The button is disabled while the request runs too, and a reload would abort the request.
    await expect(page.getByText(`${id} saved`, { exact: true })).toBeVisible();
    await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
    await page.reload();
    await expect(text).toContainText('"N": 2');
    expect(await studio.stored(database, id)).toMatchObject({ N: 2, "@metadata": { "@id": id } });
    // The palette finds it too.
    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.insertText(id.slice(0, 4));
    await expect(page.getByRole("option", { name: `${id} Document`, exact: true })).toBeVisible();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await expect(page.getByRole("heading", { name: "Nothing here yet" })).toBeVisible();
    studio.allow(/404 \(Not Found\)/);
    expect(await studio.stored(database, id)).toBeUndefined();
  });
}
