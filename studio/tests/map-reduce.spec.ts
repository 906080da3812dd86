// The map-reduce of an index: from documents by what the map gives to the groups and their results.
import { expect, test, type Studio } from "./studio";

const BY_COMPANY = {
  Name: "Orders/Sums",
  Maps: ["from order in docs.Orders select new { order.Company, Count = 1 }"],
  Reduce: "from r in results group r by r.Company into g select new { Company = g.Key, Count = g.Sum(x => x.Count) }",
};
/** One group of 830 values: 13 parts, and what they are reduced to. */
const ALL = {
  Name: "Orders/All",
  Maps: ['from order in docs.Orders select new { Kind = "order", Count = 1 }'],
  Reduce: "from r in results group r by r.Kind into g select new { Kind = g.Key, Count = g.Sum(x => x.Count) }",
};

async function northwind(studio: Studio, name: string, definitions: object[]) {
  await studio.database(name);
  const request = studio.page.request;
  expect((await request.post(`${studio.url}/databases/${name}/studio/sample-data`)).status()).toBe(204);
  const answer = await request.put(`${studio.url}/databases/${name}/admin/indexes`, { data: { Indexes: definitions } });
  expect(answer.status()).toBe(201);
  for (const definition of definitions as { Name: string }[]) {
    const data = { Query: `from index '${definition.Name}'`, WaitForNonStaleResults: true };
    expect((await request.post(`${studio.url}/databases/${name}/queries`, { data })).status()).toBe(200);
  }
}

test("documents are followed to their groups and results", async ({ page, studio }) => {
  await northwind(studio, "Followed", [BY_COMPANY]);
  await studio.open("/databases/Followed/index?name=Orders%2FSums");
  await page.getByRole("radiogroup", { name: "Part of the index" }).getByText("Map-reduce", { exact: true }).click();
  await expect(page.getByRole("heading", { name: "How do documents become results?" })).toBeVisible();
  await expect(page.getByRole("button", { name: /^orders\// })).toHaveCount(5);
  await studio.isAccessible();

  // By the keyboard alone.
  const chooser = page.getByRole("combobox", { name: "Documents" }).or(page.getByRole("textbox", { name: "Documents" }));
  await chooser.focus();
  await page.keyboard.type("orders/830");
  await expect(page.getByRole("option")).toHaveText(["orders/830-A"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const drawing = page.getByRole("region", { name: "From documents to results" });
  await expect(drawing.getByRole("link", { name: "orders/830-A" })).toBeVisible();
  await expect(drawing.getByText("in the group companies/65-A")).toBeVisible();
  const group = drawing.getByRole("listitem", { name: "Group companies/65-A" });
  await expect(group.getByText("of 18 values")).toBeVisible();
  await expect(group.getByText("18", { exact: true })).toBeVisible();
  // From the document to its value, from there to the result.
  await expect(drawing.locator("svg path")).toHaveCount(2);
  await group.getByText("with 17 values of other documents").click();
  await expect(group.getByText("Company companies/65-A, Count 1")).toHaveCount(17);
  await chooser.focus();
  await page.keyboard.type("orders/829-a");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  // As the document has it, not as it was typed.
  await expect(drawing.getByRole("link", { name: "orders/829-A" })).toBeVisible();
  await expect(page.getByText("orders/829-a", { exact: true })).toHaveCount(0);
  await expect(drawing.getByRole("listitem", { name: "Group companies/9-A" }).getByText("of 17 values")).toBeVisible();
  await expect(drawing.locator("svg path")).toHaveCount(4);
  await studio.isAccessible();

  await page.reload();
  await expect(drawing.getByRole("link")).toHaveText(["orders/830-A", "orders/829-A"]);
  await chooser.focus();
  await page.keyboard.press("Backspace");
  await expect(drawing.getByRole("link")).toHaveText(["orders/830-A"]);
  // A document that gives nothing, as one that is not there.
  await studio.open("/databases/Followed/index?name=Orders%2FSums&tab=map-reduce&docs=employees%2F1-A");
  await expect(drawing.getByText("gives no value")).toBeVisible();
});

test("a large group is shown with the parts on the way, also on a narrow screen", async ({ page, studio }) => {
  await northwind(studio, "Large", [ALL]);
  await studio.open("/databases/Large/index?name=Orders%2FAll&tab=map-reduce&docs=orders%2F1-A");
  const group = page.getByRole("listitem", { name: "Group order" });
  await expect(group.getByText("of 830 values, in 2 steps")).toBeVisible();
  const parts = group.getByRole("list", { name: "Parts of level 1" });
  await expect(parts.getByRole("heading", { name: /^Values [\d,]+ to [\d,]+$/ })).toHaveCount(1);
  await expect(parts.getByText("64", { exact: true })).toBeVisible();
  await group.getByText("with 12 other parts").click();
  await expect(group.getByText("Kind order, Count 64").first()).toBeVisible();
  await expect(page.locator("svg path[d^=M]").first()).toBeVisible();
  await page.setViewportSize({ width: 400, height: 800 });
  const region = page.getByRole("region", { name: "From documents to results" });
  await expect(region.locator(":scope svg").first()).toBeHidden();
  expect(await region.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  await expect(page.getByText("in the group order")).toBeVisible();
  await studio.isAccessible();
});

test("groups that cannot be read, and an index without groups", async ({ page, studio }) => {
  await studio.database("Ungrouped");
  const put = (definition: object) =>
    page.request.put(`${studio.url}/databases/Ungrouped/admin/indexes`, { data: { Indexes: [definition] } });
  expect((await put(BY_COMPANY)).status()).toBe(201);
  expect((await put({ Name: "Plain", Maps: ["from o in docs.Orders select new { o.Company }"] })).status()).toBe(201);
  await studio.open("/databases/Ungrouped/index?name=Orders%2FSums&tab=map-reduce");
  await expect(page.getByRole("heading", { name: "No groups yet" })).toBeVisible();
  studio.allow(/500 \(Internal/);
  await page.route(/op=map-reduce-tree/, (route) => route.fulfill({ status: 500, json: { Message: "the disk is gone" } }));
  await studio.open("/databases/Ungrouped/index?name=Orders%2FSums&tab=map-reduce&docs=orders%2F1-A");
  await expect(page.getByRole("alert")).toContainText("the disk is gone");
  await page.unroute(/op=map-reduce-tree/);
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("gives no value")).toBeVisible();
  await studio.open("/databases/Ungrouped/index?name=Plain&tab=map-reduce");
  const part = page.getByRole("radiogroup", { name: "Part of the index" });
  await expect(part.getByText("Terms", { exact: true })).toBeVisible();
  await expect(part.getByText("Map-reduce", { exact: true })).toHaveCount(0);
});
