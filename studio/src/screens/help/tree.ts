// A page of the documentation as a tree: what the build makes of Markdown (`build/markdown.ts`), and what `Blocks.tsx` shows.

export type Inline =
  | string
  | { kind: "strong" | "em" | "del"; children: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "break" }
  /** `source`: an address of a file of the studio. */
  | { kind: "picture"; source: string; text: string }
  /** `page`: the name of a page of the book; `at`: one of its headings. */
  | { kind: "page"; page: string; at?: string | undefined; children: Inline[] }
  | { kind: "outside"; href: string; children: Inline[] };

export type Block =
  /** `at`: its name in addresses. */
  | { kind: "heading"; level: number; at: string; children: Inline[] }
  | { kind: "paragraph" | "line"; children: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; children: Block[] }
  /** `start`: the first number of an ordered list. */
  | { kind: "list"; start?: number | undefined; items: Block[][] }
  | { kind: "table"; isRight: boolean[]; head: Inline[][]; rows: Inline[][][] }
  | { kind: "details"; summary: string; children: Block[] }
  | { kind: "rule" };

/** A line of the table of contents. * `depth`: 1 for a page that belongs to the one above it. */
export type Entry = { name: string; title: string; depth: number };

export type Part = { title: string; pages: Entry[] };

/** The text of some nodes, without their form. */
export function plain(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => {
      if (typeof node === "string") return node;
      if ("children" in node) return plain(node.children);
      return node.kind === "break" ? " " : node.kind === "picture" ? "" : node.text;
    })
    .join("");
}
