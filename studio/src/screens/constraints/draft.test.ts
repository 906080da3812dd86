import { expect, test } from "vitest";
import { cleaned, constraintOf, draftOf, FIELDS_MAX, nameOf } from "./draft";

const draft = { ...draftOf(undefined), collection: " Users ", fields: ["Email"] };

test("a constraint needs a collection and from 1 to 16 fields", () => {
  expect(constraintOf(draftOf(undefined))).toBeUndefined();
  expect(constraintOf({ ...draft, collection: " " })).toBeUndefined();
  expect(constraintOf({ ...draft, fields: [] })).toBeUndefined();
  const many = Array.from({ length: FIELDS_MAX + 1 }, (_, at) => `F${at}`);
  expect(constraintOf({ ...draft, fields: many })).toBeUndefined();
  expect(constraintOf({ ...draft, fields: many.slice(1) })?.Fields).toHaveLength(FIELDS_MAX);
  expect(constraintOf(draft)).toEqual({ Name: undefined, Collection: "Users", Fields: ["Email"], CaseSensitive: false });
  expect(constraintOf({ ...draft, name: " by mail " })?.Name).toBe("by mail");
});

test("without a name it is called by its collection and fields", () => {
  expect(nameOf({ ...draft, fields: ["Floor", "Number"] })).toBe("Users/Floor,Number");
});

test("a change begins with what there is, and fields are kept once", () => {
  const before = { Name: "x", Collection: "Users", Fields: ["A.B"], CaseSensitive: true };
  expect(draftOf(before)).toEqual({ name: "x", collection: "Users", fields: ["A.B"], isCaseSensitive: true });
  expect(cleaned([" Email", "Email ", "", "Name"])).toEqual(["Email", "Name"]);
});
