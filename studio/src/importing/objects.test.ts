import { expect, test } from "vitest";
import { ObjectReader } from "./objects";

const ARRAY = ' [{"N":34.8000,"T":"a \\" ]} \\\\"}, {"L":[{"x":[1]}]}\n,{}] ';

function read(text: string, size = text.length) {
  const reader = new ObjectReader();
  const found = [];
  for (let at = 0; at < text.length; at += size) found.push(...reader.push(text.slice(at, at + size)));
  reader.end();
  return found;
}

test.each([1, 2, 7, 10_000])("an array is cut into its objects, in parts of %i characters", (size) => {
  expect(read(ARRAY, size)).toEqual(['{"N":34.8000,"T":"a \\" ]} \\\\"}', '{"L":[{"x":[1]}]}', "{}"]);
  expect(read('{\n"a": 1}\n{"b":\n[2]}', size)).toEqual(['{\n"a": 1}', '{"b":\n[2]}']);
});

test("a file that is cut off is told from a whole one", () => {
  for (const text of ['[{"a":1}', '[{"a":1},{"b"', '{"a":"}']) expect(() => read(text)).toThrow("ends in the middle");
});

test("between the documents of an array nothing else may stand", () => {
  for (const bad of ["[1]", '["a"]', "[[{}]]", "[{},null]", "[{}]{}"]) expect(() => read(bad)).toThrow("must be a JSON object");
});
