import { expect, test } from "vitest";
import { databaseOf } from "./database";

test("a database is known by the folder of its backup", () => {
  const check = (Location: string, DatabaseName: string | null = null) => databaseOf({ Location, DatabaseName });
  expect(check("/b/2026-11-27-02-00-00.ravendb-Shop-A-backup")).toBe("Shop");
  expect(check("2026-11-27-02-00-00.ravendb-my-shop-AB-backup")).toBe("my-shop");
  expect(check("/b", "Shop")).toBe("Shop");
  expect(check("/b/copy")).toBeUndefined();
});
