// What may be the id of another document.

/** A string `"orders/1-A"` in JSON: a word, a slash, and something without blanks. Group 1 is the id. */
export const ID_TEXT = /"([A-Za-z][\w.-]{0,60}\/[^\s"\\]{1,100})"/g;

/** Ids that a document is asked about. */
const COUNT_MAX = 40;

/** The texts in a document that may be ids of others, each once. */
export function idsIn(text: string, own: string): string[] {
  const found = new Set<string>();
  for (const match of text.matchAll(ID_TEXT)) {
    if (match[1] !== own) found.add(match[1]!);
    if (found.size >= COUNT_MAX) break;
  }
  return [...found];
}
