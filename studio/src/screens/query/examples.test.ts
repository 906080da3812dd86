import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { examplesOf } = await import("./examples");

const companies = [
  {
    Name: "Alfreds Futterkiste",
    Phone: "1",
    Staff: 3,
    Address: { City: "Berlin", Location: { Latitude: 52.5, Longitude: 13.4 } },
    Group: "a",
  },
  { Name: "Ana Trujillo", Phone: "2", Staff: 4.5, Address: { City: "Bonn", Location: { Latitude: 50, Longitude: 7 } }, Group: "a" },
];

test("five queries, each of another part of the language, with fields that are there", () => {
  expect(examplesOf("Companies", companies)).toEqual([
    { what: "Filter and sort", text: "from Companies where 'Group' = 'a' order by Staff as double desc" },
    {
      what: "Group and count",
      text: "from Companies group by 'Group' order by count() as long desc select key() as 'Group', count() as Count",
    },
    { what: "Full-text search", text: "from Companies where search(Name, 'alfr*')" },
    {
      what: "Within 500 km",
      text:
        "from Companies where spatial.within(spatial.point(Address.Location.Latitude, Address.Location.Longitude), " +
        "spatial.circle(500, 52.50, 13.40))",
    },
    { what: "Choose columns", text: "from Companies select Name, Staff, Phone limit 20" },
  ]);
});

test("documents without fields that suit have what is left", () => {
  expect(examplesOf("My things", [{ Lines: [] }])).toEqual([{ what: "All documents", text: "from 'My things'" }]);
  expect(examplesOf("Counts", [{ N: 1 }])).toEqual([{ what: "Filter", text: "from Counts where N >= 1" }]);
  expect(examplesOf("Quotes", [{ Of: "it's" }])[0]!.text).toBe("from Quotes where Of = 'it\\'s'");
});
