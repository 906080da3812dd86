// Reads documents that are spread over a collection, and what fields they have.
import { quoted } from "../../api/documents";
import { run } from "../../api/queries";
import { fieldsOf, newShape, take, type Field } from "./fields";

/** Documents that are read at most. */
export const DOCUMENT_COUNT_MAX = 1000;
/** Characters of JSON after which no more is read: documents of several MB are few then, and the answer is there within a second or two. */
export const SAMPLE_SIZE = 8 << 20;
/** Documents that stand beside one another and are read with one request. */
const RUN_COUNT = 25;
/** Characters that a request should give. */
const RUN_SIZE = 1 << 20;
/** Requests on their way at once. */
const REQUEST_COUNT = 4;

export type Sample = {
  fields: Field[];
  /** Documents that were read, of so many. */
  documentCount: number;
  totalCount: number;
  /** Places of the collection from which they are. */
  placeCount: number;
  /** Documents that were looked at in part. */
  partCount: number;
  hasMore: boolean;
};

/** Places where runs of documents begin, in the order in which they are read: wherever one stops, they are spread over all. */
export function placesOf(totalCount: number, runCount: number): number[] {
  const isWhole = totalCount <= DOCUMENT_COUNT_MAX;
  const places = isWhole ? Math.ceil(totalCount / runCount) : Math.floor(DOCUMENT_COUNT_MAX / runCount);
  const last = totalCount - runCount;
  const startOf = (place: number) => (isWhole ? place * runCount : places === 1 ? 0 : Math.floor((place * last) / (places - 1)));
  return spread(places).map(startOf);
}

/** The numbers below `count`, each far from those before it: 0, a half, a quarter, three quarters, ... (van der Corput's sequence). */
function spread(count: number): number[] {
  const found = new Set<number>();
  for (let next = 0; found.size < count; next++) {
    let [place, part, rest] = [0, 0.5, next];
    for (; rest > 0; rest >>= 1, part /= 2) if (rest & 1) place += part;
    found.add(Math.floor(place * count));
  }
  return [...found];
}

/** * `totalCount`, `size`: documents of the collection and their bytes. * `told`: is given how many were read. */
export async function sampleFields(
  database: string,
  collection: string,
  totalCount: number,
  size: number,
  told: (documentCount: number) => void,
  signal: AbortSignal,
): Promise<Sample> {
  const shape = newShape();
  const runCount = Math.max(1, Math.min(RUN_COUNT, Math.floor((RUN_SIZE * totalCount) / Math.max(1, size))));
  const places = placesOf(totalCount, runCount);
  let [read, largest, placeCount] = [0, 0, 0];
  const text = `from ${quoted(collection)}`;
  while (placeCount < places.length && read < SAMPLE_SIZE) {
    // As many at once as there is room for, were they all like the largest. The first shows how large they are.
    const fitting = largest === 0 ? 1 : Math.max(1, Math.floor((SAMPLE_SIZE - read) / largest));
    const next = places.slice(placeCount, placeCount + Math.min(REQUEST_COUNT, fitting));
    const answers = await Promise.all(next.map((start) => run(database, { text, start, pageSize: runCount }, signal)));
    for (const { results, resultSize } of answers) {
      for (const document of results) take(shape, document);
      read += resultSize * results.length;
      largest = Math.max(largest, resultSize * results.length);
    }
    placeCount += next.length;
    told(shape.documentCount);
  }
  return {
    fields: fieldsOf(shape),
    documentCount: shape.documentCount,
    totalCount: Math.max(totalCount, shape.documentCount),
    placeCount,
    partCount: shape.partCount,
    hasMore: shape.hasMore,
  };
}
