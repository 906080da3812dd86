// Settings and sources of an index as they are typed: names may be the same for a while.

export type Named = { name: string; value: string };

export const namedOf = (record: Record<string, string> | undefined): Named[] =>
  Object.entries(record ?? {}).map(([name, value]) => ({ name, value }));

/** What has no name is left out. */
export const recordOf = (list: readonly Named[]): Record<string, string> =>
  Object.fromEntries(list.filter(({ name }) => name.trim() !== "").map(({ name, value }) => [name.trim(), value]));

export function changed(list: readonly Named[], place: number, change: Partial<Named>): Named[] {
  return list.map((one, at) => (at === place ? { ...one, ...change } : one));
}

export function without(list: readonly Named[], place: number): Named[] {
  return list.filter((_, at) => at !== place);
}
