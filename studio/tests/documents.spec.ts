// Documents: collections, the grid over many rows, its columns, deleting several.
import { readFileSync } from "node:fs";
import { expect, test } from "./studio";

test("a collection is chosen, and the address keeps it", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents");
  await page
    .getByRole("navigation", { name: "Collections" })
    .getByRole("link", { name: /^Orders/ })
    .click();
  await expect(page.getByRole("heading", { name: "Orders", exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: "orders/1-A", exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Orders", exact: true })).toBeVisible();
  await expect(page.getByText("830 documents", { exact: false }).first()).toBeVisible();
  await studio.isAccessible();
});

test("the grid scrolls through all cities without holes", async ({ page, studio }) => {
  await studio.open("/databases/Cities/documents?collection=Cities");
  const grid = page.getByRole("grid", { name: "Cities" });
  await expect(grid).toHaveAttribute("aria-rowcount", "69473");
  for (const part of [0.5, 1, 0.25]) {
    await grid.evaluate((box, to) => box.scrollTo({ top: to * (box.scrollHeight - box.clientHeight) }), part);
    // Loaded rows lie one below the other over the whole of the view.
    const isWhole = () =>
      grid.evaluate((box) => {
        const { top, bottom } = box.getBoundingClientRect();
        const rows = [...box.querySelectorAll('[role="row"][id]:not([data-away])')];
        const places = rows.map((row) => row.getBoundingClientRect()).sort((a, b) => a.top - b.top);
        const hasNoGap = places.every((place, index) => index === 0 || Math.abs(place.top - places[index - 1]!.bottom) < 1);
        const isCovered = places[0]!.top <= top + 31 && places.at(-1)!.bottom >= bottom - 1;
        return rows.length > 20 && hasNoGap && isCovered && !box.querySelector('[aria-busy="true"]');
      });
    await expect.poll(isWhole).toBe(true);
  }
  // Drawn are the rows in view, however many there are.
  expect(await grid.locator('[role="row"]').count()).toBeLessThan(60);
});

test("columns are chosen, moved and resized, and remembered", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Companies");
  const heads = page.getByRole("columnheader");
  await expect(heads.nth(1)).toHaveText("Id");
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Address.City" }).check();
  await page.getByRole("checkbox", { name: "Phone" }).uncheck();
  await page.getByRole("button", { name: "Move Id right" }).click();
  await expect(page.getByRole("dialog", { name: "Columns" })).toBeVisible();
  await studio.isAccessible();
  await page.keyboard.press("Escape");
  // What goes away slowly lies over the heads until then.
  await expect(page.getByRole("dialog", { name: "Columns" })).toBeHidden();
  await expect(heads.nth(2)).toHaveText("Id");
  const head = page.getByRole("columnheader", { name: "Name" });
  const narrow = (await head.boundingBox())!;
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Make Name wider" }).press("Enter");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name: "Columns" })).toBeHidden();
  const before = (await head.boundingBox())!;
  expect(before.width).toBeCloseTo(narrow.width + 24, -1);
  await page.mouse.move(before.x + before.width, before.y + 15);
  await page.mouse.down();
  await page.mouse.move(before.x + before.width + 60, before.y + 15, { steps: 4 });
  await page.mouse.up();
  expect((await head.boundingBox())!.width).toBeCloseTo(before.width + 60, -1);

  await page.reload();
  await expect(heads.nth(2)).toHaveText("Id");
  await expect(page.getByRole("columnheader", { name: "Address.City" })).toBeVisible();
  await expect(page.getByRole("columnheader", { name: "Phone" })).toHaveCount(0);
  expect((await head.boundingBox())!.width).toBeCloseTo(before.width + 60, -1);
});

test("several documents are chosen and deleted", async ({ page, studio }) => {
  const documents = Object.fromEntries(
    [1, 2, 3, 4].map((number) => [`users/${number}`, { Name: `User ${number}`, "@metadata": { "@collection": "Users" } }]),
  );
  await studio.database("Several", documents);
  await studio.open("/databases/Several/documents?collection=Users");
  await page.getByRole("checkbox", { name: "Choose users/2" }).click();
  await page.getByRole("checkbox", { name: "Choose users/4" }).click({ modifiers: ["Shift"] });
  await page.getByRole("button", { name: "Delete 3" }).click();
  await expect(page.getByRole("dialog").getByRole("button", { name: "Cancel" })).toBeFocused();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("3 documents deleted")).toBeVisible();
  await expect(page.getByRole("link", { name: "users/1", exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: "users/3", exact: true })).toHaveCount(0);
  expect(await studio.stored("Several", "users/4")).toBeUndefined();
});

test("all of a collection is deleted in the background", async ({ page, studio }) => {
  const documents = Object.fromEntries([1, 2, 3].map((number) => [`notes/${number}`, { "@metadata": { "@collection": "Notes" } }]));
  await studio.database("Whole", { ...documents, "users/1": { "@metadata": { "@collection": "Users" } } });
  await studio.open("/databases/Whole/documents?collection=Notes");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete all documents…" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("Notes");
  await page.getByRole("dialog").getByRole("button", { name: "Delete all" }).click();
  await expect(
    page.getByRole("dialog", { name: "Deleting all of 'Notes'" }).getByRole("button", { name: "Close" }).last(),
  ).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("No documents in 'Notes'")).toBeVisible();
  expect(await studio.stored("Whole", "users/1")).toBeDefined();
});

test("an empty database says what to do, and a missing one what is wrong", async ({ page, studio }) => {
  await studio.database("Hollow");
  await studio.open("/databases/Hollow/documents");
  await expect(page.getByRole("heading", { name: "Nothing here yet", exact: true })).toBeVisible();
  await studio.isAccessible();
  studio.allow(/Failed to load resource/);
  await studio.open("/databases/Nowhere/documents");
  await expect(page.getByRole("alert")).toContainText("Nowhere");
  await studio.isAccessible();
});

test("all rows are chosen at once, also those that were not read", async ({ page, studio }) => {
  const documents = Object.fromEntries(
    Array.from({ length: 250 }, (_, at) => [`users/${at}`, { At: at, "@metadata": { "@collection": "Users" } }]),
  );
  await studio.database("ChosenRows", documents);
  await studio.open("/databases/ChosenRows/documents?collection=Users");
  const all = page.getByRole("checkbox", { name: "Choose all" });
  await all.click();
  await expect(page.getByRole("button", { name: "Delete 250" })).toBeVisible();
  await expect(page.getByRole("dialog", { name: "Reading ids" })).toBeHidden();
  await studio.isAccessible();
  await expect(all).toBeChecked();
  await all.click();
  await expect(page.getByRole("button", { name: /^Delete \d/ })).toHaveCount(0);
  await page.getByRole("grid").focus();
  await page.keyboard.press("ControlOrMeta+A");
  await expect(page.getByRole("button", { name: "Delete 250" })).toBeVisible();
  // Where it was when its dialog has closed.
  await expect(page.getByRole("grid")).toBeFocused();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Delete 249" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("249 documents deleted")).toBeVisible();
  expect(await studio.stored("ChosenRows", "users/0")).toBeDefined();
  expect(await studio.stored("ChosenRows", "users/249")).toBeUndefined();
});

test("what stands in a document is text, whatever it is", async ({ page, studio }) => {
  const script = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  await studio.database("Escaped", { "notes/1": { [script]: script, "@metadata": { "@collection": script.slice(0, 30) } } });
  await studio.open("/databases/Escaped/documents");
  await expect(page.getByRole("gridcell", { name: script })).toBeVisible();
  await page.getByRole("link", { name: "notes/1" }).click();
  await expect(page.getByRole("textbox", { name: "Document as JSON" })).toContainText("onerror");
  await expect(page).toHaveTitle("notes/1 · Escaped · Rookery");
});

test("a document is gone to by its id, which is completed", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Orders");
  const field = page.getByRole("combobox", { name: "Go to id" }).or(page.getByRole("textbox", { name: "Go to id" }));
  await field.fill("orders/82");
  await expect(page.getByRole("option", { name: "orders/82-A", exact: true })).toBeVisible();
  await studio.isAccessible();
  await field.press("ArrowDown");
  await field.press("Enter");
  await expect(page.getByRole("heading", { name: "orders/82-A", exact: true })).toBeVisible();
  await page.goBack();
  await field.fill("orders/none");
  await field.press("Enter");
  await expect(page.getByRole("alert").filter({ hasText: "No document 'orders/none'." })).toBeVisible();
  await studio.isAccessible();
  await field.fill("ORDERS/7-a");
  await field.press("Enter");
  await expect(page.getByRole("heading", { name: "orders/7-A", exact: true })).toBeVisible();
});

test("an id that is only a beginning has its message in the list, and nothing moves", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/documents?collection=Orders");
  const field = page.getByRole("combobox", { name: "Go to id" }).or(page.getByRole("textbox", { name: "Go to id" }));
  const grid = page.getByRole("grid");
  const before = [await field.boundingBox(), await grid.boundingBox()];
  await field.fill("orders/82");
  await expect(page.getByRole("option", { name: "orders/82-A", exact: true })).toBeVisible();
  await field.press("Enter");
  await expect(page.getByText("No document 'orders/82'. These begin like it:")).toBeVisible();
  await expect(page.getByRole("alert")).toHaveText("No document 'orders/82'.");
  await expect(page.getByRole("option", { name: "orders/82-A", exact: true })).toBeVisible();
  expect([await field.boundingBox(), await grid.boundingBox()]).toEqual(before);
  await studio.isAccessible();
  // On a narrow screen the list is over the grid, not over the buttons.
  await page.setViewportSize({ width: 390, height: 800 });
  const bottomOf = async (name: string) => {
    const box = (await page.getByRole("button", { name }).boundingBox())!;
    return box.y + box.height;
  };
  const { y } = (await field.boundingBox())!;
  for (const name of ["Reload", "Columns", "New document"]) expect(await bottomOf(name)).toBeLessThan(y);
});

test("nothing moves when a row is chosen", async ({ page, studio }) => {
  for (const width of [1280, 1100, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await studio.open("/databases/Northwind/documents?collection=Orders");
    await expect(page.getByRole("link", { name: "orders/1-A", exact: true })).toBeVisible();
    const grid = page.getByRole("grid");
    const before = await grid.boundingBox();
    await page.getByRole("checkbox", { name: "Choose orders/1-A" }).click();
    await expect(page.getByRole("button", { name: "Delete 1" })).toBeVisible();
    expect(await grid.boundingBox()).toEqual(before);
    await page.getByRole("button", { name: "Clear the selection" }).click();
    await expect(page.getByRole("button", { name: "New document" })).toBeVisible();
    expect(await grid.boundingBox()).toEqual(before);
  }
});

test("a range with rows that were not read is chosen whole, and deleted in steps that can be stopped", async ({ page, studio }) => {
  await studio.database("Ranged");
  const commands = Array.from({ length: 1700 }, (_, at) => ({
    Id: `users/${String(at).padStart(4, "0")}`,
    Type: "PUT",
    Document: { At: at, "@metadata": { "@collection": "Users" } },
  }));
  await page.request.post(`${studio.url}/databases/Ranged/bulk_docs`, { data: { Commands: commands } });
  await studio.open("/databases/Ranged/documents?collection=Users");
  await page.getByRole("checkbox", { name: "Choose users/0000" }).click();
  const grid = page.getByRole("grid");
  await grid.focus();
  await page.keyboard.press("End");
  await page.getByRole("checkbox", { name: "Choose users/1699" }).click({ modifiers: ["Shift"] });
  await page.getByRole("button", { name: "Delete 1,700" }).click();

  // The second transaction waits until the test has seen the progress.
  const second = await studio.hold("**/databases/Ranged/bulk_docs", (_, count) => count === 2);
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  const deleting = page.getByRole("dialog", { name: "Deleting 1,700 documents" });
  await expect(deleting.getByText("500 of 1,700")).toBeVisible();
  await studio.isAccessible();
  await page.keyboard.press("Escape");
  await deleting.getByRole("button", { name: "Stop" }).click();
  second.go();
  await expect(deleting).toContainText("1,000 documents of 1,700 were deleted");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Delete 700" })).toBeVisible();
  expect(await studio.stored("Ranged", "users/0999")).toBeUndefined();
  expect(await studio.stored("Ranged", "users/1000")).toBeDefined();
});

test("a page that cannot be read is said in its place, and the others stay", async ({ page, studio }) => {
  await studio.open("/databases/Cities/documents?collection=Cities");
  const grid = page.getByRole("grid");
  await expect(grid.getByRole("link").first()).toBeVisible();
  const first = await grid.getByRole("link").first().textContent();
  studio.allow(/Failed to load resource/);
  await page.route("**/databases/Cities/queries", (route) =>
    route.fulfill({ status: 500, json: { Type: "System.IO.IOException", Message: "The disk is gone" } }),
  );
  await grid.evaluate((box) => box.scrollTo({ top: 60_000 }));
  await expect(grid.getByText("Could not be read: The disk is gone").first()).toBeVisible();
  await studio.isAccessible();
  // The row with the focus is there for readers, though it is not in view.
  const active = await grid.getAttribute("aria-activedescendant");
  expect(await page.locator(`[id="${active}"]`).count()).toBe(1);
  await page.unroute("**/databases/Cities/queries");
  await grid.getByRole("button", { name: "Try again" }).first().click();
  await expect(grid.getByText(/^Could not be read/)).toHaveCount(0);
  await expect(grid.locator('[aria-rowindex="2010"] a')).toBeVisible();
  await grid.evaluate((box) => box.scrollTo({ top: 0 }));
  await expect(grid.getByRole("link", { name: first!, exact: true })).toBeVisible();
});

test("going back from a document leads to its place in the grid", async ({ page, studio }) => {
  await studio.open("/databases/Cities/documents?collection=Cities");
  const grid = page.getByRole("grid");
  await expect(grid.getByRole("link").first()).toBeVisible();
  await grid.evaluate((box) => box.scrollTo({ top: 60_000 }));
  const row = grid.locator('[aria-rowindex="2010"] a');
  const id = (await row.textContent())!;
  await row.click();
  await expect(page.getByRole("heading", { name: id, exact: true })).toBeVisible();
  await page.goBack();
  await expect(grid.getByRole("link", { name: id, exact: true })).toBeVisible();
  // Also to a row of the first ones, to which nothing was scrolled.
  await grid.focus();
  await page.keyboard.press("Home");
  for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowDown");
  await expect(grid).toHaveAttribute("aria-activedescendant", /-3$/);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "Document as JSON" })).toBeVisible();
  await page.goBack();
  await expect(grid).toHaveAttribute("aria-activedescendant", /-3$/);
  // A new visit begins at the top.
  await page.getByRole("navigation", { name: "Database Cities" }).getByRole("link", { name: "Query" }).click();
  await expect(page.getByRole("heading", { name: "Query", exact: true })).toBeVisible();
  await page.getByRole("navigation", { name: "Database Cities" }).getByRole("link", { name: "Documents" }).click();
  await expect(page.getByRole("grid", { name: "All documents" }).locator('[aria-rowindex="2"] a')).toBeVisible();
});

test("rows that were chosen stay chosen while one looks at a document", async ({ page, studio }) => {
  const users = [1, 2, 3].map((number) => [`users/${number}`, { Name: "Ann", "@metadata": { "@collection": "Users" } }]);
  await studio.database("KeptRows", Object.fromEntries(users));
  await studio.open("/databases/KeptRows/documents?collection=Users");
  await page.getByRole("checkbox", { name: "Choose users/1" }).click();
  await page.getByRole("checkbox", { name: "Choose users/2" }).click();
  await page.getByRole("link", { name: "users/2" }).click();
  await expect(page.getByRole("heading", { name: "users/2" })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("checkbox", { name: "Choose users/1" })).toBeChecked();
  await expect(page.getByRole("checkbox", { name: "Choose users/3" })).not.toBeChecked();
  await expect(page.getByRole("button", { name: "Delete 2" })).toBeVisible();
  // What is deleted meanwhile is chosen no more. The editor may be told of it, and look, before its own request is answered.
  studio.allow(/404 \(Not Found\)/);
  await page.getByRole("link", { name: "users/2" }).click();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("checkbox", { name: "Choose users/1" })).toBeVisible();
  await expect(page.getByRole("grid").getByRole("link", { name: "users/2" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^Delete / })).toHaveCount(0);
  await page.evaluate(() => history.go(-2));
  await expect(page.getByRole("button", { name: "Delete 1" })).toBeVisible();
});

test("a grid has all digits of a number, and fields that are called as those of the metadata", async ({ page, studio }) => {
  await studio.database("AllDigits");
  const text = '{"@type":"Person","Big":1465432100000000001,"In":{"Far":[9007199254740993]},"@metadata":{"@collection":"People"}}';
  await page.request.put(`${studio.url}/databases/AllDigits/docs?id=people/1`, { data: Buffer.from(text) });
  await studio.open("/databases/AllDigits/documents?collection=People");
  const row = page.getByRole("row").filter({ hasText: "people/1" });
  for (const cell of ["Person", "1465432100000000001", '{"Far":[9007199254740993]}']) {
    await expect(row.getByRole("gridcell", { name: cell, exact: true })).toBeVisible();
  }
});

test("of large documents fewer are asked for at once", async ({ page, studio }) => {
  const scan = { Picture: "x".repeat(600_000), "@metadata": { "@collection": "Scans" } };
  await studio.database(
    "Weighty",
    Object.fromEntries(Array.from({ length: 14 }, (_, at) => [`scans/${at}`, { Page: at, ...scan }])),
  );
  const counts: number[] = [];
  page.on("request", (request) => {
    const body = request.url().endsWith("/databases/Weighty/queries") ? request.postData() : null;
    if (body) counts.push((JSON.parse(body) as { PageSize: number }).PageSize);
  });
  await studio.open("/databases/Weighty/documents?collection=Scans");
  await expect(page.getByRole("grid").getByRole("link", { name: "scans/13", exact: true })).toBeVisible();
  await studio.open(`/databases/Weighty/query?q=${encodeURIComponent("from Scans")}`);
  const grid = page.getByRole("grid", { name: "Results" });
  await expect(grid).toHaveAttribute("aria-rowcount", "15");
  await grid.focus();
  await page.keyboard.press("End");
  await expect(grid.getByRole("link", { name: "scans/13", exact: true })).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "JSON, with all digits" }).click();
  const content = readFileSync(await (await downloading).path(), "utf8");
  expect((JSON.parse(content) as unknown[]).length).toBe(14);
  expect(Math.max(...counts)).toBeLessThan(14);
});
