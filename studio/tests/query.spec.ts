// Queries: writing them with help, results in each form, mistakes, changing by query, export.
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { expect, test } from "./studio";

const editor = (page: Page) => page.getByRole("textbox", { name: "Query in RQL" });

/** Patches or deletes in the dialog, whose question is the title, and waits for the operation. */
async function confirm(page: Page, title: string, count: number) {
  const [action] = title.split(" ") as [string];
  const dialog = page.getByRole("dialog", { name: title });
  await dialog.getByRole("textbox", { name: /^Type the number/ }).fill(String(count));
  await dialog.getByRole("button", { name: action }).click();
  const running = page.getByRole("dialog", { name: action === "Patch" ? "Patching" : "Deleting" });
  await expect(running.getByRole("progressbar")).toHaveAttribute("aria-valuenow", "100");
  await page.keyboard.press("Escape");
}

async function askToDelete(page: Page) {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete the results…" }).click();
}

const placed = (database: string, query: string) => `/databases/${database}/query?q=${encodeURIComponent(query)}`;

test("names are completed, and the results come by keyboard", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query");
  await editor(page).click();
  await page.keyboard.type("from Ord");
  const list = page.getByRole("listbox");
  await list.getByRole("option", { name: /^Orders/ }).click();
  await page.keyboard.type(" where ShipTo.Ci");
  await list.getByRole("option", { name: /^ShipTo.City/ }).click();
  await page.keyboard.type(" = 'Reims'");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^5 results in/)).toBeVisible();
  await expect(page.getByRole("grid", { name: "Results" }).getByRole("link", { name: "orders/1-A", exact: true })).toBeVisible();
  await studio.isAccessible();
  await page.reload();
  await expect(page.getByText(/^5 results in/)).toBeVisible();
});

test("names are completed in aliases, indexes, open quotes, patches and parameters", async ({ page, studio }) => {
  const order = { Company: "companies/1", Freight: 1, ShippedAt: "1996-07-16", "@metadata": { "@collection": "Orders" } };
  await studio.database("Completed", { "orders/1": order });
  const map = "from order in docs.Orders select new { order.Company, Total = order.Freight }";
  const data = { Indexes: [{ Name: "Orders/ByCompany", Maps: [map] }] };
  expect((await page.request.put(`${studio.url}/databases/Completed/admin/indexes`, { data })).status()).toBe(201);
  await studio.open('/databases/Completed/query?q=from Orders&p={"city":"Reims"}');
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  const completed = async (typed: string, wanted: RegExp, becomes: string) => {
    await editor(page).click();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type(typed);
    await page.getByRole("listbox").getByRole("option", { name: wanted }).first().click();
    await expect(editor(page)).toHaveText(becomes);
  };
  await completed("from Orders as o where o.Sh", /^o\.ShippedAt/, "from Orders as o where o.ShippedAt");
  await completed("from index 'Comp", /^Orders\/ByCompany/, "from index 'Orders/ByCompany'");
  await completed("from index 'Orders/ByCompany' where Tot", /^Total/, "from index 'Orders/ByCompany' where Total");
  await completed("from index ", /^Orders\/ByCompany/, "from index 'Orders/ByCompany'");
  await completed("from Orders update { this.Fr", /^this\.Freight/, "from Orders update { this.Freight}");
  await completed("from Orders where Company = $c", /^\$city/, "from Orders where Company = $city");
});

test("a mistake is shown at its place, and goes when it is mended", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query");
  studio.allow(/500 \(Internal|400 \(Bad/);
  await studio.write("Query in RQL", "from Orders\nwhere Freight >");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("alert")).toContainText("Line 2, column");
  await expect(page.locator(".cm-lintRange-error")).toBeVisible();
  await studio.isAccessible();
  await studio.write("Query in RQL", "from Orders where Freight > 800");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^4 results in/)).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
});

test("results are a table, JSON with all digits, and a plan", async ({ page, studio }) => {
  await studio.open(placed("Northwind", "from Orders where ShipTo.Country = 'France' and Freight > 20"));
  const results = page.getByRole("region", { name: "Results" });
  await expect(results.getByRole("grid")).toBeVisible();
  await page.getByText("JSON", { exact: true }).click();
  await expect(page.getByRole("textbox", { name: "Results as JSON" })).toContainText('"PricePerUnit"');
  await page.getByText("Plan", { exact: true }).click();
  await expect(page.getByRole("list", { name: "Plan" }).getByText("ShipTo.Country")).toBeVisible();
  await expect(page.getByRole("heading", { name: "Timings" })).toBeVisible();
  await studio.open(`${placed("Northwind", "from Orders where Freight > 20 include Company limit 3")}&as=plan`);
  await expect(page.getByRole("list", { name: "Plan" }).getByText("Freight").first()).toBeVisible();
  await expect(page.getByRole("heading", { name: "Timings" })).toBeVisible();
  await studio.isAccessible();
});

test("places are drawn on a map, and a click opens the document", async ({ page, studio }) => {
  await studio.open(placed("Cities", "from Cities where id() = 'cities/2761369'"));
  await page.getByText("Map", { exact: true }).click();
  const map = page.getByRole("img", { name: /^Map with 1 place/ });
  await expect(map).toBeVisible();
  await studio.isAccessible();
  const box = (await map.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2 + 2, box.y + box.height / 2);
  await expect(page.getByText("Vienna")).toBeVisible();
  await page.mouse.down();
  await page.mouse.up();
  await expect(page.getByRole("heading", { name: "cities/2761369", exact: true })).toBeVisible();
});

test("all cities are on the map", async ({ page, studio }) => {
  await studio.open(`${placed("Cities", "from Cities")}&as=map`);
  const map = page.getByRole("img", { name: /^Map with 69,472 places/ });
  await expect(map).toBeVisible();
  // Two fingers that go apart zoom in: what was drawn as land is drawn anew.
  const picture = () => map.evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  const before = await picture();
  await map.evaluate((canvas) => {
    const { left, top } = canvas.getBoundingClientRect();
    canvas.setPointerCapture = () => {};
    const send = (type: string, pointerId: number, x: number, y: number) =>
      canvas.dispatchEvent(
        new PointerEvent(type, { pointerId, clientX: left + x, clientY: top + y, bubbles: true, pointerType: "touch" }),
      );
    send("pointerdown", 1, 200, 200);
    send("pointerdown", 2, 220, 200);
  });
  await map.evaluate((canvas) => {
    const { left, top } = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent("pointermove", { pointerId: 2, clientX: left + 300, clientY: top + 200, bubbles: true }));
  });
  await expect.poll(async () => (await picture()) === before).toBe(false);
});

test("parameters go with the query", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query");
  await studio.write("Query in RQL", "from Companies where Address.City = $city");
  await page.getByRole("button", { name: "Parameters" }).click();
  await page.getByRole("textbox", { name: "Parameters as JSON" }).click();
  await page.keyboard.insertText("[1]");
  await page.getByRole("button", { name: "Run" }).click();
  await expect(page.getByRole("alert")).toContainText("no JSON object");
  await page.getByRole("textbox", { name: "Parameters as JSON" }).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText('{"city":"Reims"}');
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  await page.reload();
  await expect(page.getByText(/^1 result in/)).toBeVisible();
});

test("facets are bars", async ({ page, studio }) => {
  await studio.database(
    "Faceted",
    Object.fromEntries(
      ["Rome", "Oslo", "Oslo"].map((City, at) => [`users/${at}`, { City, Age: at, "@metadata": { "@collection": "Users" } }]),
    ),
  );
  const definition = { Name: "Users/ByCity", Maps: ["from user in docs.Users select new { user.City, user.Age }"] };
  await page.request.put(`${studio.url}/databases/Faceted/admin/indexes`, { data: { Indexes: [definition] } });
  const query = "from index 'Users/ByCity' select facet(City)";
  await page.request.post(`${studio.url}/databases/Faceted/queries`, { data: { Query: query, WaitForNonStaleResults: true } });
  await studio.open(placed("Faceted", query));
  await expect(page.getByRole("row", { name: /oslo.* 2/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /rome.* 1/ })).toBeVisible();
  await studio.open(placed("Faceted", query.replace("facet(City)", "facet(City, sum(Age), max(Age))")));
  await expect(page.getByRole("columnheader", { name: "Sum of Age" })).toBeVisible();
  await expect(page.getByRole("row", { name: /oslo 2 3 2/ })).toBeVisible();
  await studio.isAccessible();
});

test("what was found in texts is marked, and scores are explained", async ({ page, studio }) => {
  const fox = (Text: string) => ({ Text, "@metadata": { "@collection": "Notes" } });
  await studio.database("Marked", { "notes/1": fox("A <b>quick</b> fox, another fox"), "notes/2": fox("One fox") });
  const query = "from Notes where search(Text, 'fox') include highlight(Text, 60, 2), explanations()";
  await studio.open(placed("Marked", query));
  const first = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "notes/1" }) });
  await expect(first.locator("mark")).toHaveText(["fox", "fox"]);
  // A document's own tags are text.
  await expect(first).toContainText("<b>quick</b>");
  await studio.isAccessible();
  await page.getByText("Scores", { exact: true }).click();
  await expect(page.getByText(/fieldWeight|product of/).first()).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("link", { name: "notes/2" }).click();
  await expect(page.getByRole("heading", { name: "notes/2", exact: true })).toBeVisible();
});

test("a patch and a deletion by query are counted, confirmed and run", async ({ page, studio }) => {
  const users = Object.fromEntries(
    [1, 2, 3].map((number) => [`users/${number}`, { Age: number, "@metadata": { "@collection": "Users" } }]),
  );
  await studio.database("Changed", users);
  await studio.open("/databases/Changed/query");
  await studio.write("Query in RQL", "from Users where Age > 1 update { this.Old = true; }");
  await page.getByRole("button", { name: "Patch…" }).click();
  const patching = page.getByRole("dialog", { name: "Patch 2 documents?" });
  await expect(patching.getByRole("textbox", { name: "Before" })).toContainText('"Age": 2');
  await expect(patching.getByRole("textbox", { name: "After" })).toContainText('"Old": true');
  await studio.isAccessible();
  await confirm(page, "Patch 2 documents?", 2);
  expect((await studio.stored("Changed", "users/3"))!["Old"]).toBe(true);
  expect((await studio.stored("Changed", "users/1"))!["Old"]).toBeUndefined();

  await studio.write("Query in RQL", "from Users where Age = 1");
  await askToDelete(page);
  await confirm(page, "Delete 1 document?", 1);
  expect(await studio.stored("Changed", "users/1")).toBeUndefined();
});

test("a patch that is called off leaves the results, and one that cannot run is refused before it is confirmed", async ({
  page,
  studio,
}) => {
  studio.allow(/400 \(Bad/);
  await studio.database("Called", { "users/1": { Age: 1, "@metadata": { "@collection": "Users" } } });
  await studio.open(placed("Called", "from Users"));
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  const address = page.url();
  const patch = "from Users as u update { u.Age = 2; put('log/1', {}); }";
  await studio.write("Query in RQL", patch);
  await page.keyboard.press("ControlOrMeta+Enter");
  const dialog = page.getByRole("dialog", { name: "Patch 1 document?" });
  await expect(dialog).toContainText("It also stores log/1");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  await expect(editor(page)).toContainText(patch);
  expect(page.url()).toBe(address);
  expect(await studio.stored("Called", "log/1")).toBeUndefined();

  for (const [script, reason] of [
    ["this.Age = ;", "invalid script"],
    ["throw 'No, not this'", "No, not this"],
  ] as const) {
    await studio.write("Query in RQL", `from Users update { ${script} }`);
    await page.getByRole("button", { name: "Patch…" }).click();
    await expect(page.getByRole("alert")).toContainText(reason);
    await expect(page.getByRole("dialog")).toHaveCount(0);
  }
  // After a patch stands what it finds.
  await studio.write("Query in RQL", patch);
  await page.keyboard.press("ControlOrMeta+Enter");
  await confirm(page, "Patch 1 document?", 1);
  await expect(page.getByText("These are the documents that the patch matches now.")).toBeVisible();
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  expect(page.url()).toContain("update");
});

test("a running query tells for how long, and is stopped", async ({ page, studio }) => {
  const query = await studio.hold(
    "**/databases/Northwind/queries",
    (request) => request.postData()?.includes("from Shippers") === true,
  );
  await studio.open(placed("Northwind", "from Shippers"));
  const stopped = page.waitForEvent("requestfailed");
  await page.getByRole("button", { name: "Stop" }).click();
  expect((await stopped).url()).toContain("/queries");
  await expect(page.getByText("The query was stopped.")).toBeVisible();
  query.go();
  await page.unroute("**/databases/Northwind/queries");
  await page.getByRole("button", { name: "Run" }).click();
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  await expect(page.getByText("The query was stopped.")).toHaveCount(0);
});

test("results are exported, and queries are kept under a name", async ({ page, studio }) => {
  await studio.open(placed("Northwind", "from Shippers"));
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "CSV, all fields" }).click();
  const lines = readFileSync(await (await downloading).path(), "utf8")
    .trimEnd()
    .split("\r\n");
  expect([lines.length, lines[0]]).toEqual([4, "\uFEFFId,Name,Phone"]);
  await expect(page.getByRole("dialog").getByText("3 results exported.")).toBeVisible();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Saved" }).click();
  await page.getByRole("textbox", { name: "Name for this query" }).fill("Who ships");
  await studio.isAccessible();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Saved as 'Who ships'")).toBeVisible();
  await studio.open("/databases/Northwind/query");
  await studio.write("Query in RQL", "from Orders");
  await page.getByRole("button", { name: "Saved" }).click();
  // A name that is taken is not taken over unasked, and what was forgotten comes back.
  await page.getByRole("textbox", { name: "Name for this query" }).fill("Who ships");
  await expect(page.getByRole("button", { name: "Replace", exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Forget Who ships" }).click();
  await expect(page.getByText("'Who ships' was forgotten")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: /^Who ships/ }).click();
  await expect(editor(page)).toContainText("from Shippers");
});

test("a limit counts in what is shown, exported, patched and deleted", async ({ page, studio }) => {
  const users = Object.fromEntries(
    [1, 2, 3, 4, 5].map((number) => [`users/${number}`, { Age: number, "@metadata": { "@collection": "Users" } }]),
  );
  await studio.database("Limited", users);
  const grid = page.getByRole("grid", { name: "Results" });
  await studio.open(placed("Limited", "from Users limit 1, 3"));
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  await expect(grid.getByRole("link")).toHaveText(["users/2", "users/3", "users/4"]);

  await studio.write("Query in RQL", "from Users update { this.Old = true; } limit 2");
  await page.getByRole("button", { name: "Patch…" }).click();
  await confirm(page, "Patch 2 documents?", 2);
  expect((await studio.stored("Limited", "users/2"))!["Old"]).toBe(true);
  expect((await studio.stored("Limited", "users/3"))!["Old"]).toBeUndefined();

  await studio.write("Query in RQL", "from Users limit 3");
  await askToDelete(page);
  await confirm(page, "Delete 3 documents?", 3);
  const left = await page.request.get(`${studio.url}/databases/Limited/collections/stats`);
  expect(((await left.json()) as { CountOfDocuments: number }).CountOfDocuments).toBe(2);
});

test("a limit of many pages is shown and exported to its end", async ({ page, studio }) => {
  const ids = async (start: number, count: number) => {
    const data = { Query: "from Cities", Start: start, PageSize: count };
    const answer = await page.request.post(`${studio.url}/databases/Cities/queries`, { data });
    return ((await answer.json()) as { Results: { "@metadata": { "@id": string } }[] }).Results.map(
      (row) => row["@metadata"]["@id"],
    );
  };
  await studio.open(placed("Cities", "from Cities limit 10, 2500"));
  await expect(page.getByText(/^2,500 results in/)).toBeVisible();
  const grid = page.getByRole("grid", { name: "Results" });
  await expect(grid).toHaveAttribute("aria-rowcount", "2501");
  await grid.focus();
  await page.keyboard.press("End");
  const [last] = await ids(2509, 1);
  await expect(grid.getByRole("link", { name: last!, exact: true })).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "CSV, all fields" }).click();
  const lines = readFileSync(await (await downloading).path(), "utf8")
    .trimEnd()
    .split("\r\n");
  expect(lines.length).toBe(2501);
  expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(await ids(10, 2500));
});

test("numbers of parameters keep their digits, also in what is deleted", async ({ page, studio }) => {
  await studio.database("Digits");
  for (const big of ["9007199254740992", "9007199254740993"]) {
    const data = `{"Big":${big},"@metadata":{"@collection":"Users"}}`;
    await page.request.put(`${studio.url}/databases/Digits/docs?id=users/${big}`, { data });
  }
  await studio.open("/databases/Digits/query");
  await studio.write("Query in RQL", "from Users where Big = $big");
  await page.getByRole("button", { name: "Parameters" }).click();
  await page.getByRole("textbox", { name: "Parameters as JSON" }).click();
  await page.keyboard.type('{"big":9007199254740993}');
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  await expect(page.getByRole("link", { name: "users/9007199254740993" })).toBeVisible();
  await askToDelete(page);
  await expect(page.getByRole("dialog")).toContainText("users/9007199254740993");
  await confirm(page, "Delete 1 document?", 1);
  expect(await studio.stored("Digits", "users/9007199254740993")).toBeUndefined();
  expect(await studio.stored("Digits", "users/9007199254740992")).toBeDefined();
});

test("an export as CSV has nested fields once", async ({ page, studio }) => {
  await studio.open(placed("Northwind", "from Regions as r select { Name: r.Name, At: { X: 1, Y: 2 } } limit 1"));
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "CSV, all fields" }).click();
  const content = readFileSync(await (await downloading).path(), "utf8");
  expect(content.split("\r\n")[0]).toMatch(/Name,At\.X,At\.Y$/);
});

test("an export as CSV has the columns of the table in their order, and can be stopped", async ({ page, studio }) => {
  await studio.open(placed("Northwind", "from Shippers"));
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Move Phone left" }).click();
  await page.getByRole("checkbox", { name: "Modified" }).check();
  await page.getByRole("checkbox", { name: "Name" }).uncheck();
  await page.keyboard.press("Escape");
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "CSV, the columns of the table" }).click();
  const lines = readFileSync(await (await downloading).path(), "utf8").split("\r\n");
  expect(lines[0]).toBe("\uFEFFId,Phone,Modified");
  expect(lines[1]).toMatch(/^shippers\/1-A,\(503\) 555-9831,\d{4}-/);
  await page.getByRole("button", { name: "Close", exact: true }).last().click();

  for (const kind of ["CSV, all fields", "JSON, with all digits"]) {
    // The server never answers.
    await page.route("**/queries", () => undefined);
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("menuitem", { name: kind }).click();
    const dialog = page.getByRole("dialog", { name: "Export results of Northwind" });
    await dialog.getByRole("button", { name: "Stop" }).click();
    await expect(dialog.getByText("Stopped. Nothing was saved.")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  }
});

test("an export as CSV keeps the digits of numbers", async ({ page, studio }) => {
  await studio.database("Exact");
  const data = '{"Big":9007199254740993,"Price":34.8000,"@metadata":{"@collection":"Users"}}';
  await page.request.put(`${studio.url}/databases/Exact/docs?id=users/1`, { data });
  await studio.open(placed("Exact", "from Users"));
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "CSV, all fields" }).click();
  const text = readFileSync(await (await downloading).path(), "utf8");
  expect(text).toBe("\uFEFFId,Big,Price\r\nusers/1,9007199254740993,34.8000\r\n");
});

test("the screen follows the address, and what is not run yet is kept", async ({ page, studio }) => {
  await studio.open(placed("Northwind", "from Shippers"));
  await expect(page.getByText(/^3 results in/)).toBeVisible();
  await page.getByText("JSON", { exact: true }).click();
  await expect(page.getByRole("textbox", { name: "Results as JSON" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("textbox", { name: "Results as JSON" })).toContainText("Speedy");

  await studio.open(placed("Northwind", "from Regions"));
  await expect(page.getByText(/^4 results in/)).toBeVisible();
  await expect(editor(page)).toHaveText("from Regions");
  await studio.write("Query in RQL", "from Employees");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^9 results in/)).toBeVisible();
  await page.goBack();
  await expect(page.getByText(/^4 results in/)).toBeVisible();
  await expect(editor(page)).toHaveText("from Regions");

  await studio.write("Query in RQL", "from Regions where Unfinished");
  const side = page.getByRole("navigation", { name: "Database Northwind" });
  await side.getByRole("link", { name: "Statistics" }).click();
  await expect(page.getByText("What takes the space")).toBeVisible();
  await side.getByRole("link", { name: "Query" }).click();
  await expect(editor(page)).toHaveText("from Regions where Unfinished");
  await expect(page.getByText(/results in/)).toHaveCount(0);
  await page.reload();
  await expect(editor(page)).toHaveText("from Regions where Unfinished");
});

test("whatever an address says is a text", async ({ page, studio }) => {
  studio.allow(/500 \(Internal|400 \(Bad/);
  await studio.open("/databases/Northwind/query?q=null");
  await expect(page.getByRole("alert")).toContainText("Line 1");
  await studio.open('/databases/Northwind/query?q=from Companies where Address.City = $city&p={"city":"Reims"}');
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  await studio.open("/databases/Northwind/query?q=from Companies&p=[1]");
  await expect(page.getByRole("alert")).toContainText("no JSON object");
  await studio.database("Numbers", { "1.0": { Is: "point" }, "1": { Is: "one" } });
  await studio.open("/databases/Numbers/document?id=1.0");
  await expect(page.getByRole("textbox", { name: "Document as JSON" })).toContainText("point");
});

test("the link of a slow query is opened, not run", async ({ page, studio }) => {
  await studio.open(`${placed("Northwind", "from Companies where Address.City = $city")}&run=no`);
  await expect(page.getByText("these are missing: $city")).toBeVisible();
  await expect(page.getByRole("region", { name: "Results" })).toHaveCount(0);
  await editor(page).click();
  await studio.write("Query in RQL", "from Companies");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^91 results in/)).toBeVisible();
  await expect(page.getByText("are missing")).toHaveCount(0);
});

test("the list closes when the query is run, and is that of its place", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query");
  await editor(page).click();
  const list = page.getByRole("listbox");
  await page.keyboard.type("from Orders where ");
  // By itself, fields first, and nothing that cannot stand there.
  await expect(list.getByRole("option").first()).toHaveText(/^Company/);
  await expect(list.getByRole("option", { name: "between", exact: true })).toHaveCount(0);
  await page.keyboard.type("ShipTo.Country = '");
  await expect(list.getByRole("option", { name: "France", exact: true })).toBeVisible();
  await expect(list.getByRole("option", { name: "and", exact: true })).toHaveCount(0);
  await page.keyboard.type("Fra");
  await list.getByRole("option", { name: "France", exact: true }).click();
  await expect(editor(page)).toHaveText("from Orders where ShipTo.Country = 'France'");
  await page.keyboard.type(" order by ");
  await expect(list.getByRole("option", { name: /^Freight/ })).toBeVisible();
  await page.keyboard.type("Freight as double desc");
  await expect(list.getByRole("option", { name: "desc", exact: true })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByText(/^77 results in/)).toBeVisible();
  await expect(list).toHaveCount(0);
});

test("fields of loaded documents are offered, in scripts too", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query");
  await editor(page).click();
  await page.keyboard.type("from Orders as o load o.Company as c select { n: c.");
  await page
    .getByRole("listbox")
    .getByRole("option", { name: /^c\.Contact\b/ })
    .first()
    .click();
  await expect(editor(page)).toContainText("{ n: c.Contact");
});

test("parameters that are empty are no mistake", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/query");
  await page.getByRole("button", { name: "Parameters" }).click();
  const parameters = page.getByRole("textbox", { name: "Parameters as JSON" });
  await expect(page.getByText('{ "city": "Oslo" } for $city')).toBeVisible();
  // The linter has looked: it tells of what is wrong, and then of nothing any more.
  await parameters.click();
  await page.keyboard.insertText('{"a":');
  await expect(page.locator(".cm-lint-marker-error")).toBeVisible();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.press("Delete");
  await expect(page.locator(".cm-lint-marker-error")).toHaveCount(0);
  await expect(page.locator(".cm-lintRange-error")).toHaveCount(0);
  await studio.isAccessible();
});

test("what the server warns of stands above the results", async ({ page, studio }) => {
  const warning = "No document in Orders has `Freigth`. Did you mean `Freight`?";
  await page.route("**/databases/Northwind/queries", async (route) => {
    if (!route.request().postData()?.includes("Freigth")) return route.continue();
    const answer = await route.fetch({ postData: route.request().postData()!.replace("Freigth", "Freight") });
    const json = { ...((await answer.json()) as object), Results: [], TotalResults: 0, Warnings: [warning] };
    await route.fulfill({ response: answer, json });
  });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await studio.open(placed("Northwind", "from Orders where Freigth > 800"));
    await expect(page.getByRole("status").filter({ hasText: warning.replaceAll("`", "") })).toBeVisible();
    await expect(page.getByText("See the warning above.")).toBeVisible();
    await studio.isAccessible();
  }
});

test("while an index is built, the query that waits says so", async ({ page, studio }) => {
  const query = await studio.hold(
    "**/databases/Cities/queries",
    (request) => request.postData()?.includes("Population > 1") === true,
  );
  const Collections = {
    Cities: { NumberOfItemsToProcess: 30, TotalNumberOfItems: 100, NumberOfTombstonesToProcess: 0, TotalNumberOfTombstones: 0 },
  };
  await page.route("**/databases/Cities/indexes/progress", (route) =>
    route.fulfill({ json: { Results: [{ Name: "Auto/Cities/ByPopulation", Collections }] } }),
  );
  await studio.open(placed("Cities", "from Cities where Population > 1"));
  await expect(page.getByText("Auto/Cities/ByPopulation", { exact: true })).toBeVisible();
  await expect(page.getByText("70%")).toBeVisible();
  await expect(page.getByRole("progressbar")).toHaveAttribute("aria-valuenow", "70");
  // The button stands with it, not at the end of the window.
  const [text, button] = [
    (await page.getByText("Loading results…").boundingBox())!,
    (await page.getByRole("button", { name: "Stop" }).boundingBox())!,
  ];
  expect(button.y - text.y).toBeLessThan(180);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText("The query was stopped.")).toBeVisible();
  query.go();
});

test("a query that a failed index cannot answer leads to its errors", async ({ page, studio }) => {
  studio.allow(/500 \(Internal|400 \(Bad/);
  await studio.database("Broken");
  const commands = Array.from({ length: 120 }, (_, at) => ({
    Type: "PUT",
    Id: `users/${at}`,
    Document: { Age: 0, "@metadata": { "@collection": "Users" } },
  }));
  await page.request.post(`${studio.url}/databases/Broken/bulk_docs`, { data: { Commands: commands } });
  await studio.index("Broken", { Name: "Users/Divided", Maps: ["from user in docs.Users select new { Part = 1 / user.Age }"] });
  const stats = `${studio.url}/databases/Broken/indexes/stats`;
  await expect.poll(async () => await (await page.request.get(stats)).text()).toContain('"State":"Error"');
  await studio.open(placed("Broken", "from index 'Users/Divided' where Part = 1"));
  await expect(page.getByRole("alert")).toContainText("The index Users/Divided has failed.");
  await studio.isAccessible();
  await page.getByRole("link", { name: "Show its errors" }).click();
  await expect(page.getByRole("link", { name: /^users\// }).first()).toBeVisible();
});

test("a long name of an index ends before the buttons", async ({ page, studio }) => {
  await page.setViewportSize({ width: 1100, height: 700 });
  await studio.open(
    placed(
      "Northwind",
      "from Orders where Freight > 1 and ShipTo.Country != '' and ShipTo.City != '' and Employee != '' and ShipVia != ''",
    ),
  );
  const status = page.getByText(/results in/);
  await expect(status).toBeVisible();
  const [text, columns] = [(await status.boundingBox())!, (await page.getByRole("button", { name: "Columns" }).boundingBox())!];
  expect(text.x + text.width).toBeLessThanOrEqual(columns.x);
});

test("examples show parts of the language, and each of them runs", async ({ browser, page, studio }) => {
  // Eight contexts of a browser, each with an empty cache.
  test.slow();
  for (const [database, count] of [
    ["Northwind", 4],
    ["Cities", 4],
  ] as const) {
    for (let at = 0; at < count; at++) {
      // What was run is remembered, and shown in place of the examples.
      const context = await browser.newContext();
      const fresh = await context.newPage();
      await fresh.goto(`${studio.url}/studio/index.html#/databases/${database}/query`);
      const examples = fresh.getByRole("list", { name: "Example queries" }).getByRole("button");
      await expect(examples.nth(count - 1)).toBeVisible();
      await examples.nth(at).click();
      await fresh.getByRole("button", { name: "Run" }).click();
      await expect(fresh.getByText(/^[1-9][\d,]* results? in/)).toBeVisible();
      await context.close();
    }
  }
  await studio.open("/databases/Cities/query");
  await expect(page.getByRole("list", { name: "Example queries" })).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("link", { name: "The language" }).click();
  await expect(page.getByRole("heading", { name: "RQL", exact: true })).toBeVisible();
});

test("a plan can be read on a narrow screen", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  const query =
    "from Cities where spatial.within(spatial.point(Location.Latitude, Location.Longitude), spatial.circle(50, 48.2, 16.4))";
  await studio.open(`${placed("Cities", query)}&as=plan`);
  const plan = page.getByRole("list", { name: "Plan" });
  await expect(plan).toBeVisible();
  const overlapping = await plan.evaluate((list) =>
    [...list.querySelectorAll("li > div")].flatMap((step) => {
      const [first, ...rest] = [...step.children].map((cell) => cell.getBoundingClientRect());
      const inner = [...step.children[0]!.querySelectorAll("*")].map((part) => part.getBoundingClientRect().right);
      return Math.max(first!.right, ...inner) > rest[0]!.left + 1 ? [step.textContent] : [];
    }),
  );
  expect(overlapping).toEqual([]);
  await studio.isAccessible();
});

test("the result of explain is a plan, and an index that does not exist is named", async ({ page, studio }) => {
  studio.allow(/404 \(Not Found/);
  await studio.database("Misnamed", { "notes/1": { Title: "one", "@metadata": { "@collection": "Notes" } } });
  await studio.index("Misnamed", { Name: "Notes/ByTitle", Maps: ["from note in docs.Notes select new { note.Title }"] });
  await studio.open(placed("Misnamed", "explain from Notes where Title = 'one'"));
  await expect(page.getByRole("list", { name: "Plan" }).getByText("Title", { exact: true })).toBeVisible();
  await studio.write("Query in RQL", "from index 'Notes/ByTitel'");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("alert")).toHaveText("There is no index 'Notes/ByTitel'. Did you mean 'Notes/ByTitle'?");
  await studio.write("Query in RQL", "from index 'Other'");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.getByRole("alert")).toHaveText("There is no index 'Other'.");
});

test("on a narrow screen the buttons have one row, and saved queries fit", async ({ page, studio }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await studio.open(placed("Northwind", "from Companies"));
  await expect(page.getByText(/^91 results in/)).toBeVisible();
  const box = async (name: string) => (await page.getByRole("button", { name, exact: true }).boundingBox())!;
  expect((await box("Columns")).y).toBe((await box("Export")).y);
  expect((await box("Filter")).y).toBe((await box("Export")).y);
  expect((await box("Saved")).y).toBe((await box("Run")).y);
  await page.getByRole("button", { name: "Saved" }).click();
  const save = await box("Save");
  expect(save.x + save.width).toBeLessThanOrEqual(390);
  await page.keyboard.press("Escape");
  await page.getByText("Plan", { exact: true }).click();
  // Steps that took less than a millisecond and those that took longer stand equally far to the right.
  const timings = page.getByRole("list", { name: "Timings" }).locator("> li > ul > li");
  await expect(timings.first()).toBeVisible();
  const indents = await timings.evaluateAll((items) => [
    ...new Set(items.map((item) => getComputedStyle(item.querySelector("span")!).paddingLeft)),
  ]);
  expect(indents).toEqual(["8px"]);
});
