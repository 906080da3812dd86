// How fast indexes take documents, from the counts of two answers of the server.
import { useEffect, useRef, useState } from "react";
import type { Statistics } from "../../api/indexes";

/** When the counts were so, in ms, and documents taken by each index since it was built. */
export type Counts = { at: number; taken: ReadonlyMap<string, number> };

/** Documents per second of each index. One that was reset, or that is new, has none yet. */
export function speedsBetween(before: Counts, now: Counts): Map<string, number> {
  const seconds = (now.at - before.at) / 1000;
  const speeds = new Map<string, number>();
  for (const [name, count] of now.taken) {
    const earlier = before.taken.get(name);
    if (earlier !== undefined && earlier <= count && seconds > 0) speeds.set(name, (count - earlier) / seconds);
  }
  return speeds;
}

const NONE: ReadonlyMap<string, number> = new Map();

/** The speeds between the latest two answers. `at`: when the last came, in ms. */
export function useSpeeds(indexes: readonly Statistics[] | undefined, at: number): ReadonlyMap<string, number> {
  const [speeds, setSpeeds] = useState(NONE);
  const last = useRef<Counts>(undefined);
  useEffect(() => {
    if (!indexes || last.current?.at === at) return;
    const now = { at, taken: new Map(indexes.map((index) => [index.Name, index.MapAttempts])) };
    if (last.current) setSpeeds(speedsBetween(last.current, now));
    last.current = now;
  }, [indexes, at]);
  return speeds;
}
