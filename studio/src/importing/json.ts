// Documents of a file of JSON that say nothing of Rookery: the collection and ids that they get, and MongoDB's ways to write values.
import { isNumber, member, scan, type Span } from "../json/scan";

/** How documents of JSON are stored. */
export type JsonPlan = {
  /** Of documents that name none; "": they get none. */
  collection: string;
  /** The field with the ids, which the document loses; "": the server makes them. */
  idField: string;
  /** What ids begin with, before what the field or the server adds. */
  idPrefix: string;
  /** Whether `{"$oid": ..}` and the like become plain values. */
  isExtended: boolean;
};

/** Whether it has a collection or an id of its own. */
export function isOfDatabase(root: Span): boolean {
  return member(root, "@metadata")?.kind === "object";
}

const EXTENDED = ["$oid", "$date", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$uuid"];

/** Whether a text has values as MongoDB's tools write them. */
export function hasExtended(text: string): boolean {
  return EXTENDED.some((name) => text.includes(`"${name}"`));
}

/** The value at `span` with MongoDB's objects of one value as that value; all else stays as it is written. */
export function withoutExtended(text: string, span: Span): string {
  if (span.kind === "array") return `[${span.elements.map((element) => withoutExtended(text, element)).join(",")}]`;
  if (span.kind !== "object") return text.slice(span.start, span.end);
  const [only] = span.members;
  if (only && span.members.length === 1 && EXTENDED.includes(only.name)) {
    const inner = withoutExtended(text, only.value);
    if (only.name === "$date") return dateOf(inner);
    if (only.name.startsWith("$number") && inner.startsWith('"')) {
      const number = JSON.parse(inner) as string;
      return isNumber(number) ? number : inner;
    }
    return inner;
  }
  return `{${span.members.map(({ name, value }) => `${JSON.stringify(name)}:${withoutExtended(text, value)}`).join(",")}}`;
}

/** Milliseconds since 1970 as a date; a date as text stays. */
function dateOf(literal: string): string {
  const ms = Number(literal);
  return literal.startsWith('"') || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15
    ? literal
    : JSON.stringify(new Date(ms).toISOString());
}

/** The document with its collection, and its id as a JSON string; `id` undefined: the server makes one. Throws a text that says what is wrong. */
export function planned(text: string, plan: JsonPlan): { id: string | undefined; text: string } {
  const source = plan.isExtended && hasExtended(text) ? withoutExtended(text, scan(text)) : text;
  const root = scan(source);
  if (root.kind !== "object") return { id: undefined, text: source };
  const metadata = member(root, "@metadata");
  const ownId = member(metadata, "@id");
  const given = plan.idField === "" ? undefined : member(root, plan.idField);
  const members = root.members
    .filter(({ name, value }) => name !== "@metadata" && value !== given)
    .map(({ nameStart, value }) => source.slice(nameStart, value.end));
  const own = metadata?.kind === "object" ? metadata.members.map(({ nameStart, value }) => source.slice(nameStart, value.end)) : [];
  if (plan.collection !== "" && !member(metadata, "@collection")) own.unshift(`"@collection":${JSON.stringify(plan.collection)}`);
  if (own.length > 0) members.push(`"@metadata":{${own.join(",")}}`);
  const written = `{${members.join(",")}}`;
  if (ownId?.kind === "string") return { id: JSON.parse(source.slice(ownId.start, ownId.end)) as string, text: written };
  if (plan.idField === "") return { id: undefined, text: written };
  const value = given && source.slice(given.start, given.end);
  const id = given?.kind === "string" ? (JSON.parse(value!) as string) : given?.kind === "number" ? value! : "";
  if (id === "") throw new Error(`"${plan.idField}", which has the ids, is ${given ? "neither a text nor a number" : "missing"}`);
  return { id: plan.idPrefix + id, text: written };
}

/** The fields that may have ids: texts and numbers of all documents. With the usual names first. */
export function idFields(texts: readonly string[]): string[] {
  const usual = ["_id", "id", "key"];
  const roots = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
  const isId = (value: unknown) => (typeof value === "string" && value !== "") || typeof value === "number" || isObjectId(value);
  const names = Object.keys(roots[0] ?? {}).filter((name) => roots.every((root) => isId(root[name])));
  const rank = (name: string) => (usual.indexOf(name.toLowerCase()) + usual.length + 1) % (usual.length + 1);
  return names.sort((one, other) => rank(one) - rank(other));
}

function isObjectId(value: unknown): boolean {
  return typeof value === "object" && value !== null && "$oid" in value;
}

/** Whether a field is called as ids are. */
export function isUsualId(name: string | undefined): boolean {
  return name !== undefined && /^(_id|id|key)$/i.test(name);
}
