import { expect, test } from "vitest";
import { literalOf, pathForPeople, pathInQuery } from "./names";

test("paths stand in queries with quotes where they need some", () => {
  expect(pathInQuery(["Lines", null, "Product"])).toBe("Lines[].Product");
  expect(pathInQuery(["Grid", null, null])).toBe("Grid[][]");
  expect(pathInQuery(["my field", "it's"])).toBe("'my field'.'it\\'s'");
  expect(pathInQuery(["select"])).toBe("'select'");
  expect(pathInQuery(["Or", "Name"])).toBe("'Or'.Name");
  expect(pathInQuery(["@id"])).toBe("'@id'");
  expect(pathInQuery(["a.b"])).toBeUndefined();
  expect(pathInQuery([""])).toBeUndefined();
  expect(pathForPeople(["my field", null, "a.b"])).toBe("my field[].a.b");
});

test("values are literals", () => {
  expect(["it's", "c:\\x", 1.5, true, null].map((value) => literalOf(value))).toEqual([
    "'it\\'s'",
    "'c:\\\\x'",
    "1.5",
    "true",
    "null",
  ]);
  expect(literalOf(9007199254740992, "9007199254740993")).toBe("9007199254740993");
});
