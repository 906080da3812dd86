import { expect, test } from "vitest";
import { parseSearch, stringifySearch } from "./search";

test("whatever stands in an address is a text", () => {
  expect(parseSearch('?q=null&p={"a":1}&id=1.0&n=[1]&e=')).toEqual({ q: "null", p: '{"a":1}', id: "1.0", n: "[1]", e: "" });
});

test("what is written is read again", () => {
  const search = { q: "from 'A & B' where x = \"1+1\" // 100% #?", id: "日本/1", n: "null", t: "true" };
  expect(parseSearch(stringifySearch(search))).toEqual(search);
  expect([stringifySearch({}), stringifySearch({ a: undefined, b: 1 })]).toEqual(["", ""]);
});
