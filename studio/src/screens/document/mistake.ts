// Where the server found a mistake in a document.
import { ApiError } from "../../api/http";
import type { Mistake } from "../../editor/CodeEditor";

/** The place that a refusal names at its end, as `(line 4, column 5)`; undefined if it names none. */
export function mistakeOf(error: unknown): Mistake | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const [, message, line, column] = /^([^]*) \(line (\d+), column (\d+)\)$/.exec(error.message) ?? [];
  return message === undefined ? undefined : { line: Number(line), column: Number(column), message };
}
