import { expect, test } from "vitest";
import { distance, nearest } from "./nearest";

test("the distance counts letters to insert, delete or replace", () => {
  expect([distance("", "abc"), distance("kitten", "sitting"), distance("same", "same")]).toEqual([3, 3, 0]);
});

test("the nearest name is near, whatever its case", () => {
  const names = ["Orders/Totals", "Orders/ByCompany", "Products/Search"];
  expect(nearest("orders/total", names)).toBe("Orders/Totals");
  expect(nearest("Orders/ByCompanies", names)).toBe("Orders/ByCompany");
  expect(nearest("Nope", names)).toBeUndefined();
  expect(nearest("Nope", [])).toBeUndefined();
});
