// A state of an archive while it is chosen: the last one, that of a time to the second, or that of a transaction.
import type { Archive, RestoredState } from "../../api/backups";

export type Moment = {
  kind: "time" | "transaction" | "last";
  /** As a field of a form has it, in the time zone of the browser: `2026-11-27T15:30:11`. */
  time: string;
  transaction: string;
};

const SECOND_MS = 1000;

/** The whole seconds, in ms, that a restore can go to. Of an archive that does not last for one it is the first after its beginning. */
export function secondsOf({ From, Until }: Pick<Archive, "From" | "Until">): { first: number; last: number } {
  const first = Math.ceil(Date.parse(From) / SECOND_MS) * SECOND_MS;
  // A date has seven digits of the second, of which a script reads three: at 15:30:11.0000001 the second 15:30:11 is over.
  const isRounded = Date.parse(From) === first && /\.000[0-9]*[1-9]/.test(From);
  const begin = isRounded ? first + SECOND_MS : first;
  return { first: begin, last: Math.max(begin, Math.floor(Date.parse(Until) / SECOND_MS) * SECOND_MS) };
}

/** A time in ms, in the time zone of the browser, as a field for it has it. */
export function fieldOf(ms: number): string {
  const date = new Date(ms);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The last second that can be chosen, which is the usual start for going back. */
export function momentOf(archive: Archive): Moment {
  return { kind: "time", time: fieldOf(secondsOf(archive).last), transaction: String(archive.LastTransaction) };
}

/** The state that is restored, or why there is none. Without a reason something is missing. */
export type Chosen = { state: RestoredState } | { reason: string | undefined };

export function stateOf({ kind, time, transaction }: Moment, archive: Archive): Chosen {
  const archiveOf = archive.DatabaseName;
  // The last second may end before the last transaction.
  if (kind === "last") return { state: { archiveOf, transaction: archive.LastTransaction } };
  if (kind === "transaction") {
    const text = transaction.trim();
    const number = Number(text);
    if (text === "") return { reason: undefined };
    const { FirstTransaction: first, LastTransaction: last } = archive;
    if (/^\d+$/.test(text) && number >= first && number <= last) return { state: { archiveOf, transaction: number } };
    return { reason: `A number from ${first} to ${last}` };
  }
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return { reason: undefined };
  const { first, last } = secondsOf(archive);
  if (ms < first) return { reason: `The archive begins at ${fieldOf(first).replace("T", " ")}` };
  if (ms > last) return { reason: `The archive ends at ${fieldOf(last).replace("T", " ")}` };
  return { state: { archiveOf, time: new Date(ms).toISOString() } };
}

/** What tells an archive from the others of a folder, also when it has grown meanwhile. */
export function keyOf({ Location, DatabaseName, NodeTag, FirstTransaction, From }: Archive): string {
  return [Location, DatabaseName, NodeTag, FirstTransaction, From].join("\n");
}
