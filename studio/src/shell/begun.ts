// What this browser began on a server: the server knows an operation by its number, its user by the file that it is of.
import { serverNow } from "../format/format";
import { remembered } from "./remembered";

/** `at`: by the server's clock, in ms. */
type Begun = { id: number; at: number; what: string };

/** Operations whose origin is kept for a database. */
const KEPT_COUNT = 100;
/** A server that was started again counts from 1 again: an operation is the one that was begun at its time. */
const APART_MS_MAX = 60_000;

const NONE: Begun[] = [];
const ofDatabase = (database: string) => remembered<Begun[]>(`began.${database}`, NONE);

/** Keeps what an operation is of, as `people.csv`. */
export function begun(database: string, id: number, what: string) {
  ofDatabase(database).set((stored) => [{ id, at: serverNow(), what }, ...stored].slice(0, KEPT_COUNT));
}

/** What an operation is of, if this browser began it. * `startTime`: as the server writes it. */
export function began(database: string, id: number, startTime: string): string | undefined {
  const started = Date.parse(startTime);
  return ofDatabase(database)
    .get()
    .find((one) => one.id === id && Math.abs(one.at - started) < APART_MS_MAX)?.what;
}
