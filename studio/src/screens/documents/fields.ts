// The fields of a collection, told from some of its documents: types, how many have them, values. A tree of fields grows with each
// document (`take`); `fieldsOf` says what was found.
import { digitsOf } from "../../json/exact";
import { literalOf, pathInQuery, type Path } from "../query/names";
import { bucketsOfDates, bucketsOfNumbers, timeOf, type Bucket } from "./buckets";

/** Fields that are told apart: objects with ids for names would have any number of them. */
export const FIELD_COUNT_MAX = 300;
/** Items of an array that are looked at. */
export const ITEM_COUNT_MAX = 100;
/** Values of a document that are looked at, so that one of many MB costs little. */
export const VALUE_COUNT_MAX = 10_000;
/** How deep objects and arrays are looked into. */
const DEPTH_MAX = 20;
/** Different values of a field that are counted; those that come later are left out. */
const DISTINCT_COUNT_MAX = 1000;
/** Characters of a text that is compared; of a longer one its beginning is shown. */
const TEXT_LENGTH_MAX = 120;
/** Values that are shown, each with its count; so few different numbers or dates are shown in place of buckets. */
const SHOWN_COUNT = 6;
/** Values that are shown beside buckets. */
const EXAMPLE_COUNT = 4;

export const KINDS = ["text", "id", "date", "number", "boolean", "object", "array", "null"] as const;
/** `id`: a text such as `orders/1-A` or a GUID. `date`: a text such as `1996-07-04T00:00:00.0000000`. */
export type Kind = (typeof KINDS)[number];

/** A value that was counted. * `text`: for people. * `literal`: in a query; undefined if it is too long. */
type Counted = { kind: Kind; text: string; literal: string | undefined; count: number };

/** What is known of the values at one path. */
type Node = {
  path: Path;
  /** Documents that have it, and the last of these. */
  documentCount: number;
  lastDocument: number;
  kinds: Map<Kind, number>;
  values: Map<string, Counted>;
  numbers: number[];
  dates: { text: string; time: number }[];
  /** Of each kind that has an order: the smallest and the largest value. */
  bounds: Map<Kind, { least: Bound; largest: Bound }>;
  children: Map<string, Node>;
  items: Node | undefined;
};

type Bound = { order: number | string; text: string };

export type Shape = {
  root: Node;
  documentCount: number;
  fieldCount: number;
  /** Documents that were looked at in part. */
  partCount: number;
  /** Whether there are more fields than are told apart. */
  hasMore: boolean;
};

/** A value or a range of them. * `where`: the condition that finds the documents; undefined if a query cannot. */
export type Shown = { text: string; count: number; where: string | undefined };

export type Field = {
  path: Path;
  documentCount: number;
  /** Shares of all values at the path, the most frequent first. */
  kinds: { kind: Kind; count: number; share: number }[];
  /** `values`: the most frequent ones. `buckets`: ranges of numbers or dates, without gaps. */
  histogram: { kind: "values" | "buckets"; bars: Shown[] };
  /** Some values, where the histogram has none. */
  examples: Shown[];
  /** Different values of the most frequent type; more than that if `hasMoreValues`. */
  distinctCount: number;
  hasMoreValues: boolean;
  least: string | undefined;
  largest: string | undefined;
  /** Condition for the documents whose value is null, and for those that do not have the field; undefined where there are none. */
  whereNull: string | undefined;
  whereMissing: string | undefined;
};

function newNode(path: Path): Node {
  return {
    path,
    documentCount: 0,
    lastDocument: -1,
    kinds: new Map(),
    values: new Map(),
    numbers: [],
    dates: [],
    bounds: new Map(),
    children: new Map(),
    items: undefined,
  };
}

export function newShape(): Shape {
  return { root: newNode([]), documentCount: 0, fieldCount: 0, partCount: 0, hasMore: false };
}

/** Adds what a document has to what is known. */
export function take(shape: Shape, document: Record<string, unknown>) {
  let left = VALUE_COUNT_MAX;
  let isPart = false;
  const number = shape.documentCount++;
  const child = (node: Node, name: string | null): Node | undefined => {
    const known = name === null ? node.items : node.children.get(name);
    if (known) return known;
    if (shape.fieldCount >= FIELD_COUNT_MAX) {
      shape.hasMore = true;
      return undefined;
    }
    shape.fieldCount++;
    const made = newNode([...node.path, name]);
    if (name === null) node.items = made;
    else node.children.set(name, made);
    return made;
  };
  const visit = (node: Node, value: unknown, holder: object, name: string, depth: number) => {
    left--;
    if (node.lastDocument !== number) {
      node.lastDocument = number;
      node.documentCount++;
    }
    count(node, value, holder, name);
    if (typeof value !== "object" || value === null) return;
    if (depth >= DEPTH_MAX) isPart = true;
    else if (Array.isArray(value)) {
      if (value.length > ITEM_COUNT_MAX) isPart = true;
      enter(
        value,
        value.slice(0, ITEM_COUNT_MAX).map((_, at) => String(at)),
        () => child(node, null),
        depth,
      );
    } else enter(value, Object.keys(value), (key) => child(node, key), depth);
  };
  const enter = (holder: object, names: readonly string[], nodeOf: (name: string) => Node | undefined, depth: number) => {
    for (const name of names) {
      if (left <= 0) {
        isPart = true;
        return;
      }
      const node = nodeOf(name);
      if (node) visit(node, (holder as Record<string, unknown>)[name], holder, name, depth + 1);
    }
  };
  const own = Object.keys(document).filter((name) => name !== "@metadata");
  enter(document, own, (name) => child(shape.root, name), 0);
  if (isPart) shape.partCount++;
}

const ID = /^[A-Za-z][\w-]*\/[\w-]*\d[\w-]*$|^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$|^[\da-f]{24}$/i;

export function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string")
    return timeOf(value) !== undefined ? "date" : value.length <= TEXT_LENGTH_MAX && ID.test(value) ? "id" : "text";
  return typeof value as "number" | "boolean" | "object";
}

/** Counts a value where it stands. * `holder`, `name`: the object that has it, which knows the digits of its numbers. */
function count(node: Node, value: unknown, holder: object, name: string) {
  const kind = kindOf(value);
  node.kinds.set(kind, (node.kinds.get(kind) ?? 0) + 1);
  if (kind === "array") return bound(node, kind, { order: (value as unknown[]).length, text: String((value as unknown[]).length) });
  if (kind === "object" || kind === "null") return;
  const scalar = value as string | number | boolean;
  const digits = typeof value === "number" ? digitsOf(holder, name) : undefined;
  const text = digits ?? String(scalar);
  const isLong = text.length > TEXT_LENGTH_MAX;
  const short = isLong ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
  const key = `${kind} ${short}`;
  const known = node.values.get(key);
  if (known) known.count++;
  else if (node.values.size < DISTINCT_COUNT_MAX) {
    node.values.set(key, { kind, text: short, literal: isLong ? undefined : literalOf(scalar, digits), count: 1 });
  }
  if (typeof scalar === "number") {
    if (Number.isFinite(scalar)) node.numbers.push(scalar);
    bound(node, kind, { order: scalar, text });
  } else if (kind === "date") {
    const time = timeOf(text)!;
    node.dates.push({ text, time });
    bound(node, kind, { order: time, text });
  } else if (kind !== "boolean") bound(node, kind, { order: short, text: short });
}

function bound(node: Node, kind: Kind, next: Bound) {
  const known = node.bounds.get(kind);
  if (!known) node.bounds.set(kind, { least: next, largest: next });
  else if (next.order < known.least.order) known.least = next;
  else if (next.order > known.largest.order) known.largest = next;
}

/** All fields, each followed by those below it. Items that are objects stand there with their fields alone. */
export function fieldsOf(shape: Shape): Field[] {
  const found: Field[] = [];
  const walk = (node: Node) => {
    const isObjects = node.path.at(-1) === null && node.kinds.size === 1 && node.children.size > 0;
    if (!isObjects) found.push(fieldOf(node, shape.documentCount));
    if (node.items) walk(node.items);
    for (const child of node.children.values()) walk(child);
  };
  for (const node of shape.root.children.values()) walk(node);
  return found;
}

function fieldOf(node: Node, allCount: number): Field {
  const kinds = kindsOf(node);
  const name = pathInQuery(node.path);
  const where = (condition: string) => (name === undefined ? undefined : `${name} ${condition}`);
  const main = kinds.find(({ kind }) => kind !== "object" && kind !== "array" && kind !== "null")?.kind;
  const values = [...node.values.values()].sort((one, other) => other.count - one.count);
  const shown = ({ text, literal, count: found }: Counted): Shown => ({
    text,
    count: found,
    where: literal === undefined ? undefined : where(`= ${literal}`),
  });
  const ofMain = values.filter(({ kind }) => kind === main);
  const isOrdered = main === "number" || main === "date";
  const buckets = isOrdered && ofMain.length > SHOWN_COUNT ? bucketsOf(node, main) : [];
  // Items of an array are found with one condition: of two, each could be met by another item.
  const isInArray = node.path.includes(null);
  const bars =
    buckets.length > 1
      ? buckets.map(({ text, count: found, from, to, isEndIncluded }) => ({
          text,
          count: found,
          where: isInArray
            ? where(`between ${from} and ${to}`)
            : where(`>= ${from} and ${name} ${isEndIncluded ? "<=" : "<"} ${to}`),
        }))
      : ofMain.slice(0, SHOWN_COUNT).map(shown);
  const isBuckets = buckets.length > 1;
  const isRepeated = ofMain.some(({ count: found }) => found > 1) || main === "boolean";
  const others = values.filter(({ kind }) => kind !== main).slice(0, EXAMPLE_COUNT);
  const examples = [...(isBuckets ? ofMain.slice(0, EXAMPLE_COUNT) : isRepeated ? [] : ofMain.slice(0, SHOWN_COUNT)), ...others];
  const of = node.bounds.get(main ?? "array");
  return {
    path: node.path,
    documentCount: node.documentCount,
    kinds,
    histogram: isBuckets ? { kind: "buckets", bars } : { kind: "values", bars: isRepeated ? bars : [] },
    examples: examples.map(shown),
    distinctCount: ofMain.length,
    hasMoreValues: node.values.size >= DISTINCT_COUNT_MAX,
    least: of?.least.text,
    largest: of?.largest.text,
    whereNull: node.kinds.has("null") ? where("= null") : undefined,
    // What an array or an object in it lacks is no field of the document.
    whereMissing: node.documentCount < allCount && !isInArray && name !== undefined ? `true and not exists(${name})` : undefined,
  };
}

function kindsOf(node: Node): Field["kinds"] {
  const all = [...node.kinds.values()].reduce((sum, one) => sum + one, 0);
  return [...node.kinds]
    .map(([kind, found]) => ({ kind, count: found, share: found / all }))
    .sort((one, other) => other.count - one.count);
}

function bucketsOf(node: Node, kind: "number" | "date"): Bucket[] {
  return kind === "number" ? bucketsOfNumbers(node.numbers) : bucketsOfDates(node.dates);
}
