import { expect, test } from "vitest";
import type { Change } from "../../api/changes";
import { parse } from "../../json/exact";
import {
  after,
  EMPTY,
  filterOf,
  isShown,
  kindsOf,
  KINDS,
  LINE_COUNT_MAX,
  watchedBy,
  type Feed,
  type Filter,
  type Kind,
} from "./feed";

const put = (id: string, collection: string | null = "Users"): Change => ({
  Type: "DocumentChange",
  Value: { Type: "Put", Id: id, CollectionName: collection, ChangeVector: "A:1-x" },
});
const many = (count: number, from = 0) => Array.from({ length: count }, (_, at) => put(`users/${from + at}`));
const came = (feed: Feed, changes: Change[]) => after(feed, { kind: "changes", changes, at: 5 });
const names = (feed: Feed) => feed.lines.map((line) => (line.kind === "gap" ? "gap" : line.name));

test("the latest change comes first, and the list is bounded", () => {
  expect(names(came(came(EMPTY, many(2)), many(1, 2)))).toEqual(["users/2", "users/1", "users/0"]);
  const full = came(came(EMPTY, many(LINE_COUNT_MAX)), many(LINE_COUNT_MAX + 7, 1000));
  expect(full.lines.length).toBe(LINE_COUNT_MAX);
  expect(names(full)[0]).toBe(`users/${1000 + LINE_COUNT_MAX + 6}`);
  expect(new Set(full.lines.map(({ key }) => key)).size).toBe(LINE_COUNT_MAX);
});

test("what comes while it is paused waits, and is counted", () => {
  let feed = after(came(EMPTY, many(1)), { kind: "pause" });
  feed = came(feed, many(LINE_COUNT_MAX + 1, 10));
  expect([feed.waitingCount, feed.waiting.length, names(feed)]).toEqual([LINE_COUNT_MAX + 1, LINE_COUNT_MAX, ["users/0"]]);
  feed = after(feed, { kind: "resume" });
  expect([feed.waitingCount, feed.lines.length, names(feed).includes("users/0")]).toEqual([0, LINE_COUNT_MAX, false]);
  expect(names(after(feed, { kind: "clear" }))).toEqual([]);
});

test("a filter is one of the list and of what the server is asked for", () => {
  const { lines } = came(EMPTY, [
    put("users/1"),
    put("orders/1", "Orders"),
    { Type: "IndexChange", Value: { Type: "IndexAdded", Name: "users" } },
  ]);
  const filter = (kinds: readonly Kind[], collection = "", prefix = "") => filterOf(kinds, collection, prefix);
  const shown = (of: Filter) => lines.filter((line) => isShown(line, of)).length;
  expect([filter(KINDS), filter(KINDS, "users"), filter(KINDS, "", "ORD"), filter(["indexes"])].map(shown)).toEqual([3, 1, 1, 1]);
  expect(shown(filter(KINDS, "Users", "orders/"))).toBe(0);
  expect(watchedBy(filter(KINDS)).map(({ command }) => command)).toEqual(["watch-docs", "watch-counters", "watch-indexes"]);
  expect(watchedBy(filter(["documents"], "", "u"))).toEqual([{ command: "watch-prefix", of: "u" }]);
  expect(watchedBy(filter(["indexes"], "Users"))).toEqual([{ command: "watch-collection", of: "Users" }]);
  expect([kindsOf(undefined), kindsOf("nonsense"), kindsOf("indexes,documents")]).toEqual([KINDS, KINDS, ["documents", "indexes"]]);
});

test("a counter keeps its digits, and a gap is told", () => {
  const value = '{"Type":"Increment","Name":"Likes","Value":9007199254740993,"DocumentId":"users/1","CollectionName":"Users"}';
  const [change] = parse(`[{"Type":"CounterChange","Value":${value}}]`) as [Change];
  expect(came(EMPTY, [change]).lines[0]).toMatchObject({ name: "users/1", detail: "Likes: 9,007,199,254,740,993" });
  expect(names(after(came(EMPTY, many(1)), { kind: "gap", at: 6 }))).toEqual(["gap", "users/0"]);
});
