import { expect, test } from "vitest";
import { BUCKET_COUNT_MAX, bucketsOfDates, bucketsOfNumbers, timeOf } from "./buckets";

const dates = (texts: readonly string[]) => bucketsOfDates(texts.map((text) => ({ text, time: timeOf(text)! })));

test("buckets of numbers have round ends and are never too many", () => {
  for (const numbers of [
    [0, 1],
    [-3.7, 1000.2],
    [1e-9, 2e-9, 5e-9],
    [1e15, 1e15 + 500],
    [0, 24],
    [0, 23],
    [-1e300, 1e300],
    Array.from({ length: 50 }, (_, at) => at / 10),
  ]) {
    const found = bucketsOfNumbers(numbers);
    expect(found.length, String(numbers)).toBeLessThanOrEqual(BUCKET_COUNT_MAX);
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(numbers.length);
    expect(Number(found[0]!.from)).toBeLessThanOrEqual(Math.min(...numbers));
    expect(Number(found.at(-1)!.to)).toBeGreaterThanOrEqual(Math.max(...numbers));
  }
  expect(bucketsOfNumbers([0.1, 0.3, 0.7, 2.5]).slice(0, 2)).toEqual([
    { text: "0 to 0.2", from: "0", to: "0.2", isEndIncluded: false, count: 1 },
    { text: "0.2 to 0.4", from: "0.2", to: "0.4", isEndIncluded: false, count: 1 },
  ]);
  expect(bucketsOfNumbers([1, 2, 3]).map(({ text }) => text)).toEqual(["1", "2", "3"]);
  expect(bucketsOfNumbers([4, 4])).toEqual([]);
});

test("buckets of dates are days, months or years, and are compared as texts", () => {
  const months = dates(["1996-07-04T00:00:00.0000000", "1996-07-31T23:59:59.0000000", "1998-05-06T00:00:00.0000000"]);
  expect(months.length).toBe(23);
  expect(months[0]).toEqual({ text: "1996-07", from: "'1996-07-01'", to: "'1996-08-01'", isEndIncluded: false, count: 2 });
  expect(dates(["2026-01-01", "2026-01-03"]).map(({ text, from, to }) => [text, from, to])).toEqual([
    ["2026-01-01", "'2026-01-01'", "'2026-01-02'"],
    ["2026-01-02", "'2026-01-02'", "'2026-01-03'"],
    ["2026-01-03", "'2026-01-03'", "'2026-01-04'"],
  ]);
  expect(dates(["2026-01-01T10:10:00Z", "2026-01-01T14:00:00Z"])[0]).toMatchObject({
    text: "2026-01-01T10:00 to 2026-01-01T10:15",
    from: "'2026-01-01T10:00'",
  });
  const long = dates(["0001-01-01T00:00:00", "2026-01-01T00:00:00"]);
  expect(long.length).toBeLessThanOrEqual(BUCKET_COUNT_MAX);
  expect([long[0]!.from, long[0]!.count, long.at(-1)!.count]).toEqual(["'0000-01-01'", 1, 1]);
  expect(dates(["2026-01-01", "2026-01-01"])).toEqual([]);
});
