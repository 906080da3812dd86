// The `where` of a query as the grid's filter sets it. The text stays the truth: a filter is a condition in it that one can take along.
import { BEHIND, isSortable, joined } from "./ordering";
import { clausesOf, tokensOf } from "./place";

/** What a column is compared by, and how it is called. * `values`: how many it takes; undefined: any number, separated by commas. */
export const OPERATORS = [
  { value: "=", label: "is", values: 1 },
  { value: "!=", label: "is not", values: 1 },
  { value: "<", label: "is less than", values: 1 },
  { value: "<=", label: "is at most", values: 1 },
  { value: ">", label: "is greater than", values: 1 },
  { value: ">=", label: "is at least", values: 1 },
  { value: "between", label: "is between", values: 2 },
  { value: "in", label: "is one of", values: undefined },
  { value: "startsWith", label: "starts with", values: 1 },
  { value: "endsWith", label: "ends with", values: 1 },
  { value: "search", label: "has the words", values: 1 },
  { value: "exists", label: "exists", values: 0 },
] as const;
export type Operator = (typeof OPERATORS)[number]["value"];

/** What the values of a column are, seen from some of them. */
export type Kind = "text" | "number" | "boolean";

/** Operators for texts alone. */
const OF_TEXTS: readonly Operator[] = ["startsWith", "endsWith", "search"];
/** Operators that need an order. */
const OF_ORDER: readonly Operator[] = ["<", "<=", ">", ">=", "between"];

export function operatorsFor(kind: Kind): (typeof OPERATORS)[number][] {
  return OPERATORS.filter(
    ({ value }) => (kind === "text" || !OF_TEXTS.includes(value)) && (kind !== "boolean" || !OF_ORDER.includes(value)),
  );
}

export function kindOf(values: readonly unknown[]): Kind {
  const there = values.filter((value) => value !== undefined && value !== null);
  if (there.length > 0 && there.every((value) => typeof value === "number")) return "number";
  return there.length > 0 && there.every((value) => typeof value === "boolean") ? "boolean" : "text";
}

/** Values that a column has most often, the most frequent first. Objects and arrays are none. */
export function frequent(values: readonly unknown[], countMax: number): string[] {
  const counts = new Map<string, number>();
  for (const value of values) {
    if (typeof value === "object" || value === undefined) continue;
    const text = String(value);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts]
    .sort(([one, ofOne], [other, ofOther]) => ofOther - ofOne || one.localeCompare(other))
    .slice(0, countMax)
    .map(([text]) => text);
}

/** A value as RQL writes it: numbers and booleans bare where the column has such, `null` bare, texts in quotes. */
function literal(value: string, kind: Kind): string {
  const isBare =
    value === "null" ||
    (kind === "number" && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) ||
    (kind === "boolean" && /^(true|false)$/i.test(value));
  return isBare ? value.toLowerCase() : `'${value.replace(/[\\']/g, "\\$&")}'`;
}

/** Values that commas separate; one with a comma stands in double quotes. */
export function valuesOf(text: string): string[] {
  return [...text.matchAll(/\s*(?:"([^"]*)"|([^,]*))\s*(?:,|$)/g)]
    .map(([, quoted, plain]) => quoted ?? plain?.trim() ?? "")
    .filter((value) => value !== "");
}

/** A condition in RQL. * `by`: the column as it stands in the query. * `values`: as they were typed. */
export function conditionOf(by: string, operator: Operator, values: readonly string[], kind: Kind): string {
  const [one = "", other = ""] = values.map((value) => literal(value.trim(), kind));
  switch (operator) {
    case "between":
      return `${by} between ${one} and ${other}`;
    case "in":
      return `${by} in (${values.map((value) => literal(value.trim(), kind)).join(", ")})`;
    case "exists":
      return `exists(${by})`;
    case "startsWith":
    case "endsWith":
    case "search":
      return `${operator}(${by}, ${literal(values[0]?.trim() ?? "", "text")})`;
    default:
      return `${by} ${operator} ${one}`;
  }
}

/** Why the results of a query cannot be filtered by their columns; undefined: they can. */
export function notFilterable(text: string): string | undefined {
  const clauses = clausesOf(text).map(({ clause }) => clause);
  if (clauses.includes("group by")) return "The query groups documents: filter in its text, by the fields that it groups by.";
  if (clauses.includes("select"))
    return "The query makes its columns with select: filter in its text, by the fields of the documents.";
  return isSortable(text) ? undefined : "Results of this form have no columns to filter by.";
}

/** Conditions that `and` joins, and whether there is an `or` beside them. */
function partsOf(body: string): { parts: string[]; hasOr: boolean } {
  let [depth, begin, isBetween, hasOr] = [0, 0, false, false];
  const parts: string[] = [];
  for (const { kind, text, at } of tokensOf(body)) {
    if (kind === "sign" && "([{".includes(text)) depth += 1;
    else if (kind === "sign" && ")]}".includes(text)) depth -= 1;
    if (kind !== "name" || depth !== 0) continue;
    const word = text.toLowerCase();
    if (word === "between") isBetween = true;
    else if (word === "or") hasOr = true;
    else if (word === "and") {
      if (!isBetween) {
        parts.push(body.slice(begin, at));
        begin = at + text.length;
      }
      isBetween = false;
    }
  }
  return { parts: [...parts, body.slice(begin)].map((part) => part.trim()), hasOr };
}

/** Whether a condition is one of a column: it begins with it, or is a function of it. */
function isOf(part: string, by: string): boolean {
  const rest = part.replace(/^(?:exists|startsWith|endsWith|search)\s*\(\s*/i, "");
  const next = rest.slice(by.length);
  return rest.startsWith(by) && !/^[\w.@$[(]/.test(next) && !/^'/.test(next);
}

type Where = { before: string; parts: string[]; hasOr: boolean; behind: string };

function whereOf(text: string): Where {
  const clauses = clausesOf(text);
  const own = clauses.find(({ clause }) => clause === "where");
  if (own) {
    const behind = text.slice(own.end);
    return { before: text.slice(0, own.start), ...partsOf(text.slice(own.bodyStart, own.end).trim()), behind };
  }
  const next = clauses.find(({ clause }) => clause === "order by" || BEHIND.includes(clause));
  const at = next?.start ?? text.length;
  return { before: text.slice(0, at), parts: [], hasOr: false, behind: text.slice(at) };
}

/** The conditions that all have to hold; those with `or` among them count as one. */
export function conditionsOf(text: string): string[] {
  const { parts, hasOr } = whereOf(text);
  return hasOr ? [andOf(parts)] : parts.filter((part) => part !== "");
}

/** The query without one of its [conditions](conditionsOf). */
export function without(text: string, condition: string): string {
  const { before, behind } = whereOf(text);
  const rest = conditionsOf(text).filter((other) => other !== condition);
  return joined(before, behind, rest.length === 0 ? "" : `where ${andOf(rest)}`);
}

/** The query with a condition of a column in place of its own. */
export function filtered(text: string, by: string, condition: string): string {
  const { before, parts, hasOr, behind } = whereOf(text);
  const others = hasOr ? [bracketed(andOf(parts))] : parts.filter((part) => part !== "" && !isOf(part, by));
  return joined(before, behind, `where ${andOf([...others, condition])}`);
}

/** In brackets, which a comment that goes up to the end of its line does not swallow. */
function bracketed(condition: string): string {
  return condition.includes("//") ? `(${condition}\n)` : `(${condition})`;
}

/** Joined by `and`, on a new line behind a comment that goes up to the end of its line. */
function andOf(parts: readonly string[]): string {
  return parts.reduce((before, part) => `${before}${before.includes("//") ? "\n" : " "}and ${part}`);
}
