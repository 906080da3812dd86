import { expect, test } from "vitest";
import { scan } from "../json/scan";
import { hasExtended, idFields, planned, withoutExtended } from "./json";

const plan = { collection: "Users", idField: "", idPrefix: "users/", isExtended: false };

test("documents get their collection, and ids from a field, with all digits", () => {
  expect(planned('{"N":34.8000,"_id":7}', { ...plan, idField: "_id" })).toEqual({
    id: "users/7",
    text: '{"N":34.8000,"@metadata":{"@collection":"Users"}}',
  });
  expect(planned('{"N":1}', plan)).toEqual({ id: undefined, text: '{"N":1,"@metadata":{"@collection":"Users"}}' });
  expect(planned('{"N":1,"@metadata":{"@id":"a/1","@collection":"Own"}}', { ...plan, idField: "N" }).id).toBe("a/1");
  expect(planned('{"N":1,"@metadata":{"x":1}}', plan).text).toBe('{"N":1,"@metadata":{"@collection":"Users","x":1}}');
  expect(planned('{"N":1}', { ...plan, collection: "" }).text).toBe('{"N":1}');
});

test("a document without an id in the field is refused with the field", () => {
  expect(() => planned('{"N":1}', { ...plan, idField: "_id" })).toThrow('"_id", which has the ids, is missing');
  expect(() => planned('{"_id":null}', { ...plan, idField: "_id" })).toThrow("neither a text nor a number");
});

test("what MongoDB writes becomes plain values", () => {
  const text =
    '{"_id":{"$oid":"65a"},"At":{"$date":"2020-01-02T03:04:05Z"},"Ms":{"$date":{"$numberLong":"0"}},"Big":{"$numberLong":"9007199254740993"},' +
    '"In":[{"$numberDecimal":"1.50"}],"Kept":{"$oid":"a","b":1}}';
  expect(hasExtended(text)).toBe(true);
  expect(withoutExtended(text, scan(text))).toBe(
    '{"_id":"65a","At":"2020-01-02T03:04:05Z","Ms":"1970-01-01T00:00:00.000Z","Big":9007199254740993,"In":[1.50],"Kept":{"$oid":"a","b":1}}',
  );
  expect(planned(text, { ...plan, idField: "_id", isExtended: true }).id).toBe("users/65a");
});

test("fields that may have ids are those of all documents, the usual ones first", () => {
  expect(idFields(['{"a":"x","_id":{"$oid":"1"},"b":null}', '{"a":"y","_id":{"$oid":"2"},"b":1}'])).toEqual(["_id", "a"]);
});
