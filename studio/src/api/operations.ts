// What goes on in the background of a database.
import { below, send, sendForJson } from "./http";

export type OperationState = {
  Status: "InProgress" | "Completed" | "Faulted" | "Canceled";
  Progress: { Processed: number; Total: number } | null;
  Result: { Message?: string; Total?: number; Type?: string } | null;
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

/** GET `/databases/{name}/operations/state` */
export function state(database: string, id: number, signal?: AbortSignal): Promise<OperationState> {
  return sendForJson(below(database, "/operations/state"), { query: { id }, signal });
}

/** POST `/databases/{name}/operations/kill` */
export async function kill(database: string, id: number): Promise<void> {
  await send(below(database, "/operations/kill"), { method: "POST", query: { id } });
}
