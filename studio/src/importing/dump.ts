// A dump of a database (`.ravendbdump`): the server reads it, and is sent the file as it is.
import { importDump, type ImportOptions, type SmugglerResult } from "../api/databases";
import { counted } from "../format/format";
import { begun } from "../shell/begun";

/** Whether a file of this name, or with this beginning, is one. */
export function isDump(fileName: string, beginning: string): boolean {
  return /\.ravendbdump(\.(gz|zst))?$/i.test(fileName) || /^\s*\{\s*"BuildVersion"/.test(beginning);
}

/** Sends a dump to a database, all of it if there are no options. Gives the number of documents that were stored, and what is to be said of the rest. */
export async function sendDump(
  database: string,
  file: File,
  options: ImportOptions | undefined,
  tell: (documents: number) => void,
  signal: AbortSignal,
): Promise<{ documents: number; notes: string[] }> {
  const result = await importDump(database, file, options, {
    begun: (id) => begun(database, id, file.name),
    tell: (progress) => tell(progress.Documents.ReadCount),
    signal,
  });
  return { documents: storedOf(result, "Documents"), notes: notesOf(result) };
}

function storedOf(result: SmugglerResult, kind: "Documents" | "Indexes" | "Identities"): number {
  const { ReadCount, Skipped = false, SkippedCount = 0, ErroredCount } = result[kind];
  // What was not asked for is counted as read.
  return Skipped ? 0 : ReadCount - SkippedCount - ErroredCount;
}

/** What came of indexes and identities, and what the server has to say. */
export function notesOf(result: SmugglerResult): string[] {
  const notes: string[] = [];
  const indexes = storedOf(result, "Indexes");
  if (indexes > 0) notes.push(`${counted(indexes, "index", "indexes")} imported.`);
  const identities = storedOf(result, "Identities");
  if (identities > 0) notes.push(`${counted(identities, "identity", "identities")} imported.`);
  // Each begins with its time, which is now.
  const said = result.Messages.map((message) => /^\[[\d:]+ (\w+)\] (.*)$/s.exec(message));
  for (const found of said) if (found && found[1] !== "INFO") notes.push(found[2]!);
  return notes;
}
