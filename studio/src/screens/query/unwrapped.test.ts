import { expect, test } from "vitest";
import { BORDERS, OUTLINES } from "./land";
import { unwrapped } from "./unwrapped";

test("a line over the antimeridian goes on, and is at both edges", () => {
  const found = unwrapped([
    [170, 10],
    [-170, 20],
    [170, 30],
  ]);
  expect(found.map(({ points }) => points.map(([longitude]) => longitude))).toEqual([
    [170, 190, 170],
    [-190, -170, -190],
  ]);
  expect(found[0]!.pole).toBeUndefined();
});

test("one that stays on its side is as it was", () => {
  expect(
    unwrapped(
      [
        [-100, 0],
        [100, 0],
      ].map(([x, y]) => [x!, y!] as const),
    ),
  ).toHaveLength(2);
  expect(
    unwrapped([
      [-80, 0],
      [90, 1],
    ]),
  ).toEqual([
    {
      points: [
        [-80, 0],
        [90, 1],
      ],
      pole: undefined,
    },
  ]);
});

test("no line of the land crosses the world, and Antarctica is closed at the pole", () => {
  for (const { points } of [...OUTLINES, ...BORDERS]) {
    for (let at = 1; at < points.length; at++) expect(Math.abs(points[at]![0] - points[at - 1]![0])).toBeLessThan(180);
  }
  expect(OUTLINES.some(({ pole }) => pole === -90)).toBe(true);
});
