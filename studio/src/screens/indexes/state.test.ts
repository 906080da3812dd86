import { expect, test } from "vitest";
import type { Statistics } from "../../api/indexes";
import { arranged, kindOf, progressOf, stateOf } from "./state";

const index = (change: Partial<Statistics>) =>
  ({ Name: "I", State: "Normal", Status: "Running", IsStale: false, Collections: {}, ...change }) as Statistics;

test("a state is the worst that can be said", () => {
  expect(stateOf(index({ State: "Error", Status: "Paused", IsStale: true })).label).toBe("Failed");
  expect(stateOf(index({ Status: "Paused", IsStale: true })).label).toBe("Paused, stale");
  expect(stateOf(index({ IsStale: true })).label).toBe("Stale");
  expect(stateOf(index({})).label).toBe("Up to date");
});

test("progress is what was done of what there is, over all collections", () => {
  const at = (LastProcessedDocumentEtag: number, DocumentLag: number) => ({
    LastProcessedDocumentEtag,
    DocumentLag,
    TombstoneLag: 0,
  });
  expect(progressOf(index({ IsStale: true, Collections: { A: at(30, 10), B: at(20, 40) } }))).toBe(0.5);
  expect(progressOf(index({ Collections: { A: at(30, 10) } }))).toBe(1);
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
