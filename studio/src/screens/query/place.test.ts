import { expect, test } from "vitest";
import { loadsOf, placeAt } from "./place";

/** What is expected at the end of a text, in short. */
function at(text: string): string {
  const place = placeAt(text);
  switch (place.kind) {
    case "source":
      return place.isIndex ? "index" : "collection";
    case "operand":
    case "operator":
      return `${place.kind} of ${place.clause}`;
    case "value":
      return `value of ${place.field}${place.quote === undefined ? "" : ` in ${place.quote} from ${place.from}`}`;
    case "end":
      return `end of ${place.clause}${place.isOpen ? ", open" : ""}`;
    case "script":
      return place.isUpdate ? "update" : "script";
    default:
      return place.kind;
  }
}

test("the source, and what follows it", () => {
  expect(
    ["", "from ", "from index ", "from index 'Or", "from 'My ", "from Orders ", "from Orders as ", "from Orders as o "].map(at),
  ).toEqual(["start", "collection", "index", "index", "collection", "end of from", "none", "end of from"]);
});

test("conditions: a field, its operator, its value, the next one", () => {
  expect(at("from Orders where ")).toBe("operand of where");
  expect(at("from Orders where Freight ")).toBe("operator of where");
  expect(at("from Orders where Freight > ")).toBe("value of Freight");
  expect(at("from Orders where Freight > 3 ")).toBe("end of where");
  expect(at("from Orders where Freight > 3 and ")).toBe("operand of where");
  expect(at("from Orders where (Freight > 3 or not ")).toBe("operand of where");
  expect(at("from Orders where (Freight > 3")).toBe("end of where, open");
  expect(at("from Orders where Freight between 1 and ")).toBe("value of Freight");
  expect(at("from Orders where Freight between 1 and 3 and ")).toBe("operand of where");
  expect(at("from Orders where Company in ('a', ")).toBe("value of Company");
  expect(at("from Orders where search(Name, ")).toBe("value of Name");
  expect(at("from Orders where search(")).toBe("operand of where");
  expect(at("from Orders where id() ")).toBe("operator of where");
});

test("inside of a string there are values of its field alone", () => {
  expect(at("from Orders where ShipTo.City = '")).toBe("value of ShipTo.City in ' from 33");
  expect(at('from Orders where City = "Re')).toBe('value of City in " from 26');
  expect(at("from Orders where Company in ('a', 'b")).toBe("value of Company in ' from 36");
  expect(at("from Orders where startsWith(Name, 'x")).toBe("value of Name in ' from 36");
  expect(at("from Orders where City = 'it\\'s")).toBe("value of City in ' from 26");
  expect(at("from Orders where City = 'where' ")).toBe("end of where");
});

test("lists of the other clauses", () => {
  expect(at("from Orders order by ")).toBe("operand of order by");
  expect(at("from Orders order by Freight ")).toBe("end of order by");
  expect(at("from Orders order by Freight as ")).toBe("sorting");
  expect(at("from Orders order by Freight as double desc, ")).toBe("operand of order by");
  expect(at("from Orders group by ")).toBe("operand of group by");
  expect(at("from Orders select distinct ")).toBe("operand of select");
  expect(at("from Orders select sum(")).toBe("operand of select");
  expect(at("from Orders limit ")).toBe("none");
  expect(at("from Orders limit 3 ")).toBe("end of limit");
  expect(at("from Orders as o load o.Company as c select { n: ")).toBe("script");
  expect(at("from Orders update { this.")).toBe("update");
  expect(at("from Orders // where ")).toBe("none");
});

test("loaded documents are known by their alias", () => {
  expect(loadsOf("from Orders as o load o.Company as c, o.Lines[].Product as p[] select")).toEqual([
    { alias: "c", path: "o.Company" },
    { alias: "p", path: "o.Lines[].Product" },
  ]);
});
