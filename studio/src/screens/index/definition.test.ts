import { expect, test } from "vitest";
import type { Definition } from "../../api/indexes";
import { differences, isSameContent, merged } from "./definition";

const WRITTEN: Definition = {
  Name: "I",
  Maps: ["from a in docs.As select new { a.X }"],
  Fields: { X: { Indexing: "Default", Suggestions: false }, P: { Spatial: { Type: "Geography" } } },
  AdditionalSources: { "b.js": "2", "a.js": "1" },
};

test("what the server adds to a definition is no change, and what somebody wrote is one", () => {
  const stored: Definition = {
    ...WRITTEN,
    Reduce: null,
    Priority: "High",
    Fields: {
      P: {
        Indexing: null,
        Suggestions: false,
        Spatial: { MaxTreeLevel: 9, MaxX: 180, Strategy: "GeohashPrefixTree", Type: "Geography", Units: "Kilometers" },
      },
      X: { Analyzer: null, Indexing: "Default", Storage: null, Suggestions: false, TermVector: null, Spatial: null },
    },
    AdditionalSources: { "a.js": "1", "b.js": "2" },
    Configuration: {},
  };
  expect(isSameContent(WRITTEN, stored)).toBe(true);
  expect(differences(stored, WRITTEN)).toEqual([]);
  for (const change of [
    { Maps: [...WRITTEN.Maps, "m"] },
    { Reduce: "r" },
    { Fields: { X: { Storage: "Yes" } } },
    { Fields: { ...WRITTEN.Fields, P: { Spatial: { Type: "Cartesian", MaxX: 180 } } } },
    { AdditionalSources: { "a.js": "1" } },
    { Configuration: { A: "1" } },
  ] as Partial<Definition>[]) {
    expect(isSameContent(WRITTEN, { ...stored, ...change }), JSON.stringify(change)).toBe(false);
    expect(differences({ ...stored, ...change }, WRITTEN), JSON.stringify(change)).not.toEqual([]);
  }
});

test("definitions are merged part by part", () => {
  const theirs: Definition = { ...WRITTEN, Maps: ["theirs", "second"], Reduce: "r", AdditionalSources: { "c.js": "3" } };
  const parts = differences(theirs, WRITTEN);
  expect(parts.map(({ title }) => title)).toEqual(["Map 1", "Map 2", "Reduce", "Source c.js", "Source a.js", "Source b.js"]);
  const taken = merged(WRITTEN, new Map(parts.map((part) => [part.key, part.theirs])));
  expect(isSameContent(taken, theirs)).toBe(true);
  expect(
    merged(
      WRITTEN,
      new Map([
        ["map 0", ""],
        ["fields", "{}"],
      ]),
    ),
  ).toMatchObject({ Maps: [], Fields: {} });
  expect(() => merged(WRITTEN, new Map([["fields", "[1]"]]))).toThrow();
});

test("lines that end as on Windows are no change", () => {
  const one = { ...WRITTEN, Maps: ["from a in docs.As\nselect a"], Reduce: "a\nb", AdditionalSources: { "a.js": "1\n2" } };
  const other = { ...one, Maps: ["from a in docs.As\r\nselect a"], Reduce: "a\r\nb", AdditionalSources: { "a.js": "1\r\n2" } };
  expect(isSameContent(one, other)).toBe(true);
  expect(differences(other, one)).toEqual([]);
});
