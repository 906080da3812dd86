import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plain, type Block, type Inline } from "../src/screens/help/tree";
import { pageOf } from "./book";
import { blocksOf, nameOf, partsOf } from "./markdown";

const ROOT = join(import.meta.dirname, "../..");
const around = { path: "docs/a.md", pages: new Set(["docs/a.md", "docs/b.md", "README.md"]), picture: (path: string) => path };

test("headings have the names that other readers give them", () => {
  const headings = blocksOf("# The `limit`s, and more\n\n## Same\n\n## Same\n", around);
  expect(headings.map((block) => block.kind === "heading" && block.at)).toEqual(["the-limits-and-more", "same", "same-1"]);
});

test("links lead to pages of the book, to other hosts, or are text", () => {
  const [paragraph] = blocksOf(
    "[b](b.md#x) [up](../README.md) [here](#y) [out](https://example.com/) [code](../crates/x.rs)",
    around,
  );
  const links = (paragraph as { children: Inline[] }).children.filter((node) => typeof node !== "string");
  expect(links).toEqual([
    { kind: "page", page: "docs/b", at: "x", children: ["b"] },
    { kind: "page", page: "README", at: undefined, children: ["up"] },
    { kind: "page", page: "docs/a", at: "y", children: ["here"] },
    { kind: "outside", href: "https://example.com/", children: ["out"] },
  ]);
  expect(plain((paragraph as { children: Inline[] }).children)).toBe("b up here out code");
});

test("tables, lists, code and folded parts keep their form", () => {
  const blocks = blocksOf(
    "| a | b |\n| --- | ---: |\n| `x \\| y` | 1 |\n\n1. one\n2. two\n   * three\n\n```rql\nfrom A\n```\n\n" +
      "<details>\n<summary><b>Go</b>: <code>x</code></summary>\n\nInside.\n\n</details>\n\nA &lt;b> and <name>.\n",
    around,
  );
  expect(blocks.map(({ kind }) => kind)).toEqual(["table", "list", "code", "details", "paragraph"]);
  expect(blocks[0]).toMatchObject({ isRight: [false, true], rows: [[[{ kind: "code", text: "x | y" }], ["1"]]] });
  expect(blocks[1]).toMatchObject({ start: 1, items: [[{ kind: "line" }], [{ kind: "line" }, { kind: "list" }]] });
  expect(blocks[2]).toEqual({ kind: "code", language: "rql", text: "from A" });
  expect(blocks[3]).toMatchObject({ summary: "Go: x", children: [{ kind: "paragraph", children: ["Inside."] }] });
  expect(blocks[4]).toEqual({ kind: "paragraph", children: ["A <b> and <name>."] });
});

test("HTML that no block stands for fails the build", () => {
  expect(() => blocksOf("<table><tr></tr></table>\n", around)).toThrow("docs/a.md");
});

test("every page of the book is converted, and its links lead to headings that exist", () => {
  const parts = partsOf(readFileSync(join(ROOT, "docs/SUMMARY.md"), "utf8"));
  const paths = parts.flatMap(({ pages }) => pages.map(({ path }) => path));
  expect(parts.map(({ title }) => title).slice(0, 2)).toEqual(["", "Begin"]);
  expect(paths).toContain("docs/rql.md");
  const pages = new Map(
    paths.map((path) => [nameOf(path), pageOf(readFileSync(join(ROOT, path), "utf8"), path, new Set(paths)).blocks]),
  );
  const headings = new Map(
    [...pages].map(([name, blocks]) => [name, new Set(all(blocks).flatMap((node) => (node.kind === "heading" ? [node.at] : [])))]),
  );
  for (const [name, blocks] of pages) {
    expect(blocks[0]?.kind, name).toBe("heading");
    for (const node of all(blocks)) {
      if (node.kind === "page" && node.at !== undefined)
        expect(headings.get(node.page)?.has(node.at), `${name}: ${node.at}`).toBe(true);
    }
  }
});

type Node = Block | Exclude<Inline, string>;

/** All nodes of a tree. */
function all(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(all);
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(all);
  return "kind" in value ? [value as Node, ...inner] : inner;
}
