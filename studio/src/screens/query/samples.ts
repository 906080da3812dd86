// Some documents of each collection, which tell what fields there are, and what is in them.
import type { QueryClient } from "@tanstack/react-query";
import { documentsOf, type Collection, type Document } from "../../api/documents";
import { fieldsQuery, terms, type Definition } from "../../api/indexes";
import { ofCollection } from "../../api/queries";
import { pathsOf, valueAt } from "../../grid/columns";
import { pageCountFor } from "../../grid/pages";
import type { Known, Source } from "./completion";

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
export function valuesAt(rows: readonly Record<string, unknown>[], path: string): (string | number | boolean)[] {
  const counts = new Map<string | number | boolean, number>();
  const add = (value: unknown) => {
    if (Array.isArray(value)) value.forEach(add);
    else if (["string", "number", "boolean"].includes(typeof value)) {
      const key = value as string | number | boolean;
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
  return {
    fieldsOf: async ({ collection, index }: Source) =>
      index !== undefined ? fieldsOfIndex(index) : collection === undefined ? [] : pathsOf(await sample(collection)),
    valuesOf: async ({ collection, index }: Source, field: string) => {
      if (index !== undefined) {
        if (!(await fieldsOfIndex(index)).includes(field)) return [];
        const found = await requests
          .fetchQuery({
            queryKey: ["index-values", database, index.toLowerCase(), field],
            queryFn: ({ signal }) => terms(database, index, field, undefined, VALUE_COUNT, signal),
            staleTime: KEPT_MS,
          })
          .catch(() => []);
        return found.map(({ term }) => term);
      }
      return collection === undefined ? [] : valuesAt(await sample(collection), field).slice(0, VALUE_COUNT);
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
