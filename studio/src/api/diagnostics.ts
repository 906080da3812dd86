// What goes on in the server: slow requests, the log, the settings in force, where the space of a database goes.
import { below, send, sendForJson } from "./http";

export type SlowRequest = {
  At: string;
  DurationInMs: number;
  Method: string;
  Url: string;
  Database: string | null;
  /** The text of a query, without its parameters. */
  Query: string | null;
  /** null: it failed. */
  Status: number | null;
};

/** GET `/admin/slow-requests`: the newest first, of one database or all. */
export function slowRequests(
  database: string | undefined,
  signal?: AbortSignal,
): Promise<{ ThresholdInMs: number; Results: SlowRequest[] }> {
  return sendForJson("/admin/slow-requests", { query: { database }, signal });
}

export type RunningQuery = {
  QueryId: number;
  Database: string;
  IndexName: string;
  DurationInMs: number;
  IsStreaming: boolean;
  QueryInfo: { Query: string };
};

/** GET `/admin/running-queries`: of all databases, the oldest first. */
export async function runningQueries(signal?: AbortSignal): Promise<RunningQuery[]> {
  return (await sendForJson<{ Results: RunningQuery[] }>("/admin/running-queries", { signal })).Results;
}

/** POST `/databases/{name}/debug/queries/kill`; 404 if it has ended. */
export async function endQuery({ Database, IndexName, QueryId }: RunningQuery): Promise<void> {
  const query = { indexName: IndexName, id: String(QueryId) };
  await send(below(Database, "/debug/queries/kill"), { method: "POST", query });
}

export const LEVELS = ["Trace", "Debug", "Info", "Warn", "Error"] as const;
export type Level = (typeof LEVELS)[number];

export type LogLine = { Number: number; At: string; Level: Level; Message: string };

/** GET `/admin/logs/recent`: the newest first, of a level and above, with a text in them. */
export async function logLines(level: Level, text: string, pageSize: number, signal?: AbortSignal): Promise<LogLine[]> {
  const query = { level, text: text || undefined, pageSize };
  return (await sendForJson<{ Results: LogLine[] }>("/admin/logs/recent", { query, signal })).Results;
}

export type Setting = {
  name: string;
  description: string;
  default: string;
  /** What somebody set, and where; `value` null: it is not told. */
  given: { value: string | null; source: string } | undefined;
};

/** GET `/admin/configuration/settings` */
export async function settings(signal?: AbortSignal): Promise<Setting[]> {
  type Told = {
    Metadata: { Keys: string[]; DefaultValue: string; Description: string };
    ServerValues: Record<string, { Value: string | null; Source: string }>;
  };
  const answer = await sendForJson<{ Settings: Told[] }>("/admin/configuration/settings", { signal });
  return answer.Settings.map(({ Metadata, ServerValues }) => {
    const given = Object.values(ServerValues)[0];
    return {
      name: Metadata.Keys[0]!,
      description: Metadata.Description,
      default: Metadata.DefaultValue,
      given: given && { value: given.Value, source: given.Source },
    };
  });
}

export type StorageArea = {
  Name: string;
  Type: "Documents" | "Index";
  Report: {
    DataFile: { AllocatedSpaceInBytes: number; UsedSpaceInBytes: number; FreeSpaceInBytes: number };
    Journals: { Number: number; AllocatedSpaceInBytes: number; IsKeptForUseAgain: boolean }[];
    Flush: { LastTransaction: number; FlushedTransaction: number; JournalSinceFlushInBytes: number; FlushCount: number };
    Readers: { Open: number; OldestTransaction: number; PageVersionsWaiting: number };
    QueueLength: number;
    PageVersionsOfProcessInBytes: number;
  };
};

/** `SizeInBytes`: of all files; 0 in memory. */
export type StorageReport = { SizeInBytes: number; Results: StorageArea[] };

/** GET `/databases/{name}/debug/storage/report`: the documents first. */
export function storageReport(database: string, signal?: AbortSignal): Promise<StorageReport> {
  return sendForJson(below(database, "/debug/storage/report"), { signal });
}
