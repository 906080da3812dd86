import type { CompletionContext } from "@codemirror/autocomplete";
import { expect, test, vi } from "vitest";
import FUNCTIONS from "./functions.json";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { completion } = await import("./completion");

const known = {
  collections: ["Orders"],
  indexes: [],
  fieldsOf: async () => ["Company"],
  fieldsOfIndex: async () => [],
  parameters: () => [],
};

/** The options at the end of a text. */
async function optionsAt(text: string) {
  const context = {
    state: { doc: { toString: () => text } },
    pos: text.length,
    explicit: true,
    matchBefore: (pattern: RegExp) => {
      const found = pattern.exec(text);
      return found && { from: found.index, to: text.length, text: found[0] };
    },
  };
  const result = await completion(known)(context as unknown as CompletionContext);
  return result?.options ?? [];
}

test("all functions of the table are offered, with their arguments", async () => {
  const options = await optionsAt("from Orders where ");
  const search = options.find((option) => option.label === "search(");
  expect(search?.detail).toBe("field, words[, operator]");
  expect(options.some((option) => option.label === "Company")).toBe(true);
  for (const { name, about } of FUNCTIONS) {
    expect(options.find((option) => option.label.startsWith(`${name}(`))?.info, name).toBe(about);
  }
});

test("a function that needs no arguments closes its bracket", async () => {
  const labels = (await optionsAt("from Orders order by ")).map((option) => option.label);
  expect(labels).toContain("score()");
  expect(labels).toContain("random()");
  expect(labels).toContain("spatial.distance(");
});
