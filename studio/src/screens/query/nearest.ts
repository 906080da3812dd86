// The name that was probably meant.

/** Of names, the one that needs the fewest changes, if these are at most a third of its letters; upper and lower case are the same. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const found = names
    .map((one) => ({ one, changes: distance(wanted, one.toLowerCase()) }))
    .filter(({ one, changes }) => changes <= Math.max(name.length, one.length) / 3)
    .sort((a, b) => a.changes - b.changes);
  return found[0]?.one;
}

/** Letters to insert, delete or replace (Levenshtein's distance). */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
