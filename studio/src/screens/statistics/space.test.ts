import { expect, test } from "vitest";
import type { StorageArea } from "../../api/diagnostics";
import { treemap } from "../../chart/treemap";
import { partsOf, withoutSlivers, type Part } from "./space";

function area(Name: string, Type: StorageArea["Type"], used: number, free: number, journals: number[]): StorageArea {
  return {
    Name,
    Type,
    Report: {
      DataFile: { AllocatedSpaceInBytes: used + free, UsedSpaceInBytes: used, FreeSpaceInBytes: free },
      Journals: journals.map((size, at) => ({ Number: at, AllocatedSpaceInBytes: size, IsKeptForUseAgain: false })),
      Flush: { LastTransaction: 0, FlushedTransaction: 0, JournalSinceFlushInBytes: 0, FlushCount: 0 },
      Readers: { Open: 0, OldestTransaction: 0, PageVersionsWaiting: 0 },
      QueueLength: 0,
      PageVersionsOfProcessInBytes: 0,
    },
  };
}

test("all bytes of all files are in one part each, the largest first", () => {
  const areas = [area("Documents", "Documents", 100, 20, [64, 8]), area("Auto/Users/ByName", "Index", 30, 5, [16])];
  const parts = partsOf(areas, [{ name: "Users", count: 3, size: 60 }], 250);
  expect(parts.map(({ kind, bytes }) => [kind, bytes])).toEqual([
    ["journal", 88],
    ["collection", 60],
    ["structure", 40],
    ["index", 30],
    ["free", 25],
    ["rest", 7],
  ]);
});

test("what is larger than its pages, and what is nothing, has no part of its own", () => {
  expect(partsOf([area("Documents", "Documents", 10, 0, [])], [{ name: "Users", count: 1, size: 12 }], 0)).toEqual([
    { kind: "collection", name: "Users", bytes: 12 },
  ]);
});

test("parts that would be slivers are one that can be seen", () => {
  const part = (bytes: number): Part => ({ kind: "index", name: `${bytes}`, bytes });
  const parts = [part(100_000), part(40_000), part(20_000), part(30), part(20), part(10)];
  const shown = withoutSlivers(parts, 800, 280);
  const areas = treemap(
    shown.map(({ bytes }) => bytes),
    800,
    280,
  );
  expect(areas.every(({ width, height }) => Math.min(width, height) >= 8)).toBe(true);
  const others = shown.find(({ kind }) => kind === "others");
  // The three alone are too little.
  expect(others).toMatchObject({ name: "4 others", bytes: 20_060 });
  expect(others?.parts).toEqual(parts.slice(2));
  expect(shown.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(160_060);
});

test("parts without slivers stay, and so does what has no room at all", () => {
  const parts: Part[] = [
    { kind: "index", name: "A", bytes: 60 },
    { kind: "index", name: "B", bytes: 40 },
  ];
  expect(withoutSlivers(parts, 800, 280)).toEqual(parts);
  expect(withoutSlivers(parts, 0, 280)).toEqual(parts);
  expect(withoutSlivers(parts, 4, 4)).toEqual(parts);
});
