import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { commandOf, isOfObjects } = await import("./importing");

test("a line becomes a command, with all digits", () => {
  const line = '{"Price":34.8000,"@metadata":{"@id":"p/\\u0031","@collection":"Products"}}';
  expect(commandOf(line, "Line 1").text).toBe(`{"Id":"p/\\u0031","Type":"PUT","Document":${line}}`);
});

test.each([
  ["[1]", "a document must be a JSON object"],
  ['{"@metadata":{"@id":1}}', "is no text"],
  ['{"a":1', 'expected "," or "}"'],
])("what is wrong with %s is told with its line", (text, reason) => {
  expect(() => commandOf(text, "Line 7")).toThrow("Line 7");
  expect(() => commandOf(text, "Line 7")).toThrow(reason);
});

test("a place is told once, and in a document of several lines with its line", () => {
  expect(() => commandOf("{", "Line 7")).toThrow(/^Line 7, column 2: /);
  expect(() => commandOf('{\n"a":\n}', "Document 3")).toThrow(/^Document 3, line 3 of it, column 1: /);
});

test("without an id the server makes one after the collection", () => {
  expect(commandOf('{"@metadata":{"@collection":"Users"}}', "Line 1").text).toContain('{"Id":"users/"');
  expect(commandOf('{"a":1}', "Line 1").text).toContain('{"Id":"docs/"');
});

test("arrays and documents over several lines are told from lines", () => {
  expect(isOfObjects('\n [{"a":1}]', "x.json")).toBe(true);
  expect(isOfObjects('{\n  "a": 1\n}', "x.json.gz")).toBe(true);
  expect(isOfObjects('{"a":1}\n{"a":2}', "x.json")).toBe(false);
  expect(isOfObjects('{"a":\n', "x.jsonl")).toBe(false);
});
