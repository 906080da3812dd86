// Documents and collections.
import { member, pretty, scan } from "../json/scan";
import { ApiError, below, jsonOf, send, sendForJson, textOf } from "./http";

/** A document as a JavaScript value, for grids. */
export type Document = Record<string, unknown> & { "@metadata": Metadata };

export type Metadata = Record<string, unknown> & {
  "@id"?: string;
  "@collection"?: string;
  "@change-vector"?: string;
  "@last-modified"?: string;
};

/** Its id, or undefined for what a projection made. */
export function idOf(document: Document): string | undefined {
  return document["@metadata"]?.["@id"];
}

export type Collection = { name: string; count: number; size: number };

/** GET `/databases/{name}/collections/stats/detailed`: by name, `@hilo` last. */
export async function collections(database: string, signal?: AbortSignal): Promise<{ total: number; collections: Collection[] }> {
  type Detailed = {
    CountOfDocuments: number;
    Collections: Record<string, { Name: string; CountOfDocuments: number; Size: { SizeInBytes: number } }>;
  };
  const answer = await sendForJson<Detailed>(below(database, "/collections/stats/detailed"), { signal });
  const list = Object.values(answer.Collections).map((found) => ({
    name: found.Name,
    count: found.CountOfDocuments,
    size: found.Size.SizeInBytes,
  }));
  const isSystem = (name: string) => name.startsWith("@");
  list.sort((a, b) => Number(isSystem(a.name)) - Number(isSystem(b.name)) || a.name.localeCompare(b.name));
  return { total: answer.CountOfDocuments, collections: list.filter((found) => found.count > 0) };
}

/** The same, as it is kept. */
export function collectionsQuery(database: string) {
  return {
    queryKey: ["collections", database],
    queryFn: ({ signal }: { signal: AbortSignal }) => collections(database, signal),
  };
}

/** GET `/databases/{name}/docs`: all documents, the latest first. */
export async function latest(database: string, start: number, pageSize: number, signal?: AbortSignal): Promise<Document[]> {
  const query = { start, pageSize };
  return (await sendForJson<{ Results: Document[] }>(below(database, "/docs"), { query, signal })).Results;
}

/** The ids of all documents, or of a collection, in the order of the grid: POST `/databases/{name}/queries` or GET `/docs`, without contents. */
export async function idsOf(
  database: string,
  collection: string | undefined,
  start: number,
  pageSize: number,
  signal?: AbortSignal,
): Promise<string[]> {
  type Answer = { Results: Document[] };
  const answer =
    collection === undefined
      ? await sendForJson<Answer>(below(database, "/docs"), { query: { start, pageSize, metadataOnly: true }, signal })
      : await sendForJson<Answer>(below(database, "/queries"), {
          method: "POST",
          query: { metadataOnly: true },
          body: { Query: `from ${quoted(collection)}`, Start: start, PageSize: pageSize },
          signal,
        });
  return answer.Results.flatMap((document) => idOf(document) ?? []);
}

/** A name as it stands in a query: in quotes, with those inside escaped. */
export function quoted(name: string): string {
  return `'${name.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** GET `/databases/{name}/docs?startsWith=`: the ids that begin so. */
export async function idsByPrefix(database: string, prefix: string, pageSize: number, signal?: AbortSignal): Promise<string[]> {
  const query = { startsWith: prefix, pageSize, metadataOnly: true };
  const answer = await sendForJson<{ Results: Document[] }>(below(database, "/docs"), { query, signal });
  return answer.Results.flatMap((document) => idOf(document) ?? []);
}

/**
 * GET `/databases/{name}/docs?startsWith=&matches=`: the first ids with this in them. The server looks through all ids of the database for
 * it, 20 ms for 70,000 of them. `*`, `?` and `|` mean something else there: a text with them is in none.
 */
export async function idsWith(database: string, part: string, pageSize: number, signal?: AbortSignal): Promise<string[]> {
  if (/[*?|]/.test(part)) return [];
  const query = { startsWith: "", matches: `*${part}*`, pageSize, metadataOnly: true };
  const answer = await sendForJson<{ Results: Document[] }>(below(database, "/docs"), { query, signal });
  return answer.Results.flatMap((document) => idOf(document) ?? []);
}

/** POST `/databases/{name}/docs?metadataOnly=true`: what there is of each of these ids, in their order. */
export async function metadataOf(database: string, ids: readonly string[], signal?: AbortSignal): Promise<(Document | null)[]> {
  if (ids.length === 0) return [];
  // A single one that is not there is answered with 404, which a browser puts down as an error; of several, null stands in its place.
  const asked = ids.length === 1 ? [...ids, ...ids] : ids;
  const answer = await sendForJson<{ Results: (Document | null)[] }>(below(database, "/docs"), {
    method: "POST",
    query: { metadataOnly: true },
    body: { Ids: asked },
    signal,
  });
  return answer.Results.slice(0, ids.length);
}

/** POST `/databases/{name}/docs`: the documents with these ids, as far as they are there. */
export async function documentsOf(database: string, ids: readonly string[], signal?: AbortSignal): Promise<Document[]> {
  if (ids.length === 0) return [];
  // As above: of several, null stands for one that is not there.
  const asked = ids.length === 1 ? [...ids, ...ids] : ids;
  const body = { Ids: asked };
  const answer = await sendForJson<{ Results: (Document | null)[] }>(below(database, "/docs"), { method: "POST", body, signal });
  return answer.Results.slice(0, ids.length).filter((document) => document !== null);
}

/** Those of these ids that there are. */
export async function existing(
  database: string,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<{ id: string; collection: string | undefined }[]> {
  return (await metadataOf(database, ids, signal)).flatMap((found) => {
    const id = found && idOf(found);
    return id ? [{ id, collection: found["@metadata"]["@collection"] }] : [];
  });
}

/** GET `/databases/{name}/docs?id=&metadataOnly=true`: the change vector of a document now; null if there is none. */
export async function changeVectorOf(database: string, id: string, signal?: AbortSignal): Promise<string | null> {
  const response = await send(below(database, "/docs"), { query: { id, metadataOnly: true }, signal }, [404]);
  if (response.status === 404) return null;
  const answer = await jsonOf<{ Results: Document[] }>(response);
  return answer.Results[0]?.["@metadata"]["@change-vector"] ?? null;
}

/** A document as text: its own metadata (such as `@collection`) in it, what the server adds beside it. */
export type Loaded = {
  id: string;
  text: string;
  changeVector: string;
  lastModified: string;
  collection: string | undefined;
  /** Bytes as they are stored. */
  size: number;
};

/** What the server computes and does not take from a body. */
const COMPUTED = ["@id", "@change-vector", "@last-modified", "@index-score", "@flags", "@counters", "@attachments"];

/** GET `/databases/{name}/docs?id=`: the text of a document with all of its metadata, as the server has it; undefined if there is none. */
export async function raw(database: string, id: string, signal?: AbortSignal): Promise<string | undefined> {
  const response = await send(below(database, "/docs"), { query: { id }, signal }, [404]);
  if (response.status === 404) return undefined;
  const answer = await textOf(response);
  const results = member(scan(answer), "Results");
  const span = results?.kind === "array" ? results.elements[0] : undefined;
  return span?.kind === "object" ? answer.slice(span.start, span.end) : undefined;
}

/** The same for an editor, and GET `/databases/{name}/docs/size`. */
export async function load(database: string, id: string, signal?: AbortSignal): Promise<Loaded | undefined> {
  const body = await raw(database, id, signal);
  if (body === undefined) return undefined;
  const metadata = (JSON.parse(body) as Document)["@metadata"];
  const size = await sendForJson<{ ActualSize: number }>(below(database, "/docs/size"), { query: { id }, signal }).catch(
    (error: unknown) => {
      // It was deleted in between; the text is there.
      if (error instanceof ApiError && error.status === 404) return { ActualSize: body.length };
      throw error;
    },
  );
  return {
    id: metadata["@id"] ?? id,
    text: withOwnMetadata(body),
    changeVector: metadata["@change-vector"] ?? "",
    lastModified: metadata["@last-modified"] ?? "",
    collection: metadata["@collection"],
    size: size.ActualSize,
  };
}

/** The text of a document with line breaks, and in its metadata only what a writer decides. */
export function withOwnMetadata(body: string): string {
  const root = scan(body);
  const metadata = member(root, "@metadata");
  if (metadata?.kind !== "object") return pretty(body, root);
  const own = pretty(body, metadata, COMPUTED);
  const rest = pretty(body, root, ["@metadata"]);
  const inner = own.split("\n").join("\n    ");
  if (rest === "{}") return `{\n    "@metadata": ${inner}\n}`;
  return `${rest.slice(0, -2)},\n    "@metadata": ${inner}\n}`;
}

/** PUT `/databases/{name}/docs`. `changeVector`: what it must have now; "" if it must not be there; undefined: whatever it has. */
export async function save(
  database: string,
  id: string,
  text: string,
  changeVector: string | undefined,
): Promise<{ Id: string; ChangeVector: string }> {
  const headers: Record<string, string> = changeVector === undefined ? {} : { "If-Match": `"${changeVector}"` };
  return sendForJson(below(database, "/docs"), { method: "PUT", query: { id }, body: text, headers });
}

/** Where ids of a collection begin, `users/` of `Users`: the server completes one that ends with a slash. */
export function prefixOf(collection: string): string {
  return `${collection.charAt(0).toLowerCase()}${collection.slice(1)}/`;
}

/** Saves a document under an id that the server makes: after its collection, or, if it names none, any (POST `/databases/{name}/bulk_docs`). */
export async function saveNew(database: string, text: string): Promise<{ Id: string; ChangeVector: string }> {
  const name = member(member(scan(text), "@metadata"), "@collection");
  const collection = name?.kind === "string" ? (JSON.parse(text.slice(name.start, name.end)) as string) : "";
  if (/^[^@]/.test(collection)) return save(database, prefixOf(collection), text, undefined);
  const body = `{"Commands":[{"Type":"PUT","Id":null,"ChangeVector":null,"Document":${text}}]}`;
  type Answer = { Results: { "@id": string; "@change-vector": string }[] };
  const { Results } = await sendForJson<Answer>(below(database, "/bulk_docs"), { method: "POST", body });
  return { Id: Results[0]!["@id"], ChangeVector: Results[0]!["@change-vector"] };
}

/** DELETE `/databases/{name}/docs` */
export async function remove(database: string, id: string, changeVector?: string): Promise<void> {
  const headers: Record<string, string> = changeVector === undefined ? {} : { "If-Match": `"${changeVector}"` };
  await send(below(database, "/docs"), { method: "DELETE", query: { id }, headers });
}

/** POST `/databases/{name}/bulk_docs`: deletes these in one transaction. */
export async function removeAll(database: string, ids: readonly string[]): Promise<void> {
  const commands = ids.map((Id) => ({ Type: "DELETE", Id, ChangeVector: null }));
  await send(below(database, "/bulk_docs"), { method: "POST", body: { Commands: commands } });
}

/** POST `/databases/{name}/bulk_insert`: an array of commands as text. Returns the number of the operation. */
export async function bulkInsert(database: string, commands: string, signal: AbortSignal): Promise<number> {
  const { Id } = await sendForJson<{ Id: number }>(below(database, "/operations/next-operation-id"), { signal });
  await send(below(database, "/bulk_insert"), { method: "POST", query: { id: Id }, body: commands, signal });
  return Id;
}

/** Ids of one request. */
const ID_COUNT_MAX = 1000;

/** How many of these ids have a document. */
export async function countExisting(database: string, ids: readonly string[], signal: AbortSignal): Promise<number> {
  let count = 0;
  for (let at = 0; at < ids.length; at += ID_COUNT_MAX) {
    const found = await metadataOf(database, ids.slice(at, at + ID_COUNT_MAX), signal);
    count += found.filter((one) => one !== null).length;
  }
  return count;
}
