// A file that becomes documents: JSON lines (as an export is), rows of CSV, or a dump of RavenDB. Each as it is, or compressed.
import { bulkInsert, countExisting, prefixOf } from "../api/documents";
import { seedIdentity } from "../api/databases";
import { put as putIndex, type Definition } from "../api/indexes";
import { count, counted } from "../format/format";
import { JsonError, member, scan, type Span } from "../json/scan";
import { csvCommand, CsvReader, type CsvPlan, type Row, separatorOf } from "./csv";
import { DumpReader, isDump } from "./dump";
import { CutOffError, FileError, TextError, textOf } from "./text";

/** Characters of one request. A request is a transaction of its own. */
const BATCH_LENGTH = 2_000_000;

export type Progress = { documents: number; readSize: number };

/** What came of a file. * `replaced`: how many of its documents took the place of others. */
export type Imported = { documents: number; replaced: number; notes: string[] };

/** A line that is no document: nothing from it on was sent, but for what was before it. */
export class LineError extends FileError {
  constructor(place: string, reason: string) {
    super(`${place}: ${reason}.`);
  }
}

/** A command of a bulk insert. * `id`: undefined if the server makes one. */
export type Command = { id: string | undefined; text: string };

/** The command of a bulk insert for a document as text; its numbers keep their digits. `place`: where it stands, as `Line 7`. */
export function commandOf(text: string, place: string): Command {
  try {
    const root = scan(text);
    const id = member(member(root, "@metadata"), "@id");
    if (root.kind !== "object") throw new LineError(place, "a document is an object in braces");
    if (id !== undefined && id.kind !== "string") throw new LineError(place, 'its id in "@metadata" is no text');
    const own = id === undefined ? JSON.stringify(prefixFor(text, root)) : text.slice(id.start, id.end);
    const given = id === undefined ? undefined : (JSON.parse(own) as string);
    // Ids that are only begun are ended by the server.
    const known = given?.endsWith("/") ? undefined : given;
    return { id: known, text: `{"Id":${own},"Type":"PUT","Document":${text}}` };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new LineError(place, `${error.line > 1 ? `line ${error.line} of it, ` : ""}column ${error.column}: ${error.reason}`);
  }
}

/** Of what the server makes an id for a document that has none: its collection. */
function prefixFor(text: string, root: Span): string {
  const name = member(member(root, "@metadata"), "@collection");
  const collection = name?.kind === "string" ? (JSON.parse(text.slice(name.start, name.end)) as string) : "";
  return /^[^@]/.test(collection) ? prefixOf(collection) : "docs/";
}

/** Whether a file of this name holds rows of CSV. */
export function isCsv(fileName: string): boolean {
  return /\.(csv|tsv)(\.(gz|zst))?$/i.test(fileName);
}

/** Documents of a file on their way, some thousand in a request. */
class Sending {
  documents = 0;
  replaced = 0;
  private batch: Command[] = [];
  private length = 0;

  constructor(
    private readonly database: string,
    private readonly tell: (documents: number) => void,
    private readonly signal: AbortSignal,
  ) {}

  async add(command: Command) {
    this.batch.push(command);
    this.length += command.text.length;
    if (this.length >= BATCH_LENGTH) await this.flush();
  }

  async flush() {
    this.signal.throwIfAborted();
    const batch = this.batch;
    // What the server refuses is not sent again.
    [this.batch, this.length] = [[], 0];
    if (batch.length > 0) {
      const ids = batch.map(({ id }) => id).filter((id) => id !== undefined);
      const different = [...new Set(ids.map((id) => id.toLowerCase()))];
      const existing = await countExisting(this.database, different, this.signal);
      await bulkInsert(this.database, `[${batch.map(({ text }) => text).join(",")}]`, this.signal);
      this.replaced += existing + ids.length - different.length;
    }
    this.documents += batch.length;
    this.tell(this.documents);
  }
}

/** Sends a file to a database, telling how far it is. `plan`: how rows become documents, of a file of CSV. */
export async function importFile(
  database: string,
  file: File,
  plan: CsvPlan | undefined,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Imported> {
  let readSize = 0;
  const sending = new Sending(database, (documents) => tell({ documents, readSize }), signal);
  const parts = textOf(file, (size) => (readSize = size));
  const notes: string[] = [];
  let isOfDump = false;
  try {
    if (plan) {
      await importRows(parts, plan, sending);
    } else {
      const first = await parts.next();
      const beginning = first.done ? "" : first.value;
      isOfDump = isDump(beginning);
      if (isOfDump) notes.push(...(await importDump(database, beginning, parts, sending)));
      else if (isOfObjects(beginning, file.name)) await importObjects(beginning, parts, sending);
      else await importLines(beginning, parts, sending);
    }
  } catch (error) {
    // What is good before a bad place is kept, as it is said.
    if (!signal.aborted) await sending.flush().catch(() => undefined);
    if (signal.aborted) throw error;
    const isOfAttachments = isOfDump && error instanceof TextError;
    const why = isOfAttachments
      ? "The dump contains binary data, such as attachments, which cannot be imported yet."
      : error instanceof Error
        ? error.message
        : String(error);
    throw new Error(`${why} ${importedBefore(sending)}`, { cause: error });
  } finally {
    await parts.return(undefined);
  }
  await sending.flush();
  const { documents, replaced } = sending;
  if (documents === 0 && !isOfDump) throw new FileError("The file contains no documents. Nothing was imported.");
  return { documents, replaced, notes };
}

/** What an import that failed did before. */
function importedBefore({ documents, replaced }: Sending): string {
  if (documents === 0) return "Nothing was imported.";
  const of = replaced > 0 ? `, ${count(replaced)} of which replaced existing ones` : "";
  return `Imported before that: ${counted(documents, "document")}${of}.`;
}

/** An array of documents, or one after the other over several lines; not a document in each line. */
export function isOfObjects(beginning: string, fileName: string): boolean {
  if (/^\s*\[/.test(beginning)) return true;
  const line = beginning.trimStart().split("\n", 1)[0]!;
  if (!/\.json(\.(gz|zst))?$/i.test(fileName) || line.length === beginning.trimStart().length) return false;
  try {
    scan(line);
    return false;
  } catch {
    return true;
  }
}

async function importObjects(beginning: string, parts: AsyncGenerator<string>, sending: Sending) {
  const reader = new DumpReader({ isStrict: true });
  let number = 0;
  const push = async (part: string) => {
    for (const { text } of reader.push(part)) await sending.add(commandOf(text, `Document ${++number}`));
  };
  // As the one section of a dump.
  const isArray = /^\s*\[/.test(beginning);
  await push(isArray ? '{"Docs":' : '{"Docs":[');
  await push(beginning);
  for await (const part of parts) await push(part);
  await push(isArray ? "}" : "]}");
  reader.end();
}

async function importLines(beginning: string, parts: AsyncGenerator<string>, sending: Sending) {
  let [rest, line] = ["", 0];
  const take = async (text: string) => {
    line++;
    if (text.trim() !== "") await sending.add(commandOf(text, `Line ${line}`));
  };
  const push = async (part: string) => {
    const lines = (rest + part).split("\n");
    rest = lines.pop()!;
    for (const text of lines) await take(text);
  };
  await push(beginning);
  for await (const part of parts) await push(part);
  await take(rest);
}

async function importRows(parts: AsyncGenerator<string>, plan: CsvPlan, sending: Sending) {
  const reader = new CsvReader(plan.separator);
  let hasNames = false;
  const take = async (rows: readonly Row[]) => {
    for (const row of rows) {
      if (hasNames) await sending.add(csvCommand(row, plan));
      hasNames = true;
    }
  };
  for await (const part of parts) await take(reader.push(part));
  await take(reader.end());
}

/** Documents, indexes and identities; returns what came of the rest. */
async function importDump(database: string, beginning: string, parts: AsyncGenerator<string>, sending: Sending): Promise<string[]> {
  const reader = new DumpReader();
  const indexes: string[] = [];
  const identities: { Key: string; Value: string | number }[] = [];
  const leftOut = new Map<string, number>();
  const push = async (part: string) => {
    for (const { section, text } of reader.push(part)) {
      if (section === "Docs") await sending.add(commandOf(text, `Document ${sending.documents + 1} or one behind it`));
      else if (section === "Indexes") indexes.push(text);
      else if (section === "Identities") identities.push(JSON.parse(text) as (typeof identities)[number]);
      else leftOut.set(section, (leftOut.get(section) ?? 0) + 1);
    }
  };
  await push(beginning);
  try {
    for await (const part of parts) await push(part);
  } catch (error) {
    // Whether the dump is whole is seen by itself.
    if (!(error instanceof CutOffError)) throw error;
  }
  reader.end();
  await sending.flush();

  const notes: string[] = [];
  let indexCount = 0;
  for (const text of indexes) {
    // Queries make these when they need them, and RavenDB does not write them as JSON.
    if (/^\{"Type":"Auto/.test(text)) continue;
    const { IndexDefinition } = JSON.parse(text) as { IndexDefinition?: Definition };
    if (!IndexDefinition) {
      notes.push("Left out: an index without a definition.");
      continue;
    }
    try {
      await putIndex(database, IndexDefinition);
      indexCount++;
    } catch (error) {
      notes.push(`The index ${IndexDefinition.Name} was refused: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const { Key, Value } of identities) await seedIdentity(database, Key, Number(Value));
  if (indexCount > 0) notes.unshift(`${counted(indexCount, "index", "indexes")} imported.`);
  if (identities.length > 0) notes.push(`${counted(identities.length, "identity", "identities")} imported.`);
  for (const [section, number] of leftOut)
    notes.push(`Left out, since the server has no place for them yet: ${section} (${number}).`);
  return notes;
}

/** Rows at the beginning of a file, for a look at them; of these the first has the names. */
export async function previewRows(file: File, countMax: number): Promise<{ separator: string; rows: Row[] }> {
  const parts = textOf(file, () => undefined);
  let separator = ",";
  let reader: CsvReader | undefined;
  const rows: Row[] = [];
  try {
    for await (const part of parts) {
      if (!reader) reader = new CsvReader((separator = separatorOf(part)));
      rows.push(...reader.push(part));
      if (rows.length > countMax) return { separator, rows: rows.slice(0, countMax + 1) };
    }
  } finally {
    await parts.return(undefined);
  }
  if (reader) rows.push(...reader.end());
  return { separator, rows: rows.slice(0, countMax + 1) };
}
