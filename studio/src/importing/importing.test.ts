import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { commandOf } = await import("./importing");

test("a line becomes a command, with all digits", () => {
  const line = '{"Price":34.8000,"@metadata":{"@id":"p/\\u0031","@collection":"Products"}}';
  expect(commandOf(line, "Line 1")).toBe(`{"Id":"p/\\u0031","Type":"PUT","Document":${line}}`);
});

test.each([
  ["[1]", "an object in braces"],
  ['{"a":1}', "needs an id"],
  ['{"a":1', '"," or "}" is due'],
])("what is wrong with %s is told with its line", (text, reason) => {
  expect(() => commandOf(text, "Line 7")).toThrow("Line 7");
  expect(() => commandOf(text, "Line 7")).toThrow(reason);
});
