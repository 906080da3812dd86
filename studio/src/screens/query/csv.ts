// Results as CSV (RFC 4180): a column for each field of the root and those one level below.
import { cell } from "../../format/format";
import { ID, valueAt } from "../../grid/columns";

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function escaped(text: string): string {
  const harmless = /^[=@\t\r]|^[+-](?![\d.])/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export function csv(rows: readonly Record<string, unknown>[], paths: readonly string[]): string {
  const head = paths.map((path) => escaped(path === ID ? "Id" : path)).join(",");
  return [head, ...rows.map((row) => paths.map((path) => escaped(cell(valueAt(row, path)))).join(","))].join("\r\n") + "\r\n";
}
