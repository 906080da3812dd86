import { expect, test } from "vitest";
import { int64, wholeNumber } from "./number";

test("a number may be left out, and is whole", () => {
  expect(wholeNumber("  ")).toBeUndefined();
  expect(wholeNumber(" 60 ")).toBe(60);
  for (const text of ["0", "-1", "1.5", "1e3", "x", "99999999999999999999"]) expect(wholeNumber(text)).toBe("wrong");
});

test("numbers of 64 bits keep all of their digits", () => {
  expect(["", " 7 ", "+7", "-9223372036854775808", "9223372036854775807"].map(int64)).toEqual([
    undefined,
    7n,
    7n,
    -(2n ** 63n),
    2n ** 63n - 1n,
  ]);
  expect(["9223372036854775808", "1.5", "1e3", "-", "seven"].map(int64)).toEqual(Array(5).fill("wrong"));
});
