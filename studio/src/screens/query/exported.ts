// All results of a query as a file of the browser, in the background.
import { count, counted } from "../../format/format";
import { download } from "../../shell/download";
import { begin, type Work } from "../../shell/transfers";
import { ResultFile, type Format } from "./resultFile";
import type { Submitted } from "./Results";
import { inSteps } from "./steps";

/** Results of one file: the server goes through all that it skips for each step. */
export const EXPORTED_COUNT_MAX = 200_000;

/** `resultSize`: characters of a result, as far as known. */
export function exportResults(database: string, submitted: Submitted, resultSize: number, format: Format) {
  begin(`Export results of ${database}`, save(database, submitted, resultSize, format), () => "Stopped. Nothing was saved.");
}

/** Fetches all results and hands them to the browser to save. */
function save(database: string, submitted: Submitted, resultSize: number, format: Format): Work {
  return async (tell, signal) => {
    const file = new ResultFile(format);
    let total = 0;
    for await (const answer of inSteps(database, submitted, resultSize, EXPORTED_COUNT_MAX, signal)) {
      file.add(answer.texts);
      total = answer.total;
      tell(file.count / Math.max(1, total), `${count(file.count)} of ${counted(total, "result")}`);
    }
    const content = await file.content();
    signal.throwIfAborted();
    download(content, `${database}-results.${format.kind}`);
    const isWhole = file.count < EXPORTED_COUNT_MAX || file.count >= total;
    return isWhole
      ? `${counted(file.count, "result")} exported.`
      : `The first ${count(file.count)} of ${counted(total, "result")} exported: a file has no more.`;
  };
}
