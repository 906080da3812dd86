// Pages of the documentation as trees, made when the studio is built. The browser gets no Markdown and no HTML, only these nodes.
import { posix } from "node:path";
import { lexer, type Token, type Tokens } from "marked";
import type { Block, Inline } from "../src/screens/help/tree";

/** What a page knows of the others. */
export type Surroundings = {
  /** Path of the page in the repository, `docs/rql.md`. */
  path: string;
  /** Paths of all pages of the book. */
  pages: ReadonlySet<string>;
  /** The module's name for a picture at this path in the repository. */
  picture: (path: string) => string;
};

/** The name of a page in addresses: its path without the ending. */
export function nameOf(path: string): string {
  return path.replace(/\.md$/, "");
}

/** The blocks of a page. Throws for HTML that no block stands for. */
export function blocksOf(markdown: string, around: Surroundings): Block[] {
  return new Converter(around).blocks(lexer(markdown, { gfm: true }));
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0", mdash: "—", ndash: "–" };

function decoded(text: string): string {
  return text.replace(/&(?:#(\d+)|(\w+));/g, (all, code: string | undefined, name: string | undefined) =>
    code !== undefined ? String.fromCodePoint(Number(code)) : (ENTITIES[name!] ?? all),
  );
}

class Converter {
  private readonly anchorCounts = new Map<string, number>();

  constructor(private readonly around: Surroundings) {}

  blocks(tokens: readonly Token[]): Block[] {
    const found: Block[] = [];
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at]!;
      if (token.type === "html" && /^<details>/.test(token.raw)) {
        const end = tokens.findIndex((other, place) => place > at && other.type === "html" && /^<\/details>/.test(other.raw));
        if (end < 0) throw new Error(`${this.around.path}: <details> is not closed`);
        const summary = /<summary>([^]*?)<\/summary>/.exec(token.raw)?.[1] ?? "More";
        found.push({
          kind: "details",
          summary: decoded(summary.replace(/<[^>]*>/g, "")),
          children: this.blocks(tokens.slice(at + 1, end)),
        });
        at = end;
      } else found.push(...this.block(token));
    }
    return found;
  }

  private block(token: Token): Block[] {
    switch (token.type) {
      case "space":
      case "def":
        return [];
      case "heading": {
        const { depth, text, tokens } = token as Tokens.Heading;
        return [{ kind: "heading", level: depth, at: this.anchorOf(text), children: this.inlines(tokens) }];
      }
      case "paragraph":
        return [{ kind: "paragraph", children: this.inlines((token as Tokens.Paragraph).tokens) }];
      // Of a list whose items are one line each.
      case "text": {
        const { tokens, text } = token as Tokens.Text;
        return [{ kind: "line", children: tokens ? this.inlines(tokens) : [decoded(text)] }];
      }
      case "code": {
        const { text, lang } = token as Tokens.Code;
        return [{ kind: "code", language: (lang ?? "").split(/[\s,]/)[0]!, text }];
      }
      case "blockquote":
        return [{ kind: "quote", children: this.blocks((token as Tokens.Blockquote).tokens) }];
      case "list": {
        const { ordered, start, items } = token as Tokens.List;
        return [
          { kind: "list", start: ordered ? Number(start) || 1 : undefined, items: items.map(({ tokens }) => this.blocks(tokens)) },
        ];
      }
      case "table": {
        const { header, rows, align } = token as Tokens.Table;
        const cells = (row: readonly Tokens.TableCell[]) => row.map(({ tokens }) => this.inlines(tokens));
        return [{ kind: "table", isRight: align.map((side) => side === "right"), head: cells(header), rows: rows.map(cells) }];
      }
      case "hr":
        return [{ kind: "rule" }];
      case "html":
        if (/^<!--[^]*-->\s*$/.test(token.raw)) return [];
        break;
    }
    throw new Error(`${this.around.path}: the studio's help cannot show '${token.raw.slice(0, 60)}' (${token.type})`);
  }

  private inlines(tokens: readonly Token[]): Inline[] {
    const found: Inline[] = [];
    for (const token of tokens) {
      for (const inline of this.inline(token)) {
        const last = found.at(-1);
        if (typeof inline === "string" && typeof last === "string") found[found.length - 1] = last + inline;
        else found.push(inline);
      }
    }
    return found;
  }

  private inline(token: Token): Inline[] {
    switch (token.type) {
      case "strong":
      case "em":
      case "del":
        return [{ kind: token.type, children: this.inlines((token as Tokens.Strong).tokens) }];
      case "codespan":
        return [{ kind: "code", text: (token as Tokens.Codespan).text }];
      case "br":
        return [{ kind: "break" }];
      case "image": {
        const { href, text } = token as Tokens.Image;
        // Pictures of other hosts are badges; the studio loads nothing from elsewhere.
        if (/^[a-z]+:/.test(href)) return [text];
        return [{ kind: "picture", source: this.around.picture(this.resolved(href).path), text }];
      }
      case "link": {
        const { href, tokens } = token as Tokens.Link;
        return this.link(href, this.inlines(tokens));
      }
      case "text": {
        const { tokens, text } = token as Tokens.Text;
        return tokens ? this.inlines(tokens) : [decoded(text)];
      }
      case "escape":
        return [(token as Tokens.Escape).text];
      case "checkbox":
        return [(token as { checked?: boolean }).checked ? "☑ " : "☐ "];
      default:
        // Tags in a line, such as `<name>`, are text.
        return [token.raw];
    }
  }

  private link(href: string, children: Inline[]): Inline[] {
    if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return [{ kind: "outside", href, children }];
    const { path, at } = this.resolved(href);
    if (this.around.pages.has(path)) return [{ kind: "page", page: nameOf(path), at, children }];
    // A file of the repository, which is not in the program.
    return children;
  }

  /** The path in the repository that a link leads to. */
  private resolved(href: string): { path: string; at: string | undefined } {
    const [path = "", at] = href.split("#");
    const folder = posix.dirname(this.around.path);
    return {
      path: path === "" ? this.around.path : posix.normalize(posix.join(folder, decodeURIComponent(path))),
      at: at === undefined || at === "" ? undefined : decodeURIComponent(at),
    };
  }

  /** As GitHub, mdBook and `scripts/docs` name headings. */
  private anchorOf(heading: string): string {
    const shown = heading
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replaceAll("`", "")
      .toLowerCase();
    const name = [...shown].map((sign) => (/[\p{L}\p{N}_-]/u.test(sign) ? sign : sign === " " ? "-" : "")).join("");
    const count = this.anchorCounts.get(name) ?? 0;
    this.anchorCounts.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  }
}

/** A line of the table of contents. * `depth`: 0 for pages of a part, 1 for those below a page. */
export type Listed = { path: string; title: string; depth: number };

/** The parts of `docs/SUMMARY.md` with their pages; the first one has no title. */
export function partsOf(summary: string, folder = "docs"): { title: string; pages: Listed[] }[] {
  const parts: { title: string; pages: Listed[] }[] = [{ title: "", pages: [] }];
  for (const line of summary.split("\n").slice(1)) {
    const part = /^# (.+)$/.exec(line);
    if (part) parts.push({ title: part[1]!.trim(), pages: [] });
    const page = /^(\s*)(?:- )?\[(.+)\]\(([^)]+)\)\s*$/.exec(line);
    if (!page) continue;
    const [, indent, title, target] = page;
    parts
      .at(-1)!
      .pages.push({ path: posix.normalize(posix.join(folder, target!)), title: title!, depth: indent!.length > 0 ? 1 : 0 });
  }
  return parts.filter(({ pages }) => pages.length > 0);
}
