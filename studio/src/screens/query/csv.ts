// Results as CSV (RFC 4180), a column for each path that is asked for. Numbers are written as the server wrote them.
import { nameOf } from "../../grid/columns";
import { member, scan, type Span } from "../../json/scan";

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function escaped(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** The value at a path as `valueAt` finds it, but in the text: a number keeps its digits. */
function cellAt(text: string, root: Span, path: string): string {
  const found = member(root, path) ?? path.split(".").reduce<Span | undefined>(member, root);
  if (!found) return "";
  const written = text.slice(found.start, found.end);
  return found.kind === "string" ? (JSON.parse(written) as string) : written;
}

/** * `texts`: a JSON object each. */
export function csv(texts: readonly string[], paths: readonly string[]): string {
  const head = paths.map((path) => escaped(nameOf(path))).join(",");
  const rows = texts.map((text) => {
    const root = scan(text);
    return paths.map((path) => escaped(cellAt(text, root, path))).join(",");
  });
  return [head, ...rows].join("\r\n") + "\r\n";
}
