// Exporting a database as a file of the browser, in the background.
import { exportDump, exported, type ExportOptions } from "../../api/databases";
import { collections } from "../../api/documents";
import { readFrom } from "../../api/http";
import { count, counted, size } from "../../format/format";
import { begun } from "../../shell/begun";
import { download } from "../../shell/download";
import { begin } from "../../shell/transfers";

/** Bytes after which what came is handed to the browser, which may keep it on disk. */
const PART_SIZE = 8 << 20;
const LINE_END = 10;

/** A dump has indexes and identities too, and can be imported by RavenDB. */
export type ExportFormat = "dump" | "lines";

/** `options`: of a dump; without them it has all. */
export function exportDatabase(database: string, format: ExportFormat, options?: ExportOptions) {
  begin(
    `Export ${database}`,
    (tell, signal) => (format === "dump" ? saveDump(database, options, tell, signal) : saveLines(database, tell, signal)),
    () => "Stopped. Nothing was saved.",
  );
}

type Tell = (part: number, text: string) => void;

/** Fetches a dump and has the browser save it. */
async function saveDump(database: string, options: ExportOptions | undefined, tell: Tell, signal: AbortSignal): Promise<string> {
  const total = await countOf(database, options, signal);
  let [documents, bytes] = [0, 0];
  const report = () =>
    tell(Math.min(1, documents / Math.max(1, total)), `${count(documents)} of ${counted(total, "document")}, ${size(bytes)}`);
  const take = async (dump: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    const reader = dump.getReader();
    const parts: Blob[] = [];
    let [held, heldSize] = [[] as Uint8Array<ArrayBuffer>[], 0];
    for (;;) {
      const { done, value } = await readFrom(() => reader.read());
      if (value) {
        held.push(value);
        heldSize += value.length;
        bytes += value.length;
      }
      if (done || heldSize >= PART_SIZE) {
        parts.push(new Blob(held));
        [held, heldSize] = [[], 0];
        report();
      }
      if (done) return new Blob(parts, { type: "application/octet-stream" });
    }
  };
  const dump = await exportDump(database, options, take, {
    begun: (id) => begun(database, id, `${database}.ravendbdump`),
    tell: (progress) => {
      documents = progress.Documents.ReadCount;
      report();
    },
    signal,
  });
  download(dump, `${database}.ravendbdump`);
  // How many documents a script left out is not known here.
  return options ? `The dump has ${size(bytes)}.` : `${counted(total, "document")} exported.`;
}

/** How many documents are read for a dump, at most. */
async function countOf(database: string, options: ExportOptions | undefined, signal: AbortSignal): Promise<number> {
  if (options && !options.types.includes("Documents")) return 0;
  const { total, collections: all } = await collections(database, signal);
  if (!options || options.collections.length === 0) return total;
  return all.filter(({ name }) => options.collections.includes(name)).reduce((sum, { count }) => sum + count, 0);
}

/** Fetches all documents and has the browser save them. */
async function saveLines(database: string, tell: Tell, signal: AbortSignal): Promise<string> {
  // Also of a database that nobody has opened yet.
  const { total } = await collections(database, signal);
  const reader = (await exported(database, signal)).getReader();
  const parts: Blob[] = [];
  let [held, heldSize, documents, bytes] = [[] as Uint8Array<ArrayBuffer>[], 0, 0, 0];
  for (;;) {
    const { done, value } = await readFrom(() => reader.read());
    if (value) {
      held.push(value);
      heldSize += value.length;
      bytes += value.length;
      for (let at = value.indexOf(LINE_END); at >= 0; at = value.indexOf(LINE_END, at + 1)) documents++;
    }
    if (done || heldSize >= PART_SIZE) {
      parts.push(new Blob(held));
      [held, heldSize] = [[], 0];
      tell(Math.min(1, documents / Math.max(1, total)), `${count(documents)} of ${counted(total, "document")}, ${size(bytes)}`);
    }
    if (done) break;
  }
  download(new Blob(parts, { type: "application/jsonl" }), `${database}.jsonl`);
  return `${counted(documents, "document")} exported.`;
}
