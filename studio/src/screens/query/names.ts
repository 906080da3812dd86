// Fields and values as they stand in a query.
import { RQL_KEYWORDS } from "../../editor/rqlWords";

/** The names on the way to a field; null stands for the items of an array. */
export type Path = readonly (string | null)[];

/** Words of the language: a field with such a name stands in quotes. */
const WORDS = new Set([...RQL_KEYWORDS.flatMap((word) => word.split(" ")), "filter_limit"]);

/** A name on the way to a field: as it is, or in quotes. */
export function quotedName(name: string): string {
  const isPlain = /^[A-Za-z_]\w*$/.test(name) && !WORDS.has(name.toLowerCase());
  return isPlain ? name : literalOf(name);
}

/** `Lines[].Product`. Undefined if a query cannot name the field: a dot or a bracket within a name means a way there. */
export function pathInQuery(path: Path): string | undefined {
  if (path.some((name) => name !== null && (name === "" || /[.[\]]/.test(name)))) return undefined;
  return joined(path, quotedName);
}

/** The same for people: names as they are. */
export function pathForPeople(path: Path): string {
  return joined(path, (name) => name);
}

function joined(path: Path, write: (name: string) => string): string {
  return path.reduce<string>(
    (before, name) => (name === null ? `${before}[]` : before === "" ? write(name) : `${before}.${write(name)}`),
    "",
  );
}

/** A value as it stands in a query. * `digits`: how a number was written, if JavaScript would round it. */
export function literalOf(value: string | number | boolean | null, digits?: string): string {
  if (typeof value !== "string") return digits ?? String(value);
  return `'${value.replace(/[\\']/g, "\\$&")}'`;
}
