// The live feed: changes of documents, counters and indexes as they happen; paused, filtered, cleared.
import type { Page } from "@playwright/test";
import { expect, test, type Studio } from "./studio";

const isTooWide = (studio: Studio) =>
  studio.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

const connection = (page: Page) => page.getByRole("main").getByRole("status").filter({ hasText: /./ });

const item = (collection: string) => ({ "@metadata": { "@collection": collection } });

test("changes are listed as they happen, and filtered", async ({ page, studio }) => {
  await studio.database("Fed", { "items/1": item("Items") });
  await studio.open("/databases/Fed/feed");
  const state = connection(page);
  await expect(state).toHaveText("Live");
  await expect(page.getByRole("heading", { name: "No changes yet" })).toBeVisible();
  await studio.isAccessible();
  await studio.put("Fed", "items/2", item("Items"));
  const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") });
  await expect(rows).toHaveText([/Written.*items\/2.*Items/]);
  const operations = [{ Type: "Increment", CounterName: "Likes", Delta: 7 }];
  const data = { Documents: [{ DocumentId: "items/1", Operations: operations }] };
  await page.request.post(`${studio.url}/databases/Fed/counters`, { data });
  await expect(rows.filter({ hasText: "New counter" })).toContainText("Likes: 7");
  await studio.index("Fed", { Name: "Items/All", Maps: ["from item in docs.Items select new { item.Name }"] });
  await expect(rows.filter({ hasText: "Index added" })).toContainText("Items/All");
  await studio.put("Fed", "orders/1", item("Orders"));
  await page.request.delete(`${studio.url}/databases/Fed/docs?id=items/2`);
  const deleted = rows.filter({ hasText: "Deleted" });
  await expect(deleted).toContainText("items/2");
  await expect(deleted.getByRole("link")).toHaveCount(0);
  await studio.isAccessible();

  await page.getByRole("textbox", { name: "Ids that begin with" }).fill("ord");
  await expect(rows).toHaveText([/orders\/1/]);
  await expect(page.getByRole("checkbox", { name: "Indexes" })).toBeDisabled();
  await page.reload();
  await expect(page.getByRole("textbox", { name: "Ids that begin with" })).toHaveValue("ord");
  await expect(state).toHaveText("Live");
  await studio.put("Fed", "items/3", item("Items"));
  await studio.put("Fed", "orders/2", item("Orders"));
  await expect(rows).toHaveText([/orders\/2/]);
  await page.getByRole("textbox", { name: "Ids that begin with" }).fill("");
  await page.getByRole("combobox", { name: "Collection" }).fill("Items");
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(/collection=Items/);
  await expect(state).toHaveText("Live");
  await studio.put("Fed", "orders/3", item("Orders"));
  await studio.put("Fed", "items/4", item("Items"));
  await expect(rows).toHaveText([/items\/4/]);
  await rows.getByRole("link", { name: "items/4" }).click();
  await expect(page.getByRole("heading", { name: "items/4" })).toBeVisible();
});

test("the feed is paused and goes on with what came meanwhile", async ({ page, studio }) => {
  await studio.database("Held-up");
  await studio.open("/databases/Held-up/feed?kinds=documents");
  const state = connection(page);
  await expect(state).toHaveText("Live");
  await expect(page.getByRole("checkbox", { name: "Counters" })).not.toBeChecked();
  await expect(page.getByRole("checkbox", { name: "Documents" })).toBeDisabled();
  await studio.put("Held-up", "items/1", item("Items"));
  const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") });
  await expect(rows).toHaveCount(1);
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(state).toHaveText("Paused");
  await studio.put("Held-up", "items/2", item("Items"));
  await studio.put("Held-up", "items/3", item("Items"));
  const resume = page.getByRole("button", { name: "Resume (2 new)" });
  await expect(resume).toBeVisible();
  await expect(rows).toHaveCount(1);
  await studio.isAccessible();
  await resume.click();
  await expect(rows).toHaveText([/items\/3/, /items\/2/, /items\/1/]);

  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 400, height: 800 });
  await expect.poll(() => isTooWide(studio)).toBe(false);
  await studio.isAccessible();
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(rows).toHaveCount(0);
});

test("a lost connection is told, and taken up again", async ({ page, studio }) => {
  await studio.database("Cut");
  let sockets = 0;
  let cut = () => {};
  await page.routeWebSocket(/\/databases\/Cut\/changes$/, (socket) => {
    sockets++;
    socket.connectToServer();
    cut = () => void socket.close();
  });
  await studio.open("/databases/Cut/feed");
  const state = connection(page);
  await expect(state).toHaveText("Live");
  cut();
  await expect(state).toHaveText("Not connected");
  await expect(page.getByText("The connection was lost.")).toBeVisible();
  await expect(state).toHaveText("Live");
  expect(sockets).toBe(2);
  await studio.put("Cut", "items/1", item("Items"));
  await expect(page.getByRole("link", { name: "items/1" })).toBeVisible();
});
