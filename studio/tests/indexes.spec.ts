// Indexes: the list, switching, defining, testing before saving, terms, errors.
import { expect, test } from "./studio";

const USERS = Object.fromEntries(
  ["Oslo", "Oslo", "Rome"].map((City, at) => [`users/${at + 1}`, { City, Age: at, "@metadata": { "@collection": "Users" } }]),
);

const BY_CITY = { Name: "Users/ByCity", Maps: ["from user in docs.Users select new { user.City }"] };

test("an index is paused, resumed, disabled, given priority, locked, reset and deleted", async ({ page, studio }) => {
  await studio.database("Switched", USERS);
  await studio.index("Switched", BY_CITY);
  await studio.open("/databases/Switched/indexes");
  const row = page.getByRole("row", { name: /Users\/ByCity/ });
  const act = async (name: string | RegExp) => {
    await row.getByRole("button", { name: "Actions for Users/ByCity" }).click();
    await page.getByRole("menuitem", { name }).or(page.getByRole("menuitemradio", { name })).click();
  };
  await expect(row.getByText("Up to date")).toBeVisible();
  await expect(row.getByRole("cell", { name: "3", exact: true })).toBeVisible();
  await studio.isAccessible();
  // What is written now is taken now, and told between two looks.
  const speed = row.getByRole("cell").nth(2);
  await expect(speed).toHaveText("–");
  await expect(async () => {
    await studio.put("Switched", "users/3", { City: "Rome", Age: Math.random(), "@metadata": { "@collection": "Users" } });
    await expect(speed).toHaveText(/^\d/, { timeout: 1000 });
  }).toPass();
  await act("Pause until restart");
  await expect(row.getByText("Paused")).toBeVisible();
  await act("Resume");
  await expect(row.getByText("Up to date")).toBeVisible();
  await act("Disable");
  await expect(row.getByText("Disabled")).toBeVisible();
  await act("Enable");
  await act("High");
  await expect(row.getByText("high priority")).toBeVisible();
  await act("Locked (error)");
  await expect(row.getByText("locked (error)")).toBeVisible();
  await act("Reset…");
  await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
  await expect(row.getByText("Up to date")).toBeVisible();
  await act("Unlocked");
  await expect(row.getByText("locked")).toBeHidden();
  await act("Delete…");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("heading", { name: "No indexes yet", exact: true })).toBeVisible();
});

test("a map-reduce is written, tested on documents, and created", async ({ page, studio }) => {
  await studio.database("Defined", USERS);
  await studio.open("/databases/Defined/indexes");
  await page.getByRole("button", { name: "New index" }).first().click();
  await page.getByLabel("Name").fill("Users/CountByCity");
  await studio.write("Map", "from user in docs.Users selec new { user.City }");
  studio.allow(/500 \(Internal|400 \(Bad/);
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("alert")).toContainText("Syntax error");
  await studio.write("Map", "from user in docs.Users select new { user.City, Count = 1 }");
  await page.getByRole("button", { name: "Reduce" }).click();
  await studio.write(
    "Reduce",
    "from r in results group r by r.City into g select new { City = g.Key, Count = g.Sum(x => x.Count) }",
  );
  await page.getByRole("button", { name: "Test on 100 documents" }).click();
  const result = page.getByRole("region", { name: "Result of the test" });
  await expect(result.getByRole("region", { name: "Results of the reduce" }).getByRole("row", { name: "Oslo 2" })).toBeVisible();
  await expect(page.getByRole("alert")).toHaveCount(0);
  await studio.isAccessible();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name: "Users/CountByCity", exact: true })).toBeVisible();
  await expect(page.getByText("Map-reduce · 2 entries")).toBeVisible();
});

test("a definition is changed, and the fields have options", async ({ page, studio }) => {
  await studio.database("Redefined", USERS);
  await studio.index("Redefined", BY_CITY);
  await studio.open("/databases/Redefined/index?name=Users%2FByCity");
  await expect(page.getByRole("button", { name: "Save" })).toBeDisabled();
  await studio.write("Map", "from user in docs.Users select new { user.City, user.Age }");
  await page.getByRole("button", { name: "Field options" }).click();
  await page.getByRole("textbox", { name: "Name of the field" }).fill("City");
  await page.getByRole("combobox", { name: "Indexing of City" }).click();
  await page.getByRole("option", { name: "Search" }).click();
  await studio.isAccessible();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Users/ByCity saved")).toBeVisible();
  // The old one answers until the changed one has everything.
  const stored = async () => {
    const answer = await page.request.get(`${studio.url}/databases/Redefined/indexes?name=Users/ByCity`);
    const found = ((await answer.json()) as { Results: { Maps: string[]; Fields: Record<string, { Indexing: string }> }[] })
      .Results[0]!;
    return [found.Maps[0]!.includes("user.Age"), found.Fields["City"]?.Indexing];
  };
  await expect.poll(stored).toEqual([true, "Search"]);
});

test("terms are browsed, and what failed is told with its document", async ({ page, studio }) => {
  await studio.database("Browsed", USERS);
  await studio.index("Browsed", BY_CITY);
  await studio.index("Browsed", { Name: "Users/Fails", Maps: ["from user in docs.Users select new { X = 1 / user.Age }"] });
  await studio.open("/databases/Browsed/index?name=Users%2FByCity&tab=terms");
  const terms = page.getByRole("list", { name: "Terms of City" });
  await expect(terms.getByRole("listitem")).toHaveText([/^oslo\d$/, /^rome\d$/]);
  await page.getByRole("textbox", { name: "After" }).fill("p");
  await expect(terms.getByRole("listitem")).toHaveText([/^rome\d$/]);
  // The address has it, and a term leads to its query, which finds as many as were counted.
  await expect(page).toHaveURL(/after=p/);
  await page.reload();
  await expect(terms.getByRole("listitem")).toHaveText([/^rome\d$/]);
  const counted = (await terms.getByRole("listitem").textContent())!.replace("rome", "");
  await terms.getByRole("link", { name: "rome" }).click();
  await expect(page.getByText(new RegExp(`^${counted} results? in`))).toBeVisible();
  await page.goBack();
  await expect(terms.getByRole("listitem")).toHaveText([/^rome\d$/]);
  await studio.isAccessible();

  await studio.open("/databases/Browsed/indexes");
  await page
    .getByRole("row", { name: /Users\/Fails/ })
    .getByRole("link", { name: "1", exact: true })
    .click();
  await expect(page.getByRole("cell", { name: "users/1" })).toBeVisible();
  await expect(page.getByText("Attempted to divide by zero.")).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(page.getByRole("heading", { name: "No errors recorded", exact: true })).toBeVisible();
});

test("an index that has failed says why, with all of its errors counted", async ({ page, studio }) => {
  await studio.database("Failing");
  const commands = Array.from({ length: 600 }, (_, at) => ({
    Id: `users/${at}`,
    Type: "PUT",
    Document: { Age: 0, "@metadata": { "@collection": "Users" } },
  }));
  const written = await page.request.post(`${studio.url}/databases/Failing/bulk_docs`, { data: { Commands: commands } });
  expect(written.status()).toBe(201);
  await studio.index("Failing", { Name: "Users/Fails", Maps: ["from user in docs.Users select new { X = 1 / user.Age }"] });
  await studio.open("/databases/Failing/index?name=Users%2FFails&tab=errors");
  await expect(page.getByRole("alert")).toContainText("600 of 600 documents could not be indexed");
  await expect(page.getByText("The last 500 errors; the server keeps no more")).toBeVisible();
  await expect(page.getByRole("radiogroup", { name: "Part of the index" }).getByText("Errors (600)")).toBeVisible();
});

test("fields have term vectors, spatial options and options of all fields", async ({ page, studio }) => {
  await studio.database("Options", USERS);
  await studio.index("Options", BY_CITY);
  await studio.open("/databases/Options/index?name=Users%2FByCity");
  const choose = async (what: string, option: string) => {
    await page.getByRole("combobox", { name: what }).click();
    await page.getByRole("option", { name: option, exact: true }).click();
  };
  await page.getByRole("button", { name: "Field options" }).click();
  await page.getByRole("textbox", { name: "Name of the field" }).fill("City");
  await choose("Term vector of City", "WithPositions");
  await page.getByRole("button", { name: "Options of all fields" }).click();
  await choose("Indexing of all fields", "Exact");
  await page.getByRole("button", { name: "Field options" }).click();
  await page.getByRole("textbox", { name: "Name of the field" }).last().fill("Place");
  await choose("Spatial of Place", "Geography");
  await choose("Units of Place", "Miles");
  await studio.isAccessible();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Users/ByCity saved")).toBeVisible();
  const stored = async () => {
    const answer = await page.request.get(`${studio.url}/databases/Options/indexes?name=Users/ByCity`);
    return ((await answer.json()) as { Results: { Fields: object }[] }).Results[0]!.Fields;
  };
  await expect.poll(stored).toMatchObject({
    City: { TermVector: "WithPositions" },
    __all_fields: { Indexing: "Exact" },
    Place: { Spatial: { Type: "Geography", Units: "Miles" } },
  });
  // What the server adds to the options is no change of somebody else.
  await page.reload();
  await expect(page.getByRole("combobox", { name: "Units of Place" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
});

test("sources and settings of an index are written, saved and removed", async ({ page, studio }) => {
  await studio.database("Sourced", USERS);
  await studio.index("Sourced", {
    Name: "Users/Shouted",
    Maps: ["map('Users', user => ({ City: shouted(user.City) }))"],
    AdditionalSources: { "functions.js": "function shouted(text) { return text; }" },
  });
  await studio.open("/databases/Sourced/index?name=Users%2FShouted");
  await expect(page.getByRole("textbox", { name: "Name of source 1" })).toHaveValue("functions.js");
  await studio.write("Source 1", "function shouted(text) { return text + '!'; }");
  await page.getByRole("button", { name: "Setting" }).click();
  await page
    .getByRole("combobox", { name: "Name of setting 1" })
    .or(page.getByRole("textbox", { name: "Name of setting 1" }))
    .click();
  await page.getByRole("option", { name: "Indexing.IndexMissingFieldsAsNull" }).click();
  await page.getByRole("textbox", { name: "Value of Indexing.IndexMissingFieldsAsNull" }).fill("true");
  await studio.isAccessible();
  await page.getByRole("button", { name: "Test on 100 documents" }).click();
  await expect(page.getByRole("cell", { name: /rome!/i }).first()).toBeVisible();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Users/Shouted saved")).toBeVisible();
  const stored = async () => {
    const answer = await page.request.get(`${studio.url}/databases/Sourced/indexes?name=Users/Shouted`);
    return ((await answer.json()) as { Results: Record<string, unknown>[] }).Results[0]!;
  };
  await expect.poll(async () => (await stored())["Configuration"]).toEqual({ "Indexing.IndexMissingFieldsAsNull": "true" });
  expect((await stored())["AdditionalSources"]).toEqual({ "functions.js": "function shouted(text) { return text + '!'; }" });
  await page.getByRole("button", { name: "Remove Indexing.IndexMissingFieldsAsNull" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(async () => (await stored())["Configuration"]).toEqual({});
});

test("what was saved or is being written stays while one looks at the terms, and is not left by accident", async ({
  page,
  studio,
}) => {
  await studio.database("Revisited", USERS);
  await studio.index("Revisited", BY_CITY);
  await studio.open("/databases/Revisited/index?name=Users%2FByCity");
  const map = page.getByRole("textbox", { name: "Map", exact: true });
  const part = (name: string) => page.getByRole("radiogroup", { name: "Part of the index" }).getByText(name, { exact: true });
  await studio.write("Map", "from user in docs.Users select new { user.City, user.Age }");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Users/ByCity saved")).toBeVisible();
  await part("Terms").click();
  await expect(page.getByRole("list", { name: /^Terms of/ })).toBeVisible();
  await part("Definition").click();
  await expect(map).toContainText("user.Age");
  await expect(page.getByRole("button", { name: "Save" })).toBeDisabled();

  await studio.write("Map", "from user in docs.Users select new { user.City, Later = user.Age }");
  await part("Terms").click();
  await expect(map).toBeHidden();
  await part("Definition").click();
  await expect(map).toContainText("Later");
  await page.getByRole("link", { name: "Documents" }).click();
  const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
  await studio.isAccessible();
  await dialog.getByRole("button", { name: "Stay" }).click();
  await expect(map).toContainText("Later");
  await page.getByRole("link", { name: "Documents" }).click();
  await dialog.getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("heading", { name: "All documents", exact: true })).toBeVisible();
  await studio.open("/databases/Revisited/index?name=Users%2FByCity");
  await expect(map).toContainText("user.Age");
});

test("a map in JavaScript is typed, key by key", async ({ page, studio }) => {
  await studio.database("Typed", USERS);
  await studio.open("/databases/Typed/index");
  await page.getByLabel("Name").fill("Users/Typed");
  const map = page.getByRole("textbox", { name: "Map", exact: true });
  await map.click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("map('Users', function(u) { return { City: u.City } })");
  await expect(page.getByText("JavaScript", { exact: true })).toBeVisible();
  await expect(map).toHaveText("map('Users', function(u) { return { City: u.City } })");
  // A second map gives the first one another name: it keeps its history.
  await page.getByRole("button", { name: "Map", exact: true }).click();
  const first = page.getByRole("textbox", { name: "Map 1", exact: true });
  await first.click();
  await page.keyboard.press("ControlOrMeta+z");
  await expect(first).not.toHaveText("map('Users', function(u) { return { City: u.City } })");
  await page.keyboard.press("ControlOrMeta+Shift+z");
  await page.getByRole("button", { name: "Remove Map 2" }).click();
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("heading", { name: "Users/Typed", exact: true })).toBeVisible();
  await expect(map).toHaveText("map('Users', function(u) { return { City: u.City } })");
});

test("all fields of an index have their terms, whatever they are called in documents", async ({ page, studio }) => {
  await studio.database("Fields", USERS);
  await studio.index("Fields", {
    Name: "Users/Renamed",
    Maps: ["from user in docs.Users select new { Town = user.City, Doubled = user.Age * 2 }"],
    Fields: { Town: { Indexing: "Exact" } },
  });
  await studio.open("/databases/Fields/index?name=Users%2FRenamed&tab=terms");
  const field = page.getByRole("combobox", { name: "Field" }).or(page.getByRole("textbox", { name: "Field" }));
  await field.click();
  await expect(page.getByRole("option")).toHaveText(["Doubled", "Town"]);
  await page.getByRole("option", { name: "Town" }).click();
  await expect(page.getByRole("list", { name: "Terms of Town" }).getByRole("link")).toHaveText(["Oslo", "Rome"]);
  await field.click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("Doubled");
  await expect(page.getByRole("list", { name: "Terms of Doubled" }).getByRole("link")).toHaveText(["0", "2", "4"]);
  await page.keyboard.press("Escape");
  await studio.isAccessible();
});

test("the empty text is a term that can be seen and followed", async ({ page, studio }) => {
  const nameless = { City: "", "@metadata": { "@collection": "Users" } };
  await studio.database("Nameless2", { ...USERS, "users/4": nameless });
  await studio.index("Nameless2", BY_CITY);
  await studio.open("/databases/Nameless2/index?name=Users%2FByCity&tab=terms");
  const terms = page.getByRole("list", { name: "Terms of City" });
  await expect(terms.getByRole("link")).toHaveText(["(empty text)", "oslo", "rome"]);
  await studio.isAccessible();
  await terms.getByRole("link", { name: "(empty text)" }).click();
  await expect(page.getByText(/^1 result in/)).toBeVisible();
  await expect(page.getByRole("link", { name: "users/4" })).toBeVisible();
});

test("fields that a map makes have their terms, also of documents behind the first ones", async ({ page, studio }) => {
  await studio.database("Made");
  // The last one alone has a name of its own.
  const users = Array.from({ length: 150 }, (_, at) => ({
    Id: `users/${at}`,
    Type: "PUT",
    Document: { Kind: at < 149 ? "Common" : "Rare", At: at, "@metadata": { "@collection": "Users" } },
  }));
  const written = await page.request.post(`${studio.url}/databases/Made/bulk_docs`, { data: { Commands: users } });
  expect(written.status()).toBe(201);
  await studio.index("Made", {
    Name: "Users/Made",
    Maps: ["map('Users', user => ({ Always: user.At, _: createField('Made' + user.Kind, user.Kind, {}) }))"],
  });
  await studio.open("/databases/Made/index?name=Users%2FMade&tab=terms");
  const field = page.getByRole("combobox", { name: "Field" }).or(page.getByRole("textbox", { name: "Field" }));
  await expect(async () => {
    await page.reload();
    await field.click();
    await expect(page.getByRole("option")).toHaveText(["Always", "MadeCommon", "MadeRare"], { timeout: 1000 });
  }).toPass();
  await page.getByRole("option", { name: "MadeRare" }).click();
  await expect(page.getByRole("list", { name: "Terms of MadeRare" }).getByRole("link")).toHaveText(["rare"]);
});

test("on a narrow screen all of an index is reached", async ({ page, studio }) => {
  await studio.database("Narrow", USERS);
  await studio.index("Narrow", { ...BY_CITY, LockMode: "LockedIgnore", Priority: "Low" });
  await page.setViewportSize({ width: 400, height: 800 });
  await studio.open("/databases/Narrow/indexes");
  const row = page.getByRole("row", { name: /Users\/ByCity/ });
  await expect(row.getByText("low priority")).toBeVisible();
  await expect(row.getByText("locked (ignore)")).toBeVisible();
  // All of its cells are on the screen, not beside it.
  await expect(row.getByRole("cell")).toHaveCount(7);
  for (const cell of await row.getByRole("cell").all()) {
    const box = (await cell.boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(400);
  }
  await studio.isAccessible();
  await row.getByRole("button", { name: "Actions for Users/ByCity" }).click();
  await page.getByRole("menuitemradio", { name: "Unlocked" }).click();
  await expect(row.getByText("locked")).toBeHidden();
});

test("what the menu sets is kept by saving, and the definition that is being built is the one that is shown", async ({
  page,
  studio,
}) => {
  await studio.database("Building", USERS);
  await studio.index("Building", BY_CITY);
  await studio.open("/databases/Building/index?name=Users%2FByCity");
  const map = page.getByRole("textbox", { name: "Map", exact: true });
  await expect(map).toContainText("user.City");
  // Nothing is built from now on: what is changed stays beside the old one.
  expect((await page.request.post(`${studio.url}/databases/Building/admin/indexes/stop`)).status()).toBe(204);
  const act = async (name: string) => {
    await page.getByRole("button", { name: "Actions for Users/ByCity" }).click();
    await page.getByRole("menuitemradio", { name }).click();
  };
  await act("High");
  await expect(page.getByText("given high priority")).toBeVisible();
  await studio.write("Map", "from user in docs.Users select new { user.City, user.Age }");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Users/ByCity saved")).toBeVisible();
  const stored = async (name: string) => {
    const answer = await page.request.get(`${studio.url}/databases/Building/indexes`, { params: { name } });
    return ((await answer.json()) as { Results: Record<string, unknown>[] }).Results[0]!;
  };
  expect(await stored("ReplacementOf/Users/ByCity")).toMatchObject({ Priority: "High", LockMode: "Unlock" });

  await page.reload();
  await expect(map).toContainText("user.Age");
  await expect(page.getByText("This definition is being built")).toBeVisible();
  // It is set for both: what replaces the index has it, too.
  await act("Low");
  await expect(page.getByText("given low priority")).toBeVisible();
  expect(await stored("ReplacementOf/Users/ByCity")).toMatchObject({ Priority: "Low" });
  expect((await page.request.post(`${studio.url}/databases/Building/admin/indexes/start`)).status()).toBe(204);
  await expect(page.getByText("This definition is being built")).toBeHidden();
  expect(await stored("Users/ByCity")).toMatchObject({ Priority: "Low" });
});

test("what an index that is being built has to take is told in documents", async ({ page, studio }) => {
  await studio.database("Counted", USERS);
  await studio.index("Counted", BY_CITY);
  // Indexes are built too fast here to be seen: one that is stale is given in their place.
  await page.route(/\/indexes\/stats$/, async (route) => {
    const answer = await (await route.fetch()).json();
    for (const index of (answer as { Results: { IsStale: boolean }[] }).Results) index.IsStale = true;
    await route.fulfill({ json: answer });
  });
  const of = (NumberOfItemsToProcess: number) => ({
    NumberOfItemsToProcess,
    TotalNumberOfItems: 5000,
    NumberOfTombstonesToProcess: 0,
    TotalNumberOfTombstones: 0,
  });
  await page.route(/\/indexes\/progress$/, (route) =>
    route.fulfill({ json: { Results: [{ Name: "Users/ByCity", Collections: { Users: of(1250) } }] } }),
  );
  await studio.open("/databases/Counted/indexes");
  await expect(page.getByText("1,250 left")).toBeVisible();
  await expect(page.getByRole("progressbar", { name: "Building Users/ByCity" })).toHaveAttribute("aria-valuenow", "75");
  await studio.isAccessible();
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("a definition with the line ends of Windows is not changed by being looked at", async ({ page, studio }) => {
  await studio.database("Windows", USERS);
  await studio.index("Windows", { ...BY_CITY, Maps: ["from user in docs.Users\r\nselect new { user.City }"] });
  await studio.open("/databases/Windows/index?name=Users%2FByCity");
  await expect(page.getByRole("textbox", { name: "Map", exact: true })).toContainText("select new");
  await expect(page.getByRole("button", { name: "Save" })).toBeDisabled();
  await page.getByRole("navigation", { name: "Database Windows" }).getByRole("link", { name: "Indexes" }).click();
  await expect(page.getByRole("heading", { name: "Indexes", exact: true })).toBeVisible();
});

test("terms are shown after the query editor has asked for the same fields", async ({ page, studio }) => {
  await studio.database("Shared", USERS);
  await studio.index("Shared", { ...BY_CITY, Name: "users/bycity" });
  await studio.open("/databases/Shared/query");
  await page.getByRole("textbox", { name: "Query in RQL" }).click();
  await page.keyboard.type("from index 'users/bycity' where Ci");
  await page.getByRole("listbox").getByRole("option", { name: /^City/ }).click();
  await page.getByRole("navigation", { name: "Database Shared" }).getByRole("link", { name: "Indexes" }).click();
  await page.getByRole("link", { name: "users/bycity" }).click();
  await page.getByText("Terms", { exact: true }).click();
  await expect(page.getByRole("list", { name: "Terms of City" }).getByRole("link", { name: "oslo" })).toBeVisible();
});

test("a name that two databases have is an index of each", async ({ page, studio }) => {
  await studio.database("OneOfTwo", USERS);
  await studio.database("TwoOfTwo", USERS);
  await studio.index("OneOfTwo", BY_CITY);
  await studio.index("TwoOfTwo", { ...BY_CITY, Maps: ["from user in docs.Users select new { user.Age }"] });
  await studio.open("/databases/OneOfTwo/index?name=Users%2FByCity");
  const map = page.getByRole("textbox", { name: "Map", exact: true });
  await expect(map).toContainText("user.City");
  await page.evaluate(() => (location.hash = "#/databases/TwoOfTwo/index?name=Users%2FByCity"));
  await expect(map).toContainText("user.Age");
  await expect(page.getByText("Somebody else changed it.")).toHaveCount(0);
  // Nor does what was begun in one stand in the other.
  await page.evaluate(() => (location.hash = "#/databases/OneOfTwo/index"));
  await page.getByLabel("Name").fill("Mine");
  await page.evaluate(() => (location.hash = "#/databases/TwoOfTwo/index"));
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await expect(page.getByRole("button", { name: "Database TwoOfTwo, choose another" })).toBeVisible();
  await expect(page.getByLabel("Name")).toHaveValue("");
});

test("bounds of a spatial field stay with their field, and can be emptied", async ({ page, studio }) => {
  await studio.database("Bounds", USERS);
  const spatial = (far: number) => ({
    Spatial: { Type: "Cartesian", Strategy: "QuadPrefixTree", MinX: -far, MaxX: far, MinY: -far, MaxY: far },
  });
  await studio.index("Bounds", {
    Name: "Users/Places",
    Maps: ["from user in docs.Users select new { Here = CreateSpatialField(1, 2), There = CreateSpatialField(3, 4) }"],
    Fields: { Here: spatial(100), There: spatial(200) },
  });
  await studio.open("/databases/Bounds/index?name=Users%2FPlaces");
  const bound = (what: string) => page.getByRole("spinbutton", { name: what });
  await expect(bound("MaxX of There")).toHaveValue("200");
  await page.getByRole("button", { name: "Remove the options of Here" }).click();
  await expect(bound("MaxX of There")).toHaveValue("200");
  await bound("MinX of There").fill("");
  await bound("MaxX of There").fill("150.5");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Users/Places saved")).toBeVisible();
  const stored = async () => {
    const answer = await page.request.get(`${studio.url}/databases/Bounds/indexes?name=Users/Places`);
    const { Fields } = ((await answer.json()) as { Results: { Fields: Record<string, { Spatial: object }> }[] }).Results[0]!;
    return [Object.keys(Fields), Fields["There"]!.Spatial];
  };
  await expect.poll(stored).toMatchObject([["There"], { MinX: -180, MaxX: 150.5, MinY: -200, MaxY: 200 }]);
});

test("a mistake of the compiler is marked in the text that has it", async ({ page, studio }) => {
  studio.allow(/400 \(Bad|500 \(Internal/);
  await studio.database("Mistaken", USERS);
  await studio.open("/databases/Mistaken/index");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("Users/Bad");
  await studio.write("Map", "from user in docs.Users\nselect new { user.Name, Age = user.Foo( }");
  await page.getByRole("button", { name: "Create" }).click();
  const map = page.getByRole("region", { name: "Map" });
  await expect(map.locator(".cm-lintRange-error")).toBeVisible();
  await studio.isAccessible();
  await studio.write("Map", "from user in docs.Users select new { user.Name }");
  await expect(map.locator(".cm-lintRange-error")).toHaveCount(0);
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByText("Users/Bad is being built")).toBeVisible();
});
