// Indexes: definitions, statistics, errors, terms, and switching them.
import { below, send, sendForJson } from "./http";

export type FieldOptions = {
  Storage?: "Yes" | "No" | null;
  Indexing?: "Default" | "Search" | "Exact" | "No" | null;
  Analyzer?: string | null;
  Suggestions?: boolean | null;
  TermVector?: string | null;
  Spatial?: SpatialOptions | null;
};

/** How places of a field are indexed. Bounds are those of a plane. */
export type SpatialOptions = {
  Type?: "Geography" | "Cartesian";
  Strategy?: "GeohashPrefixTree" | "QuadPrefixTree" | "BoundingBox";
  Units?: "Kilometers" | "Miles";
  MaxTreeLevel?: number;
  MinX?: number;
  MaxX?: number;
  MinY?: number;
  MaxY?: number;
};

export type Definition = {
  Name: string;
  Maps: string[];
  Reduce?: string | null;
  Fields?: Record<string, FieldOptions>;
  Type?: string;
  LockMode?: LockMode;
  Priority?: Priority;
  State?: string;
  Configuration?: Record<string, string>;
  AdditionalSources?: Record<string, string>;
};

export type LockMode = "Unlock" | "LockedIgnore" | "LockedError";
export type Priority = "Low" | "Normal" | "High";

export type Statistics = {
  Name: string;
  MapAttempts: number;
  MapErrors: number | null;
  Collections: Record<string, unknown>;
  LastQueryingTime: string;
  LastIndexingTime: string;
  CreatedTimestamp: string;
  State: "Normal" | "Disabled" | "Error" | "Idle";
  Status: "Running" | "Paused" | "Disabled" | "Pending";
  Priority: Priority;
  LockMode: LockMode;
  IsStale: boolean;
  Type: string;
  EntriesCount: number;
  ErrorsCount: number;
};

/** GET `/databases/{name}/indexes/stats` */
export async function statistics(database: string, signal?: AbortSignal): Promise<Statistics[]> {
  return (await sendForJson<{ Results: Statistics[] }>(below(database, "/indexes/stats"), { signal })).Results;
}

/** What an index still has to take of each of its collections. */
export type Progress = {
  Name: string;
  Collections: Record<
    string,
    {
      NumberOfItemsToProcess: number;
      TotalNumberOfItems: number;
      NumberOfTombstonesToProcess: number;
      TotalNumberOfTombstones: number;
    }
  >;
};

/** GET `/databases/{name}/indexes/progress`: of those that lack something. */
export async function progress(database: string, signal?: AbortSignal): Promise<Progress[]> {
  return (await sendForJson<{ Results: Progress[] }>(below(database, "/indexes/progress"), { signal })).Results;
}

/** GET `/databases/{name}/indexes` */
export async function definitions(database: string, signal?: AbortSignal): Promise<Definition[]> {
  return (await sendForJson<{ Results: Definition[] }>(below(database, "/indexes"), { signal })).Results;
}

/** PUT `/databases/{name}/admin/indexes` */
export async function put(database: string, definition: Definition): Promise<void> {
  await send(below(database, "/admin/indexes"), { method: "PUT", body: { Indexes: [definition] } });
}

/** DELETE `/databases/{name}/indexes` */
export async function remove(database: string, name: string): Promise<void> {
  await send(below(database, "/indexes"), { method: "DELETE", query: { name } });
}

/** RESET `/databases/{name}/indexes`: builds it anew. */
export async function reset(database: string, name: string): Promise<void> {
  await send(below(database, "/indexes"), { method: "RESET", query: { name } });
}

/** POST `/databases/{name}/indexes/replace`: what is being built stands in for the old one now. */
export async function replace(database: string, name: string): Promise<void> {
  await send(below(database, "/indexes/replace"), { method: "POST", query: { name } });
}

/** POST `/databases/{name}/admin/indexes/{start,stop,enable,disable}` */
export async function control(database: string, name: string, what: "start" | "stop" | "enable" | "disable"): Promise<void> {
  await send(below(database, `/admin/indexes/${what}`), { method: "POST", query: { name } });
}

/** POST `/databases/{name}/indexes/set-lock` */
export async function setLock(database: string, name: string, mode: LockMode): Promise<void> {
  await send(below(database, "/indexes/set-lock"), { method: "POST", body: { IndexNames: [name], Mode: mode } });
}

/** POST `/databases/{name}/indexes/set-priority` */
export async function setPriority(database: string, name: string, priority: Priority): Promise<void> {
  const body = { IndexNames: [name], Priority: priority };
  await send(below(database, "/indexes/set-priority"), { method: "POST", body });
}

export type IndexError = { Timestamp: string; Document: string; Action: string; Error: string };

/** GET `/databases/{name}/indexes/errors` */
export async function errors(database: string, name: string, signal?: AbortSignal): Promise<IndexError[]> {
  type Found = { Results: { Name: string; Errors: IndexError[] }[] };
  const answer = await sendForJson<Found>(below(database, "/indexes/errors"), { query: { name }, signal });
  return answer.Results.flatMap((result) => result.Errors);
}

/** DELETE `/databases/{name}/indexes/errors` */
export async function clearErrors(database: string, name: string): Promise<void> {
  await send(below(database, "/indexes/errors"), { method: "DELETE", query: { name } });
}

/** A term of a field, and in how many entries of the index it is. */
export type Term = { term: string; count: number };

/** GET `/databases/{name}/indexes/terms`: from behind `fromValue` on, in order. */
export async function terms(
  database: string,
  name: string,
  field: string,
  fromValue: string | undefined,
  pageSize: number,
  signal?: AbortSignal,
): Promise<Term[]> {
  const query = { name, field, fromValue, pageSize, withCounts: true };
  const found = await sendForJson<{ Terms: string[]; Counts: number[] }>(below(database, "/indexes/terms"), { query, signal });
  return found.Terms.map((term, at) => ({ term, count: found.Counts[at]! }));
}

/** A field that entries of an index have. */
export type EntriesField = { Name: string; FieldType: "Static" | "Dynamic" };

/** GET `/databases/{name}/indexes/debug?op=entries-fields` */
export function fields(database: string, name: string, signal?: AbortSignal): Promise<EntriesField[]> {
  return sendForJson(below(database, "/indexes/debug"), { query: { name, op: "entries-fields" }, signal });
}

/** The same for the cache. Names are the same in whatever case. */
export function fieldsQuery(database: string, name: string) {
  return {
    queryKey: ["index-fields", database, name.toLowerCase()],
    queryFn: ({ signal }: { signal: AbortSignal }) => fields(database, name, signal),
  };
}

/** GET `/databases/{name}/indexes/debug?op=source-doc-ids`: documents that have values in groups, by the beginning of their ids. */
export async function sourceIds(
  database: string,
  name: string,
  startsWith: string,
  pageSize: number,
  signal?: AbortSignal,
): Promise<string[]> {
  const query = { name, op: "source-doc-ids", startsWith, pageSize };
  return (await sendForJson<{ Results: string[] }>(below(database, "/indexes/debug"), { query, signal })).Results;
}

export type Row = Record<string, unknown>;

/** A node of a group. `Children` and `Entries` are null if it was not read; else one of them is. */
export type GroupNode = {
  /** Its number on its level. */
  PageNumber: number;
  /** 0: its parts are values. */
  Level: number;
  AggregationResult: Row | Row[] | null;
  HasFailed: boolean;
  Children: GroupNode[] | null;
  Entries: { Data: Row; Source: string | null; Number: number }[] | null;
};

export type Group = {
  Name: string;
  /** The key as JSON. */
  DisplayName: string;
  Depth: number;
  NumberOfEntries: number;
  /** Whether all of it was read; if not, the number of entries is at most that. */
  IsWhole: boolean;
  Root: GroupNode;
};

export type Groups = { Results: Group[]; NumberOfGroups: number };

/** GET `/databases/{name}/indexes/debug?op=map-reduce-tree`: the groups in which documents have values. */
export function groups(database: string, name: string, docId: readonly string[], signal?: AbortSignal): Promise<Groups> {
  return sendForJson(below(database, "/indexes/debug"), { query: { name, op: "map-reduce-tree", docId }, signal });
}

export type Tested = {
  IndexEntries: Record<string, unknown>[];
  QueryResults: Record<string, unknown>[];
  MapResults: Record<string, unknown>[];
  ReduceResults: Record<string, unknown>[];
  IndexType: string;
  Errors?: unknown[];
};

/** POST `/databases/{name}/indexes/test`: what a definition makes of the first documents, without an index of it. */
export function test(database: string, definition: Definition, documentCountMax: number): Promise<Tested> {
  const body = { IndexDefinition: definition, MaxDocumentsToProcess: documentCountMax, Query: "" };
  return sendForJson(below(database, "/indexes/test"), { method: "POST", body });
}

export type AdviceProblem = "Failed" | "HasErrors" | "Covered" | "Mergeable" | "Unused" | "FieldsWithoutValues" | "Slow" | "FanOut";

/** One piece of advice: what is wrong with an index, the facts, what to do, and what that changes. */
export type Advice = {
  Index: string;
  Problem: AdviceProblem;
  Message: string;
  Action: "Delete" | "Reset" | "ReadErrors" | "ChangeDefinition" | "Merge";
  Effect: string;
  /** The automatic index that would replace others. */
  Merge: { Index: string; Fields: string[]; Replaced: string[] } | null;
  /** The request that carries the action out, if one request can. */
  Request: { Method: string; Path: string; Body: { Query: string } | null } | null;
};

/** GET `/databases/{name}/indexes/advice`. * `unusedAfter`: a time span, such as `7.00:00:00`. */
export async function advice(database: string, unusedAfter: string, signal?: AbortSignal): Promise<Advice[]> {
  const query = { unusedAfter };
  return (await sendForJson<{ Results: Advice[] }>(below(database, "/indexes/advice"), { query, signal })).Results;
}
