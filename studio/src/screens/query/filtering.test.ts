import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { conditionOf, filtered, conditionsOf, frequent, kindOf, notFilterable, operatorsFor, valuesOf, without } =
  await import("./filtering");

test("conditions are written as RQL", () => {
  expect(conditionOf("Name", "=", ["O'Neill \\"], "text")).toBe("Name = 'O\\'Neill \\\\'");
  expect(conditionOf("Freight", ">=", [" 12.5 "], "number")).toBe("Freight >= 12.5");
  expect(conditionOf("Freight", "=", ["x"], "number")).toBe("Freight = 'x'");
  expect(conditionOf("Code", "=", ["007"], "text")).toBe("Code = '007'");
  expect(conditionOf("Done", "!=", ["True"], "boolean")).toBe("Done != true");
  expect(conditionOf("Region", "=", ["null"], "text")).toBe("Region = null");
  expect(conditionOf("Freight", "between", ["1", "2"], "number")).toBe("Freight between 1 and 2");
  expect(conditionOf("City", "in", ["Oslo", " Bern"], "text")).toBe("City in ('Oslo', 'Bern')");
  expect(conditionOf("City", "startsWith", ["5"], "text")).toBe("startsWith(City, '5')");
  expect(conditionOf("City", "exists", [], "text")).toBe("exists(City)");
});

test("a condition is added or replaced, whatever stands beside it", () => {
  const check = (text: string, by: string, condition: string, expected: string) =>
    expect(filtered(text, by, condition)).toBe(expected);
  check("from Orders", "City", "City = 'x'", "from Orders where City = 'x'");
  check("from Orders order by A limit 5", "City", "City = 'x'", "from Orders where City = 'x' order by A limit 5");
  check("from Orders where A = 1", "B", "B = 2", "from Orders where A = 1 and B = 2");
  check("from Orders where A = 1 and B = 'and' and C = 3", "B", "B = 2", "from Orders where A = 1 and C = 3 and B = 2");
  check("from Orders where A between 1 and 2 and B = 3", "A", "A = 1", "from Orders where B = 3 and A = 1");
  check("from Orders where A = 1 or B = 2", "A", "A = 3", "from Orders where (A = 1 or B = 2) and A = 3");
  check("from Orders where A = 1 and B = 2 or C = 3", "D", "D = 4", "from Orders where (A = 1 and B = 2 or C = 3) and D = 4");
  check("from Orders where startsWith(Name, 'x')", "Name", "Name = 'y'", "from Orders where Name = 'y'");
  check(
    "from Orders where Name2 = 1 and Name.First = 2",
    "Name",
    "Name = 3",
    "from Orders where Name2 = 1 and Name.First = 2 and Name = 3",
  );
  check("from Orders as o where o.A = 1 load o.B as b", "o.A", "o.A = 2", "from Orders as o where o.A = 2 load o.B as b");
  check(
    "from Orders\nwhere A = 1 or B = 2 // x\nlimit 5",
    "A",
    "A = 3",
    "from Orders\nwhere (A = 1 or B = 2 // x\n)\nand A = 3\nlimit 5",
  );
  check("from Orders\nwhere A = 1 // and B\norder by A", "B", "B = 2", "from Orders\nwhere A = 1 // and B\nand B = 2\norder by A");
});

test("conditions are listed and removed", () => {
  const check = (text: string, conditions: string[]) => expect(conditionsOf(text)).toEqual(conditions);
  check("from Orders", []);
  check("from Orders where A between 1 and 2 and exists(B) limit 5", ["A between 1 and 2", "exists(B)"]);
  check("from Orders where A = 1 and B = 2 or C = 3", ["A = 1 and B = 2 or C = 3"]);
  expect(without("from Orders where A between 1 and 2 and exists(B) limit 5", "A between 1 and 2")).toBe(
    "from Orders where exists(B) limit 5",
  );
  expect(without("from Orders where (A = 1 or B = 2) and C = 3", "C = 3")).toBe("from Orders where (A = 1 or B = 2)");
  expect(without("from Orders where A = 1 or B = 2 order by C", "A = 1 or B = 2")).toBe("from Orders order by C");
});

test("values that are typed are separated by commas", () => {
  expect(valuesOf('Oslo, "Paris, TX" ,Bern')).toEqual(["Oslo", "Paris, TX", "Bern"]);
  expect(valuesOf(" Oslo ")).toEqual(["Oslo"]);
  expect(valuesOf(" , ")).toEqual([]);
});

test("operators suit the values, and the frequent values come first", () => {
  expect([kindOf([1, null]), kindOf([true]), kindOf(["a", 1]), kindOf([])]).toEqual(["number", "boolean", "text", "text"]);
  expect(operatorsFor("number").map(({ value }) => value)).not.toContain("search");
  expect(operatorsFor("boolean").map(({ value }) => value)).toEqual(["=", "!=", "in", "exists"]);
  expect(frequent(["b", "a", "b", {}, undefined, "c"], 2)).toEqual(["b", "a"]);
});

test("what cannot be filtered says why", () => {
  expect(notFilterable("from Orders where A = 1 order by B")).toBeUndefined();
  expect(notFilterable("from Orders group by A select A, count()")).toContain("groups");
  expect(notFilterable("from Orders select A as B")).toContain("select");
});
