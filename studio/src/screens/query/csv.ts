// Results as CSV (RFC 4180), a column for each path that is asked for. Numbers are written as the server wrote them.
import { ID, literalOf, nameOf, valueAt } from "../../grid/columns";
import { member, scan, type Span } from "../../json/scan";

/** What a spreadsheet takes for a number, also with zeros before it. */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function escaped(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** The value at a path as `valueAt` finds it, but in the text: a number keeps its digits. */
function cellAt(text: string, root: Span, path: string): string {
  const literal = literalOf(path);
  const found =
    (literal === undefined ? undefined : member(root, literal)) ??
    path.split(".").reduce<Span | undefined>(member, root) ??
    member(root, path);
  if (!found) return "";
  const written = text.slice(found.start, found.end);
  return found.kind === "string" ? (JSON.parse(written) as string) : written;
}

/** The names of the columns, a line. */
export function csvHead(paths: readonly string[]): string {
  return `${paths.map((path) => escaped(literalOf(path) ?? nameOf(path))).join(",")}\r\n`;
}

/** A line for each of `texts`, which are JSON objects. */
export function csvLines(texts: readonly string[], paths: readonly string[]): string {
  return texts
    .map((text) => {
      const root = scan(text);
      return `${paths.map((path) => escaped(cellAt(text, root, path))).join(",")}\r\n`;
    })
    .join("");
}

type Row = Record<string, unknown>;

/** Finds the columns of rows that come in parts: the id, if any has one, and all fields. */
export class FieldColumns {
  private hasId = false;
  /** Fields of the root in the order in which they came, each with the fields of the objects in it. */
  private readonly fields = new Map<string, Set<string>>();
  /** Fields of the root that are something else than an object somewhere. */
  private readonly mixed = new Set<string>();

  add(rows: readonly Row[]) {
    for (const row of rows) {
      this.hasId ||= valueAt(row, ID) !== undefined;
      for (const [name, value] of Object.entries(row)) {
        if (name === "@metadata") continue;
        const below = this.fields.get(name) ?? new Set();
        this.fields.set(name, below);
        if (typeof value === "object" && !Array.isArray(value)) for (const inner of Object.keys(value ?? {})) below.add(inner);
        else this.mixed.add(name);
      }
    }
  }

  /** An object has a column for each of its fields, not one of its own besides; unless some rows have something else there. */
  paths(): string[] {
    const nested = new Set([...this.fields].flatMap(([name, below]) => [...below].map((inner) => `${name}.${inner}`)));
    const paths = [...this.fields].flatMap(([name, below]) => [
      ...(below.size === 0 || this.mixed.has(name) ? [nested.has(name) ? `'${name}'` : name] : []),
      ...[...below].map((inner) => `${name}.${inner}`),
    ]);
    return [...new Set([...(this.hasId ? [ID] : []), ...paths])];
  }
}
