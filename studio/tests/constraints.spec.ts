// Unique constraints: made over documents that break them, changed, deleted, and hidden from those who may not see them.
import { Secured } from "./secured";
import { expect, test, type Studio } from "./studio";

const room = (floor: number, number: string) => ({ Floor: floor, Number: number, "@metadata": { "@collection": "Rooms" } });

const isTooWide = (studio: Studio) =>
  studio.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

test("a constraint is made once no documents break it, changed and deleted", async ({ page, studio }) => {
  await studio.database("Constrained", { "rooms/1": room(1, "a"), "rooms/2": room(1, "A"), "rooms/3": room(2, "a") });
  studio.allow(/409 \(Conflict\)|400 \(Bad Request\)/);
  await studio.open("/databases/Constrained/constraints");
  await expect(page.getByRole("heading", { name: "No unique constraints" })).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "New constraint" }).click();
  const dialog = page.getByRole("dialog", { name: "New unique constraint" });
  await expect(dialog.getByRole("combobox", { name: "Collection" })).toBeFocused();
  const create = dialog.getByRole("button", { name: "Create" });
  await expect(create).toBeDisabled();
  await page.keyboard.type("Rooms");
  await dialog.getByRole("combobox", { name: "Fields" }).click();
  await expect(page.getByRole("option")).toHaveText(["Floor", "Number"]);
  await page.keyboard.type("Floor");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Number");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await create.click();
  const duplicates = dialog.getByRole("list", { name: "Documents with the same values" }).getByRole("listitem");
  await expect(duplicates).toHaveCount(1);
  await expect(duplicates).toContainText("rooms/1");
  await expect(duplicates).toContainText("rooms/2");
  await expect(dialog.getByRole("alert")).toContainText("1 document has values that another one has");
  await studio.isAccessible("dialog");

  // With another case they are not the same.
  await dialog.getByRole("switch").check();
  await dialog.getByRole("button", { name: "Try again" }).click();
  await expect(dialog).toBeHidden();
  const row = page.getByRole("row", { name: /^Rooms\/Floor,Number/ });
  await expect(row).toContainText("Different");
  await studio.isAccessible();
  const taken = await page.request.put(`${studio.url}/databases/Constrained/docs?id=rooms/4`, { data: room(2, "a") });
  expect(taken.status()).toBe(409);

  // The document that breaks a stricter one is a click away.
  await row.getByRole("button", { name: "Change Rooms/Floor,Number" }).click();
  const change = page.getByRole("dialog", { name: "Change 'Rooms/Floor,Number'" });
  await change.getByRole("switch").uncheck();
  await change.getByRole("button", { name: "Save" }).click();
  await change.getByRole("link", { name: "rooms/2" }).click();
  await expect(page.getByRole("heading", { name: "rooms/2" })).toBeVisible();
  await studio.put("Constrained", "rooms/2", room(1, "b"));
  await page.goBack();
  await row.getByRole("button", { name: "Change Rooms/Floor,Number" }).click();
  await change.getByRole("switch").uncheck();
  await change.getByRole("textbox", { name: "Name" }).fill("rooms by number");
  await change.getByRole("button", { name: "Save" }).click();
  const renamed = page.getByRole("row", { name: /^rooms by number/ });
  await expect(renamed).toContainText("The same");
  await expect(row).toHaveCount(0);

  await renamed.getByRole("button", { name: "Delete rooms by number" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "No unique constraints" })).toBeVisible();
  await studio.put("Constrained", "rooms/4", room(2, "a"));
});

test("mistakes are told, and many constraints fit on a narrow screen", async ({ page, studio }) => {
  await studio.database("ConstrainedNarrow");
  studio.allow(/400 \(Bad Request\)/);
  for (const [collection, field] of [
    ["Users", "Email"],
    ["Products", "Supplier.Address.VeryLongNameOfAFieldThatDoesNotEnd"],
  ]) {
    const made = await page.request.put(`${studio.url}/databases/ConstrainedNarrow/admin/constraints`, {
      data: { Collection: collection, Fields: [field] },
    });
    expect(made.status()).toBe(201);
  }
  await studio.open("/databases/ConstrainedNarrow/constraints");
  await expect(page.getByRole("row", { name: /^Users\/Email/ })).toBeVisible();
  await page.getByRole("button", { name: "New constraint" }).click();
  const dialog = page.getByRole("dialog", { name: "New unique constraint" });
  await expect(dialog.getByRole("combobox", { name: "Collection" })).toBeFocused();
  await page.keyboard.type("@empty");
  await dialog.getByRole("combobox", { name: "Fields" }).fill("Name");
  await dialog.getByRole("textbox", { name: "Name", exact: true }).click();
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(dialog.getByRole("alert")).toContainText("is no collection");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 400, height: 800 });
  await expect.poll(() => isTooWide(studio)).toBe(false);
  await studio.isAccessible();
});

test.describe("with rights", () => {
  test.use({ ignoreHTTPSErrors: true });

  test("who only writes documents does not see them", async ({ page, studio }) => {
    const secured = await Secured.start();
    try {
      await secured.database("Shop");
      studio.url = secured.url;
      studio.allow(/status of 40[13]/);
      const key = await secured.key("app", "ValidUser", { Shop: "ReadWrite" });
      await studio.open("/databases/Shop/constraints");
      await page.getByRole("textbox", { name: "API key" }).fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await expect(page.getByText("Only administrators of this database see its constraints.")).toBeVisible();
      await expect(page.getByRole("button", { name: "New constraint" })).toHaveCount(0);
      await studio.isAccessible();
    } finally {
      // The page asks this server once in a while.
      await page.goto("about:blank");
      await secured.stop();
    }
  });
});
