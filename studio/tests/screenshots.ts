// Pictures of every screen in light and dark, for people to look at: `make screenshots`.
import { expect, test as plain, type Page } from "@playwright/test";

const FOLDER = "screenshots";

type Screen = { name: string; place: string; ready: (page: Page) => Promise<unknown> };

const seen = (text: string | RegExp) => (page: Page) => expect(page.getByText(text).first()).toBeVisible();
const query = (database: string, text: string) => `/databases/${database}/query?q=${encodeURIComponent(text)}`;

const SCREENS: Screen[] = [
  { name: "databases", place: "/databases", ready: seen("69,472") },
  { name: "documents", place: "/databases/Northwind/documents?collection=Orders", ready: seen("orders/1-A") },
  {
    name: "fields",
    place: "/databases/Northwind/documents?collection=Orders&tab=fields",
    ready: seen("All 830 documents were read."),
  },
  { name: "documents-many", place: "/databases/Cities/documents", ready: seen(/^cities\//) },
  { name: "document", place: "/databases/Northwind/document?id=orders%2F1-A", ready: seen("Related documents") },
  {
    name: "query",
    place: query(
      "Northwind",
      "from Orders\nwhere ShipTo.Country = 'France' and Freight > 20\norder by Freight as double desc\nselect Company, Freight, ShipTo.City, OrderedAt",
    ),
    ready: seen(/results in/),
  },
  {
    name: "query-plan",
    place: query("Northwind", "from Orders where ShipTo.Country = 'France' and Freight > 20"),
    ready: async (page) => {
      await page.getByText("Plan", { exact: true }).click();
      await expect(page.getByRole("list", { name: "Timings" })).toBeVisible();
    },
  },
  {
    name: "query-map",
    place: query("Cities", "from Cities where Country in ('IT', 'AT', 'CH')"),
    ready: async (page) => {
      await page.getByText("Map", { exact: true }).click();
      await expect(page.getByRole("img", { name: /^Map with/ })).toBeVisible();
    },
  },
  { name: "query-examples", place: "/databases/Northwind/query", ready: seen("Group and count") },
  { name: "help", place: "/help?page=docs%2Frql", ready: seen("from Orders") },
  { name: "help-search", place: "/help?find=limit", ready: seen("sections with") },
  { name: "indexes", place: "/databases/Northwind/indexes", ready: seen("Orders/ByCompany") },
  {
    name: "index",
    place: "/databases/Northwind/index?name=Orders%2FByCompany",
    ready: async (page) => {
      await page.getByRole("button", { name: /^Test on/ }).click();
      await expect(page.getByText("Terms of the entries")).toBeVisible();
    },
  },
  {
    name: "map-reduce",
    place: `/databases/Northwind/index?name=Orders%2FByCompany&tab=map-reduce&docs=${encodeURIComponent("orders/830-A\norders/829-A\norders/1-A")}`,
    ready: seen("Groups"),
  },
  { name: "statistics", place: "/databases/Northwind/statistics", ready: seen("What takes the space") },
  {
    name: "statistics-below",
    place: "/databases/Northwind/statistics",
    ready: async (page) => {
      await page.getByText("Change vector").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "query-highlights",
    place: query(
      "Northwind",
      "from Employees where search(Notes, 'sales university') include highlight(Notes, 120, 2), explanations()",
    ),
    ready: (page) => expect(page.locator("mark").first()).toBeVisible(),
  },
  { name: "slow", place: "/server?tab=slow", ready: seen(/or more/) },
  { name: "safety", place: "/safety", ready: seen("Read more") },
  {
    name: "import-csv",
    place: "/databases",
    ready: async (page) => {
      const text = "sku,Name,Price,Zip,Address.City\n7,Chai,18.00,04109,Leipzig\n8,Chang,19.00,1010,Wien\n";
      await page
        .getByLabel("Files to import into Northwind")
        .setInputFiles({ name: "products.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
      await expect(page.getByText("The first row becomes")).toBeVisible();
    },
  },
  { name: "server", place: "/server", ready: seen("the server is ready") },
  { name: "settings", place: "/server?tab=settings", ready: seen("Limits.Connections") },
  { name: "document-items", place: "/databases/Northwind/document?id=products%2F1-A", ready: seen("Likes") },
  {
    name: "attachment",
    place: "/databases/Northwind/document?id=products%2F1-A",
    ready: async (page) => {
      await page.getByRole("button", { name: "label.svg", exact: true }).click();
      await expect(page.getByRole("img", { name: "label.svg" })).toBeVisible();
    },
  },
  {
    name: "revisions",
    place: "/databases/Northwind/revisions?id=categories%2F1-A",
    ready: (page) => expect(page.getByRole("textbox", { name: /^Revision of/ }).first()).toBeVisible(),
  },
  { name: "revisions-bin", place: "/databases/Northwind/revisions", ready: seen("categories/9-A") },
  { name: "compare-exchange", place: "/databases/Northwind/compare-exchange", ready: seen("emails/ann@example.com") },
  {
    name: "compare-exchange-value",
    place: "/databases/Northwind/compare-exchange?key=emails%2Fann%40example.com",
    ready: (page) => expect(page.getByRole("textbox", { name: "Value as JSON" })).toBeVisible(),
  },
  { name: "constraints", place: "/databases/Northwind/constraints", ready: seen("companies by phone") },
  {
    name: "constraint-broken",
    place: "/databases/Northwind/constraints",
    ready: async (page) => {
      await page.getByRole("button", { name: "New constraint" }).click();
      await page.keyboard.type("Products");
      await page.getByRole("combobox", { name: "Fields" }).click();
      await page.keyboard.type("Supplier");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.getByRole("button", { name: "Create" }).click();
      await expect(page.getByRole("list", { name: "Documents with the same values" })).toBeVisible();
    },
  },
  { name: "subscriptions", place: "/databases/Northwind/subscriptions", ready: seen("large orders") },
  {
    name: "subscription-new",
    place: "/databases/Northwind/subscriptions",
    ready: async (page) => {
      await page.getByRole("button", { name: "New subscription" }).click();
      await page.getByRole("textbox", { name: "Query of the subscription" }).click();
      await page.keyboard.insertText("from Orders where Freight > 100 select Company, Freight");
      await page.getByRole("button", { name: "Try" }).click();
      await expect(page.getByRole("list", { name: "What would be sent" })).toBeVisible();
    },
  },
  {
    name: "feed",
    place: "/databases/Northwind/feed",
    ready: async (page) => {
      await expect(page.getByText("Live", { exact: true })).toBeVisible();
      for (const number of [1, 2, 3]) {
        const data = { Name: `Shipper ${number}`, "@metadata": { "@collection": "Shippers" } };
        await page.request.put(`${process.env["STUDIO_URL"]}/databases/Northwind/docs?id=shippers/${number}-A`, { data });
        await page.request.post(`${process.env["STUDIO_URL"]}/databases/Northwind/counters`, { data: LIKES });
      }
      await expect(page.getByRole("row").filter({ hasText: "Raised" }).first()).toBeVisible();
    },
  },
  { name: "operations", place: "/databases/Northwind/operations", ready: seen("Started") },
  { name: "backups", place: "/databases/Northwind/backups", ready: seen("Last full backup") },
  {
    name: "backups-task",
    place: "/databases/Northwind/backups",
    ready: async (page) => {
      await page.getByRole("button", { name: "New task" }).click();
      await expect(page.getByRole("dialog")).toBeVisible();
    },
  },
  { name: "backups-server", place: "/server?tab=backups", ready: seen("Excluded databases") },
  { name: "restore", place: "/restore?folder=northwind", ready: seen("Name of the new database") },
  { name: "document-new", place: "/databases/Northwind/document?collection=Orders", ready: seen("New document") },
  { name: "documents-empty", place: "/databases/Hollow/documents", ready: seen("Nothing here yet") },
  { name: "database-disabled", place: "/databases/Asleep/documents", ready: seen("is disabled") },
  { name: "database-missing", place: "/databases/Nowhere/documents", ready: seen("There is no database") },
  { name: "index-new", place: "/databases/Northwind/index", ready: seen("New index") },
  {
    name: "index-terms",
    place: "/databases/Northwind/index?name=Orders%2FByCompany&tab=terms",
    ready: (page) => expect(page.getByRole("list", { name: /^Terms of/ })).toBeVisible(),
  },
  { name: "index-errors", place: "/databases/Northwind/index?name=Orders%2FFails&tab=errors", ready: seen(/^orders\//i) },
  { name: "advice", place: "/databases/Northwind/advice", ready: seen("Reason") },
  {
    name: "notices",
    place: "/databases/Northwind/indexes",
    ready: async (page) => {
      await page.getByRole("button", { name: /^Notices: \d/ }).click();
      await expect(page.getByRole("dialog", { name: "Notices" })).toBeVisible();
    },
  },
  {
    name: "map-colours",
    place: `${query("Cities", "from Cities where spatial.within(spatial.point(Location.Latitude, Location.Longitude), spatial.circle(300, 48.2, 16.37))")}&as=map`,
    ready: async (page) => {
      await page.getByRole("combobox", { name: "Colour by" }).click();
      await page.getByRole("option", { name: "Country" }).click();
      await expect(page.getByRole("list", { name: "Colours of Country" })).toBeVisible();
    },
  },
  { name: "log", place: "/server?tab=log", ready: (page) => expect(page.getByRole("table")).toBeVisible() },
  {
    name: "create",
    place: "/databases",
    ready: async (page) => {
      await page.getByRole("button", { name: "New database" }).click();
      await expect(page.getByRole("dialog")).toBeVisible();
    },
  },
  {
    name: "query-facets",
    place: query("Northwind", "from index 'Orders/Facets' select facet(Company), facet(Freight < 20, Freight >= 20)"),
    ready: seen(/^companies\//i),
  },
  {
    name: "query-mistake",
    place: query("Northwind", "from Orders\nwhere Freight >"),
    ready: (page) => expect(page.getByRole("alert")).toBeVisible(),
  },
  {
    name: "query-patch",
    place: query("Northwind", "from Shippers"),
    ready: async (page) => {
      await page.getByRole("textbox", { name: "Query in RQL" }).click();
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.insertText("from Shippers update { this.Phone = this.Phone.replace('(503) ', '+1 503 '); }");
      await page.getByRole("button", { name: "Patch…" }).click();
      await expect(page.getByRole("textbox", { name: "After" }).first()).toBeVisible();
    },
  },
  {
    name: "document-conflict",
    place: "/databases/Northwind/document?id=shippers%2F1-A",
    ready: async (page) => {
      const editor = page.getByRole("textbox", { name: "Document as JSON" });
      await editor.click();
      await page.keyboard.press("ControlOrMeta+Home");
      await page.keyboard.press("End");
      await page.keyboard.insertText('\n  "Mine": true,');
      const data = { Name: `Speedy at ${Date.now()}`, Phone: "(503) 555-9831", "@metadata": { "@collection": "Shippers" } };
      await page.request.put(`${process.env["STUDIO_URL"]}/databases/Northwind/docs?id=shippers/1-A`, { data });
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await expect(page.getByRole("dialog")).toBeVisible();
    },
  },
  {
    name: "server-gone",
    place: "/databases/Northwind/documents?collection=Orders",
    ready: async (page) => {
      await expect(page.getByText("orders/1-A")).toBeVisible();
      await page.route("**/admin/live*", (route) => route.abort());
      await expect(page.getByText("The server does not answer")).toBeVisible();
    },
  },
  { name: "about", place: "/about", ready: seen("Connect an application") },
  {
    name: "palette",
    place: "/databases/Northwind/documents",
    ready: async (page) => {
      await expect(page.getByRole("grid")).toBeVisible();
      await page.keyboard.press("ControlOrMeta+k");
      await page.keyboard.type("or");
      await expect(page.getByRole("option", { name: /^Orders/ }).first()).toBeVisible();
    },
  },
];

/** Raises a counter of a product. */
const LIKES = {
  Documents: [{ DocumentId: "products/1-A", Operations: [{ Type: "Increment", CounterName: "Likes", Delta: 1 }] }],
};

plain.beforeAll(async ({ request }) => {
  const url = process.env["STUDIO_URL"]!;
  const definition = {
    Name: "Orders/ByCompany",
    Maps: ["from order in docs.Orders\nselect new\n{\n    order.Company,\n    Count = 1,\n    Total = order.Freight\n}"],
    Reduce:
      "from result in results\ngroup result by result.Company into g\nselect new\n{\n    Company = g.Key,\n    Count = g.Sum(x => x.Count),\n    Total = g.Sum(x => x.Total)\n}",
  };
  const faceted = { Name: "Orders/Facets", Maps: ["from order in docs.Orders select new { order.Company, order.Freight }"] };
  const failing = { Name: "Orders/Fails", Maps: ["from order in docs.Orders select new { Each = 1 / (order.Lines.Count - 2) }"] };
  await request.put(`${url}/databases/Northwind/admin/indexes`, { data: { Indexes: [definition, faceted, failing] } });
  for (const name of ["Hollow", "Asleep"]) {
    await request.put(`${url}/admin/databases?name=${name}`, { data: { DatabaseName: name } });
  }
  await request.post(`${url}/admin/databases/disable`, { data: { DatabaseNames: ["Asleep"] } });
  await request.post(`${url}/databases/Northwind/counters`, { data: LIKES });
  const label =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 120"><rect width="300" height="120" rx="12" fill="#3d47b8"/><text x="150" y="76" font-size="48" font-family="sans-serif" fill="#fff" text-anchor="middle">Chai</text></svg>';
  for (const [name, type, data] of [
    ["label.svg", "image/svg+xml", label],
    ["notes.txt", "text/plain", "Ten boxes of twenty bags."],
  ] as const) {
    const params = { id: "products/1-A", name, contentType: type };
    await request.put(`${url}/databases/Northwind/attachments`, { params, data, headers: { "Content-Type": type } });
  }
  const kept = { Default: null, Collections: { Categories: { Disabled: false } } };
  await request.post(`${url}/databases/Northwind/admin/revisions/config`, { data: kept });
  for (const description of ["Soft drinks, coffees, teas", "Soft drinks, coffees, teas and beers", "Drinks"]) {
    const data = { Name: "Beverages", Description: description, "@metadata": { "@collection": "Categories" } };
    for (const id of ["categories/1-A", "categories/9-A"])
      await request.put(`${url}/databases/Northwind/docs`, { params: { id }, data });
  }
  await request.delete(`${url}/databases/Northwind/docs?id=categories/9-A`);
  const address = { Object: { User: "users/1", Since: "2026-11-01" }, "@metadata": { "@expires": "2090-01-01T00:00:00Z" } };
  await request.put(`${url}/databases/Northwind/cmpxchg?key=emails/ann@example.com&index=0`, { data: address });
  await request.put(`${url}/databases/Northwind/cmpxchg?key=locks/report&index=0`, { data: { Object: "worker-7" } });
  for (const constraint of [
    { Name: "companies by phone", Collection: "Companies", Fields: ["Phone"] },
    { Collection: "Employees", Fields: ["FirstName", "LastName", "Address.City"], CaseSensitive: true },
  ]) {
    await request.put(`${url}/databases/Northwind/admin/constraints`, { data: constraint });
  }
  const subscription = { Name: "large orders", Query: "from Orders where Freight > 100 select Company, Freight" };
  await request.put(`${url}/databases/Northwind/subscriptions`, { data: subscription });
  await request.post(`${url}/databases/Northwind/bulk_insert?id=7001`, { data: "[]" });
  const task = { Name: "nightly", FullBackupFrequency: "0 2 * * *", LocalSettings: { FolderPath: "northwind" } };
  await request.post(`${url}/databases/Northwind/admin/periodic-backup`, { data: task });
  const all = { ...task, Name: "weekly", FullBackupFrequency: "0 3 * * SUN", ExcludedDatabases: ["Hollow"] };
  await request.put(`${url}/admin/configuration/server-wide/backup`, { data: all });
  await request.post(`${url}/databases/Northwind/admin/backup`, { data: { LocalSettings: task.LocalSettings } });
});

/** How wide the pictures are; those of 1280 are named without it. */
const WIDTHS = [1280, 1920, 400];

for (const scheme of ["light", "dark"] as const) {
  for (const { name, place, ready } of SCREENS) {
    for (const width of WIDTHS) {
      const file = width === 1280 ? `${name}-${scheme}` : `${name}-${width}-${scheme}`;
      plain(file, async ({ page }) => {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: width < 600 ? 800 : Math.round((width * 10) / 16) });
        // Some seconds of counters, so that the charts have a line.
        await page.goto(`${process.env["STUDIO_URL"]}/studio/index.html#${place}`);
        await ready(page);
        await page.mouse.move(5, 5);
        // The editor and charts are drawn in steps of their own; nothing says when the last is done.
        await page.waitForTimeout(name === "databases" || name.startsWith("statistics") ? 7000 : 900);
        await page.screenshot({ path: `${FOLDER}/${file}.png` });
      });
    }
  }
}
