// The `limit` and `offset` in the text of a query, which an answer's `TotalResults` does not heed.

/** What a query gives at most, and from where on, by its text. */
export type Limit = {
  skip: number;
  /** Infinity if it only skips. */
  take: number;
  /** The query without it, of the same length, so that places in it stay what they are. */
  text: string;
};

/** The text with strings and comments blanked out, of the same length. */
export function bare(text: string): string {
  return text.replace(/\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"/g, (found) =>
    found.replace(/[^\n]/g, " "),
  );
}

const COUNT = "(\\d+|\\$\\w+)";
const CLAUSE = new RegExp(`\\blimit\\s+${COUNT}(?:\\s*,\\s*${COUNT}|\\s+offset\\s+${COUNT})?|\\boffset\\s+${COUNT}`, "i");

/** `limit 3`, `limit 5, 10`, `limit 10 offset 5`, `offset 5`; numbers or parameters, which are a JSON object as text. Undefined if there is none that can be told. */
export function limitOf(text: string, parameters = ""): Limit | undefined {
  const found = CLAUSE.exec(bare(text));
  if (!found) return undefined;
  const values = found[0].includes("$") && parameters.trim() !== "" ? (JSON.parse(parameters) as Record<string, unknown>) : {};
  const number = (word: string) => (word.startsWith("$") ? values[word.slice(1)] : Number(word));
  const [, first, second, offset, only] = found;
  const skip = number(only ?? offset ?? (second === undefined ? "0" : first!));
  const take = only === undefined ? number(second ?? first!) : Infinity;
  const isCount = (value: unknown): value is number => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0);
  if (!isCount(skip) || !isCount(take)) return undefined;
  const end = found.index + found[0].length;
  return { skip, take, text: text.slice(0, found.index) + " ".repeat(found[0].length) + text.slice(end) };
}
