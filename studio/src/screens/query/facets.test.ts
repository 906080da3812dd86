import { expect, test } from "vitest";
import { facetsOf, suggestionsOf } from "./facets";

test("sums, averages, least and greatest are told with the count", () => {
  const values = [
    { Name: "Total", Sum: 12.5, Average: 6.25, Count: 2, Range: "a" },
    { Name: "Total", Sum: 1, Average: 1, Count: 1, Range: "b" },
    { Name: "Freight", Max: 3, Count: 2, Range: "a" },
  ];
  expect(facetsOf([{ Name: "Company", Values: values, RemainingTermsCount: 4 }])).toEqual([
    {
      name: "Company",
      aggregates: ["Sum of Total", "Average of Total", "Max of Freight"],
      values: [
        { range: "a", count: 2, numbers: [12.5, 6.25, 3] },
        { range: "b", count: 1, numbers: [1, 1, undefined] },
      ],
      leftOutCount: 4,
    },
  ]);
});

test("documents that look a little like facets or suggestions are documents", () => {
  expect(facetsOf([{ Name: "x", Values: [1] }])).toBeUndefined();
  expect(facetsOf([])).toBeUndefined();
  expect(suggestionsOf([{ Name: "x", Suggestions: [1] }])).toBeUndefined();
  expect(suggestionsOf([{ Name: "x", Suggestions: ["y"] }])).toEqual([{ name: "x", words: ["y"] }]);
});

test("values that are numbers are in the order of numbers, unless another was asked for", () => {
  const facet = (...ranges: string[]) => [{ Name: "Age", Values: ranges.map((Range, at) => ({ Range, Count: 9 - at })) }];
  const ranges = (rows: Record<string, unknown>[]) => facetsOf(rows)![0]!.values.map(({ range }) => range);
  expect(ranges(facet("1", "10", "2"))).toEqual(["1", "2", "10"]);
  expect(ranges(facet("7", "1", "10"))).toEqual(["7", "1", "10"]);
  expect(ranges(facet("1", "10", "2", "x"))).toEqual(["1", "10", "2", "x"]);
});
