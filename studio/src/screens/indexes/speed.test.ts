import { expect, test } from "vitest";
import { speedsBetween } from "./speed";

test("speeds are those between two answers", () => {
  const before = {
    at: 1000,
    taken: new Map([
      ["a", 10],
      ["reset", 500],
    ]),
  };
  const now = {
    at: 3000,
    taken: new Map([
      ["a", 210],
      ["reset", 3],
      ["new", 7],
    ]),
  };
  expect([...speedsBetween(before, now)]).toEqual([["a", 100]]);
  expect(speedsBetween(now, now).size).toBe(0);
});
