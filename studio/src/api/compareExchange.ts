// Compare-exchange values: JSON under a key, changed only if its index is the expected one.
import { member, pretty, scan, type Span } from "../json/scan";
import { below, send, textOf, type Options } from "./http";

/** A value as it is stored; `object` and what else `metadata` has are texts, which keep the digits of numbers. */
export type StoredValue = {
  key: string;
  index: number;
  /** JSON with line breaks. */
  object: string;
  /** When it is deleted, in UTC; undefined if never. */
  expires: string | undefined;
  /** `@metadata` as JSON without `@expires`; undefined if there is no more in it. */
  metadata: string | undefined;
};

/** What a value is to be. */
export type WrittenValue = Pick<StoredValue, "object" | "expires" | "metadata">;

/** Keys that begin so are of cluster-wide transactions. */
const GUARD_PREFIX = "rvn-atomic/";

/** The id of the document that a value guards; undefined if it is a value of an application. */
export function guardedBy(key: string): string | undefined {
  return key.startsWith(GUARD_PREFIX) ? key.slice(GUARD_PREFIX.length) : undefined;
}

/** GET `/databases/{name}/cmpxchg?startsWith=`: values in the order of their keys, which the server gives in lower case. */
export async function values(
  database: string,
  prefix: string,
  start: number,
  pageSize: number,
  signal?: AbortSignal,
): Promise<StoredValue[]> {
  return read(database, { startsWith: prefix, start, pageSize }, signal);
}

/** GET `/databases/{name}/cmpxchg?key=`: one value; undefined if there is none. */
export async function value(database: string, key: string, signal?: AbortSignal): Promise<StoredValue | undefined> {
  // A single one that is not there is answered with 404, which a browser puts down as an error; of several, null stands in its place.
  return (await read(database, { key: [key, key] }, signal))[0];
}

async function read(database: string, query: Options["query"] & {}, signal: AbortSignal | undefined): Promise<StoredValue[]> {
  const text = await textOf(await send(below(database, "/cmpxchg"), { query, signal }));
  const results = member(scan(text), "Results");
  if (results?.kind !== "array") return [];
  return results.elements.flatMap((result) => {
    const [key, index, value] = [member(result, "Key"), member(result, "Index"), member(result, "Value")];
    if (!key || !index || value?.kind !== "object") return [];
    return { key: JSON.parse(text.slice(key.start, key.end)) as string, ...stored(text, value, index) };
  });
}

/** PUT `/databases/{name}/cmpxchg`. `index`: that of the value that is replaced, 0 for a new one. */
export function put(database: string, key: string, value: WrittenValue, index: number): Promise<Exchanged> {
  return exchange("PUT", database, key, index, bodyOf(value));
}

/** DELETE `/databases/{name}/cmpxchg` */
export function remove(database: string, key: string, index: number): Promise<Exchanged> {
  return exchange("DELETE", database, key, index);
}

/** `theirs`: the stored value if it was not the expected one, undefined if there is none. */
export type Exchanged = { isDone: true } | { isDone: false; theirs: StoredValue | undefined };

async function exchange(method: string, database: string, key: string, index: number, body?: string): Promise<Exchanged> {
  const text = await textOf(await send(below(database, "/cmpxchg"), { method, query: { key, index }, body }));
  const root = scan(text);
  const [isDone, at, value] = [member(root, "Successful"), member(root, "Index"), member(root, "Value")];
  if (isDone && text.slice(isDone.start, isDone.end) === "true") return { isDone: true };
  const theirs = at && value?.kind === "object" ? { key, ...stored(text, value, at) } : undefined;
  return { isDone: false, theirs };
}

function stored(text: string, value: Span, index: Span): Omit<StoredValue, "key"> {
  const [object, metadata] = [member(value, "Object"), member(value, "@metadata")];
  const expires = member(metadata, "@expires");
  const rest = metadata?.kind === "object" ? pretty(text, metadata, ["@expires"]) : "{}";
  return {
    index: Number(text.slice(index.start, index.end)),
    object: object === undefined ? "null" : pretty(text, object),
    expires: expires?.kind === "string" ? (JSON.parse(text.slice(expires.start, expires.end)) as string) : undefined,
    metadata: rest === "{}" ? undefined : rest,
  };
}

/** The body of a PUT. `metadata` is an object that is not empty, or undefined. */
export function bodyOf({ object, expires, metadata }: WrittenValue): string {
  const members = [
    ...(metadata === undefined ? [] : [metadata.trim().slice(1, -1).trim()]),
    ...(expires === undefined ? [] : [`"@expires":${JSON.stringify(expires)}`]),
  ];
  return `{"Object":${object}${members.length === 0 ? "" : `,"@metadata":{${members.join(",")}}`}}`;
}
