import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { valuesAt } = await import("./samples");

test("values of a field are found in objects and arrays, the most frequent first", () => {
  const rows = [
    { City: "Oslo", Lines: [{ Product: "a" }, { Product: "b" }], Tags: ["x"], At: { Zip: 1 } },
    { City: "Rome", Lines: [{ Product: "b" }], Tags: ["x", "y"], At: { Zip: 1 } },
    { City: "Rome", Lines: null },
  ];
  expect(valuesAt(rows, "City")).toEqual(["Rome", "Oslo"]);
  expect(valuesAt(rows, "Lines[].Product")).toEqual(["b", "a"]);
  expect(valuesAt(rows, "Tags[]")).toEqual(["x", "y"]);
  expect(valuesAt(rows, "At.Zip")).toEqual([1]);
  expect(valuesAt(rows, "Other")).toEqual([]);
});
