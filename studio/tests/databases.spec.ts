// Databases: the cards, creating, deleting, switching off and on.
import { expect, test } from "./studio";

test("the cards tell of each database, live", async ({ page, studio }) => {
  await studio.open("/databases");
  const card = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Northwind" }) });
  await expect(card.getByText("1,059")).toBeVisible();
  await expect(card.getByRole("img", { name: /Writes per second of Northwind/ })).toBeVisible();
  await expect(card.getByRole("img", { name: /Requests per second of Northwind/ })).toBeVisible();
  await studio.isAccessible();
});

test("a database is created with sample data, disabled, enabled and deleted", async ({ page, studio }) => {
  await studio.open("/databases");
  await page.getByRole("button", { name: "New database" }).click();
  const dialog = page.getByRole("dialog", { name: "New database" });
  await dialog.getByLabel("Name").fill("no/slash");
  await dialog.getByRole("button", { name: "Create" }).click();
  studio.allow(/400 \(Bad Request\)/);
  await expect(dialog.getByText(/no\/slash/)).toBeVisible();
  await studio.isAccessible();
  await dialog.getByLabel("Name").fill("Shop");
  await dialog.getByRole("switch", { name: "Begin with sample data" }).check();
  await dialog.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name: "All documents", exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: /Orders 830/ })).toBeVisible();

  await studio.open("/databases");
  const actions = page.getByRole("button", { name: "Actions for Shop" });
  await actions.click();
  // Its clients would notice: it is asked first.
  await page.getByRole("menuitem", { name: "Disable…" }).click();
  const disabling = page.getByRole("dialog", { name: "Disable 'Shop'?" });
  await disabling.getByRole("button", { name: "Cancel" }).click();
  await actions.click();
  await page.getByRole("menuitem", { name: "Disable…" }).click();
  await disabling.getByRole("button", { name: "Disable" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByText("It answers no requests until it is enabled.")).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "Enable", exact: true }).click();
  await expect(page.getByText("It answers no requests until it is enabled.")).toBeHidden();

  await actions.click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const question = page.getByRole("dialog", { name: "Delete 'Shop'?" });
  const button = question.getByRole("button", { name: "Delete database" });
  await expect(button).toBeDisabled();
  await question.getByRole("textbox").fill("shop");
  await expect(button).toBeDisabled();
  await question.getByRole("textbox").fill("Shop");
  await button.click();
  await expect(actions).toBeHidden();
  const names = (await (await page.request.get(`${studio.url}/databases?namesOnly=true`)).json()) as { Databases: string[] };
  expect(names.Databases).not.toContain("Shop");
});

test("the export of a database is a download of its documents", async ({ page, studio }) => {
  await studio.database("Exported", { "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases");
  await page.getByRole("button", { name: "Actions for Exported" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as JSON lines" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("Exported.jsonl");
  const { readFileSync } = await import("node:fs");
  expect(readFileSync(await download.path(), "utf8")).toContain('"Name":"Ann"');
  const dialog = page.getByRole("dialog", { name: "Export Exported" });
  await expect(dialog.getByText("1 document exported.")).toBeVisible();
  await studio.isAccessible();
});

test("a database that is exported is imported into another", async ({ page, studio }) => {
  await studio.database("Source", { "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } }, plain: {} });
  await page.request.post(`${studio.url}/databases/Source/identity/seed?name=users|&value=7`);
  await studio.database("Target");
  await studio.open("/databases");
  await page.getByRole("button", { name: "Actions for Source" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export", exact: true }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("Source.ravendbdump");
  const exported = page.getByRole("dialog", { name: "Export Source" });
  await expect(exported.getByText("2 documents exported.")).toBeVisible();
  await exported.getByRole("button", { name: "Close" }).last().click();
  const { readFileSync } = await import("node:fs");
  const file = { name: "Source.ravendbdump", mimeType: "", buffer: readFileSync(await download.path()) };
  await page.getByLabel("Files to import into Target").setInputFiles(file);
  const dialog = page.getByRole("dialog", { name: "Import into Target" });
  await expect(dialog.getByText("2 documents imported.")).toBeVisible();
  await expect(dialog.getByText("1 identity imported.")).toBeVisible();
  expect(await studio.stored("Target", "users/1")).toMatchObject({ Name: "Ann", "@metadata": { "@collection": "Users" } });
});

test("a dump has what was chosen, and an import takes what was chosen", async ({ page, studio }) => {
  await studio.database("Chosen", {
    "users/1": { Name: "Ann", Secret: 1, "@metadata": { "@collection": "Users" } },
    "users/2": { Name: "Bob", Secret: 2, "@metadata": { "@collection": "Users" } },
    "orders/1": { "@metadata": { "@collection": "Orders" } },
  });
  await studio.index("Chosen", { Name: "Users/ByName", Maps: ["from u in docs.Users select new { u.Name }"] });
  await studio.database("TakenDump");
  await studio.open("/databases");
  await page.getByRole("button", { name: "Actions for Chosen" }).click();
  await page.getByRole("menuitem", { name: "Export with options…" }).click();
  const options = page.getByRole("dialog", { name: "Export Chosen" });
  await options.getByRole("checkbox", { name: "Identities" }).uncheck();
  await options.getByRole("combobox", { name: "Collections" }).click();
  await page.getByRole("option", { name: "Users" }).click();
  await page.keyboard.press("Escape");
  await options.getByRole("textbox", { name: "Script" }).fill("delete this.Secret;");
  await options.getByRole("combobox", { name: "Compression" }).click();
  await page.getByRole("option", { name: "gzip" }).click();
  await studio.isAccessible("dialog");
  const downloading = page.waitForEvent("download");
  await options.getByRole("button", { name: "Export" }).click();
  const { readFileSync } = await import("node:fs");
  const { gunzipSync } = await import("node:zlib");
  const content = readFileSync(await (await downloading).path());
  const dump = JSON.parse(gunzipSync(content).toString()) as { Docs: Record<string, unknown>[]; Indexes: unknown[] };
  expect(dump.Docs.map(({ Name, Secret }) => [Name, Secret])).toEqual([
    ["Ann", undefined],
    ["Bob", undefined],
  ]);
  expect(dump.Indexes).toHaveLength(1);
  const exported = page.getByRole("dialog", { name: "Export Chosen" });
  await expect(exported.getByText(/^The dump has/)).toBeVisible();
  await exported.getByRole("button", { name: "Close" }).last().click();

  await page.getByRole("button", { name: "Actions for TakenDump" }).click();
  await page.getByRole("menuitem", { name: "Import a dump with options…" }).click();
  const importing = page.getByRole("dialog", { name: "Import a dump into TakenDump" });
  await expect(importing.getByRole("button", { name: "Import" })).toBeDisabled();
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), importing.getByRole("button", { name: "File" }).click()]);
  // By the choice it is a dump, whatever it is called.
  await chooser.setFiles({ name: "chosen.bin", mimeType: "", buffer: content });
  await importing.getByRole("checkbox", { name: "Indexes" }).uncheck();
  await importing.getByRole("textbox", { name: "Script" }).fill("if (this.Name === 'Bob') throw 'skip'; this.Seen = true;");
  await studio.isAccessible("dialog");
  await importing.getByRole("button", { name: "Import" }).click();
  const outcome = page.getByRole("dialog", { name: "Import into TakenDump" });
  await expect(outcome.getByText("1 document imported.")).toBeVisible();
  await expect(outcome.getByText(/index/)).toHaveCount(0);
  expect(await studio.stored("TakenDump", "users/1")).toMatchObject({ Name: "Ann", Seen: true });
  expect(await studio.stored("TakenDump", "users/2")).toBeUndefined();
});

test("a file of CSV is imported with the ids and kinds that were chosen", async ({ page, studio }) => {
  await studio.database("Rows");
  await studio.open("/databases");
  const file = page.getByLabel("Files to import into Rows");
  const text = 'sku;Price;Zip;Address.City;Note\n7;34.8000;04109;Köln;"a ""b"""\n8;2;1010;Wien;\n';
  const { gzipSync } = await import("node:zlib");
  await file.setInputFiles({ name: "products.csv.gz", mimeType: "application/gzip", buffer: gzipSync(text) });
  const dialog = page.getByRole("dialog", { name: "Import into Rows" });
  await expect(dialog.getByRole("textbox", { name: "Collection" })).toHaveValue("Products");
  await expect(dialog.getByRole("textbox", { name: "Collection" })).toBeFocused();
  await expect(dialog.getByRole("combobox", { name: "Kind of Price" })).toHaveValue("Number");
  await expect(dialog.getByRole("combobox", { name: "Kind of Zip" })).toHaveValue("Text");
  await dialog.getByRole("combobox", { name: "Id", exact: true }).click();
  await page.getByRole("option", { name: "From sku" }).click();
  await expect(dialog.getByRole("combobox", { name: "Kind of sku" })).toHaveValue("Left out");
  await dialog.getByRole("textbox", { name: "Collection" }).fill("Goods");
  await expect(dialog.getByRole("textbox", { name: "Ids begin with" })).toHaveValue("goods/");
  await dialog.getByRole("textbox", { name: "Ids begin with" }).fill("products/");
  await dialog.getByRole("textbox", { name: "Collection" }).fill("Products");
  await expect(dialog.getByRole("textbox", { name: "Ids begin with" })).toHaveValue("products/");
  await expect(dialog.getByText('products/7 {"Price":34.8000,"Zip":"04109"')).toBeVisible();
  await studio.isAccessible();
  await dialog.getByRole("button", { name: "Import" }).click();
  await expect(dialog.getByText("2 documents imported.")).toBeVisible();
  const stored = await (await page.request.get(`${studio.url}/databases/Rows/docs?id=products/7`)).text();
  expect(stored).toContain('{"Price":34.8000,"Zip":"04109","Address":{"City":"Köln"},"Note":"a \\"b\\"","@metadata"');
  expect(await studio.stored("Rows", "products/8")).toMatchObject({ "@metadata": { "@collection": "Products" } });

  await dialog.getByRole("button", { name: "Close" }).last().click();
  await file.setInputFiles({ name: "more.csv", mimeType: "text/csv", buffer: Buffer.from("id,a\nx/1,1\nx/2\n") });
  // The column that was taken for the ids is not lost if another one has them.
  await dialog.getByRole("combobox", { name: "Id", exact: true }).click();
  await page.getByRole("option", { name: "From a", exact: true }).click();
  await expect(dialog.getByText('more/1 {"id":"x/1"')).toBeVisible();
  await dialog.getByRole("combobox", { name: "Id", exact: true }).click();
  await page.getByRole("option", { name: "From id", exact: true }).click();
  await dialog.getByRole("button", { name: "Import" }).click();
  await expect(dialog.getByText(/Line 3: 1 field, but/)).toBeVisible();
  expect(await studio.stored("Rows", "x/1")).toMatchObject({ a: 1 });
});

test("a dump of RavenDB is imported: documents, indexes and identities", async ({ page, studio }) => {
  await studio.database("Dumped");
  await studio.open("/databases");
  const file = page.getByLabel("Files to import into Dumped");
  await file.setInputFiles("tests/users.ravendbdump");
  const dialog = page.getByRole("dialog", { name: "Import into Dumped" });
  await expect(dialog.getByText("2 documents imported.")).toBeVisible();
  await expect(dialog.getByText("2 indexes imported.")).toBeVisible();
  await expect(dialog.getByText("1 identity imported.")).toBeVisible();
  expect(await (await page.request.get(`${studio.url}/databases/Dumped/docs?id=users/1`)).text()).toContain('"N":34.8000');
  const next = await page.request.post(`${studio.url}/databases/Dumped/identity/next?name=orders|`);
  expect(await next.json()).toEqual({ NewIdentityValue: 8 });
  const indexes = await page.request.get(`${studio.url}/databases/Dumped/indexes?namesOnly=true`);
  expect(((await indexes.json()) as { Results: string[] }).Results).toEqual(
    expect.arrayContaining(["Auto/Users/ByN", "Users/ByName"]),
  );
  await dialog.getByRole("button", { name: "Close" }).last().click();

  // One that is cut off, and what is no text.
  const whole = '{"BuildVersion":1,"Docs":[{"@metadata":{"@id":"users/9"}},{"a":';
  await file.setInputFiles({ name: "cut.ravendbdump", mimeType: "application/json", buffer: Buffer.from(whole) });
  studio.allow(/status of 400/);
  await expect(dialog.getByText(/the file was cut off\. Documents stored before it: 1\./)).toBeVisible();
  expect(await studio.stored("Dumped", "users/9")).toBeDefined();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  for (const [bytes, reason] of [
    ["\x89PNG\r\n\x1a\n\0\0", /binary data and is not text. Nothing was imported/],
    ['{"Name":"K\xf6ln"}', /not encoded as UTF-8.* Nothing was imported/],
    ["", /contains no documents. Nothing was imported/],
  ] as const) {
    await file.setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from(bytes, "latin1") });
    await expect(dialog.getByText(reason)).toBeVisible();
    await dialog.getByRole("button", { name: "Close" }).last().click();
  }
  // As spreadsheets write it.
  const wide = Buffer.from('\uFEFF{"Name":"Köln","@metadata":{"@id":"wide/1"}}', "utf16le");
  await file.setInputFiles({ name: "wide.jsonl", mimeType: "application/json", buffer: wide });
  await expect(dialog.getByText("1 document imported.")).toBeVisible();
  expect(await studio.stored("Dumped", "wide/1")).toMatchObject({ Name: "Köln" });
});

test("an import tells how many documents it replaced, and a broken file that nothing was imported", async ({ page, studio }) => {
  await studio.database("Twice", { "users/1": { Age: 1 } });
  await studio.open("/databases");
  const file = page.getByLabel("Files to import into Twice");
  const dialog = page.getByRole("dialog", { name: "Import into Twice" });
  const lines = ["Users/1", "users/2", "users/2"].map((id) => JSON.stringify({ Age: 2, "@metadata": { "@id": id } }));
  await file.setInputFiles({ name: "a.jsonl", mimeType: "application/json", buffer: Buffer.from(lines.join("\n")) });
  await expect(dialog.getByText("3 documents imported.")).toBeVisible();
  await expect(dialog.getByText("2 documents existed before and were replaced.")).toBeVisible();
  await dialog.getByRole("button", { name: "Close" }).last().click();

  await file.setInputFiles({ name: "b.csv", mimeType: "text/csv", buffer: Buffer.from('id,a\nx/1,1\nx/2,"b') });
  await expect(dialog.getByText("Line 3: a quoted field has no end.")).toBeVisible();
  await expect(dialog.getByText(/imported/)).toHaveCount(0);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(dialog).toBeHidden();
});

test("a file of JSON lines is imported, and a bad line has its number", async ({ page, studio }) => {
  await studio.database("Imported");
  await studio.open("/databases");
  const file = page.getByLabel("Files to import into Imported");
  const line = (id: string, rest: string) =>
    `{"Size":${rest},"@metadata":{"@id":"${id}","@collection":"Users","@change-vector":"A:1-x"}}`;
  const good = `${line("users/1", "1.50")}\n${line("users/2", "2")}\n`;
  await file.setInputFiles({ name: "users.jsonl", mimeType: "application/json", buffer: Buffer.from(good) });
  const dialog = page.getByRole("dialog", { name: "Import into Imported" });
  await expect(dialog.getByText("2 documents imported.")).toBeVisible();
  await studio.isAccessible();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  expect(await (await page.request.get(`${studio.url}/databases/Imported/docs?id=users/1`)).text()).toContain('"Size":1.50');

  const list = `[\n  {"Size":7,"@metadata":{"@collection":"Users"}},\n  ${line("users/9", "9.0")}\n]`;
  await file.setInputFiles({ name: "list.json", mimeType: "application/json", buffer: Buffer.from(list) });
  await expect(dialog.getByText("2 documents imported.")).toBeVisible();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  expect(await (await page.request.get(`${studio.url}/databases/Imported/docs?id=users/9`)).text()).toContain('"Size":9.0');
  const made = await page.request.post(`${studio.url}/databases/Imported/queries`, {
    data: { Query: "from Users where Size = 7" },
  });
  expect(await made.text()).toMatch(/"@id":"users\/\d+-A"/);

  const bad = `${line("users/3", "3")}\n{"Size":\n`;
  await file.setInputFiles({ name: "bad.jsonl", mimeType: "application/json", buffer: Buffer.from(bad) });
  await expect(dialog.getByText(/Line 2, column 9: /)).toBeVisible();
  expect(await studio.stored("Imported", "users/3")).toBeDefined();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  // What stands behind a bad line is imported, and all bad lines are told.
  const more = `7\n${line("users/4", "4")}\n{\n${line("users/5", "5")}\n`;
  await file.setInputFiles({ name: "more.jsonl", mimeType: "application/json", buffer: Buffer.from(more) });
  await expect(dialog.getByRole("status")).toContainText("2 documents imported.");
  await expect(dialog.getByRole("status")).toContainText("2 documents skipped:");
  await expect(dialog.getByRole("status")).toContainText("Line 1: a document must be a JSON object.");
  await expect(dialog.getByRole("status")).toContainText("Line 3, column 2:");
  expect(await studio.stored("Imported", "users/5")).toBeDefined();
});

test("documents that do not say where they belong get a collection and ids", async ({ page, studio }) => {
  await studio.database("Mongo");
  await studio.open("/databases");
  const file = page.getByLabel("Files to import into Mongo");
  const lines = [1, 2].map((at) => `{"_id":{"$oid":"65a${at}"},"N":${at}.50,"At":{"$date":"2020-01-0${at}T00:00:00Z"}}`);
  await file.setInputFiles({ name: "people.jsonl", mimeType: "application/json", buffer: Buffer.from(lines.join("\n")) });
  const dialog = page.getByRole("dialog", { name: "Import into Mongo" });
  await expect(dialog.getByRole("textbox", { name: "Collection" })).toHaveValue("People");
  await expect(dialog.getByText(/^people\/65a1 \{"N":1\.50,"At":"2020-01-01/)).toBeVisible();
  await studio.isAccessible("dialog");
  await dialog.getByRole("textbox", { name: "Collection" }).fill("Users");
  await dialog.getByRole("button", { name: "Import" }).click();
  await expect(dialog.getByText("2 documents imported.")).toBeVisible();
  expect(await studio.stored("Mongo", "users/65a2")).toMatchObject({
    N: 2.5,
    At: "2020-01-02T00:00:00Z",
    "@metadata": { "@collection": "Users" },
  });
  await dialog.getByRole("button", { name: "Close" }).last().click();

  await page.setViewportSize({ width: 390, height: 800 });
  await file.setInputFiles({ name: "list.json", mimeType: "application/json", buffer: Buffer.from('[{"a":1},{"a":2}]') });
  await dialog.getByRole("combobox", { name: "Id", exact: true }).click();
  await page.getByRole("option", { name: "From a", exact: true }).click();
  await dialog.getByRole("button", { name: "Import" }).click();
  await expect(dialog.getByText("2 documents imported.")).toBeVisible();
  expect((await studio.stored("Mongo", "list/2"))!["@metadata"]).toMatchObject({ "@collection": "List" });
  await dialog.getByRole("button", { name: "Close" }).last().click();
  // The file is what an operation is of.
  await studio.open("/databases/Mongo/operations");
  await expect(page.getByRole("row", { name: /people\.jsonl · 2 documents/ })).toBeVisible();
});

test("a click beside a running import or its keys do not stop it", async ({ page, studio }) => {
  await studio.database("Held");
  const second = await studio.hold("**/databases/Held/bulk_insert*", (_, count) => count > 1);
  await studio.open("/databases");
  // Two requests, of which the second is held.
  const line = (number: number) =>
    JSON.stringify({ Text: "x".repeat(900), "@metadata": { "@id": `notes/${number}`, "@collection": "Notes" } });
  const buffer = Buffer.from(Array.from({ length: 2500 }, (_, at) => line(at)).join("\n"));
  await page.getByLabel("Files to import into Held").setInputFiles({ name: "notes.jsonl", mimeType: "application/jsonl", buffer });
  const dialog = page.getByRole("dialog", { name: "Import into Held" });
  await expect(dialog.getByRole("status")).toContainText(/[1-9]\d* documents/);
  await studio.isAccessible();
  await page.mouse.click(5, 400);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("button", { name: "Stop" })).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Close" })).toHaveCount(0);
  // It goes on while one looks at something else.
  await dialog.getByRole("button", { name: "Continue in the background" }).click();
  await page.getByRole("link", { name: "Get started" }).click();
  await expect(page.getByRole("heading", { name: "Connect an application", exact: true })).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "Import into Held" }).click();
  await expect(dialog.getByRole("button", { name: "Stop" })).toBeVisible();
  second.go();
  await expect(dialog.getByText("2,500 documents imported.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
});

test("a card tells an index that failed from one that is stale", async ({ page, studio }) => {
  await studio.database("FailingCard");
  const commands = Array.from({ length: 120 }, (_, at) => {
    const document = { Age: 0, "@metadata": { "@collection": "Users" } };
    return { Type: "PUT", Id: `users/${at}`, ChangeVector: null, Document: document };
  });
  await page.request.post(`${studio.url}/databases/FailingCard/bulk_docs`, { data: { Commands: commands } });
  const definition = { Name: "Users/Divided", Maps: ["from user in docs.Users select new { Part = 1 / user.Age }"] };
  await page.request.put(`${studio.url}/databases/FailingCard/admin/indexes`, { data: { Indexes: [definition] } });
  await studio.open("/databases");
  const card = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "FailingCard", exact: true }) });
  await expect(card.getByText("1 failed")).toBeVisible();
  await expect(card.getByText(/^\d+ errors$/)).toBeVisible();
  await expect(card.getByText("stale")).toHaveCount(0);
});

test("several files are imported one after the other, and what came of each is kept until one looks", async ({ page, studio }) => {
  await studio.database("Files");
  const sending = await studio.hold("**/databases/Files/bulk_insert*");
  await studio.open("/databases");
  const line = (id: string) => Buffer.from(JSON.stringify({ "@metadata": { "@id": id } }));
  const files = ["a", "b"].map((name) => ({ name: `${name}.jsonl`, mimeType: "application/jsonl", buffer: line(`x/${name}`) }));
  const rows = { name: "c.csv", mimeType: "text/csv", buffer: Buffer.from("id,n\nx/c,1\n") };
  const broken = { name: "d.jsonl", mimeType: "application/jsonl", buffer: Buffer.from("{") };
  await page.getByLabel("Files to import into Files").setInputFiles([...files, rows, broken]);
  await page.getByRole("dialog", { name: "Import c.csv into Files" }).getByRole("button", { name: "Import" }).click();
  const dialog = page.getByRole("dialog", { name: "Import into Files" });
  await dialog.getByRole("button", { name: "Continue in the background" }).click();
  sending.go();
  await page.getByRole("button", { name: /Import into Files Failed/ }).click();
  await expect(dialog.getByRole("status")).toContainText("a.jsonl: 1 document imported.");
  await expect(dialog.getByRole("status")).toContainText("c.csv: 1 document imported.");
  await expect(dialog.getByRole("status")).toContainText(/d\.jsonl: 0 documents imported/);
  for (const id of ["x/a", "x/b", "x/c"]) expect(await studio.stored("Files", id)).toBeDefined();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(page.getByRole("group", { name: "In the background" })).toHaveCount(0);
});

test("as long as nothing is known of a database, nothing is said of it", async ({ page, studio }) => {
  const live = await studio.hold("**/admin/live*");
  await studio.open("/databases");
  const card = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Northwind", exact: true }) });
  await expect(card.getByText("Reading its state…")).toBeVisible();
  await expect(card.getByRole("button", { name: "Load" })).toHaveCount(0);
  live.go();
  await expect(card.getByText("Documents")).toBeVisible();
});
