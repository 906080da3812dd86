// JSON as values, with the digits of numbers that JavaScript would round kept beside them: ids of 64 bits, `1e400`.
import { JsonError, scan, type Span } from "./scan";

/** Whether there may be such a number; most texts have none, and are read as fast as ever. */
const MAY_ROUND = /(?<![\d.])\d{16}|\d[eE]\+?\d{3}/;

/** By object or array, then by name or place. */
const digits = new WeakMap<object, Map<string, string>>();
/** Whether there was ever one. */
let isAny = false;

/** `JSON.parse`; `digitsOf` has what it rounds. */
export function parse(text: string): unknown {
  const root: unknown = JSON.parse(text);
  if (!MAY_ROUND.test(text)) return root;
  const walk = (value: unknown, span: Span) => {
    if (typeof value !== "object" || value === null) return;
    const parts =
      span.kind === "object"
        ? span.members.map((member): [string, Span] => [member.name, member.value])
        : span.kind === "array"
          ? span.elements.map((element, at): [string, Span] => [String(at), element])
          : [];
    for (const [name, part] of parts) {
      const inner = (value as Record<string, unknown>)[name];
      if (part.kind !== "number") walk(inner, part);
      else if (typeof inner === "number" && Math.abs(inner) > Number.MAX_SAFE_INTEGER) {
        const known = digits.get(value) ?? new Map<string, string>();
        digits.set(value, known.set(name, text.slice(part.start, part.end)));
        isAny = true;
      }
    }
  };
  try {
    walk(root, scan(text));
  } catch (error) {
    // A document that nests as deep as one may, within an answer.
    if (!(error instanceof JsonError)) throw error;
  }
  return root;
}

/** How a number of an object that `parse` gave was written, if JavaScript rounds it. */
export function digitsOf(holder: object, name: string): string | undefined {
  return isAny ? digits.get(holder)?.get(name) : undefined;
}

/** What stands for a number until its digits are put there. */
const MARK = "\u0000";
const MARKED = /"\\u0000(-?\d[\d.eE+-]*)"/g;

/** `JSON.stringify` with the digits that were written. */
export function stringify(value: object): string {
  if (!isAny) return JSON.stringify(value);
  const text = JSON.stringify(value, function (this: object, name: string, inner: unknown) {
    const written = typeof inner === "number" ? digitsOf(this, name) : undefined;
    return written === undefined ? inner : MARK + written;
  });
  return text.replace(MARKED, "$1");
}
