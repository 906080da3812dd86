// Values that completion offers for a field: from sampled documents, and from the terms of an index.

export type Value = string | number | boolean;

/** * `isComplete`: whether these are all values of the field, so that typing further brings no others. */
export type Values = { values: Value[]; isComplete: boolean };

export const NO_VALUES: Values = { values: [], isComplete: true };

/** What the server calls a null among terms. */
const NULL_TERM = "NULL_VALUE";
/** The last character of a term that the server shortened, which is not a value. */
const SHORTENED = "…";

/** A number as JSON writes it. `007` is a text. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

/** Terms as the values that they stand for: the server gives all as texts. They are numbers or booleans only if all of them are. */
export function valuesOfTerms(terms: readonly string[]): Value[] {
  const values = terms.filter((term) => term !== NULL_TERM && !term.endsWith(SHORTENED));
  if (values.every((value) => NUMBER.test(value))) return values.map(Number).filter(isExact);
  if (values.every((value) => value === "true" || value === "false")) return values.map((value) => value === "true");
  return values;
}

/** Whether JavaScript holds a number with all its digits. One that it rounds would be another value in the query. */
export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** `values`, then those of `others` that are not among them. Terms are in lower case, so texts are compared without case. */
export function merged(values: readonly Value[], others: readonly Value[]): Value[] {
  const keyOf = (value: Value) => (typeof value === "string" ? value.toLowerCase() : value);
  const known = new Set(values.map(keyOf));
  return [...values, ...others.filter((value) => !known.has(keyOf(value)))];
}

export function beginsWith(value: Value, prefix: string): boolean {
  return String(value).toLowerCase().startsWith(prefix.toLowerCase());
}

/**
 * The `fromValue` behind which the terms with a prefix begin. The endpoint gives those after it, in the order of UTF-8, so that it is the
 * greatest text below the prefix.
 */
export function boundBelow(prefix: string): string {
  const characters = [...prefix];
  const last = characters.pop()!.codePointAt(0)!;
  // A term has no such character, and the request cannot carry halves of pairs.
  const previous = last === 0xe000 ? 0xd7ff : last - 1;
  return last === 0 ? characters.join("") : `${characters.join("")}${String.fromCodePoint(previous)}\u{10ffff}`;
}
