import { expect, test } from "vitest";
import { HEIGHT_MAX, ROW_HEIGHT, scrollTo, seen } from "./rows";

test("a short list is drawn as it is", () => {
  const view = seen(10, 0, 600);
  expect([view.height, view.first, view.end, view.top(3)]).toEqual([10 * ROW_HEIGHT, 0, 10, 3 * ROW_HEIGHT]);
});

test("of a long list the rows in view are drawn, without holes", () => {
  for (const rowCount of [1000, 1_000_000, 40_000_000]) {
    const viewport = 600;
    const height = seen(rowCount, 0, viewport).height;
    expect(height).toBeLessThanOrEqual(HEIGHT_MAX);
    for (const part of [0, 0.1, 0.5, 0.99999, 1]) {
      const scrollTop = part * (height - viewport);
      const view = seen(rowCount, scrollTop, viewport);
      expect(view.top(view.first)).toBeLessThanOrEqual(scrollTop + 0.01);
      expect(view.top(view.end - 1) + ROW_HEIGHT).toBeGreaterThanOrEqual(scrollTop + viewport - 0.01);
      expect(view.end - view.first).toBeLessThan(40);
    }
    const last = seen(rowCount, height - viewport, viewport);
    expect(last.end).toBe(rowCount);
    expect(last.top(rowCount - 1) + ROW_HEIGHT).toBeCloseTo(height, 1);
  }
});

test("any row can be scrolled to, and one that is seen moves nothing", () => {
  for (const rowCount of [1000, 40_000_000]) {
    for (const row of [0, 17, Math.floor(rowCount / 3), rowCount - 1]) {
      const scrollTop = scrollTo(row, rowCount, 5000, 600);
      const top = seen(rowCount, scrollTop, 600).top(row) - scrollTop;
      expect(top).toBeGreaterThanOrEqual(-0.01);
      expect(top + ROW_HEIGHT).toBeLessThanOrEqual(600.01);
      expect(scrollTo(row, rowCount, scrollTop, 600)).toBeCloseTo(scrollTop, 3);
    }
  }
});
