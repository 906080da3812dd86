// Colours of places by a field of their results: a colour for each text, or steps of a scale for numbers and dates.
import { aggregate, glimpse } from "../../format/format";

/** What one colour stands for. * `colour`: a variable of theme/tokens.css. */
export type Class = { label: string; colour: string; count: number };

/** `of`: the place in `classes` of each value. */
export type Colouring = { classes: Class[]; of: Uint8Array };

/** Texts that have colours of their own. */
export const CATEGORY_COUNT = 8;
export const STEP_COUNT = 5;
/** Paths that are offered. */
const PATH_COUNT_MAX = 16;
const DEPTH_MAX = 3;

const OTHER = "--map-other";
const DATE = /^\d{4}-\d\d-\d\d(T[\d:.]+Z?)?$/;

/** Paths of fields by which results can be coloured, from some of them: those with texts, numbers or truth values, but where each text differs. */
export function colourPaths(rows: readonly Record<string, unknown>[]): string[] {
  const values = new Map<string, unknown[]>();
  const walk = (value: unknown, path: string, depth: number) => {
    if (typeof value !== "object" || value === null) {
      if (value !== null) values.set(path, [...(values.get(path) ?? []), value]);
    } else if (!Array.isArray(value) && depth < DEPTH_MAX) {
      for (const [name, below] of Object.entries(value)) {
        if (name !== "@metadata" && !name.includes(".")) walk(below, path === "" ? name : `${path}.${name}`, depth + 1);
      }
    }
  };
  for (const row of rows) walk(row, "", 0);
  const isUseful = (found: readonly unknown[]) => {
    const isText = found.some((value) => typeof value === "string" && !DATE.test(value));
    return !isText || found.length <= CATEGORY_COUNT || new Set(found).size < found.length;
  };
  return [...values].flatMap(([path, found]) => (isUseful(found) ? [path] : [])).slice(0, PATH_COUNT_MAX);
}

/** The colours of values; undefined or null is one that a result lacks. */
export function colouring(values: readonly unknown[]): Colouring {
  const known = values.filter((value) => value !== undefined && value !== null);
  const isScale =
    known.length > 0 &&
    (known.every((value) => typeof value === "number") || known.every((value) => typeof value === "string" && DATE.test(value)));
  return isScale ? steps(values, known as (number | string)[]) : categories(values);
}

/** Steps that have about as many values each, since one that is far from the others would make them one colour. Dates are in order as texts. */
function steps(values: readonly unknown[], known: readonly (number | string)[]): Colouring {
  const sorted = [...known].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const distinct = [...new Set(sorted)];
  const ends =
    distinct.length <= STEP_COUNT
      ? distinct
      : [
          ...new Set(
            Array.from({ length: STEP_COUNT }, (_, at) => sorted[Math.ceil((sorted.length * (at + 1)) / STEP_COUNT) - 1]!),
          ),
        ];
  const name = (value: number | string) => (typeof value === "number" ? aggregate(value) : glimpse(value));
  const classes = ends.map((end, at): Class => {
    const first = at === 0 ? sorted[0]! : distinct.find((value) => value > ends[at - 1]!)!;
    const label = first === end ? name(end) : `${name(first)} – ${name(end)}`;
    // Few steps are as far apart as many.
    const shade = ends.length === 1 ? STEP_COUNT : 1 + Math.round((at * (STEP_COUNT - 1)) / (ends.length - 1));
    return { label, colour: `--map-step-${shade}`, count: 0 };
  });
  return counted(values, classes, (value) => ends.findIndex((end) => (value as number | string) <= end));
}

/** The most frequent texts have a colour each. */
function categories(values: readonly unknown[]): Colouring {
  const counts = new Map<string, number>();
  for (const value of values)
    if (value !== undefined && value !== null) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
  const byCount = [...counts].sort(([a, some], [b, others]) => others - some || (a < b ? -1 : 1));
  const shown = byCount.slice(0, CATEGORY_COUNT);
  const classes = shown.map(([text], at): Class => ({ label: text || "(empty)", colour: `--map-category-${at + 1}`, count: 0 }));
  const places = new Map(shown.map(([text], at) => [text, at]));
  const otherCount = byCount.length - shown.length;
  if (otherCount > 0) classes.push({ label: `${otherCount} others`, colour: OTHER, count: 0 });
  return counted(values, classes, (value) => places.get(String(value)) ?? CATEGORY_COUNT);
}

function counted(values: readonly unknown[], classes: Class[], placeOf: (value: unknown) => number): Colouring {
  const of = new Uint8Array(values.length);
  const none: Class = { label: "no value", colour: OTHER, count: 0 };
  values.forEach((value, at) => {
    const isNone = value === undefined || value === null;
    of[at] = isNone ? classes.length : placeOf(value);
    (isNone ? none : classes[of[at]!]!).count++;
  });
  return { classes: none.count > 0 ? [...classes, none] : classes, of };
}
