import { expect, test } from "vitest";
import { DumpReader, isDump } from "./dump";

const DUMP =
  '{"BuildVersion":71028,"DatabaseRecord":{"Settings":[{"a":"Docs"}],"b":[]},"Docs":[{"N":34.8000,"T":"a \\" ]} \\\\"},' +
  '{"L":[{"x":[1]}]}],"Revision\\u0044ocuments":[],"Identities":[{"Key":"orders|","Value":"7"}],"Text":"[{}]"}';

function read(size: number) {
  const reader = new DumpReader();
  const found = [];
  for (let at = 0; at < DUMP.length; at += size) found.push(...reader.push(DUMP.slice(at, at + size)));
  reader.end();
  return found;
}

test.each([1, 2, 7, 64, 10_000])("a dump is cut into its objects, in parts of %i characters", (size) => {
  expect(read(size)).toEqual([
    { section: "Docs", text: '{"N":34.8000,"T":"a \\" ]} \\\\"}' },
    { section: "Docs", text: '{"L":[{"x":[1]}]}' },
    { section: "Identities", text: '{"Key":"orders|","Value":"7"}' },
  ]);
});

test("a dump is told from a document, and one that is cut off from a whole one", () => {
  expect([isDump(' {"BuildVersion":7'), isDump('{"Name":"BuildVersion"}')]).toEqual([true, false]);
  const reader = new DumpReader();
  reader.push('{"BuildVersion":1,"Docs":[{"a":1}');
  expect(() => reader.end()).toThrow("ends in the middle");
  expect(() => new DumpReader().push("[1]")).toThrow("no dump");
});

test("between the documents of an array nothing else may stand", () => {
  const read = (text: string) => new DumpReader({ isStrict: true }).push(`{"Docs":${text}}`).map((found) => found.text);
  expect(read('[ {"a":[1,"]"]},\n{"b":{}} ]')).toEqual(['{"a":[1,"]"]}', '{"b":{}}']);
  for (const bad of ["[1]", '["a"]', "[[{}]]", "[{},null]"]) expect(() => read(bad)).toThrow("must be a JSON object");
});
