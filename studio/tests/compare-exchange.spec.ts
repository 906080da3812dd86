// Compare-exchange values: found by prefix, page by page, created, changed with their index, deleted.
import { expect, test, type Studio } from "./studio";

async function put(studio: Studio, database: string, key: string, value: unknown, index = 0): Promise<number> {
  const answer = await studio.page.request.put(`${studio.url}/databases/${database}/cmpxchg`, {
    params: { key, index },
    data: value as object,
  });
  const { Index, Successful } = (await answer.json()) as { Index: number; Successful: boolean };
  expect(Successful, key).toBe(true);
  return Index;
}

async function stored(studio: Studio, database: string, key: string): Promise<Record<string, unknown> | undefined> {
  const answer = await studio.page.request.get(`${studio.url}/databases/${database}/cmpxchg`, { params: { key } });
  if (answer.status() === 404) return undefined;
  return ((await answer.json()) as { Results: { Value: Record<string, unknown> }[] }).Results[0]!.Value;
}

const isTooWide = (studio: Studio) =>
  studio.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

test("a value is created, changed, given an end, and deleted", async ({ page, studio }) => {
  await studio.database("Exchanged");
  await studio.open("/databases/Exchanged/compare-exchange");
  await expect(page.getByRole("heading", { name: "No compare-exchange values" })).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "New value" }).click();
  const dialog = page.getByRole("dialog", { name: "New value" });
  await expect(dialog.getByRole("textbox", { name: "Key" })).toBeFocused();
  await page.keyboard.type("emails/ann");
  const create = dialog.getByRole("button", { name: "Create" });
  await expect(create).toBeDisabled();
  await studio.write("Value as JSON", '{"Price": 34.8000, ');
  await create.click();
  await expect(dialog.getByRole("alert")).toContainText("Not saved. Line 1");
  await studio.write("Value as JSON", '{"Price": 34.8000}');
  await studio.isAccessible("dialog");
  await create.click();
  const row = page.getByRole("row", { name: /^emails\/ann/ });
  await expect(row).toContainText('{ "Price": 34.8000 }');
  await expect(row).toContainText("Never");
  await studio.isAccessible();

  await row.getByRole("link", { name: "emails/ann" }).click();
  const edited = page.getByRole("dialog", { name: "emails/ann" });
  await expect(edited.getByRole("button", { name: "Save" })).toBeDisabled();
  await edited.getByLabel("Expires").fill("2090-01-31T08:00:00");
  await edited.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("2090-01-31 08:00:00");
  await expect(edited).toBeHidden();
  const text = await (await page.request.get(`${studio.url}/databases/Exchanged/cmpxchg?key=emails/ann`)).text();
  expect(text).toContain("34.8000");
  expect(text).toContain('"@expires":"2090-01-31T');

  await row.getByRole("button", { name: "Delete emails/ann" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(row).toHaveCount(0);
  expect(await stored(studio, "Exchanged", "emails/ann")).toBeUndefined();
});

test("a change that was not first is not saved, and shows both", async ({ page, studio }) => {
  await studio.database("Clashed");
  const index = await put(studio, "Clashed", "lock", { Object: "worker-1", "@metadata": { by: "test" } });
  await studio.open("/databases/Clashed/compare-exchange?key=lock");
  const dialog = page.getByRole("dialog", { name: "lock" });
  await expect(dialog.getByText("Its metadata have more, which is kept")).toBeVisible();
  await studio.write("Value as JSON", '"worker-mine"');
  const theirs = await put(studio, "Clashed", "lock", { Object: "worker-2" }, index);
  await dialog.getByRole("button", { name: "Save" }).click();
  const conflict = page.getByRole("dialog", { name: "Somebody else changed it first" });
  await expect(conflict).toContainText(`You changed the value with index ${index}; the stored one has index ${theirs}.`);
  await expect(conflict).toContainText("worker-2");
  await studio.isAccessible("dialog");
  expect((await stored(studio, "Clashed", "lock"))!["Object"]).toBe("worker-2");
  await conflict.getByRole("button", { name: "Back to the editor" }).click();
  await expect(dialog.getByRole("textbox", { name: "Value as JSON" })).toContainText("worker-mine");
  await dialog.getByRole("button", { name: "Save" }).click();
  // A third one is noticed, too.
  await put(studio, "Clashed", "lock", { Object: "worker-3" }, theirs);
  await conflict.getByRole("button", { name: "Save the right side" }).click();
  await expect(conflict).toContainText("worker-3");
  await conflict.getByRole("button", { name: "Save the right side" }).click();
  await expect(dialog).toBeHidden();
  expect((await stored(studio, "Clashed", "lock"))!["Object"]).toBe("worker-mine");

  // One that was deleted meanwhile, and a new one with a key that is taken.
  await page.getByRole("link", { name: "lock" }).click();
  await studio.write("Value as JSON", '"again"');
  const text = await (await page.request.get(`${studio.url}/databases/Clashed/cmpxchg?key=lock`)).text();
  const now = /"Index":(\d+)/.exec(text)![1]!;
  await page.request.delete(`${studio.url}/databases/Clashed/cmpxchg`, { params: { key: "lock", index: now } });
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog", { name: "Somebody else deleted it" }).getByRole("button", { name: "Save it again" }).click();
  await expect(page.getByText("lock saved").last()).toBeVisible();
  expect((await stored(studio, "Clashed", "lock"))!["Object"]).toBe("again");
  await page.getByRole("button", { name: "New value" }).click();
  await expect(page.getByRole("dialog").getByRole("textbox", { name: "Key" })).toBeFocused();
  await page.keyboard.type("LOCK");
  await studio.write("Value as JSON", "1");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("dialog", { name: "There is a value with this key" })).toBeVisible();
});

test("values are found by the beginning of their keys, and come page by page", async ({ page, studio }) => {
  await studio.database("Paged");
  const commands = Array.from({ length: 120 }, (_, at) => ({
    Type: "CompareExchangePUT",
    Id: `numbers/${String(at).padStart(3, "0")}`,
    Index: 0,
    Document: { Object: at },
  }));
  const guarded = { Type: "PUT", Id: "items/1", ChangeVector: null, Document: { "@metadata": { "@collection": "Items" } } };
  const data = { TransactionMode: "ClusterWide", Commands: [...commands, guarded] };
  expect((await page.request.post(`${studio.url}/databases/Paged/bulk_docs`, { data })).status()).toBe(201);
  await studio.open("/databases/Paged/compare-exchange");
  const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") });
  await expect(rows).toHaveCount(50);
  await page.getByRole("button", { name: "More" }).click();
  await expect(rows).toHaveCount(100);
  await page.getByRole("button", { name: "More" }).click();
  await expect(rows).toHaveCount(121);
  await expect(page.getByRole("button", { name: "More" })).toHaveCount(0);
  const field = page.getByRole("textbox", { name: "Keys that begin with" });
  await field.fill("Numbers/11");
  await expect(rows).toHaveCount(10);
  await page.reload();
  await expect(field).toHaveValue("Numbers/11");
  await expect(rows).toHaveCount(10);
  await field.fill("rvn");
  await expect(rows).toHaveCount(1);
  await expect(rows.first()).toContainText("Guard of the document items/1");
  await field.fill("nowhere");
  await expect(page.getByRole("heading", { name: "No key begins with 'nowhere'" })).toBeVisible();

  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 400, height: 800 });
  await field.fill("");
  await expect(rows).toHaveCount(50);
  await expect.poll(() => isTooWide(studio)).toBe(false);
  await studio.isAccessible();
});
