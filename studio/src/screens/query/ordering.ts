// The `order by` of a query as the grid shows and sets it. The text stays the truth: a click on a column rewrites it.
import { ID, MODIFIED } from "../../grid/columns";
import { quotedName } from "./names";
import { clausesOf, type Clause } from "./place";
import { aliasOf } from "./text";

export type Direction = "ascending" | "descending";

/** What a query is ordered by, if it is one column. * `by`: as it stands in the query. */
export type Ordering = { by: string; direction: Direction };

/** Clauses that stand behind `order by`. */
export const BEHIND: readonly Clause[] = ["load", "filter", "select", "update", "include", "limit", "offset", "filter_limit"];

/** How a column is called in a query: `ShipTo.City`, `id()`, with the alias of the query; names with other signs in quotes. */
export function nameInQuery(path: string, text = ""): string {
  if (path === ID) return "id()";
  const alias = aliasOf(text);
  const names = path === MODIFIED ? ["@metadata", "@last-modified"] : /^'.*'$/.test(path) ? [path] : path.split(".");
  const quoted = names.map((name) => (/^'.*'$/.test(name) ? name : quotedName(name)));
  return (alias === undefined || hasSelect(text) ? quoted : [alias, ...quoted]).join(".");
}

/** With `select`, columns have the names that it gives them, which `order by` knows too. */
function hasSelect(text: string): boolean {
  return clausesOf(text).some(({ clause }) => clause === "select");
}

/** Whether the columns of the results can be sorted by: not those that a script made, nor facets. */
export function isSortable(text: string): boolean {
  const select = clausesOf(text).find(({ clause }) => clause === "select");
  const columns = select ? text.slice(select.bodyStart, select.end) : "";
  return !/^\s*\{/.test(columns) && !/\b(facet|suggest|explain)\s*\(/i.test(columns) && !/^\s*(explain|declare)\b/i.test(text);
}

export function orderingOf(text: string): Ordering | undefined {
  const order = clausesOf(text).find(({ clause }) => clause === "order by");
  if (!order) return undefined;
  const found = /^\s*([^\s,]+(?:\([^)]*\))?)(?:\s+as\s+\w+)?(?:\s+(asc|desc)\w*)?\s*$/i.exec(
    text.slice(order.bodyStart, order.end),
  );
  return found ? { by: found[1]!, direction: found[2]?.toLowerCase() === "desc" ? "descending" : "ascending" } : undefined;
}

/** What a click on a column makes of the ordering: rising, falling, none. */
export function turned(now: Ordering | undefined, by: string): Ordering | undefined {
  if (now?.by !== by) return { by, direction: "ascending" };
  return now.direction === "ascending" ? { by, direction: "descending" } : undefined;
}

/** The query with this ordering in place of its own. * `type`: how values are compared, `double`; undefined: as texts. */
export function ordered(text: string, ordering: Ordering | undefined, type: string | undefined): string {
  const own = clausesOf(text).find(({ clause }) => clause === "order by");
  const base = own ? joined(text.slice(0, own.start), text.slice(own.end), "") : text;
  if (!ordering) return base;
  const next = clausesOf(base).find(({ clause }) => BEHIND.includes(clause));
  const at = next?.start ?? base.length;
  const direction = ordering.direction === "descending" ? " desc" : "";
  return joined(base.slice(0, at), base.slice(at), `order by ${ordering.by}${type === undefined ? "" : ` as ${type}`}${direction}`);
}

/** Parts of a query, on lines of their own if it has several. */
export function joined(before: string, behind: string, between: string): string {
  const space = before.includes("\n") || before.includes("//") || behind.trim().includes("\n") ? "\n" : " ";
  return [before.trimEnd(), between, behind.trim()].filter((part) => part !== "").join(space);
}

/** How the values of a column are compared, seen from some of them: `long` or `double` if all are numbers. */
export function typeOf(values: readonly unknown[]): string | undefined {
  const there = values.filter((value) => value !== undefined && value !== null);
  if (there.length === 0 || !there.every((value) => typeof value === "number")) return undefined;
  return there.every((value) => Number.isInteger(value)) ? "long" : "double";
}
