import { expect, test } from "vitest";
import { idsIn } from "./ids";

test("what looks like an id comes first, then other values; no names, no own id", () => {
  const text = '{"Name":"Zwei Wörter","Of":"länder/Österreich","At":"orders/1","By":"orders/2-A","Tags":["x y/1"]}';
  expect(idsIn(text, "orders/1")).toEqual(["länder/Österreich", "orders/2-A", "Zwei Wörter", "x y/1"]);
});

test("a large document is asked about a part of its texts only", () => {
  const text = JSON.stringify(Array.from({ length: 1000 }, (_, at) => `text ${at}`).concat("users/1"));
  const found = idsIn(text, "");
  expect([found.length, found[0]]).toEqual([200, "users/1"]);
});

test("strings of many MB and escapes are gone over", () => {
  const long = `${"x".repeat(16 << 20)}${'\\"'.repeat(4 << 20)}`;
  expect(idsIn(JSON.stringify({ Picture: long, End: "a\\", Of: "Ann" }), "")).toEqual(["Ann"]);
});
