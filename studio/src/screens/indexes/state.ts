// What the statistics of an index mean to people.
import { count } from "../../format/format";
import type { Progress, Statistics } from "../../api/indexes";

/** The server keeps no more errors of an index than these, the latest. */
export const ERRORS_KEPT_MAX = 500;

/** A changed definition is built under this name until it replaces the old one. Nobody can save one under it. */
export const REPLACEMENT = "ReplacementOf/";

/** The indexes that can be gone to, without what is built to replace one. */
export function withoutReplacements<T extends { Name: string }>(indexes: readonly T[]): T[] {
  return indexes.filter(({ Name }) => !Name.startsWith(REPLACEMENT));
}

export type Tone = "good" | "busy" | "warn" | "bad" | "quiet";

export function stateOf(index: Statistics): { label: string; tone: Tone } {
  if (index.State === "Error") return { label: "Failed", tone: "bad" };
  if (index.State === "Disabled") return { label: "Disabled", tone: "quiet" };
  if (index.Status === "Paused") return { label: index.IsStale ? "Paused, stale" : "Paused", tone: "warn" };
  if (index.IsStale) return { label: "Stale", tone: "busy" };
  return { label: "Up to date", tone: "good" };
}

/** `500+` if there may be more than the server keeps. */
export function errorCount({ ErrorsCount, MapErrors }: Statistics): string {
  if (ErrorsCount < ERRORS_KEPT_MAX) return count(ErrorsCount);
  return MapErrors !== null && MapErrors > ErrorsCount ? count(MapErrors) : `${count(ErrorsCount)}+`;
}

/** Whether it takes what it lacks. */
export function isBuilding(index: Statistics): boolean {
  return index.IsStale && index.State !== "Error" && index.State !== "Disabled" && index.Status !== "Paused";
}

/** Whether a query ever used it: the server gives the time of its creation if none did. */
export function isQueried({ LastQueryingTime, CreatedTimestamp }: Statistics): boolean {
  return LastQueryingTime !== CreatedTimestamp;
}

/** What it has to take still, documents and tombstones of all collections; `share`: how much of all it has, from 0 to 1. */
export function progressOf(progress: Progress): { left: number; share: number } {
  let [left, total] = [0, 0];
  for (const source of Object.values(progress.Collections)) {
    left += source.NumberOfItemsToProcess + source.NumberOfTombstonesToProcess;
    total += source.TotalNumberOfItems + source.TotalNumberOfTombstones;
  }
  return { left, share: total === 0 ? 1 : 1 - Math.min(left, total) / total };
}

/** By name; what is built to replace an index comes right behind it. */
export function arranged(indexes: readonly Statistics[]): Statistics[] {
  const key = (index: Statistics) =>
    index.Name.startsWith(REPLACEMENT) ? `${index.Name.slice(REPLACEMENT.length)}\u0000` : index.Name;
  return [...indexes].sort((a, b) => key(a).localeCompare(key(b)) || a.Name.length - b.Name.length);
}

/** `AutoMapReduce` in words. */
export function kindOf(type: string): string {
  const by = type.startsWith("Auto") ? "automatic " : type.startsWith("JavaScript") ? "JavaScript " : "";
  const what = type.endsWith("MapReduce") ? "map-reduce" : "map";
  const kind = `${by}${what}`;
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}
