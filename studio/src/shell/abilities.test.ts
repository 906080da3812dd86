import { expect, test } from "vitest";
import type { Caller } from "../api/access";
import { abilitiesOf } from "./abilities";

const known = (rights: Partial<Caller>) =>
  abilitiesOf({
    kind: "known",
    caller: { name: "x", thumbprint: undefined, clearance: "ValidUser", permissions: {}, ...rights },
  });

test("who the server does not ask may do everything", () => {
  const { isOperator, isClusterAdmin, administers } = abilitiesOf({ kind: "anyone" });
  expect([isOperator, isClusterAdmin, administers("Shop")]).toEqual([true, true, true]);
});

test("a user administers the databases that were granted, in any case of their names", () => {
  const { isOperator, isClusterAdmin, administers } = known({ permissions: { Shop: "Admin", Books: "ReadWrite" } });
  expect([isOperator, isClusterAdmin]).toEqual([false, false]);
  expect(["shop", "books", "other"].map(administers)).toEqual([true, false, false]);
});

test("an operator administers all databases and is no cluster admin", () => {
  const { isOperator, isClusterAdmin, administers } = known({ clearance: "Operator" });
  expect([isOperator, isClusterAdmin, administers("Shop")]).toEqual([true, false, true]);
  expect(known({ clearance: "ClusterAdmin" }).isClusterAdmin).toBe(true);
});
