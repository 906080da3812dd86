import { expect, test } from "vitest";
import { limitOf } from "./limit";

const of = (text: string, parameters = {}) => {
  const found = limitOf(text, JSON.stringify(parameters));
  return found && [found.skip, found.take];
};

test("a limit is known in each spelling", () => {
  expect(of("from Users limit 3")).toEqual([0, 3]);
  expect(of("from Users LIMIT 5 , 10")).toEqual([5, 10]);
  expect(of("from Users limit 10 offset 5")).toEqual([5, 10]);
  expect(of("from Users offset 5")).toEqual([5, Infinity]);
  expect(of("from Users limit $from, $count", { from: 1, count: 2 })).toEqual([1, 2]);
});

test("what is no limit is none", () => {
  expect(of("from Users where Name = 'limit 3' // limit 4")).toBeUndefined();
  expect(of("from Users filter Age > 3 filter_limit 20")).toBeUndefined();
  expect(of("from Users limit $count")).toBeUndefined();
  expect(of("from Users limit $count", { count: "x" })).toBeUndefined();
});

test("without it the query has the same length", () => {
  expect(limitOf("from A limit 3 include B")!.text).toBe("from A         include B");
});
