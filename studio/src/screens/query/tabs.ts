// The open queries of a database, a tab each, and what opens, switches and closes them. They are kept until the browser's tab is closed.
import { remembered } from "../../shell/remembered";

/** What the address of the page has of a query. */
export type Address = { q?: string | undefined; p?: string | undefined; as?: string | undefined; run?: string | undefined };

/** `name`: as its user called it, or empty. `text` and `parameters`: as they are in the editors. `address`: of what ran last. */
export type Tab = { id: string; name: string; text: string; parameters: string; address: Address };

/** `all` has at least one tab, and `active` is the id of one of them. `closed`: those that can be opened again, the last one first. */
export type Tabs = { all: readonly Tab[]; active: string; closed: readonly Tab[] };

/** Tabs that can be open at once. */
export const TAB_COUNT = 20;
/** Closed tabs that can be opened again. */
const CLOSED_COUNT = 10;
/** Characters of texts and parameters that are stored: browsers give 5 MB to all that a page stores. */
const STORED_LENGTH_MAX = 1 << 20;
/** Characters of a title. */
const TITLE_LENGTH_MAX = 80;

const NONE: Tabs = { all: [], active: "", closed: [] };

/** The tabs as they were stored. */
export function storedTabs(database: string): Tabs {
  return tabsOf(database).get();
}

export function storeTabs(database: string, tabs: Tabs) {
  tabsOf(database).set(storable(tabs, STORED_LENGTH_MAX));
}

const tabsOf = (database: string) => remembered<Tabs>(`tabs.${database}`, NONE, "tab");

/** What fits: the active tab first, then the others, then the closed ones. */
export function storable(tabs: Tabs, lengthMax: number): Tabs {
  let left = lengthMax;
  const fits = (tab: Tab) => {
    const length = tab.text.length + tab.parameters.length + (tab.address.q?.length ?? 0) + (tab.address.p?.length ?? 0);
    if (length > left) return false;
    left -= length;
    return true;
  };
  const kept = new Set(tabs.all.filter((tab) => tab.id === tabs.active && fits(tab)));
  for (const tab of tabs.all) if (tab.id !== tabs.active && fits(tab)) kept.add(tab);
  const all = tabs.all.filter((tab) => kept.has(tab));
  return all.length === 0 ? NONE : { ...tabs, all, closed: tabs.closed.filter(fits) };
}

export function activeOf(tabs: Tabs): Tab {
  return tabs.all.find(({ id }) => id === tabs.active) ?? tabs.all[0]!;
}

/** Its name, or the beginning of its query. */
export function titleOf({ name, text }: Tab): string {
  const line = text.trim().replace(/\s+/g, " ").slice(0, TITLE_LENGTH_MAX);
  return name || line || "New query";
}

const isBlank = (tab: Tab) => tab.text.trim() === "" && tab.parameters.trim() === "" && tab.address.q === undefined;

/** Ids are never used twice, since entries of the browser's history have them. */
function fresh(text = "", parameters = "", address: Address = {}): Tab {
  return { id: newId(), name: "", text, parameters, address };
}

function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** With one tab at least; an `active` that does not exist becomes the first one. * `text` and `parameters`: of a tab that is made. */
export function ensured(tabs: Tabs, text: string, parameters: string): Tabs {
  const all = tabs.all.length > 0 ? tabs.all : [fresh(text, parameters)];
  return { ...tabs, all, active: all.some(({ id }) => id === tabs.active) ? tabs.active : all[0]!.id };
}

/**
 * The address has changed: the tab for it becomes active. * `id`: of the tab that the entry of the history belongs to. Without one, as with a
 * link, it is a tab with the same query, else a blank one, else a new one.
 */
export function arrived(tabs: Tabs, address: Address, id: string | undefined): Tabs {
  const { q, p } = address;
  const known = tabs.all.find((tab) => tab.id === id);
  if (q === undefined) return changed({ ...tabs, active: known?.id ?? tabs.active }, known?.id ?? tabs.active, { address });
  const ordered = [activeOf(tabs), ...tabs.all];
  const found =
    known ??
    ordered.find((tab) => tab.address.q === q && tab.address.p === p) ??
    ordered.find((tab) => tab.text === q && tab.parameters === (p ?? "")) ??
    (isBlank(activeOf(tabs)) ? activeOf(tabs) : undefined);
  if (!found) return opened(tabs, fresh(q, p ?? "", address));
  const isSame = found.address.q === q && found.address.p === p;
  const texts = isSame ? {} : { text: q, parameters: p ?? "" };
  return changed({ ...tabs, active: found.id }, found.id, { ...texts, address });
}

/** With changes to one tab. */
export function changed(tabs: Tabs, id: string, change: Partial<Omit<Tab, "id">>): Tabs {
  return { ...tabs, all: tabs.all.map((tab) => (tab.id === id ? { ...tab, ...change } : tab)) };
}

/** With another tab behind the active one. If there are as many as can be, the first of the others is closed. */
export function opened(tabs: Tabs, tab: Tab = fresh()): Tabs {
  const other = tabs.all.find(({ id }) => id !== tabs.active);
  const kept = tabs.all.length >= TAB_COUNT && other ? closed(tabs, other.id) : tabs;
  const at = kept.all.findIndex(({ id }) => id === kept.active) + 1;
  return { ...kept, all: kept.all.toSpliced(at, 0, tab), active: tab.id };
}

/** Without a tab. Its neighbour becomes active; instead of the last tab there is a blank one. */
export function closed(tabs: Tabs, id: string): Tabs {
  const at = tabs.all.findIndex((tab) => tab.id === id);
  const tab = tabs.all[at];
  if (!tab) return tabs;
  const rest = tabs.all.toSpliced(at, 1);
  const all = rest.length > 0 ? rest : [fresh()];
  const active = tabs.active === id ? all[Math.min(at, all.length - 1)]!.id : tabs.active;
  return { all, active, closed: isBlank(tab) ? tabs.closed : [tab, ...tabs.closed].slice(0, CLOSED_COUNT) };
}

/** Without all tabs but one. */
export function closedOthers(tabs: Tabs, id: string): Tabs {
  return tabs.all.reduce((left, tab) => (tab.id === id ? left : closed(left, tab.id)), { ...tabs, active: id });
}

/** With the tab that was closed last. */
export function reopened(tabs: Tabs): Tabs {
  const [tab, ...rest] = tabs.closed;
  return tab ? opened({ ...tabs, closed: rest }, tab) : tabs;
}
