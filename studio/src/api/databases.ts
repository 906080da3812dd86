// Databases: names, creating, deleting, switching on and off, sample data.
import { below, jsonOf, send, sendForJson } from "./http";

/** GET `/databases?namesOnly=true` */
export async function names(signal?: AbortSignal): Promise<string[]> {
  const answer = await sendForJson<{ Databases: string[] }>("/databases", { query: { namesOnly: true }, signal });
  return answer.Databases;
}

export type NewDatabase = { name: string; isInMemory: boolean };

/** PUT `/admin/databases` */
export async function create({ name, isInMemory }: NewDatabase): Promise<void> {
  const settings = isInMemory ? { RunInMemory: "true" } : {};
  const body = { DatabaseName: name, Settings: settings };
  await send("/admin/databases", { method: "PUT", query: { name }, body });
}

/** DELETE `/admin/databases`, with its files. */
export async function remove(name: string): Promise<void> {
  await send("/admin/databases", { method: "DELETE", body: { DatabaseNames: [name], HardDelete: true } });
}

/** POST `/admin/databases/enable` and `/disable` */
export async function setEnabled(name: string, isEnabled: boolean): Promise<void> {
  const path = isEnabled ? "/admin/databases/enable" : "/admin/databases/disable";
  await send(path, { method: "POST", body: { DatabaseNames: [name] } });
}

/** POST `/databases/{name}/studio/sample-data` */
export async function createSampleData(database: string): Promise<void> {
  await send(below(database, "/studio/sample-data"), { method: "POST" });
}

/** POST `/databases/{name}/identity/seed`: the identity is at `value` then, unless it is higher already. */
export async function seedIdentity(database: string, name: string, value: number): Promise<void> {
  await send(below(database, "/identity/seed"), { method: "POST", query: { name, value } });
}

/** POST `/admin/compact`: the documents and some indexes; gives the number of the operation of the server. */
export async function compact(database: string, indexes: readonly string[]): Promise<number> {
  const body = { DatabaseName: database, Documents: true, Indexes: indexes };
  return (await sendForJson<{ OperationId: number }>("/admin/compact", { method: "POST", body })).OperationId;
}

/** What an export or import has counted of one type of items. */
type Counts = { ReadCount: number; ErroredCount: number; Skipped?: boolean; SkippedCount?: number };

/** What an export or import came to. */
export type SmugglerResult = { Documents: Counts; Indexes: Counts; Identities: Counts; Messages: string[] };

/** How far it is, as often as this. */
const PROGRESS_MS = 500;

type Transfer = {
  /** The number of the operation is known. */
  begun: (id: number) => void;
  tell: (progress: Pick<SmugglerResult, "Documents">) => void;
  signal: AbortSignal;
};

/** Runs what is an operation of a database; tells how far it is, and ends it if it is given up. */
async function asOperation<T>(database: string, work: (id: number) => Promise<T>, { begun, tell, signal }: Transfer): Promise<T> {
  const { Id } = await sendForJson<{ Id: number }>(below(database, "/operations/next-operation-id"), { signal });
  begun(Id);
  const look = async () => {
    type State = { Progress: SmugglerResult | null };
    const response = await send(below(database, "/operations/state"), { query: { id: Id }, signal }, [404]);
    const { Progress } = response.ok ? await jsonOf<State>(response) : { Progress: null };
    if (Progress) tell(Progress);
  };
  const timer = setInterval(() => void look().catch(() => undefined), PROGRESS_MS);
  const kill = () => void send(below(database, "/operations/kill"), { method: "POST", query: { id: Id } }).catch(() => undefined);
  signal.addEventListener("abort", kill);
  try {
    return await work(Id);
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", kill);
  }
}

export type DumpType = "Documents" | "Indexes" | "Identities" | "DatabaseRecord";

/** What of a database goes through a dump. */
export type DumpOptions = {
  types: readonly DumpType[];
  /** None: all. */
  collections: readonly string[];
  hasExpired: boolean;
  hasArchived: boolean;
  /** Documents that an index wrote. */
  hasArtificial: boolean;
  /** JavaScript that changes each document; an empty text: none. */
  script: string;
};

export type ExportOptions = DumpOptions & { compression: "Zstd" | "Gzip" };
export type ImportOptions = DumpOptions & { skipsCorrupted: boolean };

function onWire({ types, collections, hasExpired, hasArchived, hasArtificial, script }: DumpOptions) {
  return {
    OperateOnTypes: types.join(","),
    Collections: collections,
    IncludeExpired: hasExpired,
    IncludeArchived: hasArchived,
    IncludeArtificial: hasArtificial,
    TransformScript: script,
  };
}

/** POST `/databases/{name}/smuggler/import`: a dump, plain or compressed; without options all of it. */
export function importDump(
  database: string,
  dump: Blob,
  options: ImportOptions | undefined,
  transfer: Transfer,
): Promise<SmugglerResult> {
  const form = new FormData();
  const sent = options ? { ...onWire(options), SkipCorruptedData: options.skipsCorrupted } : {};
  form.append("importOptions", JSON.stringify(sent));
  form.append("file", dump, "dump.ravendbdump");
  const work = (id: number) =>
    sendForJson<SmugglerResult>(below(database, "/smuggler/import"), {
      method: "POST",
      query: { operationId: id },
      body: form,
      signal: transfer.signal,
    });
  return asOperation(database, work, transfer);
}

/** POST `/databases/{name}/smuggler/export`: a dump, compressed, without options of all; `take` reads it. */
export function exportDump<T>(
  database: string,
  options: ExportOptions | undefined,
  take: (dump: ReadableStream<Uint8Array<ArrayBuffer>>) => Promise<T>,
  transfer: Transfer,
): Promise<T> {
  const work = async (id: number) => {
    const body = options ? { ...onWire(options), CompressionAlgorithm: options.compression } : {};
    const response = await send(below(database, "/smuggler/export"), {
      method: "POST",
      query: { operationId: id },
      body,
      signal: transfer.signal,
    });
    return take(response.body as ReadableStream<Uint8Array<ArrayBuffer>>);
  };
  return asOperation(database, work, transfer);
}

/** GET `/databases/{name}/streams/docs?format=jsonl`: all documents, a line each. */
export async function exported(database: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await send(below(database, "/streams/docs"), { query: { format: "jsonl" }, signal });
  return response.body as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** GET `/databases/{name}/healthcheck`: opens a database that is not. */
export async function open(database: string): Promise<void> {
  await send(below(database, "/healthcheck"));
}
