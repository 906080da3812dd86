// Several people, or tabs, at the same thing: nobody's work is lost unasked.
import { expect, test, type Studio } from "./studio";
import type { Page } from "@playwright/test";

const USERS = { "users/1": { City: "Oslo", Age: 7, "@metadata": { "@collection": "Users" } } };
const BY_CITY = { Name: "Users/ByCity", Maps: ["from user in docs.Users select new { user.City }"] };

/** The maps of an index, those of what is built to replace it if there is such. */
async function mapsOf(studio: Studio, database: string, name: string): Promise<string[] | undefined> {
  const answer = await studio.page.request.get(`${studio.url}/databases/${database}/indexes`);
  const all = ((await answer.json()) as { Results: { Name: string; Maps: string[] }[] }).Results;
  const found = all.find((one) => one.Name === `ReplacementOf/${name}`) ?? all.find((one) => one.Name === name);
  return found?.Maps;
}

test("a new index with the name of another one does not take its place", async ({ page, studio }) => {
  await studio.database("Taken", USERS);
  await studio.index("Taken", BY_CITY);
  await studio.open("/databases/Taken/index");
  // Names are the same in whatever case.
  await page.getByLabel("Name").fill("users/bycity");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByText("There is an index of this name.")).toBeVisible();
  await studio.isAccessible();
  expect(await mapsOf(studio, "Taken", "Users/ByCity")).toEqual(BY_CITY.Maps);
  await page.getByRole("link", { name: "Open it" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("heading", { name: "Users/ByCity", exact: true })).toBeVisible();
});

test("an index that somebody else changed meanwhile is shown side by side, and the right side is saved", async ({
  page,
  studio,
}) => {
  await studio.database("Clashing", USERS);
  await studio.index("Clashing", BY_CITY);
  await studio.open("/databases/Clashing/index?name=Users%2FByCity");
  await expect(page.getByRole("textbox", { name: "Map", exact: true })).toContainText("user.City");
  await studio.write("Map", "from user in docs.Users select new { user.City, Mine = 1 }");
  const theirs = { ...BY_CITY, Maps: ["from user in docs.Users select new { user.City, Theirs = 1 }"] };
  await studio.index("Clashing", theirs);
  await expect(page.getByText("Somebody else changed it.")).toBeVisible();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Somebody else saved it first" });
  await expect(dialog.getByRole("textbox", { name: "Stored by somebody else" })).toContainText("Theirs");
  expect(await mapsOf(studio, "Clashing", "Users/ByCity")).toEqual(theirs.Maps);
  await expect(dialog.getByRole("button", { name: "Back to the editor" })).toBeFocused();
  await studio.isAccessible();
  await dialog.getByRole("textbox", { name: "Your text" }).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText("from user in docs.Users select new { user.City, Both = 1 }");
  await dialog.getByRole("button", { name: "Save the right side" }).click();
  await expect(page.getByText("Users/ByCity saved")).toBeVisible();
  await expect
    .poll(() => mapsOf(studio, "Clashing", "Users/ByCity"))
    .toEqual(["from user in docs.Users select new { user.City, Both = 1 }"]);
  await expect(page.getByRole("textbox", { name: "Map", exact: true })).toContainText("Both");
  await expect(page.getByText("Somebody else changed it.")).toBeHidden();

  // What was not changed here is not fought over.
  await studio.index("Clashing", theirs);
  await page.getByRole("button", { name: "Show the change" }).click();
  await expect(page.getByRole("textbox", { name: "Map", exact: true })).toContainText("Theirs");
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
});

test("an index that somebody else deleted is made again from what is in the editor", async ({ page, studio }) => {
  await studio.database("Vanishing", USERS);
  await studio.index("Vanishing", BY_CITY);
  await studio.open("/databases/Vanishing/index?name=Users%2FByCity");
  await studio.write("Map", "from user in docs.Users select new { user.City, Kept = 1 }");
  const deleted = await page.request.delete(`${studio.url}/databases/Vanishing/indexes`, { params: { name: "Users/ByCity" } });
  expect(deleted.status()).toBe(204);
  await expect(page.getByText("Somebody else deleted this index.")).toBeVisible();
  await expect(page.getByText("Deleted", { exact: true })).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "Create it again" }).click();
  await expect(page.getByText("Users/ByCity saved")).toBeVisible();
  expect(await mapsOf(studio, "Vanishing", "Users/ByCity")).toEqual(["from user in docs.Users select new { user.City, Kept = 1 }"]);
  await expect(page.getByText("Somebody else deleted this index.")).toBeHidden();

  await studio.open("/databases/Vanishing/index?name=Nothing");
  await expect(page.getByRole("heading", { name: "There is no index 'Nothing'" })).toBeVisible();
});

test("two tabs keep the queries of both, and each its own draft", async ({ page, studio }) => {
  await studio.database("Tabs", USERS);
  const other = await page.context().newPage();
  const editor = (tab: Page) => tab.getByRole("textbox", { name: "Query in RQL" });
  for (const tab of [page, other]) {
    await tab.goto(`${studio.url}/studio/index.html#/databases/Tabs/query`);
    await expect(editor(tab)).toBeVisible();
  }
  for (const [tab, name] of [
    [page, "one"],
    [other, "two"],
  ] as const) {
    await editor(tab).click();
    await tab.keyboard.press("ControlOrMeta+A");
    await tab.keyboard.insertText(`from Users where Tab = '${name}'`);
    await tab.getByRole("button", { name: "Saved" }).click();
    await tab.getByRole("textbox", { name: "Name for this query" }).fill(name);
    await tab.getByRole("button", { name: "Save", exact: true }).click();
    await expect(tab.getByText(`Saved as '${name}'`)).toBeVisible();
  }
  // The first has what the second saved, without being loaded anew.
  await page.getByRole("button", { name: "Saved" }).click();
  await expect(page.getByRole("button", { name: "Forget one" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Forget two" })).toBeVisible();
  await page.reload();
  await expect(editor(page)).toContainText("Tab = 'one'");
  await other.reload();
  await expect(editor(other)).toContainText("Tab = 'two'");
  await other.close();
});
