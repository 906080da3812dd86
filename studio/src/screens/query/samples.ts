// Some documents of each collection, which tell what fields there are, and what is in them.
import type { QueryClient } from "@tanstack/react-query";
import { documentsOf, type Collection, type Document } from "../../api/documents";
import { fieldsQuery, terms, type Definition } from "../../api/indexes";
import { ofCollection } from "../../api/queries";
import { pathsOf, valueAt } from "../../grid/columns";
import { pageCountFor } from "../../grid/pages";
import type { Known, Source } from "./completion";
import { beginsWith, boundBelow, isExact, merged, NO_VALUES, valuesOfTerms, type Value, type Values } from "./values";

/** Documents of a sample; fewer if they are large. */
const SAMPLE_COUNT = 50;
/** Values that are offered. */
const VALUE_COUNT = 40;
/** Documents of a reference that are read. */
const REFERENCE_COUNT = 5;
const KEPT_MS = 60_000;

/** The first documents of a collection. */
export function sampleQuery(database: string, collection: string, known: readonly Collection[]) {
  const found = known.find(({ name }) => name.toLowerCase() === collection.toLowerCase());
  const count = Math.min(SAMPLE_COUNT, pageCountFor(found ? found.size / Math.max(1, found.count) : 0));
  return {
    queryKey: ["sample", database, collection.toLowerCase()],
    queryFn: ({ signal }: { signal: AbortSignal }) => ofCollection(database, collection, 0, count, signal),
    staleTime: KEPT_MS,
  };
}

/** The values at a path, the most frequent first; those inside of arrays too. */
export function valuesAt(rows: readonly Record<string, unknown>[], path: string): Value[] {
  const counts = new Map<Value, number>();
  const add = (value: unknown) => {
    if (Array.isArray(value)) value.forEach(add);
    else if (typeof value === "number" && !isExact(value)) return;
    else if (["string", "number", "boolean"].includes(typeof value)) {
      const key = value as Value;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  };
  for (const row of rows) {
    const [first, ...rest] = path.split("[].");
    let found: unknown[] = [valueAt(row, first!.replace(/\[\]$/, ""))];
    for (const name of rest) {
      const items = found.flatMap((value) => (Array.isArray(value) ? value : []));
      found = items.map((item) =>
        typeof item === "object" && item !== null ? valueAt(item as Record<string, unknown>, name) : undefined,
      );
    }
    found.forEach(add);
  }
  return [...counts].sort(([, one], [, other]) => other - one).map(([value]) => value);
}

/** What completion reads of the server. Where something cannot be read, nothing is offered. */
export function knownOf(
  requests: QueryClient,
  database: string,
  collections: readonly Collection[],
  indexes: readonly Definition[],
): Pick<Known, "fieldsOf" | "valuesOf" | "fieldsBehind"> {
  const sample = (collection: string): Promise<Document[]> => {
    // A name that is being typed is none yet.
    const isKnown = collections.some(({ name }) => name.toLowerCase() === collection.toLowerCase());
    return isKnown ? requests.fetchQuery(sampleQuery(database, collection, collections)).catch(() => []) : Promise.resolve([]);
  };
  const isIndex = (index: string) => indexes.some(({ Name }) => Name.toLowerCase() === index.toLowerCase());
  const fieldsOfIndex = async (index: string) => {
    if (!isIndex(index)) return [];
    const found = await requests.fetchQuery({ ...fieldsQuery(database, index), staleTime: KEPT_MS }).catch(() => []);
    return found.map(({ Name }) => Name);
  };
  /** Terms of a field behind `fromValue`. The request ends when completion no longer waits for it. */
  const termsOf = async (index: string, field: string, fromValue: string | undefined, signal: AbortSignal) => {
    const queryKey = ["index-values", database, index.toLowerCase(), field, fromValue];
    const stop = () => void requests.cancelQueries({ queryKey, exact: true }, { silent: true });
    if (signal.aborted) return [];
    signal.addEventListener("abort", stop);
    try {
      return await requests.fetchQuery({
        queryKey,
        queryFn: ({ signal }) => terms(database, index, field, fromValue, VALUE_COUNT, signal),
        staleTime: KEPT_MS,
      });
    } catch {
      return [];
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };
  /** The first terms of a field; if there are more than these, those that begin with the prefix. */
  const valuesOfIndex = async (index: string, field: string, prefix: string, signal: AbortSignal): Promise<Values> => {
    const first = await termsOf(index, field, undefined, signal);
    const values = valuesOfTerms(first.map(({ term }) => term));
    if (first.length < VALUE_COUNT) return { values, isComplete: true };
    if (prefix === "") return { values, isComplete: false };
    // Most analyzers write terms in lower case; an exact field keeps the case.
    const prefixes = [...new Set([prefix.toLowerCase(), prefix])];
    const found = await Promise.all(
      prefixes.map(async (each) =>
        (await termsOf(index, field, boundBelow(each), signal)).map(({ term }) => term).filter((term) => term.startsWith(each)),
      ),
    );
    const isOfTexts = values.some((value) => typeof value === "string");
    return { values: isOfTexts ? found.flat() : valuesOfTerms(found.flat()), isComplete: false };
  };
  return {
    fieldsOf: async ({ collection, index }: Source) =>
      index !== undefined ? fieldsOfIndex(index) : collection === undefined ? [] : pathsOf(await sample(collection)),
    valuesOf: async ({ collection, index }: Source, field: string, prefix: string, signal: AbortSignal) => {
      if (index !== undefined) {
        return (await fieldsOfIndex(index)).includes(field) ? valuesOfIndex(index, field, prefix, signal) : NO_VALUES;
      }
      if (collection === undefined) return NO_VALUES;
      const documents = await sample(collection);
      const all = valuesAt(documents, field);
      const count = collections.find(({ name }) => name.toLowerCase() === collection.toLowerCase())?.count ?? 0;
      if (documents.length >= count && all.length <= VALUE_COUNT) return { values: all, isComplete: true };
      const automatic = indexes.find(
        ({ Name, Type, Fields }) =>
          Type === "AutoMap" &&
          Name.toLowerCase().startsWith(`auto/${collection.toLowerCase()}/`) &&
          Object.hasOwn(Fields ?? {}, field),
      );
      const fitting = all.filter((value) => beginsWith(value, prefix)).slice(0, VALUE_COUNT);
      // Documents have the values as they were written; an index knows those of the documents that are not in the sample.
      if (!automatic) return { values: fitting, isComplete: false };
      const terms = await valuesOfIndex(automatic.Name, field, prefix, signal);
      return { values: merged(fitting, terms.values), isComplete: terms.isComplete && fitting.length < VALUE_COUNT };
    },
    fieldsBehind: async (collection: string, path: string) => {
      const ids = valuesAt(await sample(collection), path)
        .filter((value) => typeof value === "string")
        .slice(0, REFERENCE_COUNT);
      const found = await requests
        .fetchQuery({
          queryKey: ["referenced", database, ids],
          queryFn: ({ signal }) => documentsOf(database, ids, signal),
          staleTime: KEPT_MS,
        })
        .catch(() => []);
      return pathsOf(found);
    },
  };
}
