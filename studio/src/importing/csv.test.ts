import { expect, test } from "vitest";
import {
  csvCommand,
  csvDocument,
  CsvReader,
  distinct,
  guessed,
  guessedCollection,
  guessedId,
  separatorOf,
  type CsvPlan,
} from "./csv";

function rows(text: string, size = text.length) {
  const reader = new CsvReader(",");
  const found = [];
  for (let at = 0; at < text.length; at += size) found.push(...reader.push(text.slice(at, at + size)));
  return [...found, ...reader.end()];
}

test.each([1, 3, 1000])("rows are read in parts of %i characters, quotes and line breaks in them too", (size) => {
  const text = '\uFEFFid,Name\r\n1,"a ""b"",\nc"\r\n\r\n2,\n3,x';
  expect(rows(text, size)).toEqual([
    { line: 1, fields: ["id", "Name"] },
    { line: 2, fields: ["1", 'a "b",\nc'] },
    { line: 5, fields: ["2", ""] },
    { line: 6, fields: ["3", "x"] },
  ]);
});

test("a quote that nobody closes is told with its line", () => {
  expect(() => rows('a,b\n"1,2\n3')).toThrow("Line 2: a quoted field has no end");
});

test("separator, kinds, id and collection are guessed", () => {
  expect(separatorOf('"a,b";c;d\n1,2,3,4')).toBe(";");
  const names = ["Id", "Price", "Zip", "Ok", "Tags", "Note"];
  const fields = [
    ["1", "2.50", "04109", "true", "[1]", ""],
    ["2", "-3e2", "1010", "FALSE", "", "x"],
  ];
  const kinds = guessed(
    names,
    fields.map((found, line) => ({ line, fields: found })),
  ).map(({ kind }) => kind);
  expect(kinds).toEqual(["number", "number", "text", "truth", "json", "text"]);
  expect([guessedId(names), guessedId(["Name"])]).toEqual([0, -1]);
  expect([guessedCollection("products.csv.gz"), guessedCollection("my file.tsv"), guessedCollection("….csv")]).toEqual([
    "Products",
    "Myfile",
    "Rows",
  ]);
});

const PLAN: CsvPlan = {
  separator: ",",
  columns: [
    { name: "Id", kind: "none" },
    { name: "Price", kind: "number" },
    { name: "Address.City", kind: "text" },
    { name: "Address.Zip", kind: "text" },
    { name: "Tags", kind: "json" },
  ],
  idColumn: 0,
  idPrefix: "products/",
  collection: "Products",
};

test("a row becomes a document, with all digits and paths", () => {
  expect(csvCommand({ line: 2, fields: ["7", "34.8000", "Köln", "", "[1]"] }, PLAN).text).toBe(
    '{"Id":"products/7","Type":"PUT","Document":{"Price":34.8000,"Address":{"City":"Köln"},"Tags":[1],"@metadata":{"@collection":"Products"}}}',
  );
  // What is not what its column is stays text; a collection of its own counts.
  const own = { ...PLAN, columns: [...PLAN.columns.slice(0, 4), { name: "@metadata.@collection", kind: "text" as const }] };
  expect(csvCommand({ line: 2, fields: ["7", "n/a", "", "", "Cheap"] }, own).text).toBe(
    '{"Id":"products/7","Type":"PUT","Document":{"Price":"n/a","@metadata":{"@collection":"Cheap"}}}',
  );
});

test("rows that do not fit are told with their lines", () => {
  expect(() => csvCommand({ line: 9, fields: ["1"] }, PLAN)).toThrow("Line 9: 1 field, but the first line names 5");
  expect(() => csvCommand({ line: 9, fields: ["", "", "", "", ""] }, PLAN)).toThrow('Line 9: the id in "Id" is empty');
});

test("columns that would take the place of another one keep their own", () => {
  expect(distinct(["a", "b", "a", "a 2", "a"])).toEqual(["a", "b", "a 3", "a 2", "a 4"]);
  const names = ["Address.City", "Address.Geo.Lat", "Address", "Address.Zip"];
  const columns = names.map((name) => ({ name, kind: "text" as const }));
  const plan: CsvPlan = { separator: ",", columns, idColumn: -1, idPrefix: "users/", collection: "" };
  const { text } = csvDocument({ line: 2, fields: ["Oslo", "59", "Home", "0150"] }, plan);
  expect(JSON.parse(text)).toEqual({
    Address: "Home",
    "Address.City": "Oslo",
    "Address.Geo": { Lat: "59" },
    "Address.Zip": "0150",
  });
});
