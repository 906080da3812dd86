// Databases: names, creating, deleting, switching on and off, sample data.
import { below, send, sendForJson } from "./http";

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

/** GET `/databases/{name}/streams/docs?format=jsonl`: all documents, a line each. */
export async function exported(database: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await send(below(database, "/streams/docs"), { query: { format: "jsonl" }, signal });
  return response.body as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** GET `/databases/{name}/healthcheck`: opens a database that is not. */
export async function open(database: string): Promise<void> {
  await send(below(database, "/healthcheck"));
}
