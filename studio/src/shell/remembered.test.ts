import { beforeEach, expect, test, vi } from "vitest";

/** As much of it as is used: keys are its own properties. */
class Store {
  getItem(key: string) {
    return (this as unknown as Record<string, string>)[key] ?? null;
  }
  setItem(key: string, value: string) {
    (this as unknown as Record<string, string>)[key] = value;
  }
  removeItem(key: string) {
    delete (this as unknown as Record<string, string>)[key];
  }
}

beforeEach(() => {
  vi.stubGlobal("localStorage", new Store());
  vi.stubGlobal("sessionStorage", new Store());
});
const { forget, keepLatest, remembered } = await import("./remembered");

test("what was kept for a database goes with it, and no other's", () => {
  const own = remembered<string[]>("queries.Shop", []);
  own.set(["from A"]);
  remembered("columns.Shop/query.A,B", "").set("x");
  remembered("columns.Shop.Old/@all", "").set("y");
  forget("Shop");
  expect(own.get()).toEqual([]);
  expect(Object.keys(localStorage)).toEqual(["rookery.columns.Shop.Old/@all"]);
});

test("what another tab wrote is built upon, and a tab's own is not of the others", () => {
  const saved = remembered<string[]>("saved.Two", []);
  saved.set(["mine"]);
  localStorage.setItem("rookery.saved.Two", '["theirs","mine"]');
  saved.set((stored) => ["new", ...stored]);
  expect(saved.get()).toEqual(["new", "theirs", "mine"]);
  remembered("tabs.Two", "", "tab").set("x");
  expect(localStorage.getItem("rookery.tabs.Two")).toBeNull();
  forget("Two");
  expect([sessionStorage.getItem("rookery.tabs.Two"), saved.get()]).toEqual([null, []]);
});

test("of shapes without number the latest are kept", () => {
  for (const shape of ["a", "b", "c", "a", "d"]) {
    remembered(`columns.S/query.${shape}`, "").set("x");
    keepLatest("columns.S/query.", `columns.S/query.${shape}`, 2);
  }
  const kept = Object.keys(localStorage).filter((key) => !key.endsWith("used"));
  expect(kept.sort()).toEqual(["rookery.columns.S/query.a", "rookery.columns.S/query.d"]);
});
