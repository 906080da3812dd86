import { expect, test } from "vitest";
import type { Caller, Permission } from "../api/access";
import { abilitiesOf } from "./abilities";

const known = (rights: Partial<Caller>) =>
  abilitiesOf({
    kind: "known",
    caller: { name: "x", thumbprint: undefined, clearance: "ValidUser", permissions: {}, ...rights },
  });

test("who the server does not ask may do everything", () => {
  const { isOperator, isClusterAdmin, may } = abilitiesOf({ kind: "anyone" });
  expect([isOperator, isClusterAdmin, may("Admin", "Shop")]).toEqual([true, true, true]);
});

test("a user has the rights that were granted and those below, in any case of the names", () => {
  const { isOperator, isClusterAdmin, may } = known({ permissions: { Shop: "Admin", Books: "ReadWrite", Log: "Read" } });
  expect([isOperator, isClusterAdmin]).toEqual([false, false]);
  const check = (right: Permission) => ["shop", "BOOKS", "log", "other"].filter((database) => may(right, database));
  expect(check("Admin")).toEqual(["shop"]);
  expect(check("ReadWrite")).toEqual(["shop", "BOOKS"]);
  expect(check("Read")).toEqual(["shop", "BOOKS", "log"]);
});

test("an operator administers all databases and is no cluster admin", () => {
  const { isOperator, isClusterAdmin, may } = known({ clearance: "Operator" });
  expect([isOperator, isClusterAdmin, may("Admin", "Shop")]).toEqual([true, false, true]);
  expect(known({ clearance: "ClusterAdmin" }).isClusterAdmin).toBe(true);
});
