// All results of a query as a file of the browser, in the background.
import { run } from "../../api/queries";
import { count, counted } from "../../format/format";
import { ID, pathsOf, valueAt } from "../../grid/columns";
import { download } from "../../shell/download";
import { begin, type Work } from "../../shell/transfers";
import { csv } from "./csv";
import type { Submitted } from "./Results";

/** Results of one request. */
const STEP_COUNT = 2000;
/** Results of one file: the browser holds all of it. */
export const EXPORTED_COUNT_MAX = 200_000;

/** `paths`: the columns of CSV in their order; undefined is a column for each field. */
export type Format = { kind: "json" } | { kind: "csv"; paths: readonly string[] | undefined };

export function exportResults(database: string, submitted: Submitted, format: Format) {
  begin(`Export results of ${database}`, save(database, submitted, format), () => "Stopped. Nothing was saved.");
}

/** Fetches all results and hands them to the browser to save. */
function save(database: string, submitted: Submitted, format: Format): Work {
  return async (tell, signal) => {
    const texts: string[] = [];
    let total = Infinity;
    while (texts.length < Math.min(total, EXPORTED_COUNT_MAX)) {
      const answer = await run(database, { ...submitted, start: texts.length, pageSize: STEP_COUNT }, signal);
      total = answer.total;
      texts.push(...answer.texts);
      tell(texts.length / Math.max(1, total), `${count(texts.length)} of ${counted(total, "result")}`);
      // Facets and the like answer with all they have, whatever the page.
      if (answer.texts.length < STEP_COUNT) break;
    }
    const isCsv = format.kind === "csv";
    // The byte order mark is how spreadsheets know UTF-8.
    const content = isCsv ? "\uFEFF" + csv(texts, format.paths ?? columnsOf(texts)) : `[\n${texts.join(",\n")}\n]\n`;
    signal.throwIfAborted();
    download(new Blob([content], { type: isCsv ? "text/csv" : "application/json" }), `${database}-results.${format.kind}`);
    const isWhole = texts.length < EXPORTED_COUNT_MAX || texts.length >= total;
    return isWhole
      ? `${counted(texts.length, "result")} exported.`
      : `The first ${count(texts.length)} of ${counted(total, "result")} exported: a file has no more.`;
  };
}

function columnsOf(texts: readonly string[]): string[] {
  const rows = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
  const hasId = rows.some((row) => valueAt(row, ID) !== undefined);
  const paths = pathsOf(rows, Infinity);
  // An object has a column for each of its fields, not one of its own besides; unless some rows have something else there.
  const parents = new Set(paths.filter((path) => path.includes(".")).map((path) => path.slice(0, path.indexOf("."))));
  const isObject = (value: unknown) => value == null || (typeof value === "object" && !Array.isArray(value));
  const isTold = (path: string) => parents.has(path) && rows.every((row) => isObject(row[path]));
  return [...(hasId ? [ID] : []), ...paths.filter((path) => !isTold(path))];
}
