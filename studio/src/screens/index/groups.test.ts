import { describe, expect, test } from "vitest";
import type { GroupNode } from "../../api/indexes";
import { keyText, shownOf } from "./groups";

const leaf = (PageNumber: number, N: number, entries: [number, string | null][] | null): GroupNode => ({
  PageNumber,
  Level: 0,
  AggregationResult: { N },
  HasFailed: false,
  Children: null,
  Entries: entries?.map(([Number, Source]) => ({ Data: { N: Number }, Source, Number })) ?? null,
});

describe("what is drawn of groups", () => {
  test("values of a small group lead to its result at once", () => {
    const root = leaf(0, 3, [
      [0, "a"],
      [1, null],
      [2, "b"],
    ]);
    const group = { Name: "g", DisplayName: '{"K":"x"}', Depth: 1, NumberOfEntries: 3, IsWhole: true, Root: root };
    const { sources, groups } = shownOf([group], ["a", "b", "c"]);
    expect(sources.map(({ entries }) => entries.map(({ id, into }) => [id, into]))).toEqual([[["g/0", "g"]], [["g/2", "g"]], []]);
    expect(groups[0]).toMatchObject({ key: "x", results: [{ N: 3 }], levels: [], others: { values: [{ N: 1 }], parts: [] } });
  });

  test("of a large one the parts on the way are drawn, the others stand beside", () => {
    const middle = (PageNumber: number, Children: GroupNode[] | null): GroupNode => ({
      ...leaf(PageNumber, PageNumber, null),
      Level: 1,
      Children,
    });
    const children = [leaf(64, 1, null), leaf(65, 2, [[65 * 64 + 3, "a"]])];
    const root: GroupNode = { ...leaf(0, 9, null), Level: 2, Children: [middle(0, null), middle(1, children)] };
    const group = { Name: "g", DisplayName: "7", Depth: 3, NumberOfEntries: 4200, IsWhole: false, Root: root };
    const { sources, groups } = shownOf([group], ["a"]);
    expect(sources[0]!.entries[0]!.into).toBe("g/0/65");
    const [leaves, above] = groups[0]!.levels;
    expect(leaves).toHaveLength(1);
    expect(leaves![0]).toMatchObject({ first: 4160, last: 4223, into: "g/1/1", others: { values: [], parts: [] } });
    expect(above![0]).toMatchObject({ first: 4096, last: 8191, into: "g", others: { parts: [{ first: 4096, last: 4159 }] } });
    expect(groups[0]!.others.parts).toEqual([{ first: 0, last: 4095, results: [{ N: 0 }] }]);
  });

  test("keys are read as people write them", () => {
    expect([keyText('{"A":"x","B":2}'), keyText('"x"'), keyText("no JSON"), keyText('{"A":null}')]).toEqual([
      "A: x, B: 2",
      "x",
      "no JSON",
      "null",
    ]);
  });
});
