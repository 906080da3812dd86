// What this browser remembers: widths, columns, recent queries. Storage may be full or forbidden; then it is forgotten.
import { useSyncExternalStore } from "react";

const PREFIX = "rookery.";

export type Remembered<T> = { get: () => T; set: (value: T) => void; subscribe: (listener: () => void) => () => void };

const known = new Map<string, Remembered<never>>();

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
  const made: Remembered<T> = {
    get: () => value,
    set: (next) => {
      value = next;
      try {
        localStorage.setItem(PREFIX + key, JSON.stringify(next));
      } catch {
        // It lasts as long as the page.
      }
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
  };
  known.set(key, made as unknown as Remembered<never>);
  return made;
}

export function useRemembered<T>(key: string, initial: T): [T, (value: T) => void] {
  const kept = remembered(key, initial);
  return [useSyncExternalStore(kept.subscribe, kept.get), kept.set];
}
