import { expect, test } from "vitest";
import { wholeNumber } from "./number";

test("a number may be left out, and is whole", () => {
  expect(wholeNumber("  ")).toBeUndefined();
  expect(wholeNumber(" 60 ")).toBe(60);
  for (const text of ["0", "-1", "1.5", "1e3", "x", "99999999999999999999"]) expect(wholeNumber(text)).toBe("wrong");
});
