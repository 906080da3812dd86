import { expect, test } from "vitest";
import { isKey, keyOf, newKey } from "./key";

test("a new key is one", () => {
  const key = newKey();
  expect(isKey(key)).toBe(true);
  expect(isKey(` ${key}\n`)).toBe(true);
  expect(newKey()).not.toBe(key);
});

test("other texts are none", () => {
  for (const text of ["", "c2hvcnQ=", btoa("x".repeat(31)), btoa("x".repeat(33)), `${"A".repeat(42)}B=`])
    expect(isKey(text), text).toBe(false);
});

test("a key counts once it is whole and stored", () => {
  const key = newKey();
  expect(keyOf({ kind: "none" })).toBeUndefined();
  expect(keyOf({ kind: "kept", key })).toBe(key);
  expect(keyOf({ kind: "new", key, isStored: false })).toBe("unready");
  expect(keyOf({ kind: "new", key, isStored: true })).toBe(key);
  expect(keyOf({ kind: "own", text: key.slice(1) })).toBe("unready");
  expect(keyOf({ kind: "own", text: `${key} ` })).toBe(key);
});
