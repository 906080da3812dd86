import { expect, test } from "vitest";
import type { Advice } from "../../api/indexes";
import { dateTime } from "../../format/format";
import { byGravity, readable, unusedAfter } from "./advice";

test("advice is ordered by gravity, then by name", () => {
  const one = (Index: string, Problem: Advice["Problem"]) =>
    ({ Index, Problem, Message: "", Action: "Delete", Effect: "", Merge: null, Request: null }) satisfies Advice;
  const advice = [one("B", "Unused"), one("A", "Unused"), one("C", "Mergeable"), one("D", "Failed")];
  expect(byGravity(advice).map(({ Index }) => Index)).toEqual(["D", "C", "A", "B"]);
});

test("bytes and dates of the server are written as elsewhere in the studio", () => {
  expect(readable("Frees 524288 bytes, and writes to Orders update one index less.")).toBe(
    "Frees 512 KB, and writes to Orders update one index less.",
  );
  const date = "2026-11-26T16:27:30.9097683Z";
  expect(readable(`The last query of the index was at ${date}.`)).toBe(`The last query of the index was at ${dateTime(date)}.`);
  expect(readable("The index keeps 3 errors.")).toBe("The index keeps 3 errors.");
});

test("an address without a time, or with an unknown one, means a day", () => {
  expect([unusedAfter(undefined).span, unusedAfter("year").span, unusedAfter("week").span]).toEqual([
    "1.00:00:00",
    "1.00:00:00",
    "7.00:00:00",
  ]);
});
