import { expect, test } from "vitest";
import type { Statistics } from "../../api/indexes";
import { arranged, isBuilding, isQueried, kindOf, progressOf, stateOf, withoutReplacements } from "./state";

const index = (change: Partial<Statistics>) =>
  ({ Name: "I", State: "Normal", Status: "Running", IsStale: false, Collections: {}, ...change }) as Statistics;

test("a state is the worst that can be said", () => {
  expect(stateOf(index({ State: "Error", Status: "Paused", IsStale: true })).label).toBe("Failed");
  expect(stateOf(index({ Status: "Paused", IsStale: true })).label).toBe("Paused, stale");
  expect(stateOf(index({ IsStale: true })).label).toBe("Stale");
  expect(stateOf(index({})).label).toBe("Up to date");
});

test("progress is what is left of all that there is, over all collections", () => {
  const of = (NumberOfItemsToProcess: number, TotalNumberOfItems: number) => ({
    NumberOfItemsToProcess,
    TotalNumberOfItems,
    NumberOfTombstonesToProcess: 0,
    TotalNumberOfTombstones: 0,
  });
  expect(progressOf({ Name: "I", Collections: { A: of(10, 40), B: of(40, 60) } })).toEqual({ left: 50, share: 0.5 });
  expect(progressOf({ Name: "I", Collections: { A: of(0, 0) } })).toEqual({ left: 0, share: 1 });
  expect([
    isBuilding(index({ IsStale: true })),
    isBuilding(index({})),
    isBuilding(index({ IsStale: true, Status: "Paused" })),
  ]).toEqual([true, false, false]);
});

test("what replaces an index stands behind it", () => {
  const names = arranged(["B", "ReplacementOf/A", "A", "A/B"].map((Name) => index({ Name }))).map(({ Name }) => Name);
  expect(names.indexOf("ReplacementOf/A")).toBe(names.indexOf("A") + 1);
  expect([kindOf("AutoMap"), kindOf("JavaScriptMapReduce"), kindOf("MapReduce")]).toEqual([
    "Automatic map",
    "JavaScript map-reduce",
    "Map-reduce",
  ]);
});

test("what is built to replace an index is no index to go to", () => {
  expect(withoutReplacements([{ Name: "A/B" }, { Name: "ReplacementOf/A/B" }])).toEqual([{ Name: "A/B" }]);
});

test("an index whose last query was at its creation was never queried", () => {
  const CreatedTimestamp = "2026-11-26T16:27:30.8501007Z";
  expect(isQueried(index({ CreatedTimestamp, LastQueryingTime: CreatedTimestamp }))).toBe(false);
  expect(isQueried(index({ CreatedTimestamp, LastQueryingTime: "2026-11-26T16:27:31.0000000Z" }))).toBe(true);
});
