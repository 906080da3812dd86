import { expect, test } from "vitest";
import { percentile, since } from "./percentiles";

test("percentiles are those of the time between two answers", () => {
  const earlier = [
    [100, 5],
    [2000, 5],
  ] as const;
  const later = [
    [100, 5],
    [200, 90],
    [2000, 14],
    [9000, 1],
  ] as const;
  const between = since(earlier, later);
  expect(between).toEqual([
    [200, 90],
    [2000, 9],
    [9000, 1],
  ]);
  expect([0.5, 0.9, 0.99, 1].map((part) => percentile(between, part))).toEqual([0.2, 0.2, 2, 9]);
});

test("of nothing there are none", () => {
  expect(percentile(since([[7, 3]], [[7, 3]]), 0.5)).toBeNull();
});
