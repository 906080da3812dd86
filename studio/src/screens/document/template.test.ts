import { expect, test } from "vitest";
import { templateOf } from "./template";

test("a new document has the fields that most others have, empty", () => {
  const others = [
    { Name: "Ann", Age: 3, IsOld: false, Home: { City: "Oslo", Zip: "1" }, Tags: ["x"], Odd: 1, "@metadata": { "@id": "a" } },
    { Name: null, Age: 4.5, IsOld: true, Home: { City: "Rome" }, Tags: [], "@metadata": { "@id": "b" } },
  ];
  expect(JSON.parse(templateOf("People", others))).toEqual({
    Name: "",
    Age: 0,
    IsOld: false,
    Home: { City: "" },
    Tags: [],
    "@metadata": { "@collection": "People" },
  });
});

test("without others it has a name", () => {
  expect(templateOf("People", [])).toBe('{\n    "Name": "",\n    "@metadata": {\n        "@collection": "People"\n    }\n}');
  expect(templateOf(undefined, [])).toBe('{\n    "Name": ""\n}');
});
