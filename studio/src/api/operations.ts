// What goes on in the background of a database, or of the server itself.
import { below, send, sendForJson } from "./http";

/** What an export, an import, a backup or a restore has counted, and the lines that it noted. */
type Counted = { Documents?: { ReadCount: number }; Messages?: string[] };

export type OperationState = {
  Status: "InProgress" | "Completed" | "Faulted" | "Canceled";
  /** Of a compaction it has a sentence. */
  Progress: ({ Processed?: number; Total?: number; Message?: string | null } & Counted) | null;
  Result: ({ Message?: string; Total?: number; Type?: string; LocalBackup?: { BackupDirectory: string | null } } & Counted) | null;
};

export type Operation = {
  Id: number;
  Description: string;
  /** Of a patch or deletion, or how it begins. */
  Query: string | null;
  StartTime: string;
  EndTime: string | null;
  State: OperationState;
};

/** GET `/databases/{name}/operations`: the newest first. */
export async function list(database: string, signal?: AbortSignal): Promise<Operation[]> {
  return (await sendForJson<{ Results: Operation[] }>(below(database, "/operations"), { signal })).Results;
}

/** GET `/databases/{name}/operations/state`, or `/operations/state` of the server. */
export function state(database: string | undefined, id: number, signal?: AbortSignal): Promise<OperationState> {
  const path = "/operations/state";
  return sendForJson(database === undefined ? path : below(database, path), { query: { id }, signal });
}

/** POST `/databases/{name}/operations/kill`, or `/admin/operations/kill` of the server. */
export async function kill(database: string | undefined, id: number): Promise<void> {
  const path = database === undefined ? "/admin/operations/kill" : below(database, "/operations/kill");
  await send(path, { method: "POST", query: { id } });
}
