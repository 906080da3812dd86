// What this browser remembers: widths, columns, recent queries. Storage may be full or forbidden; then it is forgotten.
import { useSyncExternalStore } from "react";

const PREFIX = "rookery.";

export type Remembered<T> = { get: () => T; set: (value: T) => void; subscribe: (listener: () => void) => () => void };

const known = new Map<string, Remembered<never> & { reset: () => void }>();

/** A value under a key; the same object for the same key. */
export function remembered<T>(key: string, initial: T): Remembered<T> {
  const found = known.get(key) as Remembered<T> | undefined;
  if (found) return found;
  let value = initial;
  try {
    const text = localStorage.getItem(PREFIX + key);
    if (text !== null) value = JSON.parse(text) as T;
  } catch {
    value = initial;
  }
  const listeners = new Set<() => void>();
  const tell = (next: T) => {
    value = next;
    for (const listener of listeners) listener();
  };
  const made = {
    get: () => value,
    set: (next: T) => {
      try {
        localStorage.setItem(PREFIX + key, JSON.stringify(next));
      } catch {
        // It lasts as long as the page.
      }
      tell(next);
    },
    reset: () => tell(initial),
    subscribe: (listener: () => void) => (listeners.add(listener), () => listeners.delete(listener)),
  };
  known.set(key, made as unknown as Remembered<never> & { reset: () => void });
  return made;
}

export function useRemembered<T>(key: string, initial: T): [T, (value: T) => void] {
  const kept = remembered(key, initial);
  return [useSyncExternalStore(kept.subscribe, kept.get), kept.set];
}

/** Of what is kept for a database its name is the second part of the key, as `queries.Northwind`, `columns.Northwind/query.shape`; no name has a slash. */
const OF_DATABASE = ["columns", "queries", "saved", "draft"];

/** Forgets what was kept for a database: another one of this name is to begin anew. */
export function forget(database: string) {
  const isOfIt = (key: string) =>
    OF_DATABASE.some((kind) => key === `${kind}.${database}` || key.startsWith(`${kind}.${database}/`));
  for (const [key, kept] of known) if (isOfIt(key)) kept.reset();
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(PREFIX) && isOfIt(key.slice(PREFIX.length))) localStorage.removeItem(key);
  } catch {
    // There is none.
  }
}

/** Keys that begin so are kept for the latest few only: shapes of results are without number. `latest` is used now. */
export function keepLatest(prefix: string, latest: string, countMax: number) {
  const used = remembered<string[]>(`${prefix}used`, []);
  if (used.get()[0] === latest) return;
  const keys = [latest, ...used.get().filter((key) => key !== latest)];
  used.set(keys.slice(0, countMax));
  try {
    for (const key of keys.slice(countMax)) localStorage.removeItem(PREFIX + key);
  } catch {
    // There is none.
  }
}
