// Revisions: former states of documents.
import { member, scan } from "../json/scan";
import { withOwnMetadata, type Document } from "./documents";
import { below, jsonOf, send, sendForJson, textOf } from "./http";

export type Revision = {
  id: string;
  changeVector: string;
  /** When the document was in this state first. */
  at: string;
  collection: string | undefined;
  /** The document was deleted then. */
  isDeletion: boolean;
  flags: readonly string[];
};

function revisionOf({ "@metadata": metadata }: Document): Revision {
  const flags = String(metadata["@flags"] ?? "")
    .split(",")
    .map((flag) => flag.trim());
  return {
    id: metadata["@id"] ?? "",
    changeVector: metadata["@change-vector"] ?? "",
    at: metadata["@last-modified"] ?? "",
    collection: metadata["@collection"],
    isDeletion: flags.includes("DeleteRevision"),
    flags,
  };
}

/** GET `/databases/{name}/revisions?id=&metadataOnly=true`: revisions of a document, the newest first, and how many there are. */
export async function revisions(
  database: string,
  id: string,
  start: number,
  pageSize: number,
  signal?: AbortSignal,
): Promise<{ total: number; revisions: Revision[] }> {
  const query = { id, start, pageSize, metadataOnly: true };
  type Answer = { Results: Document[]; TotalResults: number };
  const { Results, TotalResults } = await sendForJson<Answer>(below(database, "/revisions"), { query, signal });
  return { total: TotalResults, revisions: Results.map(revisionOf) };
}

/** GET `/databases/{name}/revisions?changeVector=`: the text of a revision, as an editor has documents; undefined if it is gone. */
export async function revisionText(database: string, changeVector: string, signal?: AbortSignal): Promise<string | undefined> {
  // Of several, null stands for one that is gone; a single one is answered with 404, which browsers log as an error.
  const query = { changeVector: [changeVector, changeVector] };
  const answer = await textOf(await send(below(database, "/revisions"), { query, signal }));
  const results = member(scan(answer), "Results");
  const span = results?.kind === "array" ? results.elements[0] : undefined;
  return span?.kind === "object" ? withOwnMetadata(answer.slice(span.start, span.end)) : undefined;
}

/** POST `/databases/{name}/revisions/revert/docs`: writes the document as it was. */
export async function revert(database: string, id: string, changeVector: string): Promise<void> {
  const body = { IdToChangeVector: { [id]: changeVector } };
  await send(below(database, "/revisions/revert/docs"), { method: "POST", body });
}

/** GET `/databases/{name}/revisions/bin`: deletions of documents that have revisions, the latest first. */
export async function bin(database: string, start: number, pageSize: number, signal?: AbortSignal): Promise<Revision[]> {
  const query = { start, pageSize };
  const { Results } = await sendForJson<{ Results: Document[] }>(below(database, "/revisions/bin"), { query, signal });
  return Results.map(revisionOf);
}

/** How revisions of a collection are kept. What the studio has no field for stays as it is. */
export type CollectionConfiguration = Record<string, unknown> & {
  Disabled?: boolean;
  /** How many of a document stay; null for all. */
  MinimumRevisionsToKeep?: number | null;
  /** Younger ones stay whatever their number is: a time span such as `14.00:00:00`, or null. */
  MinimumRevisionAgeToKeep?: string | null;
  PurgeOnDelete?: boolean;
};

export type Configuration = {
  /** For collections without one of their own. */
  Default: CollectionConfiguration | null;
  Collections: Record<string, CollectionConfiguration>;
};

/** GET `/databases/{name}/revisions/config`; without one nothing is kept. */
export async function configuration(database: string, signal?: AbortSignal): Promise<Configuration> {
  const response = await send(below(database, "/revisions/config"), { signal }, [404]);
  if (response.status === 404) return { Default: null, Collections: {} };
  const { Default, Collections } = await jsonOf<Partial<Configuration>>(response);
  return { Default: Default ?? null, Collections: Collections ?? {} };
}

/** POST `/databases/{name}/admin/revisions/config` */
export async function configure(database: string, wanted: Configuration): Promise<void> {
  await send(below(database, "/admin/revisions/config"), { method: "POST", body: wanted });
}
