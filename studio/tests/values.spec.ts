// Values of fields in completion: from documents, from the terms of indexes, by what is typed.
import type { Page } from "@playwright/test";
import { expect, test, type Studio } from "./studio";

const COUNT = 130;

/** Orders with more cities than a sample holds, an automatic index of them, and a static index. */
async function filled(page: Page, studio: Studio, database: string) {
  await studio.database(database);
  const url = `${studio.url}/databases/${database}`;
  const commands = Array.from({ length: COUNT }, (_, at) => ({
    Id: `orders/${String(at).padStart(3, "0")}`,
    Type: "PUT",
    Document: {
      City: `Town ${String(at).padStart(3, "0")}`,
      Freight: at % 2 === 0 ? 3.25 : 12,
      IsPaid: true,
      OrderedAt: "2024-01-02T00:00:00.0000000",
      "@metadata": { "@collection": "Orders" },
    },
  }));
  await page.request.post(`${url}/bulk_docs`, { data: { Commands: commands } });
  const query = "from Orders where City = 'Town 001'";
  expect((await page.request.post(`${url}/queries`, { data: { Query: query } })).ok()).toBe(true);
  const map = "from order in docs.Orders select new { order.City, order.Freight }";
  const data = { Indexes: [{ Name: "Orders/Sums", Maps: [map] }] };
  expect((await page.request.put(`${url}/admin/indexes`, { data })).status()).toBe(201);
  const freights = "from index 'Orders/Sums' where Freight = 12";
  const answer = await page.request.post(`${url}/queries?waitForNonStaleResultsTimeout=00:00:15`, {
    data: { Query: freights, WaitForNonStaleResults: true },
  });
  expect(((await answer.json()) as { TotalResults: number }).TotalResults).toBe(COUNT / 2);
}

const editor = (page: Page) => page.getByRole("textbox", { name: "Query in RQL" });

async function typed(page: Page, text: string) {
  await editor(page).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Backspace");
  await page.keyboard.type(text);
}

test("values are completed by keyboard and mouse, as RQL writes them", async ({ page, studio }) => {
  await filled(page, studio, "Values");
  await studio.open("/databases/Values/query");
  const options = page.getByRole("listbox").getByRole("option");
  await typed(page, "from Orders where Freight = ");
  await expect(options.filter({ hasText: /^(3\.25|12)$/ })).toHaveCount(2);
  await options.filter({ hasText: /^3\.25$/ }).click();
  await expect(editor(page)).toHaveText("from Orders where Freight = 3.25");
  await typed(page, "from Orders where OrderedAt >= ");
  await expect(options.first()).toHaveText("'2024-01-02T00:00:00.0000000'");
  // The editor ignores keys for a moment after the list opens, so that a key meant for the text does not choose.
  const first = page.getByRole("listbox").locator('[aria-selected="true"]').filter({ hasText: "2024" });
  await expect(async () => {
    await page.keyboard.press("ArrowDown");
    await expect(first).toHaveCount(0, { timeout: 100 });
  }).toPass();
  await page.keyboard.press("ArrowUp");
  await expect(first).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(editor(page)).toHaveText("from Orders where OrderedAt >= '2024-01-02T00:00:00.0000000'");
  await typed(page, "from Orders where IsPaid = ");
  await expect(options.filter({ hasText: /^true$/ })).toHaveCount(1);
  // The terms of an index are texts; these are of numbers.
  await typed(page, "from index 'Orders/Sums' where Freight in (");
  await expect(options.filter({ hasText: /^(3\.25|12)$/ })).toHaveCount(2);
  await studio.isAccessible();
});

test("a prefix finds values that the sample lacks, once", async ({ page, studio }) => {
  await filled(page, studio, "Prefixes");
  const asked: string[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith("/indexes/terms")) asked.push(url.search);
  });
  await studio.open("/databases/Prefixes/query");
  const options = page.getByRole("listbox").getByRole("option");
  await typed(page, "from Orders where City = 'Town 129");
  await expect(options).toHaveText(["town 129"]);
  expect(new Set(asked).size).toBe(asked.length);
  const count = asked.length;
  await typed(page, "from Orders where City = 'Town 129");
  await expect(options).toHaveText(["town 129"]);
  // Terms for other beginnings of it may be read while one types at another speed; none are read twice.
  expect(new Set(asked).size).toBe(asked.length);
  expect(asked.length - count).toBeLessThan("Town 129".length * 2);
  await options.first().click();
  await expect(editor(page)).toHaveText("from Orders where City = 'town 129'");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  await typed(page, "from index 'Orders/Sums' where City = 'Town 12");
  await expect(options).toHaveCount(10);
});

test("the values fit a screen of 390 px", async ({ page, studio }) => {
  await filled(page, studio, "NarrowValues");
  await page.setViewportSize({ width: 390, height: 800 });
  await studio.open("/databases/NarrowValues/query");
  await typed(page, "from Orders where City = ");
  const list = page.getByRole("listbox");
  await expect(list.getByRole("option", { name: "'Town 000'" })).toBeVisible();
  const box = (await list.boundingBox())!;
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(390);
});
