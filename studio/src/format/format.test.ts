import { expect, test } from "vitest";
import { aggregate, ago, cell, counted, dateTime, duration, glimpse, rate, setServerClock, size, uptime } from "./format";

test("sizes change their unit before they have four digits", () => {
  expect([0, 839, 1000, 2_695_168, 5e9, 1e16].map(size)).toEqual(["0 B", "839 B", "1 KB", "2.6 MB", "4.7 GB", "9,095 TB"]);
});

test("durations and rates have as many digits as matter", () => {
  expect([3, 1234, 61_000, 5_400_000, 3 * 86_400_000].map(duration)).toEqual(["3 ms", "1.2 s", "1 min", "1.5 h", "3 d"]);
  expect([0, 0.44, 12.6, 3400].map(rate)).toEqual(["0", "0.4", "13", "3,400"]);
});

test("one of a thing is not several", () => {
  expect([counted(1, "index", "indexes"), counted(2, "index", "indexes"), counted(0, "document")]).toEqual([
    "1 index",
    "2 indexes",
    "0 documents",
  ]);
});

test("dates of the server are read, others shown as they are", () => {
  expect(dateTime("2026-11-22T12:43:10.0542070Z")).toMatch(/^2026-11-2\d \d\d:43:10$/);
  expect(dateTime("soon")).toBe("soon");
  expect(ago("0001-01-01T00:00:00.0000000")).toBe("never");
  expect(ago("2026-11-22T12:00:00.0000000Z", Date.parse("2026-11-22T12:05:00Z"))).toBe("5 min ago");
});

test("a cell is one line of text for any value", () => {
  expect([undefined, null, 1.5, true, "x", { a: [1] }].map(cell)).toEqual(["", "null", "1.5", "true", "x", '{"a":[1]}']);
});

test("dates of clients are short in a grid, and nothing else is", () => {
  const dates = {
    "1996-07-04T00:00:00.0000000": "1996-07-04",
    "1996-07-04T10:20:30.0000000Z": "1996-07-04 10:20:30Z",
    "1996-07-04T00:00:00.0000000Z": "1996-07-04 00:00:00Z",
    "1996-07-04T10:20:30.2500000": "1996-07-04 10:20:30.25",
    "1996-07-04T10:20:30": "1996-07-04 10:20:30",
    "1996-07-04T10:20:30.0000000+02:00": "1996-07-04T10:20:30.0000000+02:00",
    "1996-07-04": "1996-07-04",
    x: "x",
  };
  expect(Object.keys(dates).map(glimpse)).toEqual(Object.values(dates));
});

test("ages are by the clock of the server", () => {
  setServerClock(Date.now() - 3_600_000);
  expect(ago(new Date(Date.now() - 3_720_000).toISOString())).toBe("2 min ago");
  setServerClock(Date.now());
});

test("an average that is small is not 0", () => {
  expect([1_265_793.044, 12.5, 3, 0.00312789, 0].map(aggregate)).toEqual(["1,265,793.04", "12.5", "3", "0.00313", "0"]);
});

test("how long something has run is in whole seconds", () => {
  expect([0, 999, 44_218, 59_999, 60_000, 5_400_000].map(uptime)).toEqual(["0 s", "0 s", "44 s", "59 s", "1 min", "1.5 h"]);
});
