import { expect, test } from "vitest";
import { dayAfter, dayOf, endOf, nearness } from "./day";

const now = Date.parse("2026-11-27T12:00:00Z");

test("a day is counted from now and ends with its last second", () => {
  expect(dayAfter(now, 0)).toBe("2026-11-27");
  expect(dayAfter(now, 365)).toBe("2027-11-27");
  expect(endOf("2027-11-27")).toBe("2027-11-27T23:59:59.0000000Z");
  expect(endOf("")).toBeNull();
  expect([dayOf("2027-11-27T10:00:00.0000000Z"), dayOf(null)]).toEqual(["2027-11-27", ""]);
});

test("an end is near a month before", () => {
  expect(nearness("2026-11-27T12:00:00Z", now)).toBe("over");
  expect(nearness("2026-12-20T12:00:00Z", now)).toBe("soon");
  expect(nearness("2027-01-01T12:00:00Z", now)).toBe("far");
});
