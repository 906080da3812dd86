import { expect, test } from "vitest";
import { columnsFor, ID, moved, nameOf, neededWidth, pathsOf, valueAt, widened, type Column } from "./columns";

const ROWS = [
  { Name: "Ann", Home: { City: "Oslo", Zip: "0150" }, "@metadata": { "@id": "people/1" } },
  { Name: "Bo", Age: 4, Home: { City: "Rome" }, "@metadata": { "@id": "people/2" } },
];

test("columns come from the data, nested ones hidden at first", () => {
  const columns = columnsFor(ROWS, [], true);
  expect(columns.filter((column) => !column.isHidden).map((column) => column.path)).toEqual([ID, "Name", "Home", "Age"]);
  expect(columns.map((column) => column.path)).toContain("Home.City");
});

test("what was chosen stays, and new fields do not push in", () => {
  const kept: Column[] = [{ path: "Age", width: 200, isHidden: false }];
  const columns = columnsFor(ROWS, kept, true);
  expect(columns[0]).toEqual(kept[0]);
  expect(columns.slice(1).every((column) => column.isHidden)).toBe(true);
});

test("a chosen column stays where the first rows have no such field, and what comes later can be chosen", () => {
  const kept: Column[] = [{ path: "Age", width: 200, isHidden: false }];
  expect(columnsFor([{ Other: 1 }], kept, false).map((column) => column.path)).toEqual(["Age", "Other"]);
  const columns = columnsFor([{ A: 1 }], [], false, [{ A: 1, Late: { Deep: 2 } }]);
  expect(columns.map(({ path, isHidden }) => [path, isHidden])).toEqual([
    ["A", false],
    ["Late", true],
    ["Late.Deep", true],
  ]);
});

test("values are found by path, also where a name has a dot", () => {
  expect(valueAt(ROWS[0]!, "Home.City")).toBe("Oslo");
  expect(valueAt(ROWS[0]!, ID)).toBe("people/1");
  expect(valueAt({ "a.b": 1 }, "a.b")).toBe(1);
  expect(valueAt({ a: null }, "a.b")).toBeUndefined();
});

test("paths are those of all rows, once each", () => {
  expect(pathsOf(ROWS)).toEqual(["Name", "Home", "Home.City", "Home.Zip", "Age"]);
});

test("a column moves to the place of another, in both directions", () => {
  const columns = ["a", "b", "c"].map((path) => ({ path, width: 1, isHidden: false }));
  const paths = (list: Column[]) => list.map((column) => column.path).join("");
  expect([paths(moved(columns, "a", "c")), paths(moved(columns, "c", "a")), paths(moved(columns, "b", "b"))]).toEqual([
    "bca",
    "cab",
    "abc",
  ]);
});

test("what every object inherits is no value, and a file has all columns", () => {
  expect([valueAt({ A: {} }, "constructor"), valueAt({ A: {} }, "A.toString"), valueAt({ toString: 1 }, "toString")]).toEqual([
    undefined,
    undefined,
    1,
  ]);
  const wide = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`F${at}`, at]));
  expect([pathsOf([wide]).length, pathsOf([wide], Infinity).length]).toEqual([120, 300]);
});

test("a field that is called as the metadata's is itself", () => {
  const row = { "@id": "http://x/1", "@type": "Person", "@metadata": { "@id": "people/1" } };
  expect(columnsFor([row], [], true).map(({ path }) => nameOf(path))).toEqual(["Id", "@id", "@type", "Modified"]);
  expect([valueAt(row, "@id"), valueAt(row, "@type"), valueAt(row, ID)]).toEqual(["http://x/1", "Person", "people/1"]);
});

test("a field with a dot in its name and a nested one are two columns", () => {
  const row = { "a.b": 1, a: { b: 2 } };
  expect(pathsOf([row])).toEqual(["'a.b'", "a", "a.b"]);
  expect([valueAt(row, "'a.b'"), valueAt(row, "a.b")]).toEqual([1, 2]);
  // Alone, as `select a.b` gives it, it needs no quotes.
  expect(pathsOf([{ "a.b": 1 }])).toEqual(["a.b"]);
});

test("where there is room, more columns are shown, and objects take the rest", () => {
  const row = { ...Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`F${at}`, at])), Home: { City: "Oslo" } };
  const shown = (room: number) => columnsFor([row], [], false, [], room).filter(({ isHidden }) => !isHidden);
  expect([shown(0).length, shown(700).length, shown(2000).length]).toEqual([8, 10, 13]);
  expect(shown(2000).find(({ path }) => path === "Home")!.width).toBeGreaterThan(160);
});

test("a number in view is never cut, a text grows up to a bound, and a width that somebody chose stays", () => {
  const rows = [
    { N: 1, T: "x" },
    { N: 123456789012, T: "y".repeat(500) },
  ];
  expect(neededWidth("N", rows)).toBeGreaterThan(12 * 7);
  expect(neededWidth("T", rows)).toBe(320);
  expect(neededWidth("Other", rows)).toBe(0);
  expect(widened([{ path: "N", width: 90, isHidden: false }], "N", 60)).toEqual([
    { path: "N", width: 60, isHidden: false, isSet: true },
  ]);
});
