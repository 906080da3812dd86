import { expect, test } from "vitest";
import {
  activeOf,
  arrived,
  changed,
  closed,
  closedOthers,
  ensured,
  opened,
  reopened,
  storable,
  TAB_COUNT,
  titleOf,
  type Tabs,
} from "./tabs";

const EMPTY: Tabs = { all: [], active: "", closed: [] };
const texts = (tabs: Tabs) => tabs.all.map(({ text }) => text);

/** Tabs with these queries, which ran; the last one is active. */
const ran = (...queries: string[]): Tabs => queries.reduce((tabs, q) => arrived(tabs, { q }, undefined), ensured(EMPTY, "", ""));

test("there is always a tab, and the first link takes the blank one", () => {
  const tabs = ensured(EMPTY, "", "");
  expect([texts(tabs), titleOf(activeOf(tabs))]).toEqual([[""], "New query"]);
  expect(texts(ran("from A"))).toEqual(["from A"]);
  expect(activeOf(ensured({ ...ran("from A", "from B"), active: "gone" }, "", "")).text).toBe("from A");
});

test("a link opens the tab with its query, else a new one", () => {
  const tabs = ran("from A", "from B");
  expect(texts(tabs)).toEqual(["from A", "from B"]);
  const again = arrived(tabs, { q: "from A" }, undefined);
  expect([again.all.length, activeOf(again).text]).toEqual([2, "from A"]);
  expect(arrived(tabs, { q: "from A", p: '{"x":1}' }, undefined).all).toHaveLength(3);
  const typed = changed(tabs, tabs.all[0]!.id, { text: "from C" });
  expect(activeOf(arrived(typed, { q: "from C" }, undefined)).id).toBe(tabs.all[0]!.id);
});

test("an entry of the history belongs to its tab, whose text follows it", () => {
  const tabs = ran("from A", "from B");
  const [first] = tabs.all;
  const back = arrived(tabs, { q: "from C" }, first!.id);
  expect([texts(back), activeOf(back).id]).toEqual([["from C", "from B"], first!.id]);
  const typed = changed(tabs, first!.id, { text: "from A where" });
  expect(activeOf(arrived(typed, { q: "from A" }, first!.id)).text).toBe("from A where");
  expect(activeOf(arrived(typed, {}, undefined)).text).toBe("from B");
});

test("closing activates the neighbour, and the closed tab comes back", () => {
  const tabs = ran("from A", "from B", "from C");
  const without = closed(tabs, tabs.all[1]!.id);
  expect([texts(without), activeOf(without).text]).toEqual([["from A", "from C"], "from C"]);
  const active = closed(without, without.active);
  expect(activeOf(active).text).toBe("from A");
  const none = closed(active, active.active);
  expect([texts(none), none.closed.map(({ text }) => text)]).toEqual([[""], ["from A", "from C", "from B"]]);
  const again = reopened(reopened(none));
  expect([activeOf(again).text, again.closed.length]).toEqual(["from C", 1]);
  expect(texts(closedOthers(tabs, tabs.all[1]!.id))).toEqual(["from B"]);
  expect(reopened(tabs)).toBe(tabs);
});

test("the number of tabs is limited, and the active one stays", () => {
  const queries = Array.from({ length: TAB_COUNT + 2 }, (_, at) => `from A${at}`);
  const tabs = ran(...queries);
  expect(tabs.all).toHaveLength(TAB_COUNT);
  expect(activeOf(tabs).text).toBe(queries.at(-1));
  expect(tabs.closed.map(({ text }) => text)).toEqual(["from A1", "from A0"]);
  expect(activeOf(opened(tabs)).text).toBe("");
});

test("what is stored is limited, and the active tab comes first", () => {
  const tabs = ran("from A", "from B", "from C");
  expect(texts(storable(tabs, 100))).toEqual(["from A", "from B", "from C"]);
  expect(texts(storable(tabs, 24))).toEqual(["from A", "from C"]);
  expect(texts(storable(tabs, 12))).toEqual(["from C"]);
  expect(storable(tabs, 11).all).toEqual([]);
});

test("a title is the name or the beginning of the query", () => {
  const tab = activeOf(ran("from A\n  where b = 1"));
  expect([titleOf(tab), titleOf({ ...tab, name: "Mine" })]).toEqual(["from A where b = 1", "Mine"]);
  expect(titleOf({ ...tab, text: "x".repeat(200) })).toHaveLength(80);
});
