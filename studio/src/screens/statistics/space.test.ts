import { expect, test } from "vitest";
import type { StorageArea } from "../../api/diagnostics";
import { partsOf } from "./space";

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
