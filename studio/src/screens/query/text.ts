// What can be told of a query from its text alone. The server has the grammar; here are guesses that help typing.
import { quoted } from "../../api/documents";
import { bare } from "../../api/limit";
import { ApiError } from "../../api/http";
import type { Mistake } from "../../editor/CodeEditor";

/** Whether it changes documents: `from .. update { .. }`. */
export function isPatch(text: string): boolean {
  return /\bupdate\s*\{/i.test(bare(text));
}

/** Whether it asks for the plan of a query: `explain from ..`. */
export function isExplain(text: string): boolean {
  return /^\s*explain\b/i.test(bare(text));
}

/** A patch without its `update { .. }`: the query that finds what it changes. What stands behind it, as a `limit`, stays. */
export function findingPart(text: string): string {
  const code = bare(text);
  const at = code.search(/\bupdate\s*\{/i);
  if (at < 0) return text;
  const end = code.lastIndexOf("}");
  return `${text.slice(0, at).trim()} ${end < at ? "" : text.slice(end + 1).trim()}`.trim();
}

/** Where an `include` clause stands: the last clause of a query but for the limits. */
function includeOf(text: string): { start: number; end: number } | undefined {
  const code = bare(text);
  const start = [...code.matchAll(/\binclude\b/gi)].at(-1)?.index;
  if (start === undefined) return undefined;
  const length = code.slice(start).search(/\b(limit|offset|filter_limit)\b/i);
  return { start, end: length < 0 ? text.length : start + length };
}

/** The query with times of its steps asked for too. */
export function withTimings(text: string): string {
  if (/\btimings\s*\(/i.test(bare(text))) return text;
  const include = includeOf(text);
  if (!include) return `${text}\ninclude timings()`;
  const behind = include.start + "include".length;
  return `${text.slice(0, behind)} timings(),${text.slice(behind)}`;
}

/** The query without what it includes, of the same length, so that places in it stay what they are. */
export function withoutInclude(text: string): string {
  const include = includeOf(text);
  if (!include) return text;
  return text.slice(0, include.start) + " ".repeat(include.end - include.start) + text.slice(include.end);
}

/** The names of the parameters that it uses, `city` of `$city`, once each. */
export function parametersOf(text: string): string[] {
  return [...new Set([...bare(text).matchAll(/\$(\w+)/g)].map((found) => found[1]!))];
}

/** The collection that is asked, if any. */
export function collectionOf(text: string): string | undefined {
  const found = /\bfrom\s+(?!index\b)(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([\w@-]+))/i.exec(text);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

/** The index that is asked by its name, if any. */
export function indexOf(text: string): string | undefined {
  const found = /\bfrom\s+index\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([\w@/-]+))/i.exec(text);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

/** What documents are called in the query: `o` of `from Orders as o`. */
export function aliasOf(text: string): string | undefined {
  return /\bfrom\s+(?:index\s+)?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\w@/-]+)\s+as\s+([A-Za-z_]\w*)/i.exec(text)?.[1];
}

/** Whether what follows this text stands in the script of `update { .. }`. */
export function isInScript(before: string): boolean {
  return /\bupdate\s*\{[^]*$/i.test(bare(before));
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
