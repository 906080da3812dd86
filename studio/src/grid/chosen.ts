// The ids of rows that were chosen, for each entry of the browser's history, as places are: whoever looks at a document and goes back finds
// them chosen still.
import { useSyncExternalStore } from "react";
import { listeners } from "../shell/listeners";

/** Entries that are kept: all rows of a large collection may be chosen. */
const COUNT_MAX = 10;

type Kept = { database: string; ids: Set<string> };

const NONE: { ids: ReadonlySet<string> } = { ids: new Set() };
const kept = new Map<string, Kept>();
const { subscribe, tell: changed } = listeners();

/** The ids that are chosen at an entry, whoever changes them. */
export function useChosen(key: string): ReadonlySet<string> {
  return useSyncExternalStore(subscribe, () => kept.get(key) ?? NONE).ids;
}

export function choose(key: string, database: string, ids: Iterable<string>) {
  kept.delete(key);
  const next = new Set(ids);
  if (next.size > 0) kept.set(key, { database, ids: next });
  if (kept.size > COUNT_MAX) kept.delete(kept.keys().next().value!);
  changed();
}

/** Documents that are gone are chosen no more. Takes them from the sets as they are: there may be a million others in them. */
export function forgetChosen(database: string, gone: readonly string[]) {
  for (const [key, { database: of, ids }] of kept) {
    if (of !== database || !gone.some((id) => ids.has(id))) continue;
    for (const id of gone) ids.delete(id);
    kept.set(key, { database, ids });
  }
  changed();
}
