// One definition in C# with the fields of several automatic indexes.
import type { Definition, FieldOptions } from "../../api/indexes";

/** The longest name that the server accepts. */
const NAME_LENGTH_MAX = 206;

const PATH = /^[A-Za-z_]\w*(\[\])?(\.[A-Za-z_]\w*(\[\])?)*$/;

/** `Orders:[<Name:Company>]` is the map of an automatic index of the collection Orders. */
const MAP = /^(.+):\[/;

type MergedField = { name: string; expression: string; options: FieldOptions | undefined };

/**
 * A definition that has the fields of all `indexes`, for the index editor. Undefined if they are not automatic indexes of one collection,
 * if they group, or if a field has no counterpart in a map (a vector, a name in quotes).
 */
export function mergedDefinition(indexes: readonly Definition[]): Definition | undefined {
  const collections = new Set(indexes.map((index) => (index.Type === "AutoMap" ? MAP.exec(index.Maps[0] ?? "")?.[1] : undefined)));
  const [collection] = collections;
  if (collections.size !== 1 || collection === undefined) return undefined;
  const keys = [...new Set(indexes.flatMap((index) => Object.keys(index.Fields ?? {})))].sort();
  const fields = keys.map(fieldOf);
  if (fields.length === 0 || !fields.every((field) => field !== undefined)) return undefined;
  const isOfAll = collection === "@all_docs";
  const source = isOfAll
    ? "docs"
    : /^[A-Za-z_]\w*$/.test(collection)
      ? `docs.${collection}`
      : `docs[${JSON.stringify(collection)}]`;
  const lines = fields.map(({ name, expression }) => (expression === `doc.${name}` ? expression : `${name} = ${expression}`));
  return {
    Name: nameOf(isOfAll ? "AllDocs" : collection, fields),
    Maps: [`from doc in ${source}\nselect new\n{\n${lines.map((line) => `    ${line}`).join(",\n")}\n}`],
    Reduce: null,
    Fields: Object.fromEntries(fields.flatMap(({ name, options }) => (options ? [[name, options]] : []))),
  };
}

/** A field of an automatic index: `Freight`, `Lines[].Product`, `search(Name)`, `exact(Name)`, `spatial.point(Lat, Lng)`, `spatial.wkt(Area)`. */
function fieldOf(key: string): MergedField | undefined {
  const [, kind, inner] = /^(search|exact|spatial\.point|spatial\.wkt)\((.*)\)$/.exec(key) ?? [];
  const paths = (inner ?? key).split(/\s*,\s*/);
  if (!paths.every((path) => PATH.test(path))) return undefined;
  const [first] = paths as [string];
  if (kind === undefined) return { name: flat(first), expression: read(first), options: undefined };
  if (kind === "search") return { name: `${flat(first)}_Search`, expression: read(first), options: { Indexing: "Search" } };
  if (kind === "exact") return { name: `${flat(first)}_Exact`, expression: read(first), options: { Indexing: "Exact" } };
  if (first.includes("[]")) return undefined;
  // The object that has both numbers names the field.
  const above = kind === "spatial.point" ? first.split(".").slice(0, -1).join(".") : first;
  return {
    name: flat(above) || "Place",
    expression: `CreateSpatialField(${paths.map(read).join(", ")})`,
    options: undefined,
  };
}

/** `Lines[].Product`: `Lines_Product` */
function flat(path: string): string {
  return path.replaceAll("[]", "").replaceAll(".", "_");
}

/** `Lines[].Product`: `doc.Lines.Select(x => x.Product)`; arrays in arrays become one. */
function read(path: string): string {
  const parts = path.split("[].");
  let expression = `doc.${parts[0]!.replace(/\[\]$/, "")}`;
  parts.slice(1).forEach((part, at) => {
    const isLast = at === parts.length - 2 && !part.endsWith("[]");
    expression += `.${isLast ? "Select" : "SelectMany"}(x => x.${part.replace(/\[\]$/, "")})`;
  });
  return expression;
}

function nameOf(collection: string, fields: readonly MergedField[]): string {
  const prefix = collection.replace(/[^\w.-]/g, "");
  const name = `${prefix}/By${fields.map((field) => field.name).join("And")}`;
  return name.length <= NAME_LENGTH_MAX ? name : `${prefix}/Merged`;
}
