// Fragments of `highlight()`: texts with tags around what was found. They are cut at the tags, and never put into a page as HTML.

/** A piece of a fragment. */
export type Piece = { text: string; isFound: boolean };

/** The tags of RavenDB and of this server, where a query says nothing else: before what was found, and behind. */
const USUAL = ['<b style="background:[a-z]+">', "</b>"] as const;

type Tags = { PreTags?: unknown; PostTags?: unknown };

/** The pieces of a fragment. `parameters`: those of the query, in which tags of its own may be. */
export function piecesOf(fragment: string, parameters: Record<string, unknown>): Piece[] {
  const own = Object.values(parameters).flatMap((value) => {
    const { PreTags, PostTags } = (value ?? {}) as Tags;
    const [before, behind] = [textsOf(PreTags), textsOf(PostTags)];
    return before.slice(0, behind.length).map((tag, at) => [escaped(tag), escaped(behind[at]!)] as const);
  });
  // A tag behind belongs to one before; alone it is the document's own text.
  const found = new RegExp([...own, USUAL].map(([before, behind]) => `${before}([^]*?)${behind}`).join("|"), "g");
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of fragment.matchAll(found)) {
    pieces.push({ text: fragment.slice(at, match.index), isFound: false });
    pieces.push({ text: match.slice(1).find((text) => text !== undefined) ?? "", isFound: true });
    at = match.index + match[0].length;
  }
  pieces.push({ text: fragment.slice(at), isFound: false });
  return pieces.filter(({ text }) => text !== "");
}

function textsOf(tags: unknown): string[] {
  return Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === "string" && tag !== "") : [];
}

function escaped(tag: string): string {
  return tag.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
