import { expect, test } from "vitest";
import type { Archive } from "../../api/backups";
import { fieldOf, momentOf, secondsOf, stateOf, type Moment } from "./moment";

const ARCHIVE: Archive = {
  DatabaseName: "Shop",
  NodeTag: "A",
  Location: "/b",
  From: "2026-11-27T02:00:01.2500000Z",
  Until: "2026-11-27T15:31:40.9000000Z",
  FirstTransaction: 5120,
  LastTransaction: 88412,
  IsEncrypted: false,
  SizeInBytes: 4096,
};

const field = (utc: string) => fieldOf(Date.parse(utc));
const check = (moment: Partial<Moment>) => stateOf({ ...momentOf(ARCHIVE), ...moment }, ARCHIVE);

test("the seconds of an archive lie within it", () => {
  const seconds = (From: string, Until: string) =>
    Object.values(secondsOf({ From, Until })).map((ms) => new Date(ms).toISOString().slice(11, 19));
  expect(seconds(ARCHIVE.From, ARCHIVE.Until)).toEqual(["02:00:02", "15:31:40"]);
  expect(seconds("2026-11-27T02:00:01.0000000Z", ARCHIVE.Until)[0]).toBe("02:00:01");
  expect(seconds("2026-11-27T02:00:01.0000001Z", ARCHIVE.Until)[0]).toBe("02:00:02");
  // It has one state only.
  expect(seconds(ARCHIVE.From, ARCHIVE.From)).toEqual(["02:00:02", "02:00:02"]);
});

test("a time of the browser is sent in UTC", () => {
  const time = field("2026-11-27T15:30:11Z");
  expect(check({ time })).toEqual({ state: { archiveOf: "Shop", time: "2026-11-27T15:30:11.000Z" } });
  // A field leaves seconds out where they are zero.
  expect(check({ time: field("2026-11-27T15:30:00Z").slice(0, -3) })).toEqual({
    state: { archiveOf: "Shop", time: "2026-11-27T15:30:00.000Z" },
  });
});

test("a time outside of the archive is none", () => {
  expect(check({ time: field("2026-11-27T02:00:01Z") })).toEqual({
    reason: `The archive begins at ${field("2026-11-27T02:00:02Z").replace("T", " ")}`,
  });
  expect(check({ time: field("2026-11-27T15:31:41Z") })).toEqual({
    reason: `The archive ends at ${field("2026-11-27T15:31:40Z").replace("T", " ")}`,
  });
  expect(check({ time: "" })).toEqual({ reason: undefined });
});

test("a transaction is one of the archive", () => {
  const transaction = (transaction: string) => check({ kind: "transaction", transaction });
  expect(transaction(" 5120 ")).toEqual({ state: { archiveOf: "Shop", transaction: 5120 } });
  for (const wrong of ["5119", "88413", "-1", "5e3", "x"])
    expect(transaction(wrong)).toEqual({ reason: "A number from 5120 to 88412" });
  expect(transaction("")).toEqual({ reason: undefined });
  expect(check({ kind: "last" })).toEqual({ state: { archiveOf: "Shop", transaction: 88412 } });
});
