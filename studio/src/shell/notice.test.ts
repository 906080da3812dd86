import { expect, test } from "vitest";
import type { LogLine } from "../api/diagnostics";
import type { Statistics } from "../api/indexes";
import type { Live, LiveDatabase } from "../api/node";
import { noticesOf, stillDismissed, troubled, withoutDismissed, type Facts } from "./notice";

const open = (Name: string, change: object = {}) =>
  ({ Name, State: "Open", IsInMemory: false, SizeInBytes: 0, FailedIndexes: 0, IndexErrors: 0, ...change }) as LiveDatabase;
const live = (Databases: LiveDatabase[], change: Partial<Live> = {}) =>
  ({ DiskInBytes: 1000, FreeDiskInBytes: 500, Databases, ...change }) as Live;
const index = (Name: string, change: Partial<Statistics>) =>
  ({ Name, State: "Normal", ErrorsCount: 0, MapErrors: 0, CreatedTimestamp: "2026", ...change }) as Statistics;
const line = (Message: string, At = "2026-11-26T16:00:00Z"): LogLine => ({ Number: 1, At, Level: "Error", Message });
const of = (facts: Partial<Facts>) => noticesOf({ live: live([]), errors: [], indexes: new Map(), ...facts });

test("a server without trouble has no notices", () => {
  expect(of({ live: live([open("A"), { Name: "B", State: "Closed" }, { Name: "C", State: "Disabled" }]) })).toEqual([]);
  expect(of({ live: live([], { DiskInBytes: null, FreeDiskInBytes: null }), errors: undefined })).toEqual([]);
});

test("a failed index and one with errors are named, the failed one first and with its time", () => {
  const indexes = [index("E", { ErrorsCount: 3, MapErrors: 3 }), index("F", { State: "Error", ErrorsCount: 500 }), index("G", {})];
  const notices = of({
    live: live([open("A", { FailedIndexes: 1, IndexErrors: 3 })]),
    indexes: new Map([["A", indexes]]),
    errors: [line('an index failed database="A" index="F" error=830 of 830 documents', "2026-11-26T16:33:01Z")],
  });
  expect(notices.map(({ key, tone, at, cause }) => [key, tone, at, cause])).toEqual([
    ["failed/A/F", "bad", "2026-11-26T16:33:01Z", "2026"],
    ["errors/A/E", "warn", undefined, "2"],
  ]);
  expect(notices[0]!.link.search).toEqual({ name: "F", tab: "errors" });
  // They cannot be read: then their number is shown.
  const unread = of({ live: live([open("A", { FailedIndexes: 2, IndexErrors: 3 })]) });
  expect(unread.map(({ text }) => text)).toEqual(["2 indexes of 'A' failed. Queries that use them are refused."]);
});

test("a closed database that could not be opened is named until it is open", () => {
  const errors = [
    line("a database still cannot be opened database=\"A\" error='data' is damaged: both headers are damaged attempts=7"),
    line('a database cannot be opened database="B" error=old'),
  ];
  const notices = of({ live: live([{ Name: "A", State: "Closed" }, open("B")]), errors });
  expect(notices.map(({ text }) => text)).toEqual([
    "The database 'A' cannot be opened: 'data' is damaged: both headers are damaged",
  ]);
});

test("little space is reported below a tenth, and the cause changes as it shrinks", () => {
  const at = (FreeDiskInBytes: number) => of({ live: live([open("A", { SizeInBytes: 5 })], { FreeDiskInBytes }) })[0];
  expect(at(100)).toBeUndefined();
  expect([at(99), at(60), at(49), at(10)].map((notice) => [notice?.cause, notice?.tone])).toEqual([
    ["0.1", "warn"],
    ["0.1", "warn"],
    ["0.05", "bad"],
    ["0.02", "bad"],
  ]);
  expect(at(99)?.text).toBe("The disk of the databases is nearly full: 99 B of 1 KB (9.9 %) are free.");
  expect(at(99)?.link.params).toEqual({ database: "A" });
});

test("other errors of the log are one notice, whose cause is the newest", () => {
  const notices = of({ errors: [line("second", "2026-11-26T16:00:02Z"), line("first")] });
  expect(notices.map(({ text, cause }) => [text, cause])).toEqual([
    ["The log has 2 errors. The newest: second", "2026-11-26T16:00:02Z"],
  ]);
  expect(of({ errors: [line("x".repeat(200))] })[0]!.text).toBe(`The log has an error: ${"x".repeat(160)}…`);
});

test("what was dismissed comes back with another cause, and after it was over", () => {
  const now = live([open("A", { IndexErrors: 3 }), { Name: "B", State: "Closed" }]);
  const notices = of({ live: now, indexes: new Map([["A", [index("E", { ErrorsCount: 3 })]]]) });
  expect(withoutDismissed(notices, { "errors/A/E": "2" })).toEqual([]);
  expect(withoutDismissed(notices, { "errors/A/E": "1" })).toEqual(notices);
  const dismissed = { "errors/A/E": "2", "errors/A/Over": "2", "failed/B/F": "2026", "failed/Deleted/F": "2026", disk: "0.1" };
  expect(stillDismissed(dismissed, notices, now)).toEqual({ "errors/A/E": "2", "failed/B/F": "2026" });
  const kept = { "errors/A/E": "2" };
  expect(stillDismissed(kept, notices, now)).toBe(kept);
});

test("indexes are read again when there is more trouble, not with each error", () => {
  const at = (FailedIndexes: number, IndexErrors: number) => troubled(live([open("A", { FailedIndexes, IndexErrors }), open("B")]));
  expect([at(0, 0), at(0, 2), at(0, 3), at(0, 4), at(1, 0)]).toEqual([[], ["A/0/2"], ["A/0/2"], ["A/0/4"], ["A/1/0"]]);
});
