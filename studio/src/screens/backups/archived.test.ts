import { expect, test } from "vitest";
import { archivedUntil, restoredTo } from "./archived";

test("an archive that has all reaches up to now, however long nothing was written", () => {
  const now = Date.parse("2026-11-27T15:31:40.5Z");
  const check = (IsBehind: boolean, LastTime: string) => archivedUntil({ IsBehind, LastTime }, now);
  expect(check(false, "2026-11-27T02:00:00.0000000Z")).toBe("now");
  expect(check(true, "2026-11-27T15:31:39.0000000Z")).toBe("a few seconds ago");
  expect(check(true, "2026-11-27T15:31:28.0000000Z")).toBe("12 s ago");
  expect(check(true, "2026-11-27T15:19:28.0000000Z")).toBe("12 min ago");
});

test("the state that was restored stands in a line of the operation", () => {
  const lines = [
    "[15:32:00 INFO] The journal is read.",
    "[15:32:01 INFO] The state is that of transaction 88230, of 2026-11-27T15:30:11.0184220Z.",
  ];
  expect(restoredTo(lines)).toEqual({ transaction: 88230, time: "2026-11-27T15:30:11.0184220Z" });
  expect(restoredTo(["[15:32:00 INFO] Documents: 3"])).toBeUndefined();
});
