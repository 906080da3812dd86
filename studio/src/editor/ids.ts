// What may be the id of another document.

/** A string `"orders/1-A"` in JSON: a word, a slash, and something without blanks. Group 1 is the id. */
export const ID_TEXT = /"(\p{L}[\p{L}\p{N}_.-]{0,60}\/[^\s"\\]{1,100})"/gu;

/** Behind the name of a member. */
const COLON = /\s*:/y;

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
  for (const value of plainValues(text)) if (isFull(value)) break;
  return [...found];
}

/** The strings without escapes that are no names of members and not too long. One of many MB is gone over. */
function* plainValues(text: string): Generator<string> {
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    let [end, hasEscape] = [at + 1, false];
    for (;;) {
      end = text.indexOf('"', end);
      if (end < 0) return;
      let backslashes = 0;
      while (text[end - 1 - backslashes] === "\\") backslashes++;
      if (backslashes > 0) hasEscape = true;
      if (backslashes % 2 === 0) break;
      end++;
    }
    const length = end - at - 1;
    COLON.lastIndex = end + 1;
    if (length > 0 && length <= LENGTH_MAX && !COLON.test(text)) {
      const value = text.slice(at + 1, end);
      if (!hasEscape && !value.includes("\\")) yield value;
    }
    at = end + 1;
  }
}
