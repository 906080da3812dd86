// Results in steps, as many of them at once as they are large.
import type { Collection } from "../../api/documents";
import { run, type Answer } from "../../api/queries";
import type { Submitted } from "./Results";
import { collectionOf } from "./text";

/** Characters that an answer should have. */
const STEP_SIZE = 8 << 20;
/** Results of one step. */
const COUNT_MAX = 5000;

/** Results to ask for at once. * `resultSize`: characters of one, as far as known. */
export function stepCount(resultSize: number): number {
  return Math.max(1, Math.min(COUNT_MAX, Math.floor(STEP_SIZE / Math.max(1, resultSize))));
}

/**
 * All that a query gives, but for what is beyond `countMax`. * `resultSize`: characters of a result as far as known; those of each step
 * decide on the next.
 */
export async function* inSteps(
  database: string,
  submitted: Submitted,
  resultSize: number,
  countMax: number,
  signal: AbortSignal,
): AsyncGenerator<Answer> {
  let [start, total, size] = [0, Infinity, resultSize];
  while (start < Math.min(total, countMax)) {
    const pageSize = Math.min(stepCount(size), countMax - start);
    const answer = await run(database, { ...submitted, start, pageSize }, signal);
    yield answer;
    total = answer.total;
    start += answer.results.length;
    size = answer.resultSize;
    // Facets and the like answer with all they have, whatever the page.
    if (answer.results.length !== pageSize) break;
  }
}

/** Bytes of a document that a query may give, before it was asked: of its collection, or of the largest ones if it names none. */
export function documentSize(text: string, collections: readonly Collection[]): number {
  const name = collectionOf(text)?.toLowerCase();
  const named = collections.filter((collection) => collection.name.toLowerCase() === name);
  const all = named.length > 0 ? named : collections;
  return Math.max(0, ...all.map(({ count, size }) => size / Math.max(1, count)));
}
