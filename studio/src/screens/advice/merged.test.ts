import { expect, test } from "vitest";
import type { Definition } from "../../api/indexes";
import { mergedDefinition } from "./merged";

const automatic = (map: string, fields: readonly string[], Type = "AutoMap"): Definition => ({
  Name: "Auto",
  Maps: [map],
  Type,
  Fields: Object.fromEntries(fields.map((field) => [field, {}])),
});

test("the fields of several automatic indexes become one map", () => {
  const merged = mergedDefinition([
    automatic("Orders:[<Name:Company>]", ["Company", "exact(Company)"]),
    automatic("Orders:[<Name:Lines[].Product>]", ["Lines[].Product", "ShipTo.City", "search(ShipTo.City)"]),
  ]);
  expect(merged).toEqual({
    Name: "Orders/ByCompanyAndLines_ProductAndShipTo_CityAndCompany_ExactAndShipTo_City_Search",
    Maps: [
      "from doc in docs.Orders\nselect new\n{\n    doc.Company,\n    Lines_Product = doc.Lines.Select(x => x.Product),\n    ShipTo_City = doc.ShipTo.City,\n" +
        "    Company_Exact = doc.Company,\n    ShipTo_City_Search = doc.ShipTo.City\n}",
    ],
    Reduce: null,
    Fields: { Company_Exact: { Indexing: "Exact" }, ShipTo_City_Search: { Indexing: "Search" } },
  });
});

test("places, arrays in arrays, and collections with other signs have their forms", () => {
  const merged = mergedDefinition([
    automatic("my things:[..]", ["A[].B[].C", "Tags[]", "spatial.point(At.Lat, At.Lng)", "spatial.wkt(Area)"]),
  ]);
  expect(merged?.Name).toBe("mythings/ByA_B_CAndTagsAndAtAndArea");
  expect(merged?.Maps[0]).toContain('from doc in docs["my things"]');
  expect(merged?.Maps[0]).toContain("A_B_C = doc.A.SelectMany(x => x.B).Select(x => x.C)");
  expect(merged?.Maps[0]).toContain("doc.Tags,");
  expect(merged?.Maps[0]).toContain("At = CreateSpatialField(doc.At.Lat, doc.At.Lng)");
  expect(mergedDefinition([automatic("@all_docs:[<Name:A>]", ["A"])])).toMatchObject({
    Name: "AllDocs/ByA",
    Maps: ["from doc in docs\nselect new\n{\n    doc.A\n}"],
  });
});

test("a name that would be too long is a short one", () => {
  const fields = Array.from({ length: 40 }, (_, number) => `Field${number}`);
  expect(mergedDefinition([automatic("Orders:[..]", fields)])?.Name).toBe("Orders/Merged");
});

test("groups, static indexes, two collections and fields without a form give no definition", () => {
  const orders = automatic("Orders:[<Name:A>]", ["A"]);
  expect(mergedDefinition([])).toBeUndefined();
  expect(mergedDefinition([automatic("Orders:[..]", ["Count"], "AutoMapReduce")])).toBeUndefined();
  expect(mergedDefinition([orders, automatic("from o in docs.Orders", ["A"], "Map")])).toBeUndefined();
  expect(mergedDefinition([orders, automatic("Users:[<Name:A>]", ["A"])])).toBeUndefined();
  expect(mergedDefinition([automatic("Orders:[..]", ["vector.search(A)"])])).toBeUndefined();
  expect(mergedDefinition([automatic("Orders:[..]", ["odd name"])])).toBeUndefined();
});
