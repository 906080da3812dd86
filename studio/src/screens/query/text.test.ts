import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { bare } = await import("../../api/limit");
const {
  aliasOf,
  indexOf,
  isExplain,
  isInScript,
  collectionOf,
  findingPart,
  isPatch,
  mistakeOf,
  parametersOf,
  withoutInclude,
  withTimings,
  quotedIfNeeded,
  reasonOf,
} = await import("./text");
const { ApiError } = await import("../../api/http");

test("strings and comments are no part of the language", () => {
  expect(isPatch("from Users where Name = 'update {'")).toBe(false);
  expect(isPatch("from Users // update {")).toBe(false);
  expect(isPatch("from Users update { this.A = 1 }")).toBe(true);
  expect(bare("a 'b''c' d")).toBe("a          d".slice(0, 3 - 1) + " ".repeat(6) + " d");
});

test("a patch is asked what it would change", () => {
  expect(findingPart("from Users where A = 'update {' update { this.A = 1 }")).toBe("from Users where A = 'update {'");
  expect(findingPart("from Users update { this.A = { B: '}' } } limit 2")).toBe("from Users limit 2");
});

test("the collection is known in each spelling", () => {
  expect(
    ["from Users", "FROM 'My Users' as u", 'from "x" where a', "from index 'A/B'", "declare function f() {}\nfrom Orders"].map(
      collectionOf,
    ),
  ).toEqual(["Users", "My Users", "x", undefined, "Orders"]);
  expect([quotedIfNeeded("Users"), quotedIfNeeded("My Users")]).toEqual(["Users", "'My Users'"]);
});

test("the place of a mistake is read from the server's words", () => {
  const error = new ApiError(400, "ParseException", "1:19 Unable to parse\nQuery: from Orders where ");
  expect(mistakeOf(error)).toEqual({ line: 1, column: 19, message: "Unable to parse" });
  expect(reasonOf(error)).toBe("Unable to parse");
  expect(mistakeOf(new Error("1:2 x"))).toBeUndefined();
});

test("the names of parameters are told, but not those in texts", () => {
  expect(parametersOf("from A where B = $b and C > $c and D = '$d' and E = $b // $e")).toEqual(["b", "c"]);
});

test("times are asked for beside what is included, and before a limit", () => {
  expect(withTimings("from A limit 2")).toBe("from A limit 2\ninclude timings()");
  expect(withTimings("from A where B = 'include' include C limit 2")).toBe(
    "from A where B = 'include' include timings(), C limit 2",
  );
  expect(withTimings("from A include timings()")).toBe("from A include timings()");
});

test("a plan is that without what is included", () => {
  const text = "from A include B, counters(C) limit 2";
  expect(withoutInclude(text).replace(/ +/g, " ")).toBe("from A limit 2");
  expect(withoutInclude(text).length).toBe(text.length);
  expect(withoutInclude("from A where B = 'include'")).toBe("from A where B = 'include'");
});

test("what a query calls its documents and its index is read", () => {
  expect(aliasOf("from 'My Orders' as o where")).toBe("o");
  expect(aliasOf("from Orders where a = 1")).toBeUndefined();
  expect(indexOf("from index 'Orders/ByCompany' as r")).toBe("Orders/ByCompany");
  expect(indexOf("from Orders")).toBeUndefined();
  expect([isInScript("from A update { this."), isInScript("from A where b = 'update {' "), isInScript("from A ")]).toEqual([
    true,
    false,
    false,
  ]);
});

test("explain is told by its first word, behind comments too", () => {
  expect(["explain from A", "// note\n EXPLAIN from A"].map(isExplain)).toEqual([true, true]);
  expect(["from A where explain = 1", "explained", "// explain"].map(isExplain)).toEqual([false, false, false]);
});
