import { expect, test } from "vitest";
import { ALL, withType } from "./dumpOptions";

test("types are taken out and in again, in the order of the list", () => {
  const without = withType(ALL, "Indexes", false);
  expect(without.types).toEqual(["Documents", "Identities", "DatabaseRecord"]);
  expect(withType(without, "Indexes", true)).toEqual(ALL);
  expect(withType(ALL, "Documents", true)).toEqual(ALL);
});
