// What this browser remembers: widths, columns, recent queries. Storage may be full or forbidden; then it is forgotten. All tabs share it, but
// for what is kept of one tab alone.
import { useSyncExternalStore } from "react";
import { listeners } from "./listeners";

const PREFIX = "rookery.";

/** A value, or what is made of the one that is stored: another tab may have written it. */
export type Change<T> = T | ((stored: T) => T);
export type Remembered<T> = { get: () => T; set: (change: Change<T>) => void; subscribe: (listener: () => void) => () => void };

/** Where it is kept: for all tabs of the browser, or for this one until it is closed. */
export type Scope = "browser" | "tab";
const storeOf = (scope: Scope): Storage => (scope === "tab" ? sessionStorage : localStorage);

type Known = Remembered<never> & { scope: Scope; read: () => void; reset: () => void };

const known = new Map<string, Known>();

/** A value under a key, which is of one scope; the same object for the same key. */
export function remembered<T>(key: string, initial: T, scope: Scope = "browser"): Remembered<T> {
  const found = known.get(key) as Remembered<T> | undefined;
  if (found) return found;
  const stored = (otherwise: T): T => {
    try {
      const text = storeOf(scope).getItem(PREFIX + key);
      return text === null ? otherwise : (JSON.parse(text) as T);
    } catch {
      return otherwise;
    }
  };
  let value = stored(initial);
  const { subscribe, tell: told } = listeners();
  const tell = (next: T) => {
    value = next;
    told();
  };
  const made = {
    get: () => value,
    set: (change: Change<T>) => {
      const next = typeof change === "function" ? (change as (stored: T) => T)(stored(value)) : change;
      try {
        storeOf(scope).setItem(PREFIX + key, JSON.stringify(next));
      } catch {
        // It lasts as long as the page.
      }
      tell(next);
    },
    scope,
    read: () => tell(stored(initial)),
    reset: () => tell(initial),
    subscribe,
  };
  known.set(key, made as unknown as Known);
  return made;
}

/** Another tab wrote something, or forgot all (then there is no key). */
function heard({ key }: { key: string | null }) {
  if (key === null) for (const kept of known.values()) kept.scope === "browser" && kept.read();
  else if (key.startsWith(PREFIX)) known.get(key.slice(PREFIX.length))?.read();
}
globalThis.addEventListener?.("storage", (event) => event.storageArea === localStorage && heard(event));

export function useRemembered<T>(key: string, initial: T): [T, (change: Change<T>) => void] {
  const kept = remembered(key, initial);
  return [useSyncExternalStore(kept.subscribe, kept.get), kept.set];
}

/** Of what is kept for a database its name is the second part of the key, as `queries.Northwind`, `columns.Northwind/query.shape`; no name has a slash. */
const OF_DATABASE = ["columns", "queries", "saved", "tabs", "began", "map"];

/** Forgets what was kept for a database: another one of this name is to begin anew. */
export function forget(database: string) {
  const isOfIt = (key: string) =>
    OF_DATABASE.some((kind) => key === `${kind}.${database}` || key.startsWith(`${kind}.${database}/`));
  for (const [key, kept] of known) if (isOfIt(key)) kept.reset();
  for (const scope of ["browser", "tab"] as const) {
    try {
      const store = storeOf(scope);
      for (const key of Object.keys(store)) if (key.startsWith(PREFIX) && isOfIt(key.slice(PREFIX.length))) store.removeItem(key);
    } catch {
      // There is none.
    }
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
