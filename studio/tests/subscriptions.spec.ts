// Subscriptions: created with a trial of the query, changed, disabled, deleted; their progress and workers.
import { expect, test, type Studio } from "./studio";
import { Worker } from "./worker";

const item = (weight: number) => ({ Weight: weight, "@metadata": { "@collection": "Items" } });

const isTooWide = (studio: Studio) =>
  studio.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

test("a subscription is tried, created, changed, disabled and deleted", async ({ page, studio }) => {
  await studio.database("Subscribed", { "items/1": item(1), "items/2": item(2), "items/3": item(3) });
  studio.allow(/400 \(Bad Request\)/);
  await studio.open("/databases/Subscribed/subscriptions");
  await expect(page.getByRole("heading", { name: "No subscriptions" })).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "New subscription" }).click();
  const dialog = page.getByRole("dialog", { name: "New subscription" });
  await expect(dialog.getByRole("textbox", { name: "Name" })).toBeFocused();
  await page.keyboard.type("heavy items");
  const create = dialog.getByRole("button", { name: "Create" });
  await expect(create).toBeDisabled();
  await studio.write("Query of the subscription", "from Items order by Weight");
  await create.click();
  await expect(dialog.getByRole("alert")).toContainText("cannot have 'order by'");
  await studio.write("Query of the subscription", "from Items where Weight > 1");
  await dialog.getByRole("button", { name: "Try" }).click();
  const sent = dialog.getByRole("list", { name: "What would be sent" }).getByRole("listitem");
  await expect(sent).toHaveText([/^items\/2/, /^items\/3/]);
  await expect(dialog.getByRole("alert")).toHaveCount(0);
  await studio.isAccessible("dialog");
  await create.click();
  const row = page.getByRole("row", { name: /^heavy items/ });
  await expect(row).toContainText("from Items where Weight > 1");
  await expect(row).toContainText("No worker");
  await expect(row).toContainText("Nothing");
  await studio.isAccessible();

  const menu = row.getByRole("button", { name: "Actions for heavy items" });
  await menu.click();
  await page.getByRole("menuitem", { name: "What comes next…" }).click();
  await expect(page.getByRole("dialog").getByRole("listitem")).toHaveText([/^items\/2/, /^items\/3/]);
  await studio.isAccessible("dialog");
  await page.keyboard.press("Escape");

  await menu.click();
  await page.getByRole("menuitem", { name: "Change…" }).click();
  const change = page.getByRole("dialog", { name: "Change 'heavy items'" });
  await expect(change.getByRole("textbox", { name: "Query of the subscription" })).toContainText("Weight > 1");
  await studio.write("Query of the subscription", "from Items where Weight > 2");
  await change.getByRole("combobox", { name: "Begins" }).selectOption("Behind a change vector");
  await expect(change.getByRole("button", { name: "Save" })).toBeDisabled();
  await change.getByRole("textbox", { name: "Change vector" }).fill("nonsense");
  await change.getByRole("button", { name: "Save" }).click();
  await expect(change.getByRole("alert")).toContainText("'nonsense' is no change vector");
  await change.getByRole("combobox", { name: "Begins" }).selectOption("Stays where it is");
  await change.getByRole("button", { name: "Save" }).click();
  await expect(row).toContainText("from Items where Weight > 2");

  await menu.click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await expect(row.getByText("Disabled")).toBeVisible();
  await menu.click();
  await page.getByRole("menuitem", { name: "Enable" }).click();
  await expect(row.getByText("No worker")).toBeVisible();
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "No subscriptions" })).toBeVisible();
});

test("workers are listed with what they have acknowledged, and disconnected", async ({ page, studio }) => {
  await studio.database("Worked-off", { "items/1": item(1), "items/2": item(2) });
  const data = { Name: "all", Query: "from Items" };
  expect((await page.request.put(`${studio.url}/databases/Worked-off/subscriptions`, { data })).status()).toBe(201);
  const worker = await Worker.start(studio.url, "Worked-off", "all", "worker-of-the-test");
  try {
    await studio.open("/databases/Worked-off/subscriptions");
    const row = page.getByRole("row", { name: /^all/ });
    await expect(row.getByText("Connected")).toBeVisible();
    await expect(row).toContainText("up to write 2 of 2");
    const ofWorker = page.getByRole("row", { name: /worker-of-the-test/ });
    await expect(ofWorker).toContainText("Worker, opened if free");
    await expect(page.getByText("1 worker", { exact: true })).toBeVisible();
    await studio.isAccessible();
    await studio.put("Worked-off", "items/3", item(3));
    await expect(row).toContainText("up to write 3 of 3");
    await row.getByRole("button", { name: "Actions for all" }).click();
    await page.getByRole("menuitem", { name: "What comes next…" }).click();
    await expect(page.getByText("Nothing: all documents that match were acknowledged.")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);

    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 400, height: 800 });
    await expect(ofWorker).toBeVisible();
    await expect.poll(() => isTooWide(studio)).toBe(false);
    await studio.isAccessible();

    await ofWorker.getByRole("button", { name: "Disconnect" }).click();
    await expect(ofWorker).toHaveCount(0);
    await expect.poll(() => worker.isEnded).toBe(true);
    await expect(row.getByText("No worker")).toBeVisible();
  } finally {
    worker.stop();
  }
});
