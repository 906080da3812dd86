// Percentiles of what happened between two answers of the server, from its counts in buckets of durations (docs/http.md, "Latencies").

/** Where a bucket ends, in microseconds, and how many durations are in it; by rising end, empty ones left out. */
export type Buckets = readonly (readonly [end: number, count: number])[];

/** What was counted since `earlier`. */
export function since(earlier: Buckets, later: Buckets): Buckets {
  const before = new Map(earlier.map(([end, count]) => [end, count]));
  return later.map(([end, count]) => [end, count - (before.get(end) ?? 0)] as const).filter(([, count]) => count > 0);
}

/** The duration that a part (0.99) of all does not exceed, in ms; null if there are none. */
export function percentile(buckets: Buckets, part: number): number | null {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [end, count] of buckets) {
    seen += count;
    if (seen >= total * part) return end / 1000;
  }
  return null;
}
