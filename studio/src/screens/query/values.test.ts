import { expect, test } from "vitest";
import { beginsWith, boundBelow, isExact, merged, valuesOfTerms } from "./values";

test("terms are numbers or booleans only if all of them are", () => {
  expect(valuesOfTerms(["-3", "1.5", "12"])).toEqual([-3, 1.5, 12]);
  expect(valuesOfTerms(["0150", "12"])).toEqual(["0150", "12"]);
  expect(valuesOfTerms(["false", "true"])).toEqual([false, true]);
  expect(valuesOfTerms(["true", "maybe"])).toEqual(["true", "maybe"]);
  expect(valuesOfTerms(["2024-01-02T00:00:00.0000000"])).toEqual(["2024-01-02T00:00:00.0000000"]);
});

test("nulls, shortened terms and numbers that JavaScript rounds are no values", () => {
  expect(valuesOfTerms(["NULL_VALUE", "oslo", "a long te…"])).toEqual(["oslo"]);
  expect(valuesOfTerms(["NULL_VALUE", "1"])).toEqual([1]);
  expect(valuesOfTerms(["1", "9007199254740993"])).toEqual([1]);
  expect([isExact(1.5), isExact(2 ** 53), isExact(Infinity)]).toEqual([true, false, false]);
});

test("terms complete the values of documents, which keep their case", () => {
  expect(merged(["Oslo", "Rome"], ["bern", "oslo"])).toEqual(["Oslo", "Rome", "bern"]);
  expect(merged([1], [1, 2])).toEqual([1, 2]);
});

test("a value begins with a prefix in any case", () => {
  expect([beginsWith("Oslo", "os"), beginsWith(120, "12"), beginsWith("Oslo", "lo")]).toEqual([true, true, false]);
});

test("the bound is below all terms with the prefix, and above the others before them", () => {
  const order = (texts: string[]) => texts.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  for (const prefix of ["os", "a", "ö", "\ue000", "😀"]) {
    const bound = boundBelow(prefix);
    expect(order([prefix, `${prefix}lo`, bound])).toEqual([bound, prefix, `${prefix}lo`]);
  }
  expect(order([boundBelow("os"), "orz", "or"])).toEqual(["or", "orz", boundBelow("os")]);
});
