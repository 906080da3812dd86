// All results of a query as a file of the browser.
import { run } from "../../api/queries";
import { ID, pathsOf } from "../../grid/columns";
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
  const rows: Record<string, unknown>[] = [];
  let total = Infinity;
  let done = 0;
  while (done < Math.min(total, EXPORTED_COUNT_MAX)) {
    const answer = await run(database, { ...submitted, start: done, pageSize: STEP_COUNT });
    total = answer.total;
    if (answer.results.length === 0) break;
    if (format === "csv") rows.push(...answer.results);
    else texts.push(...answer.texts);
    done += answer.results.length;
    tell(done);
    // Facets and the like answer with all they have, whatever the page.
    if (answer.results.length < STEP_COUNT) break;
  }
  const hasId = rows.some((row) => (row["@metadata"] as Record<string, unknown> | undefined)?.[ID] !== undefined);
  const content =
    format === "csv" ? csv(rows, [...(hasId ? [ID] : []), ...pathsOf(rows, Infinity)]) : `[\n${texts.join(",\n")}\n]\n`;
  const address = URL.createObjectURL(new Blob([content], { type: format === "csv" ? "text/csv" : "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${database}-results.${format}`;
  link.click();
  URL.revokeObjectURL(address);
  return { isWhole: done < EXPORTED_COUNT_MAX };
}
