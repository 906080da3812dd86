// JSON as text. Documents are shown and saved as they are written: a number keeps its digits (34.8000, 2^53 + 1),
// which it would lose as a JavaScript number.

/** What is wrong with a text, and where. */
export class JsonError extends Error {
  /** Line and column count from 1, `at` in characters from 0. */
  constructor(
    readonly reason: string,
    readonly at: number,
    readonly line: number,
    readonly column: number,
  ) {
    super(`Line ${line}, column ${column}: ${reason}`);
  }
}

/** A value of a text: from `start` up to, not including, `end`. */
export type Span =
  | { kind: "object"; start: number; end: number; members: Member[] }
  | { kind: "array"; start: number; end: number; elements: Span[] }
  | { kind: "string" | "number" | "word"; start: number; end: number };

export type Member = { name: string; nameStart: number; value: Span };

/** As deep as values may nest; the server refuses deeper ones too. */
export const DEPTH_MAX = 256;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Of a string, what needs no look. A pattern of whole strings would keep a place to go back to for each character, and run out of them. */
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\r\n]*/y;

/** Whether a text is a number as JSON writes it. */
export function isNumber(text: string): boolean {
  NUMBER.lastIndex = 0;
  return NUMBER.test(text) && NUMBER.lastIndex === text.length;
}

/** Reads one value and nothing behind it; throws `JsonError`. */
export function scan(text: string): Span {
  let at = 0;

  function fail(reason: string, place = at): never {
    const before = text.slice(0, place);
    const line = before.split("\n").length;
    throw new JsonError(reason, place, line, place - before.lastIndexOf("\n"));
  }
  function match(pattern: RegExp): boolean {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  }
  /** A string with its quotes, of any length; nothing is read if it is none. */
  function string(): boolean {
    const start = at++;
    for (;;) {
      match(PLAIN);
      if (text[at] === '"') return (at++, true);
      if (!match(ESCAPE)) return ((at = start), false);
    }
  }
  function space() {
    match(SPACE);
  }
  function value(depth: number): Span {
    if (depth > DEPTH_MAX) fail(`values nest deeper than ${DEPTH_MAX}`);
    const start = at;
    switch (text[at]) {
      case undefined:
        return fail("the text ends where a value is expected");
      case "{":
        return object(start, depth);
      case "[":
        return array(start, depth);
      case '"':
        if (!string()) fail("a string that does not end, or has an escape or character that strings cannot have");
        return { kind: "string", start, end: at };
      default:
        if (match(NUMBER)) return { kind: "number", start, end: at };
        if (match(WORD)) return { kind: "word", start, end: at };
        return fail("no value begins like this");
    }
  }
  function object(start: number, depth: number): Span {
    const members: Member[] = [];
    at++;
    space();
    if (text[at] === "}") return { kind: "object", start, end: ++at, members };
    for (;;) {
      space();
      const nameStart = at;
      if (text[at] !== '"') fail('expected a name in quotes, or "}" without a comma before it');
      if (!string()) fail("a name that does not end, or has an escape or character that strings cannot have");
      const name = JSON.parse(text.slice(nameStart, at)) as string;
      space();
      if (text[at] !== ":") fail('expected ":" behind a name');
      at++;
      space();
      members.push({ name, nameStart, value: value(depth + 1) });
      space();
      if (text[at] === "}") return { kind: "object", start, end: ++at, members };
      if (text[at] !== ",") fail('expected "," or "}"');
      at++;
    }
  }
  function array(start: number, depth: number): Span {
    const elements: Span[] = [];
    at++;
    space();
    if (text[at] === "]") return { kind: "array", start, end: ++at, elements };
    for (;;) {
      space();
      elements.push(value(depth + 1));
      space();
      if (text[at] === "]") return { kind: "array", start, end: ++at, elements };
      if (text[at] !== ",") fail('expected "," or "]"');
      at++;
    }
  }

  space();
  const root = value(0);
  space();
  if (at < text.length) fail("something follows the value");
  return root;
}

/** The member of an object by name. */
export function member(span: Span | undefined, name: string): Span | undefined {
  return span?.kind === "object" ? span.members.find((found) => found.name === name)?.value : undefined;
}

/** Arrays of plain values up to this many characters stay on one line. */
const SHORT_ARRAY_LENGTH = 72;

/** The value at `span` with line breaks and indents; all literals stay as they are. `without` leaves out members of the root. */
export function pretty(text: string, span: Span = scan(text), without: readonly string[] = []): string {
  const out: string[] = [];
  function write(value: Span, indent: string, isRoot: boolean) {
    if (value.kind === "object") {
      const members = isRoot ? value.members.filter((found) => !without.includes(found.name)) : value.members;
      if (members.length === 0) return void out.push("{}");
      out.push("{\n");
      members.forEach((found, index) => {
        out.push(indent, "    ", JSON.stringify(found.name), ": ");
        write(found.value, `${indent}    `, false);
        out.push(index + 1 < members.length ? ",\n" : "\n");
      });
      out.push(indent, "}");
    } else if (value.kind === "array") {
      if (value.elements.length === 0) return void out.push("[]");
      const isPlain = value.elements.every((element) => element.kind !== "object" && element.kind !== "array");
      const line = isPlain ? `[${value.elements.map((e) => text.slice(e.start, e.end)).join(", ")}]` : undefined;
      if (line !== undefined && line.length <= SHORT_ARRAY_LENGTH) return void out.push(line);
      out.push("[\n");
      value.elements.forEach((element, index) => {
        out.push(indent, "    ");
        write(element, `${indent}    `, false);
        out.push(index + 1 < value.elements.length ? ",\n" : "\n");
      });
      out.push(indent, "]");
    } else {
      out.push(text.slice(value.start, value.end));
    }
  }
  write(span, "", true);
  return out.join("");
}
