// What a new document of a collection begins with: the fields of the others, without their values.

type Row = Record<string, unknown>;

/** Fields of a template. */
const FIELD_COUNT_MAX = 40;
/** Levels of objects in it. */
const DEPTH_MAX = 3;

/** The text of a new document. * `others`: documents of the collection. */
export function templateOf(collection: string | undefined, others: readonly Row[]): string {
  const fields = emptied(others, 1);
  const document = Object.keys(fields).length > 0 ? fields : { Name: "" };
  const metadata = collection === undefined ? {} : { "@metadata": { "@collection": collection } };
  return JSON.stringify({ ...document, ...metadata }, null, 4);
}

/** The fields that most of the rows have, each with the empty value of its kind. */
function emptied(rows: readonly Row[], depth: number): Row {
  const values = new Map<string, unknown[]>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (name === "@metadata") continue;
      values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  const usual = [...values].filter(([, found]) => found.length * 2 > rows.length).slice(0, FIELD_COUNT_MAX);
  return Object.fromEntries(usual.map(([name, found]) => [name, emptyOf(found, depth)]));
}

function emptyOf(values: readonly unknown[], depth: number): unknown {
  const value = values.find((one) => one !== null && one !== undefined);
  if (typeof value === "string") return "";
  if (typeof value === "number") return 0;
  if (typeof value === "boolean") return false;
  if (Array.isArray(value)) return [];
  if (typeof value !== "object" || value === null || depth >= DEPTH_MAX) return null;
  const objects = values.filter((one): one is Row => typeof one === "object" && one !== null && !Array.isArray(one));
  return emptied(objects, depth + 1);
}
