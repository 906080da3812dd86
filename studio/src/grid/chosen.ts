// The ids of rows that were chosen, for each entry of the browser's history, as places are: whoever looks at a document and goes back finds
// them chosen still.

/** Entries that are kept: all rows of a large collection may be chosen. */
const COUNT_MAX = 10;

type Kept = { database: string; ids: ReadonlySet<string> };

const NONE: ReadonlySet<string> = new Set();
const kept = new Map<string, Kept>();

export function chosenAt(key: string): ReadonlySet<string> {
  return kept.get(key)?.ids ?? NONE;
}

export function keepChosen(key: string, database: string, ids: ReadonlySet<string>) {
  kept.delete(key);
  if (ids.size === 0) return;
  kept.set(key, { database, ids });
  if (kept.size > COUNT_MAX) kept.delete(kept.keys().next().value!);
}

/** A document that is gone is chosen no more. */
export function forgetChosen(database: string, id: string) {
  for (const [key, { database: of, ids }] of kept) {
    if (of !== database || !ids.has(id)) continue;
    kept.set(key, { database, ids: new Set([...ids].filter((other) => other !== id)) });
  }
}
