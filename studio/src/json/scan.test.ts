import { expect, test } from "vitest";
import { JsonError, member, pretty, scan } from "./scan";

test("numbers keep their digits", () => {
  const text = '{"a":34.8000,"b":9007199254740993,"c":[1.0,-2e5],"d":{}}';
  expect(pretty(text)).toBe('{\n    "a": 34.8000,\n    "b": 9007199254740993,\n    "c": [1.0, -2e5],\n    "d": {}\n}');
});

test("members of the root can be left out, those of others not", () => {
  const text = '{"@metadata":{"x":1},"y":{"@metadata":2}}';
  expect(pretty(text, scan(text), ["@metadata"])).toBe('{\n    "y": {\n        "@metadata": 2\n    }\n}');
});

test("what is pretty has the value that it had", () => {
  const text = ' {"s":"\\u00e9\\n\\"", "l":[[],[{}],[1,"x",null,true]], "" : -0.5E-3 } ';
  expect(JSON.parse(pretty(text))).toEqual(JSON.parse(text));
});

test("a long array has a line for each element", () => {
  const text = JSON.stringify(Array.from({ length: 40 }, (_, index) => index));
  expect(pretty(text).split("\n")).toHaveLength(42);
});

test("a value is found by its name", () => {
  const text = '{"Results":[{"a":1}]}';
  const results = member(scan(text), "Results");
  expect(results && text.slice(results.start, results.end)).toBe('[{"a":1}]');
  expect(member(results, "a")).toBeUndefined();
});

test.each([
  ["", 1, 1, "ends where a value is expected"],
  ['{"a":1,}', 1, 8, "without a comma"],
  ['{\n  "a" 1}', 2, 7, 'expected ":"'],
  ['{"a":01}', 1, 7, '"," or "}"'],
  ['["x]', 1, 2, "does not end"],
  ["[1] 2", 1, 5, "something follows"],
  ['{"a":"\t"}', 1, 6, "does not end"],
  ["[1,\n\n  nil]", 3, 3, "no value begins"],
])("the place of what is wrong in %j", (text, line, column, reason) => {
  const error = (() => {
    try {
      scan(text);
    } catch (thrown) {
      return thrown as JsonError;
    }
    throw new Error("it was taken");
  })();
  expect([error.line, error.column]).toEqual([line, column]);
  expect(error.reason).toContain(reason);
});

test("values that nest too deep are refused, not followed", () => {
  expect(() => scan("[".repeat(100_000))).toThrow("deeper");
});

test("strings of many MB are read, with many escapes too", () => {
  const text = JSON.stringify([`${"x".repeat(16 << 20)}`, "\n".repeat(8 << 20)]);
  expect(scan(text).end).toBe(text.length);
});
