// What may be the id of another document.

/** A string `"orders/1-A"` in JSON: a word, a slash, and something without blanks. Group 1 is the id. */
export const ID_TEXT = /"(\p{L}[\p{L}\p{N}_.-]{0,60}\/[^\s"\\]{1,100})"/gu;

/** Any string; with group 2 it is the name of a member. */
const STRING = /"((?:[^"\\]|\\.)*)"(\s*:)?/g;

/** Ids may have blanks, and need no slash; longer ones are not looked for. */
const LENGTH_MAX = 120;
/** Ids that a document is asked about, in one request. */
const COUNT_MAX = 200;

/** The texts in a document that may be ids of others, each once: those that look like one first. */
export function idsIn(text: string, own: string): string[] {
  const found = new Set<string>();
  const isFull = (id: string) => {
    if (id !== own) found.add(id);
    return found.size >= COUNT_MAX;
  };
  for (const match of text.matchAll(ID_TEXT)) if (isFull(match[1]!)) return [...found];
  for (const [, value, colon] of text.matchAll(STRING)) {
    const isPossible = colon === undefined && value !== "" && value!.length <= LENGTH_MAX && !value!.includes("\\");
    if (isPossible && isFull(value!)) break;
  }
  return [...found];
}
