// The server itself.
import { jsonOf, send, sendForJson } from "./http";

/** Counters of the server itself, for its operators alone. */
export type ServerCounters = {
  Requests: number;
  ServerErrors: number;
  Connections: number;
  ResidentInBytes: number;
  /** Of the machine; 0 where the system does not tell. */
  MemoryInBytes: number;
  FreeMemoryInBytes: number;
  /** Since the process began. */
  DiskReadInBytes: number;
  DiskWrittenInBytes: number;
  /** Of the device of the databases; null in memory. */
  DiskInBytes: number | null;
  FreeDiskInBytes: number | null;
  Latency: { Reads: Latency; Writes: Latency };
};

export type Live = { Now: string; UptimeInMs: number; Databases: LiveDatabase[] } & Partial<ServerCounters>;

/** The counters of the server; `undefined` for who is no operator. */
export function serverOf(live: Live | undefined): (Live & ServerCounters) | undefined {
  return live?.Requests === undefined ? undefined : (live as Live & ServerCounters);
}

export type Latency = { Count: number; Buckets: [end: number, count: number][] };

export type LiveDatabase =
  | { Name: string; State: "Closed" | "Disabled" | "Deleted" }
  | {
      Name: string;
      State: "Open";
      Requests: number;
      IsInMemory: boolean;
      Documents: number;
      LastEtag: number;
      SizeInBytes: number;
      QueuedBatches: number;
      Indexes: number;
      /** Without those that have failed. */
      StaleIndexes: number;
      FailedIndexes: number;
      IndexErrors: number;
      RunningOperations: number;
    };

/** GET `/admin/live`: counters, of all databases that the caller may read, or one. */
export function live(database?: string, signal?: AbortSignal): Promise<Live> {
  return sendForJson("/admin/live", { query: { name: database }, signal });
}

export type NodeInfo = {
  NodeTag: string;
  NumberOfCores: number;
  InstalledMemoryInGb: number;
  ServerId: string;
};

/** GET `/cluster/node-info` */
export function nodeInfo(): Promise<NodeInfo> {
  return sendForJson("/cluster/node-info");
}

/** GET `/build/version`: the protocol from the body, and the server's own name and version, `Rookery/0.1.0`, from its header. */
export async function version(): Promise<{ protocol: string; server: string }> {
  const response = await send("/build/version");
  const body = await jsonOf<{ FullVersion: string }>(response);
  return { protocol: body.FullVersion, server: response.headers.get("Server") ?? "Rookery" };
}
