import { expect, test } from "vitest";
import { colouring, colourPaths } from "./colours";

const classes = (values: readonly unknown[]) => colouring(values).classes.map(({ label, count }) => `${label}: ${count}`);

test("the most frequent texts have colours, the rest is one", () => {
  const values = ["b", "a", "b", undefined, ..."cdefghij".split("")];
  expect(classes(values)).toEqual(["b: 2", "a: 1", "c: 1", "d: 1", "e: 1", "f: 1", "g: 1", "h: 1", "2 others: 2", "no value: 1"]);
  expect([...colouring(values).of.slice(0, 4)]).toEqual([0, 1, 0, 9]);
  expect(classes([true, false, true])).toEqual(["true: 2", "false: 1"]);
  expect(classes([1, "a", "a", ""])).toEqual(["a: 2", "(empty): 1", "1: 1"]);
});

test("numbers are steps with about as many values each, whatever the largest is", () => {
  expect(classes([1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000_000])).toEqual([
    "1 – 2: 2",
    "3 – 4: 2",
    "5 – 6: 2",
    "7 – 8: 2",
    "9 – 1,000,000: 2",
  ]);
  // Most are the same.
  expect(classes([0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5])).toEqual(["0: 7", "1: 1", "2 – 3: 2", "4 – 5: 2"]);
  expect([...colouring([5, null, 1]).of]).toEqual([1, 2, 0]);
});

test("few numbers are a step each, and the ends of the scale are used", () => {
  expect(colouring([1, 2, 2]).classes).toEqual([
    { label: "1", colour: "--map-step-1", count: 1 },
    { label: "2", colour: "--map-step-5", count: 2 },
  ]);
  expect(colouring([7]).classes).toEqual([{ label: "7", colour: "--map-step-5", count: 1 }]);
});

test("dates are steps in their order", () => {
  const dates = ["1998-05-06T00:00:00.0000000", "1996-07-04T00:00:00.0000000"];
  expect(classes(dates)).toEqual(["1996-07-04: 1", "1998-05-06: 1"]);
});

test("no values at all are one class", () => {
  expect(classes([undefined, null])).toEqual(["no value: 2"]);
  expect(classes([])).toEqual([]);
});

test("fields that can give colours are found on several levels; a text that always differs is none", () => {
  const rows = Array.from({ length: 20 }, (_, at) => ({
    Name: `city ${at}`,
    Country: at % 2 ? "AT" : "DE",
    Population: at,
    Tags: ["a"],
    At: { Place: { Lat: at, Deep: { Deeper: 1 } }, Since: `2026-01-${10 + at}` },
    "@metadata": { "@id": `cities/${at}` },
  }));
  expect(colourPaths(rows)).toEqual(["Country", "Population", "At.Place.Lat", "At.Since"]);
});
