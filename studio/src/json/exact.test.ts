import { expect, test } from "vitest";
import { digitsOf, parse, stringify } from "./exact";

test("numbers that would be rounded have their digits, in objects and arrays", () => {
  const text = '{"Id":1465432100000000001,"In":{"Far":1e400,"Near":0.12345678901234567},"Of":[9007199254740993,2]}';
  const value = parse(text) as { In: object; Of: object };
  expect([digitsOf(value, "Id"), digitsOf(value.In, "Far"), digitsOf(value.In, "Near"), digitsOf(value.Of, "0")]).toEqual([
    "1465432100000000001",
    "1e400",
    undefined,
    "9007199254740993",
  ]);
  expect(stringify(value.Of)).toBe("[9007199254740993,2]");
});
