import { expect, test } from "vitest";
import { csv } from "./csv";

test("quotes, lines and formulas do no harm", () => {
  const rows = [{ a: 'x "y", z', b: { c: -1.5 } }, { a: "=1+1", b: null }, { a: "l\nm" }];
  expect(csv(rows, ["a", "b.c"])).toBe('a,b.c\r\n"x ""y"", z",-1.5\r\n\'=1+1,\r\n"l\nm",\r\n');
});
