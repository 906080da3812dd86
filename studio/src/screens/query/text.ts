// What can be told of a query from its text alone. The server has the grammar; here are guesses that help typing.
import { quoted } from "../../api/queries";
import { ApiError } from "../../api/http";
import type { Mistake } from "../../editor/CodeEditor";

/** The text with strings and comments blanked out, of the same length. */
export function bare(text: string): string {
  return text.replace(/\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"/g, (found) =>
    found.replace(/[^\n]/g, " "),
  );
}

/** Whether it changes documents: `from .. update { .. }`. */
export function isPatch(text: string): boolean {
  return /\bupdate\s*\{/i.test(bare(text));
}

/** A patch without its `update`: the query that finds what it changes. */
export function findingPart(text: string): string {
  const at = bare(text).search(/\bupdate\s*\{/i);
  return at < 0 ? text : text.slice(0, at).trim();
}

/** The collection that is asked, if any. */
export function collectionOf(text: string): string | undefined {
  const found = /\bfrom\s+(?!index\b)(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([\w@-]+))/i.exec(text);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

/** A name as it stands in a query. */
export function quotedIfNeeded(name: string): string {
  return /^[A-Za-z_@][\w-]*$/.test(name) ? name : quoted(name);
}

/** Where the server found a mistake: its message begins with `line:column`. */
export function mistakeOf(error: unknown): Mistake | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = /^(\d+):(\d+) (.*)/.exec(error.message);
  return found ? { line: Number(found[1]), column: Number(found[2]), message: found[3]! } : undefined;
}

/** The message without the query, which the server says again and the editor shows anyway. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\nQuery: [^]*$/, "").replace(/^\d+:\d+ /, "");
}
