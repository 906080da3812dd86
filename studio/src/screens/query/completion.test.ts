import type { CompletionContext } from "@codemirror/autocomplete";
import { expect, test, vi } from "vitest";
import FUNCTIONS from "./functions.json";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { completion } = await import("./completion");

const VALUES: Record<string, (string | number | boolean)[]> = {
  Freight: [3.25, 12],
  Done: [true],
  At: ["2024-01-02T00:00:00.0000000"],
};
/** What was asked for values. */
const asked: { field: string; prefix: string; signal: AbortSignal }[] = [];

const known = {
  collections: ["Orders"],
  indexes: ["Orders/ByCompany"],
  fieldsOf: async () => ["Company", "ShipTo.City"],
  valuesOf: async (_: unknown, field: string, prefix: string, signal: AbortSignal) => {
    asked.push({ field, prefix, signal });
    const values = VALUES[field] ?? ["Reims", "It's"];
    return { values, isComplete: field !== "Many" };
  },
  fieldsBehind: async (_: string, path: string) => (path === "Company" ? ["Name"] : []),
  parameters: () => ["city"],
};

/** What ends the completions that were begun, each when the text changes. */
const aborts: (() => void)[] = [];

/** The options at the end of a text. */
async function optionsAt(text: string, explicit = true) {
  const result = await resultAt(text, explicit);
  const options = [...(result?.options ?? [])];
  // As the editor arranges them while nothing is typed.
  return options.sort((one, other) => (other.boost ?? 0) - (one.boost ?? 0));
}

function resultAt(text: string, explicit = true) {
  const context = {
    state: { doc: { toString: () => text } },
    pos: text.length,
    explicit,
    matchBefore: (pattern: RegExp) => {
      const found = pattern.exec(text);
      return found && { from: found.index, to: text.length, text: found[0] };
    },
    addEventListener: (_: "abort", listener: () => void, { onDocChange }: { onDocChange: boolean }) => {
      if (onDocChange) aborts.push(listener);
    },
  };
  return completion(known)(context as unknown as CompletionContext);
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

test("the list opens by itself where a name or a value is expected, and nowhere else", async () => {
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

test("values are written as RQL writes them, after each comparison", async () => {
  expect(await labelsAt("from Orders where City = ")).toEqual(expect.arrayContaining(["'Reims'", "'It\\'s'"]));
  expect(await labelsAt("from Orders where At >= ")).toContain("'2024-01-02T00:00:00.0000000'");
  for (const typed of ["Freight in (", "Freight in (1, ", "Freight between ", "Freight between 1 and ", "Freight <> "]) {
    expect(await labelsAt(`from Orders where ${typed}`, false), typed).toEqual(expect.arrayContaining(["3.25", "12", "null"]));
  }
  const booleans = await labelsAt("from Orders where Done = ");
  expect(booleans.filter((label) => label === "true")).toHaveLength(1);
});

test("values are asked for by what is typed, again while there are more, and no longer once the text changes", async () => {
  asked.length = aborts.length = 0;
  const many = await resultAt("from Orders as o where o.Many = 'Re", false);
  const all = await resultAt("from Orders where City = Re", false);
  expect(asked.map(({ field, prefix }) => [field, prefix])).toEqual([
    ["Many", "Re"],
    ["City", "Re"],
  ]);
  expect([many?.validFor, all?.validFor?.toString()]).toEqual([undefined, expect.any(String)]);
  aborts[0]!();
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

test("loaded documents have their fields, in scripts too", async () => {
  expect(await labelsAt("from Orders as o load o.Company as c select c.", false)).toEqual(["c.Name"]);
  expect(await labelsAt("from Orders as o load o.Company as c select { n: c.", false)).toEqual(["c.Name"]);
  expect(await labelsAt("from Orders as o where o.", false)).toContain("o.Company");
});

test("a point behind a loaded document asks for its fields, also if the names before it come late", async () => {
  const result = await resultAt("from Orders as o load o.Company as c select { n: c", false);
  const isValidFor = result!.validFor as (word: string) => boolean;
  expect(["c", "co", "o.C", "c."].map((word) => isValidFor(word))).toEqual([true, true, true, false]);
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
