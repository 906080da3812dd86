// A file of JSON lines, as an export is: each line a document with its id in `@metadata`.
import { bulkInsert } from "../../api/documents";
import { JsonError, member, scan } from "../../json/scan";

/** Characters of one request. A request is a transaction of its own. */
const BATCH_LENGTH = 2_000_000;

export type Progress = { documents: number; readSize: number };

/** A line that is no document: nothing from it on was sent, but for what was before it. */
export class LineError extends Error {
  constructor(line: number, reason: string) {
    super(`Line ${line}: ${reason}. What stands before it was imported.`);
  }
}

/** The command of a bulk insert for a line; its numbers keep their digits. */
export function commandOf(text: string, line: number): string {
  try {
    const root = scan(text);
    const id = member(member(root, "@metadata"), "@id");
    if (root.kind !== "object") throw new LineError(line, "a document is an object in braces");
    if (id?.kind !== "string") throw new LineError(line, 'a document needs an id, in "@metadata":{"@id":"…"}');
    return `{"Id":${text.slice(id.start, id.end)},"Type":"PUT","Document":${text}}`;
  } catch (error) {
    if (error instanceof JsonError) throw new LineError(line, error.message);
    throw error;
  }
}

/** Sends a file to a database, telling how far it is; returns how many documents there were. */
export async function importFile(
  database: string,
  file: File,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<number> {
  let readSize = 0;
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(part, out) {
      readSize += part.length;
      out.enqueue(part);
    },
  });
  const bytes = file.stream().pipeThrough(counting);
  const plain = file.name.endsWith(".gz") ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes;
  const reader = plain.pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
  let [rest, line, documents] = ["", 0, 0];
  let batch: string[] = [];
  let length = 0;
  const flush = async () => {
    if (batch.length > 0) await bulkInsert(database, `[${batch.join(",")}]`, signal);
    documents += batch.length;
    [batch, length] = [[], 0];
    tell({ documents, readSize });
  };
  const take = (text: string) => {
    line++;
    if (text.trim() === "") return;
    const command = commandOf(text, line);
    batch.push(command);
    length += command.length;
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop()!;
      for (const text of lines) {
        take(text);
        if (length >= BATCH_LENGTH) await flush();
      }
    }
    take(rest);
  } catch (error) {
    // What is good before a bad line is kept, as it is said.
    if (error instanceof LineError) await flush();
    await reader.cancel().catch(() => undefined);
    throw error;
  }
  await flush();
  return documents;
}
