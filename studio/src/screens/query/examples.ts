// Queries to begin with, made of the fields that documents of a collection have: each shows another part of the language.
import { pathsOf, valueAt } from "../../grid/columns";
import { quotedName } from "./names";
import { nameInQuery, typeOf } from "./ordering";
import { pointsPathOf } from "./points";
import { quotedIfNeeded } from "./text";

export type Example = { what: string; text: string };

type Row = Record<string, unknown>;

/** Characters of a value that is compared with. */
const VALUE_LENGTH_MAX = 30;

/** Up to five queries for a collection with these documents. */
export function examplesOf(collection: string, rows: readonly Row[]): Example[] {
  const from = `from ${quotedIfNeeded(collection)}`;
  const found: Example[] = [];
  // What scripts and arrays hold is not told by one word.
  const paths = pathsOf(rows).filter((path) => !path.startsWith("'"));
  const valuesOf = (path: string) => rows.map((row) => valueAt(row, path)).filter((value) => value !== undefined && value !== null);
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "" && !isId(value) && !isDate(value);
  const texts = paths.filter((path) => valuesOf(path).length > 0 && valuesOf(path).every(isText));
  const repeated = [
    ...texts,
    ...paths.filter((path) => valuesOf(path).some((value) => typeof value === "string" && isId(value))),
  ].find((path) => new Set(valuesOf(path)).size < valuesOf(path).length);
  const number = paths.find((path) => typeOf(valuesOf(path)) !== undefined);
  const long = texts.find((path) => valuesOf(path).some((value) => String(value).includes(" ")));
  const short = texts.find((path) => valuesOf(path).every((value) => String(value).length <= VALUE_LENGTH_MAX));
  const name = (path: string) => nameInQuery(path);
  const text = (value: unknown) => `'${String(value).replace(/[\\']/g, "\\$&")}'`;

  const filtered = repeated !== undefined && texts.includes(repeated) ? repeated : short;
  if (filtered !== undefined) {
    const sorted = number === undefined ? "" : ` order by ${name(number)} as ${typeOf(valuesOf(number))} desc`;
    found.push({ what: "Filter and sort", text: `${from} where ${name(filtered)} = ${text(valuesOf(filtered)[0])}${sorted}` });
  } else if (number !== undefined) {
    found.push({ what: "Filter", text: `${from} where ${name(number)} >= ${String(valuesOf(number)[0])}` });
  }
  const grouped = repeated ?? short;
  if (grouped !== undefined) {
    const field = name(grouped);
    found.push({
      what: "Group and count",
      text: `${from} group by ${field} order by count() as long desc select key() as ${quotedName(lastOf(grouped))}, count() as Count`,
    });
  }
  if (long !== undefined) {
    const word = wordOf(valuesOf(long).map(String));
    if (word !== undefined)
      found.push({ what: "Full-text search", text: `${from} where search(${name(long)}, ${text(`${word}*`)})` });
  }
  const place = pointsPathOf(rows);
  if (place) {
    const [latitude, longitude] = [place.latitude, place.longitude].map(name);
    const circle = `spatial.circle(500, ${place.at[0].toFixed(2)}, ${place.at[1].toFixed(2)})`;
    found.push({
      what: "Within 500 km",
      text: `${from} where spatial.within(spatial.point(${latitude}, ${longitude}), ${circle})`,
    });
  }
  const shown = [short, number, ...texts].filter((path): path is string => path !== undefined);
  const columns = [...new Set(shown)].slice(0, 3);
  if (columns.length > 1) found.push({ what: "Choose columns", text: `${from} select ${columns.map(name).join(", ")} limit 20` });
  if (found.length === 0) found.push({ what: "All documents", text: from });
  return found;
}

function isId(value: string): boolean {
  return /^[a-z]\w*\/\S+$/i.test(value);
}

function isDate(value: string): boolean {
  return /^\d{4}-\d\d-\d\dT/.test(value);
}

/** The beginning of a word that occurs in one of the texts. */
function wordOf(texts: readonly string[]): string | undefined {
  const word = texts.flatMap((text) => text.split(/[^\p{L}]+/u)).find((part) => part.length >= 4);
  return word?.slice(0, 4).toLowerCase();
}

function lastOf(path: string): string {
  const last = path.split(".").at(-1)!;
  return /^[A-Za-z_]\w*$/.test(last) ? last : "Value";
}
