// A file that becomes documents: JSON lines, rows of CSV, or a dump. Each as it is, or compressed.
import type { ImportOptions } from "../api/databases";
import { bulkInsert, countExisting, prefixOf } from "../api/documents";
import { begun } from "../shell/begun";
import { count, counted } from "../format/format";
import { JsonError, member, scan, type Span } from "../json/scan";
import { csvCommand, CsvReader, RowError, type CsvPlan, type Row, separatorOf } from "./csv";
import { isDump, sendDump } from "./dump";
import { isOfDatabase, planned, type JsonPlan } from "./json";
import { ObjectReader } from "./objects";
import { FileError, textOf } from "./text";

/** Characters of one request. A request is a transaction of its own. */
const BATCH_LENGTH = 2_000_000;

/** * `readSize`: undefined if that is not known, as of a file that the server reads. */
export type Progress = { documents: number; readSize: number | undefined };

/** How what stands in a file becomes documents. */
export type Plan = ({ kind: "csv" } & CsvPlan) | ({ kind: "json" } & JsonPlan) | { kind: "dump"; options: ImportOptions };

/** Places that were skipped: how many, and what is wrong with the first ones. */
export type Skipped = { count: number; reasons: string[] };

/** What came of a file. * `replaced`: how many of its documents took the place of others. */
export type Imported = { documents: number; replaced: number; notes: string[]; skipped: Skipped };

/** Reasons that are told of what was skipped; and so much is skipped before the file is given up. */
const REASON_COUNT = 20;
const SKIPPED_COUNT_MAX = 1000;

/** A line, or another place, that is no document. The others are imported. */
export class LineError extends FileError {
  constructor(place: string, reason: string) {
    super(`${place}: ${reason}.`);
  }
}

/** A command of a bulk insert. * `id`: undefined if the server makes one. */
export type Command = { id: string | undefined; text: string };

/** The command of a bulk insert for a document as text; its numbers keep their digits. `place`: where it stands, as `Line 7`. */
export function commandOf(written: string, place: string, plan?: JsonPlan): Command {
  try {
    if (plan) return plannedCommand(written, place, plan);
    const text = written;
    const root = scan(text);
    const id = member(member(root, "@metadata"), "@id");
    if (root.kind !== "object") throw new LineError(place, "a document must be a JSON object");
    if (id !== undefined && id.kind !== "string") throw new LineError(place, 'its id in "@metadata" is no text');
    const own = id === undefined ? JSON.stringify(prefixFor(text, root)) : text.slice(id.start, id.end);
    const given = id === undefined ? undefined : (JSON.parse(own) as string);
    // Ids that are only begun are ended by the server.
    const known = given?.endsWith("/") ? undefined : given;
    return { id: known, text: `{"Id":${own},"Type":"PUT","Document":${text}}` };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new LineError(`${place}, ${error.line > 1 ? `line ${error.line} of it, ` : ""}column ${error.column}`, error.reason);
  }
}

function plannedCommand(written: string, place: string, plan: JsonPlan): Command {
  // What is no JSON is told with its column.
  if (scan(written).kind !== "object") throw new LineError(place, "a document must be a JSON object");
  let found: ReturnType<typeof planned>;
  try {
    found = planned(written, plan);
  } catch (error) {
    throw new LineError(place, error instanceof Error ? error.message : String(error));
  }
  const own = found.id ?? (plan.idPrefix || (plan.collection === "" ? "docs/" : prefixOf(plan.collection)));
  const known = found.id === undefined || found.id.endsWith("/") ? undefined : found.id;
  return { id: known, text: `{"Id":${JSON.stringify(own)},"Type":"PUT","Document":${found.text}}` };
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
  readonly skipped: Skipped = { count: 0, reasons: [] };
  private batch: Command[] = [];
  private length = 0;

  constructor(
    private readonly database: string,
    /** The file, as its user knows it. */
    private readonly name: string,
    private readonly tell: (documents: number) => void,
    private readonly signal: AbortSignal,
  ) {}

  /** Adds what `make` gives; a place that is no document is skipped. */
  async take(make: () => Command) {
    let command: Command;
    try {
      command = make();
    } catch (error) {
      if (!(error instanceof LineError || error instanceof RowError)) throw error;
      this.skipped.count++;
      if (this.skipped.reasons.length < REASON_COUNT) this.skipped.reasons.push(error.message);
      if (this.skipped.count >= SKIPPED_COUNT_MAX)
        throw new FileError(
          `Given up: ${count(SKIPPED_COUNT_MAX)} documents are not readable. The first one: ${this.skipped.reasons[0]}`,
        );
      return;
    }
    await this.add(command);
  }

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
      const id = await bulkInsert(this.database, `[${batch.map(({ text }) => text).join(",")}]`, this.signal);
      begun(this.database, id, this.name);
      this.replaced += existing + ids.length - different.length;
    }
    this.documents += batch.length;
    this.tell(this.documents);
  }
}

/** Sends a file to a database, telling how far it is. `plan`: how rows of CSV, or documents that say nothing of their collection, are stored. */
export async function importFile(
  database: string,
  file: File,
  plan: Plan | undefined,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Imported> {
  let readSize = 0;
  const sending = new Sending(database, file.name, (documents) => tell({ documents, readSize }), signal);
  const parts = textOf(file, (size) => (readSize = size));
  const options = plan?.kind === "dump" ? plan.options : undefined;
  const jsonPlan = plan?.kind === "json" ? plan : undefined;
  let isOfDump = options !== undefined || isDump(file.name, "");
  let dump: { documents: number; notes: string[] } | undefined;
  try {
    if (plan?.kind === "csv") {
      await importRows(parts, plan, sending);
    } else {
      // What is a dump by its name may have bytes in it that are no text.
      const first = isOfDump ? undefined : await parts.next();
      const beginning = !first || first.done ? "" : first.value;
      isOfDump ||= isDump(file.name, beginning);
      if (isOfDump) dump = await sendDump(database, file, options, (documents) => tell({ documents, readSize: undefined }), signal);
      else if (isOfObjects(beginning, file.name)) await importObjects(beginning, parts, sending, jsonPlan);
      else await importLines(beginning, parts, sending, jsonPlan);
    }
  } catch (error) {
    // What is good before a bad place is kept, as it is said.
    if (!signal.aborted) await sending.flush().catch(() => undefined);
    if (signal.aborted) throw error;
    const why = error instanceof Error ? error.message : String(error);
    // Of a dump the server says it.
    const before = isOfDump ? "" : ` ${importedBefore(sending)}`;
    throw new Error(why + before, { cause: error });
  } finally {
    await parts.return(undefined);
  }
  await sending.flush();
  const { documents, replaced, skipped } = sending;
  if (dump) return { ...dump, replaced, skipped };
  if (documents === 0 && skipped.count === 0) throw new FileError("The file contains no documents. Nothing was imported.");
  return { documents, replaced, notes: [], skipped };
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

async function importObjects(beginning: string, parts: AsyncGenerator<string>, sending: Sending, plan: JsonPlan | undefined) {
  const reader = new ObjectReader();
  let number = 0;
  const push = async (part: string) => {
    for (const text of reader.push(part)) await sending.take(() => commandOf(text, `Document ${++number}`, plan));
  };
  await push(beginning);
  for await (const part of parts) await push(part);
  reader.end();
}

async function importLines(beginning: string, parts: AsyncGenerator<string>, sending: Sending, plan: JsonPlan | undefined) {
  let [rest, line] = ["", 0];
  const take = async (text: string) => {
    line++;
    if (text.trim() !== "") await sending.take(() => commandOf(text, `Line ${line}`, plan));
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
      if (hasNames) await sending.take(() => csvCommand(row, plan));
      hasNames = true;
    }
  };
  for await (const part of parts) await take(reader.push(part));
  await take(reader.end());
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

/** The first documents of a file of JSON, if they do not say where they belong; undefined for a dump, an export, and what cannot be read. */
export async function previewDocuments(file: File, countMax: number): Promise<string[] | undefined> {
  if (isDump(file.name, "")) return undefined;
  const parts = textOf(file, () => undefined);
  try {
    const first = await parts.next();
    const beginning = first.done ? "" : first.value;
    if (isDump(file.name, beginning)) return undefined;
    const texts: string[] = [];
    if (isOfObjects(beginning, file.name)) {
      texts.push(...new ObjectReader().push(beginning));
    } else {
      const lines = beginning.split("\n");
      // The last one may go on in the next part.
      const more = await parts.next();
      texts.push(...(more.done ? lines : lines.slice(0, -1)));
    }
    const found = texts.slice(0, countMax).flatMap((text) => {
      try {
        const root = scan(text);
        return root.kind === "object" ? [{ text, root }] : [];
      } catch {
        return [];
      }
    });
    return found.some(({ root }) => !isOfDatabase(root)) ? found.map(({ text }) => text) : undefined;
  } catch {
    // What is wrong with it is told by its import.
    return undefined;
  } finally {
    await parts.return(undefined);
  }
}
