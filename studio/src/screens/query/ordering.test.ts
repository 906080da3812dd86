import { expect, test, vi } from "vitest";
import { ID } from "../../grid/columns";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { isSortable, nameInQuery, ordered, orderingOf, turned, typeOf } = await import("./ordering");

test("an ordering is put before what stands behind it, and replaces another", () => {
  const by = { by: "Freight", direction: "descending" } as const;
  expect(ordered("from Orders", by, "double")).toBe("from Orders order by Freight as double desc");
  expect(ordered("from Orders where A = 'order by' select Freight limit 3", by, "double")).toBe(
    "from Orders where A = 'order by' order by Freight as double desc select Freight limit 3",
  );
  expect(ordered("from Orders\norder by A, B\nselect Freight", by, undefined)).toBe(
    "from Orders\norder by Freight desc\nselect Freight",
  );
  expect(ordered("from Orders order by A as long desc limit 3", undefined, undefined)).toBe("from Orders limit 3");
  expect(ordered("from Orders // all", by, undefined)).toBe("from Orders // all\norder by Freight desc");
});

test("an ordering by one column is read, and turned", () => {
  expect(orderingOf("from Orders order by Freight as double desc limit 3")).toEqual({ by: "Freight", direction: "descending" });
  expect(orderingOf("from Orders order by id()")).toEqual({ by: "id()", direction: "ascending" });
  expect(orderingOf("from Orders order by A, B")).toBeUndefined();
  expect(orderingOf("from Orders")).toBeUndefined();
  const first = turned(undefined, "A");
  expect([first, turned(first, "A"), turned(turned(first, "A"), "A"), turned(first, "B")]).toEqual([
    { by: "A", direction: "ascending" },
    { by: "A", direction: "descending" },
    undefined,
    { by: "B", direction: "ascending" },
  ]);
});

test("columns have the names that the query gives them", () => {
  expect(nameInQuery("ShipTo.City")).toBe("ShipTo.City");
  expect(nameInQuery(ID)).toBe("id()");
  // A word of the language.
  expect(nameInQuery("Order.Limit")).toBe("'Order'.'Limit'");
  expect(nameInQuery("My field.A")).toBe("'My field'.A");
  expect(nameInQuery("'a.b'")).toBe("'a.b'");
  expect(nameInQuery("City", "from Orders as o where o.A = 1")).toBe("o.City");
  expect(nameInQuery("City", "from Orders as o select o.ShipTo.City as City")).toBe("City");
});

test("what a script made, and facets, are not sorted", () => {
  expect(isSortable("from Orders where A = '{' select A, B as C")).toBe(true);
  expect(isSortable("from Orders as o select { A: o.A }")).toBe(false);
  expect(isSortable("from index 'X' select facet(A)")).toBe(false);
});

test("numbers are compared as numbers", () => {
  expect([typeOf([1, 2, null]), typeOf([1, 2.5]), typeOf([1, "2"]), typeOf([])]).toEqual(["long", "double", undefined, undefined]);
});
