import { expect, test } from "vitest";
import { marked, search, sectionsOf, wordsOf } from "./search";
import type { Block } from "./tree";

const page: Block[] = [
  { kind: "heading", level: 1, at: "rql", children: ["RQL"] },
  { kind: "paragraph", children: ["The query ", { kind: "strong", children: ["language"] }, "."] },
  { kind: "heading", level: 2, at: "limit", children: [{ kind: "code", text: "limit" }] },
  { kind: "list", items: [[{ kind: "line", children: ["limit 10 offset 5"] }]] },
  { kind: "heading", level: 2, at: "other", children: ["Other"] },
  { kind: "code", language: "rql", text: "from Orders\nlimit 3" },
];
const sections = sectionsOf("docs/rql", "RQL, the query language", page);

test("a page is cut at its headings", () => {
  expect(sections.map(({ at, heading, text }) => [at, heading, text])).toEqual([
    [undefined, "RQL, the query language", "The query language."],
    ["limit", "limit", "limit 10 offset 5"],
    ["other", "Other", "from Orders limit 3"],
  ]);
});

test("all words have to be there, and a heading counts most", () => {
  expect(search(sections, "LIMIT", 9).map(({ at }) => at)).toEqual(["limit", "other"]);
  expect(search(sections, "orders limit", 9).map(({ at }) => at)).toEqual(["other"]);
  expect(search(sections, "orders nowhere", 9)).toEqual([]);
  expect(search(sections, "  ", 9)).toEqual([]);
});

test("what was found is marked, whatever signs it has", () => {
  expect(marked("a (b) A", wordsOf("(B) a"))).toEqual([
    { text: "a", isFound: true },
    { text: " ", isFound: false },
    { text: "(b)", isFound: true },
    { text: " ", isFound: false },
    { text: "A", isFound: true },
  ]);
});
