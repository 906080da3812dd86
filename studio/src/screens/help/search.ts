// Searching the book: sections that have all words, those whose heading has them first.
import { plain, type Block, type Inline } from "./tree";

/** A heading with the text below it, up to the next heading. * `at`: undefined for the beginning of a page. */
export type Section = { page: string; pageTitle: string; at: string | undefined; heading: string; text: string };

/** The sections of a page. */
export function sectionsOf(page: string, pageTitle: string, blocks: readonly Block[]): Section[] {
  const sections: Section[] = [{ page, pageTitle, at: undefined, heading: pageTitle, text: "" }];
  for (const block of blocks) {
    if (block.kind === "heading") {
      if (block.level > 1) sections.push({ page, pageTitle, at: block.at, heading: plain(block.children), text: "" });
    } else {
      const last = sections.at(-1)!;
      last.text = `${last.text} ${textOf(block)}`.trim();
    }
  }
  return sections;
}

function textOf(block: Block): string {
  const inlines = (nodes: readonly Inline[]) => plain(nodes);
  const cells = (row: readonly Inline[][]) => row.map(inlines).join(" ");
  switch (block.kind) {
    case "heading":
    case "paragraph":
    case "line":
      return inlines(block.children).replace(/\s+/g, " ");
    case "code":
      return block.text.replace(/\s+/g, " ");
    case "quote":
      return block.children.map(textOf).join(" ");
    case "details":
      return [block.summary, ...block.children.map(textOf)].join(" ");
    case "list":
      return block.items.map((item) => item.map(textOf).join(" ")).join(" ");
    case "table":
      return [block.head, ...block.rows].map(cells).join(" ").replace(/\s+/g, " ");
    case "rule":
      return "";
  }
}

export type Found = Section & {
  /** A part of the text around the first word. */
  excerpt: string;
};

/** Characters of an excerpt, and how many of them stand before the word. */
const EXCERPT_LENGTH = 150;
const BEFORE_LENGTH = 40;

/** The words of a search, in lower case. */
export function wordsOf(typed: string): string[] {
  return typed.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The sections that have all words, the best first. */
export function search(sections: readonly Section[], typed: string, countMax: number): Found[] {
  const words = wordsOf(typed);
  if (words.length === 0) return [];
  const scored = sections.flatMap((section) => {
    const [heading, title, text] = [section.heading.toLowerCase(), section.pageTitle.toLowerCase(), section.text.toLowerCase()];
    if (!words.every((word) => heading.includes(word) || title.includes(word) || text.includes(word))) return [];
    let score = heading === words.join(" ") ? 100 : 0;
    for (const word of words) {
      if (heading.includes(word)) score += heading.startsWith(word) ? 30 : 20;
      if (title.includes(word)) score += 10;
      // Often in a short section says more than once in a long one.
      score += Math.min(10, (text.split(word).length - 1) * (400 / Math.max(400, text.length)));
    }
    // How a thing is used is meant more often than how it is built, and what there is more often than what is missing.
    const isSecondary = section.page.startsWith("docs/design/") || ["CHANGELOG", "docs/missing-features"].includes(section.page);
    if (isSecondary) score /= 2;
    return [
      { section, score, at: Math.max(0, Math.min(...words.map((word) => text.indexOf(word)).filter((place) => place >= 0))) },
    ];
  });
  return scored
    .sort((one, other) => other.score - one.score)
    .slice(0, countMax)
    .map(({ section, at }) => ({ ...section, excerpt: excerptOf(section.text, Number.isFinite(at) ? at : 0) }));
}

function excerptOf(text: string, at: number): string {
  let start = Math.max(0, at - BEFORE_LENGTH);
  if (start > 0) start = text.indexOf(" ", start) + 1;
  const end = start + EXCERPT_LENGTH;
  return `${start > 0 ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
}

/** A text in pieces, with those that a search found. */
export function marked(text: string, words: readonly string[]): { text: string; isFound: boolean }[] {
  if (words.length === 0) return [{ text, isFound: false }];
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  return text.split(pattern).flatMap((piece, at) => (piece === "" ? [] : [{ text: piece, isFound: at % 2 === 1 }]));
}
