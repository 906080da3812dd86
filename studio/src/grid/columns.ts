// Columns of a grid of documents: found in the data, then as their user set them.
import { glimpse } from "../format/format";
import { digitsOf } from "../json/exact";

/** * `isSet`: somebody chose the width; else it grows with what comes into view. */
export type Column = { path: string; width: number; isHidden: boolean; isSet?: boolean };

/** Columns that are shown before anybody chooses. */
const SHOWN_COUNT = 8;
/** Paths that are offered. */
const OFFERED_COUNT_MAX = 120;
const CHARACTER_WIDTH = 7.5;
/** Of digits, in fonts that have wide ones: a number is not to be cut. */
const DIGIT_WIDTH = 8.6;
const PADDING = 24;
const WIDTH_MIN = 64;
const WIDTH_MAX = 320;

/** Of objects and arrays a glimpse is enough. */
const NESTED_WIDTH = 160;

const isNested = (value: unknown) => typeof value === "object" && value !== null;

// No field has these paths: `pathsOf` offers nothing of the metadata. A field may well be called `@id`, as in JSON-LD.
export const ID = "@metadata.@id";
export const MODIFIED = "@metadata.@last-modified";

/** What a column is called. */
export function nameOf(path: string): string {
  return path === ID ? "Id" : path === MODIFIED ? "Modified" : path;
}

/** The name of a field that has a dot in it, where there is an object of the first part too: `'a.b'`. */
export function literalOf(path: string): string | undefined {
  return /^'.*\..*'$/.test(path) ? path.slice(1, -1) : undefined;
}

/** The object that has what stands at a path, and its name there. */
function placeOf(row: Record<string, unknown>, path: string): [holder: Record<string, unknown>, name: string] | undefined {
  const literal = literalOf(path);
  if (literal !== undefined && Object.hasOwn(row, literal)) return [row, literal];
  return nestedPlaceOf(row, path) ?? (Object.hasOwn(row, path) ? [row, path] : undefined);
}

function nestedPlaceOf(row: Record<string, unknown>, path: string): [holder: Record<string, unknown>, name: string] | undefined {
  const names = path.split(".");
  const last = names.pop()!;
  let holder: unknown = row;
  for (const name of names) {
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, name)) return undefined;
    holder = (holder as Record<string, unknown>)[name];
  }
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, last)) return undefined;
  return [holder as Record<string, unknown>, last];
}

/** The value at a path, `ShipTo.City`. */
export function valueAt(row: Record<string, unknown>, path: string): unknown {
  const place = placeOf(row, path);
  return place && place[0][place[1]];
}

/** How a number at a path was written, if JavaScript would round it. */
export function digitsAt(row: Record<string, unknown>, path: string): string | undefined {
  const place = placeOf(row, path);
  return place && digitsOf(...place);
}

/** The paths of some rows: those of their roots in the order in which they occur, each followed by those one level below. */
export function pathsOf(rows: readonly Record<string, unknown>[], countMax = OFFERED_COUNT_MAX): string[] {
  const found = new Map<string, Set<string>>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (name === "@metadata") continue;
      const below = found.get(name) ?? new Set<string>();
      found.set(name, below);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        for (const inner of Object.keys(value)) below.add(`${name}.${inner}`);
      }
    }
  }
  const nested = new Set([...found.values()].flatMap((below) => [...below]));
  const pathOf = (name: string) => (nested.has(name) ? `'${name}'` : name);
  return [...found].flatMap(([name, below]) => [pathOf(name), ...below]).slice(0, countMax);
}

/** Of the heads, which are bold; M and W are wider than that. */
const HEAD_CHARACTER_WIDTH = 8.4;
const WIDE_CHARACTER_EXTRA = 5;
/** For what short names are wider than on average. */
const HEAD_SPARE = 4;

/** What a text needs, in pixels; digits, as of dates, are wide. */
function widthOf(text: string): number {
  const each = /^[\d.,:TZ+ -]*$/.test(text) ? DIGIT_WIDTH : CHARACTER_WIDTH;
  return Math.ceil(text.length * each) + PADDING;
}

/** What the head of a column needs. * `isSorted`: it has an arrow. */
export function headWidth(path: string, isSorted: boolean): number {
  const name = nameOf(path);
  const wide = name.match(/[mwMW@%]/g)?.length ?? 0;
  return Math.ceil(name.length * HEAD_CHARACTER_WIDTH + wide * WIDE_CHARACTER_EXTRA) + HEAD_SPARE + PADDING + (isSorted ? 16 : 0);
}

/** The width that values in view need: a number that is cut is a wrong number; texts grow up to a bound. */
export function neededWidth(path: string, rows: readonly Record<string, unknown>[]): number {
  let needed = 0;
  for (const row of rows) {
    const value = valueAt(row, path);
    if (value === undefined || value === null || isNested(value)) continue;
    const width = widthOf(digitsAt(row, path) ?? glimpse(value));
    needed = Math.max(needed, typeof value === "number" ? width : Math.min(WIDTH_MAX, width));
  }
  return needed;
}

/** As wide as what is in it, within bounds. */
export function widthFor(path: string, rows: readonly Record<string, unknown>[]): number {
  const widths = rows.slice(0, 50).map((row) => widthOf(glimpse(valueAt(row, path))));
  widths.sort((a, b) => a - b);
  // Few long texts do not make all of it wide.
  const usual = widths[Math.floor(widths.length * 0.9)] ?? 0;
  if (rows.some((row) => isNested(valueAt(row, path)))) return NESTED_WIDTH;
  return Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, usual, headWidth(path, false)));
}

/**
 * All columns for these rows: those that were `kept` first, as they were, also where these rows have no such field; the new ones behind
 * them. `further`: rows whose fields are offered too, but not shown before somebody chooses them. `room`: pixels that there are for
 * columns; as long as nobody chose, more than the usual ones are shown if they have room, and objects take what is left.
 */
export function columnsFor(
  rows: readonly Record<string, unknown>[],
  kept: readonly Column[],
  hasId: boolean,
  further: readonly Record<string, unknown>[] = [],
  room = 0,
): Column[] {
  const offered = [...(hasId ? [ID] : []), ...pathsOf(rows), ...(hasId ? [MODIFIED] : [])];
  const known = new Set(kept.map((column) => column.path));
  const isFirst = kept.length === 0;
  let [shownCount, taken] = [0, 0];
  const added = offered
    .filter((path) => !known.has(path))
    .map((path) => {
      const width = widthFor(path, rows);
      const isBelow = path !== ID && path.includes(".") && !rows.some((row) => Object.hasOwn(row, literalOf(path) ?? path));
      const isHidden = !isFirst || isBelow || path === MODIFIED || (shownCount >= SHOWN_COUNT && taken + width > room);
      if (!isHidden) [shownCount, taken] = [shownCount + 1, taken + width];
      return { path, width, isHidden };
    });
  const nested = added.filter(({ path, isHidden }) => !isHidden && rows.some((row) => isNested(valueAt(row, path))));
  const more = Math.floor(Math.min(WIDTH_MAX, (room - taken) / Math.max(1, nested.length)));
  if (more > 0) for (const column of nested) column.width += more;
  const named = new Set([...known, ...offered]);
  const later = pathsOf(further)
    .filter((path) => !named.has(path))
    .map((path) => ({ path, width: widthFor(path, further), isHidden: true }));
  return [...kept, ...added, ...later];
}

/** The columns with the one at `path` put at the place of another. */
export function moved(columns: readonly Column[], path: string, to: string): Column[] {
  const from = columns.find((column) => column.path === path);
  if (!from || path === to) return [...columns];
  const target = columns.findIndex((column) => column.path === to);
  const rest = columns.filter((column) => column !== from);
  const place = target < 0 ? rest.length : target;
  return [...rest.slice(0, place), from, ...rest.slice(place)];
}

/** What a user may make of a width, in pixels. */
const SET_WIDTH_MIN = 48;
const SET_WIDTH_MAX = 1200;

/** The columns with the one at `path` as wide as that, within bounds. */
export function widened(columns: readonly Column[], path: string, width: number): Column[] {
  const next = Math.round(Math.min(SET_WIDTH_MAX, Math.max(SET_WIDTH_MIN, width)));
  return columns.map((column) => (column.path === path ? { ...column, width: next, isSet: true } : column));
}
