import { expect, test } from "vitest";
import { parse } from "../../json/exact";
import { pathForPeople } from "../query/names";
import { FIELD_COUNT_MAX, fieldsOf, ITEM_COUNT_MAX, kindOf, newShape, take, VALUE_COUNT_MAX, type Field } from "./fields";

function shapeOf(documents: readonly unknown[]) {
  const shape = newShape();
  for (const document of documents) take(shape, document as Record<string, unknown>);
  return shape;
}

function fieldsIn(documents: readonly unknown[]): Record<string, Field> {
  return Object.fromEntries(fieldsOf(shapeOf(documents)).map((field) => [pathForPeople(field.path), field]));
}

test("fields are told with their paths, in the order of the documents", () => {
  const documents = [
    { Name: "a", Lines: [{ Product: "x" }, { Product: "y", Tags: [["z"]] }], "@metadata": { "@id": "1" } },
    { Name: "b", ShipTo: { City: "Oslo" }, Lines: null },
  ];
  expect(Object.keys(fieldsIn(documents))).toEqual([
    "Name",
    "Lines",
    "Lines[].Product",
    "Lines[].Tags",
    "Lines[].Tags[]",
    "Lines[].Tags[][]",
    "ShipTo",
    "ShipTo.City",
  ]);
});

test("kinds have shares, and texts that are dates or ids are told apart", () => {
  const found = fieldsIn([{ A: 1 }, { A: null }, { A: "x" }, { A: 2 }, {}]);
  expect(found["A"]!.kinds).toEqual([
    { kind: "number", count: 2, share: 0.5 },
    { kind: "null", count: 1, share: 0.25 },
    { kind: "text", count: 1, share: 0.25 },
  ]);
  expect(found["A"]!.documentCount).toBe(4);
  const kinds = ["orders/1-A", "2ba5db50-34b8-4a8e-9d1c-0f2a6dd0e0b1", "507f1f77bcf86cd799439011", "text/plain", "http://a/1"];
  expect(kinds.map(kindOf)).toEqual(["id", "id", "id", "text", "text"]);
  expect(["1996-07-04T00:00:00.0000000", "1996-07-04", "1996-13-04", "2026-01-01T10:00:00+02:00"].map(kindOf)).toEqual([
    "date",
    "date",
    "text",
    "date",
  ]);
  expect([true, {}, [], null, 1.5].map(kindOf)).toEqual(["boolean", "object", "array", "null", "number"]);
});

test("values of texts come most frequent first, each with its condition", () => {
  const { City } = fieldsIn(["Oslo", "Rome", "Rome", "L'Aquila"].map((City) => ({ City })));
  expect(City!.histogram).toEqual({
    kind: "values",
    bars: [
      { text: "Rome", count: 2, where: "City = 'Rome'" },
      { text: "Oslo", count: 1, where: "City = 'Oslo'" },
      { text: "L'Aquila", count: 1, where: "City = 'L\\'Aquila'" },
    ],
  });
  expect([City!.least, City!.largest]).toEqual(["L'Aquila", "Rome"]);
  expect(City!.examples).toEqual([]);
});

test("texts that are all different are examples", () => {
  const { Name } = fieldsIn(["a", "b", "c"].map((Name) => ({ Name })));
  expect(Name!.histogram.bars).toEqual([]);
  expect(Name!.examples.map(({ where }) => where)).toEqual(["Name = 'a'", "Name = 'b'", "Name = 'c'"]);
});

test("numbers come in buckets whose conditions find each of them once", () => {
  const { Freight } = fieldsIn(Array.from({ length: 100 }, (_, at) => ({ Freight: at * 2.5 })));
  const { kind, bars } = Freight!.histogram;
  expect(kind).toBe("buckets");
  expect(bars[1]).toEqual({ text: "20 to 40", count: 8, where: "Freight >= 20 and Freight < 40" });
  expect(bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(100);
  expect([Freight!.least, Freight!.largest]).toEqual(["0", "247.5"]);
  expect(Freight!.examples[0]).toEqual({ text: "0", count: 1, where: "Freight = 0" });
});

test("items of arrays are found with one condition", () => {
  const { "Lines[].Quantity": quantity } = fieldsIn(
    Array.from({ length: 100 }, (_, at) => ({ Lines: [{ Quantity: at }, { Quantity: at }] })),
  );
  expect(quantity!.histogram.bars[0]).toEqual({ text: "0 to 4", count: 10, where: "Lines[].Quantity between 0 and 4" });
  expect(quantity!.documentCount).toBe(100);
  expect(quantity!.whereMissing).toBeUndefined();
});

test("null and missing fields have conditions of their own", () => {
  const { "A.B": field } = fieldsIn([{ A: { B: null } }, { A: {} }]);
  expect([field!.whereNull, field!.whereMissing]).toEqual(["A.B = null", "true and not exists(A.B)"]);
  expect(fieldsIn([{ A: 1 }])["A"]!.whereMissing).toBeUndefined();
});

test("names that a query cannot say have values without a condition", () => {
  const found = fieldsIn([{ "a.b": "x", "my field": "y", select: true }]);
  expect(found["a.b"]!.examples).toEqual([{ text: "x", count: 1, where: undefined }]);
  expect(found["my field"]!.examples[0]!.where).toBe("'my field' = 'y'");
  expect(found["select"]!.histogram.bars[0]!.where).toBe("'select' = true");
});

test("digits of large numbers are those of the document", () => {
  const { Id } = fieldsIn([parse('{"Id":9007199254740993}')]);
  expect(Id!.examples[0]).toEqual({ text: "9007199254740993", count: 1, where: "Id = 9007199254740993" });
});

test("long texts show their beginning and have no condition", () => {
  const { Text } = fieldsIn([{ Text: "x".repeat(10_000) }]);
  expect(Text!.examples).toEqual([{ text: `${"x".repeat(120)}…`, count: 1, where: undefined }]);
});

test("large documents and many fields cost no more than the bounds", () => {
  const wide = shapeOf([Object.fromEntries(Array.from({ length: FIELD_COUNT_MAX + 5 }, (_, at) => [`f${at}`, at]))]);
  expect(fieldsOf(wide).length).toBe(FIELD_COUNT_MAX);
  expect(wide.hasMore).toBe(true);
  const long = shapeOf([{ Items: Array.from({ length: ITEM_COUNT_MAX * 2 }, (_, at) => at) }]);
  expect(long.partCount).toBe(1);
  expect(fieldsOf(long)[1]!.kinds[0]!.count).toBe(ITEM_COUNT_MAX);
  expect(fieldsOf(long)[0]!.largest).toBe(String(ITEM_COUNT_MAX * 2));
  const hundred = Array.from({ length: ITEM_COUNT_MAX }, () => Array.from({ length: ITEM_COUNT_MAX }, () => [1, 2]));
  const many = shapeOf([{ Items: hundred }]);
  const looked = fieldsOf(many).reduce((sum, { kinds }) => sum + kinds.reduce((all, { count }) => all + count, 0), 0);
  expect(looked).toBe(VALUE_COUNT_MAX);
  expect(many.partCount).toBe(1);
});
