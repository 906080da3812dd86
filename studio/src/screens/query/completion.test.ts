import type { CompletionContext } from "@codemirror/autocomplete";
import { expect, test, vi } from "vitest";
import FUNCTIONS from "./functions.json";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { completion } = await import("./completion");

const known = {
  collections: ["Orders"],
  indexes: ["Orders/ByCompany"],
  fieldsOf: async () => ["Company", "ShipTo.City"],
  valuesOf: async (_: unknown, field: string) => (field === "Freight" ? [3.25, 12] : ["Reims", "It's"]),
  fieldsBehind: async (_: string, path: string) => (path === "Company" ? ["Name"] : []),
  parameters: () => ["city"],
};

/** The options at the end of a text. */
async function optionsAt(text: string, explicit = true) {
  const context = {
    state: { doc: { toString: () => text } },
    pos: text.length,
    explicit,
    matchBefore: (pattern: RegExp) => {
      const found = pattern.exec(text);
      return found && { from: found.index, to: text.length, text: found[0] };
    },
  };
  const result = await completion(known)(context as unknown as CompletionContext);
  const options = [...(result?.options ?? [])];
  // As the editor arranges them while nothing is typed.
  return options.sort((one, other) => (other.boost ?? 0) - (one.boost ?? 0));
}

const labelsAt = async (text: string, explicit = true) => (await optionsAt(text, explicit)).map(({ label }) => label);

test("a condition begins with a field or a function of conditions", async () => {
  const options = await optionsAt("from Orders where ");
  expect(options[0]!.label).toBe("Company");
  expect(options.find((option) => option.label === "search(")?.detail).toBe("field, words[, operator]");
  for (const { name, about, clauses } of FUNCTIONS) {
    const found = options.find((option) => option.label.startsWith(`${name}(`));
    if (clauses.includes("where")) expect(found?.info, name).toBe(about);
    else expect(found, name).toBeUndefined();
  }
  expect(options.map(({ label }) => label)).not.toContain("between");
});

test("the list opens by itself where a name is expected, and nowhere else", async () => {
  expect(await labelsAt("from Orders where ", false)).toContain("Company");
  expect(await labelsAt("from Orders order by ", false)).toContain("ShipTo.City");
  expect(await labelsAt("from Orders where Company = 'x' and ", false)).toContain("Company");
  expect(await labelsAt("from ", false)).toContain("Orders");
  expect(await labelsAt("from Orders ", false)).toEqual([]);
  expect(await labelsAt("from Orders where Company ", false)).toEqual([]);
});

test("operators follow a field, values an operator, and clauses what is complete", async () => {
  expect((await labelsAt("from Orders where Company ")).slice(0, 3)).toEqual(["=", "!=", "<"]);
  expect((await labelsAt("from Orders where Freight > ")).slice(0, 3)).toEqual(["$city", "3.25", "12"]);
  expect(await labelsAt("from Orders where Company = 'x' ")).toEqual(expect.arrayContaining(["and", "or", "order by", "select"]));
  expect(await labelsAt("from Orders order by Freight ")).toEqual(expect.arrayContaining(["desc", "as", "select"]));
  expect(await labelsAt("from Orders order by Freight ")).not.toContain("where");
  expect(await labelsAt("from Orders order by Freight as ")).toEqual(["string", "long", "double", "alphaNumeric"]);
});

test("inside of a string there are values alone", async () => {
  expect(await labelsAt("from Orders where ShipTo.City = '", false)).toEqual(["Reims", "It's"]);
  expect(await labelsAt("from index 'Or", false)).toEqual(["Orders/ByCompany"]);
});

test("loaded documents have their fields, in scripts too", async () => {
  expect(await labelsAt("from Orders as o load o.Company as c select c.", false)).toEqual(["c.Name"]);
  expect(await labelsAt("from Orders as o load o.Company as c select { n: c.", false)).toEqual(["c.Name"]);
  expect(await labelsAt("from Orders as o where o.", false)).toContain("o.Company");
});

test("arguments of facets, places and vectors have functions of their own", async () => {
  expect(await labelsAt("from Cities where spatial.within(Location, ")).toContain("spatial.circle(");
  expect(await labelsAt("from index 'Orders/ByCompany' select facet(Company, ")).toContain("sum(");
  expect(await labelsAt("from Orders group by Company order by ")).toContain("count()");
  expect(await labelsAt("from Orders order by ")).not.toContain("count()");
});

test("a function that needs no arguments closes its bracket", async () => {
  const labels = await labelsAt("from Orders order by ");
  expect(labels).toContain("score()");
  expect(labels).toContain("random()");
  expect(labels).toContain("spatial.distance(");
});
