// All results of a query as a file of the browser.
import { run } from "../../api/queries";
import { ID, pathsOf } from "../../grid/columns";
import { download } from "../../shell/download";
import { csv } from "./csv";
import type { Submitted } from "./Results";

/** Results of one request. */
const STEP_COUNT = 2000;
/** Results of one file: the browser holds all of it. */
export const EXPORTED_COUNT_MAX = 200_000;

/** Fetches all results and hands them to the browser to save; tells how many there are so far. */
export async function exported(
  database: string,
  submitted: Submitted,
  format: "csv" | "json",
  tell: (done: number) => void,
): Promise<{ isWhole: boolean }> {
  const texts: string[] = [];
  let total = Infinity;
  let done = 0;
  while (done < Math.min(total, EXPORTED_COUNT_MAX)) {
    const answer = await run(database, { ...submitted, start: done, pageSize: STEP_COUNT });
    total = answer.total;
    if (answer.results.length === 0) break;
    texts.push(...answer.texts);
    done += answer.results.length;
    tell(done);
    // Facets and the like answer with all they have, whatever the page.
    if (answer.results.length < STEP_COUNT) break;
  }
  // The byte order mark is how spreadsheets know UTF-8.
  const content = format === "csv" ? "\uFEFF" + csv(texts, columnsOf(texts)) : `[\n${texts.join(",\n")}\n]\n`;
  download(new Blob([content], { type: format === "csv" ? "text/csv" : "application/json" }), `${database}-results.${format}`);
  return { isWhole: done < EXPORTED_COUNT_MAX };
}

function columnsOf(texts: readonly string[]): string[] {
  const rows = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
  const hasId = rows.some((row) => (row["@metadata"] as Record<string, unknown> | undefined)?.[ID] !== undefined);
  const paths = pathsOf(rows, Infinity);
  // An object has a column for each of its fields, not one of its own besides; unless some rows have something else there.
  const parents = new Set(paths.filter((path) => path.includes(".")).map((path) => path.slice(0, path.indexOf("."))));
  const isObject = (value: unknown) => value == null || (typeof value === "object" && !Array.isArray(value));
  const isTold = (path: string) => parents.has(path) && rows.every((row) => isObject(row[path]));
  return [...(hasId ? [ID] : []), ...paths.filter((path) => !isTold(path))];
}
