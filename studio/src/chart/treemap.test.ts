import { expect, test } from "vitest";
import { treemap } from "./treemap";

test("areas are as large as what they stand for, and fill the field without overlap", () => {
  const sizes = [600, 250, 90, 40, 15, 5];
  const areas = treemap(sizes, 500, 200);
  areas.forEach((area, at) => {
    expect(area.width * area.height).toBeCloseTo(sizes[at]! * 100, 3);
    expect(area.x).toBeGreaterThanOrEqual(-1e-9);
    expect(area.x + area.width).toBeLessThanOrEqual(500 + 1e-6);
    expect(area.y + area.height).toBeLessThanOrEqual(200 + 1e-6);
    for (const other of areas.slice(at + 1)) {
      const width = Math.min(area.x + area.width, other.x + other.width) - Math.max(area.x, other.x);
      const height = Math.min(area.y + area.height, other.y + other.height) - Math.max(area.y, other.y);
      expect(Math.min(width, height)).toBeLessThan(1e-6);
    }
  });
});

test("nothing has no areas", () => {
  expect([treemap([], 10, 10), treemap([0], 10, 10), treemap([1], 0, 10)]).toEqual([[], [], []]);
});
