import { expect, test } from "vitest";
import { draftOf, isSomething, rightsOf, NEW_DRAFT } from "./draft";

test("the fields give the rights that they were made of", () => {
  const rights = { clearance: "ValidUser", permissions: { Shop: "Read", Books: "Admin" } } as const;
  expect(rightsOf(draftOf(rights))).toEqual(rights);
});

test("lines without a name are left out, and all of them where all databases are granted", () => {
  const lines = [
    { number: 0, database: " Shop ", permission: "Read" },
    { number: 1, database: " ", permission: "Admin" },
  ] as const;
  expect(rightsOf({ clearance: "ValidUser", lines })).toEqual({ clearance: "ValidUser", permissions: { Shop: "Read" } });
  expect(rightsOf({ clearance: "Operator", lines })).toEqual({ clearance: "Operator", permissions: {} });
});

test("rights on no database are nothing", () => {
  expect(isSomething(rightsOf(NEW_DRAFT))).toBe(false);
  expect(isSomething({ clearance: "Operator", permissions: {} })).toBe(true);
});
