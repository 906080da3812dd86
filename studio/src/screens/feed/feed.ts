// The list of a live feed: the latest changes, and those that wait while it is paused. Both are bounded.
import type { Change, Watched } from "../../api/changes";
import { countOf } from "../../format/format";
import { digitsOf } from "../../json/exact";

export const KINDS = ["documents", "counters", "indexes"] as const;
export type Kind = (typeof KINDS)[number];

/** What is shown. An empty collection or prefix is any. */
export type Filter = { kinds: readonly Kind[]; collection: string; prefix: string };

/** A line of the list. `at`: when it came, in ms. */
export type Line = { key: number; at: number } & (
  | {
      kind: Kind;
      what: string;
      tone?: "good" | "busy" | "warn" | "bad";
      /** Id of a document, or name of an index. */
      name: string;
      /** Whether there is something to open. */
      isThere: boolean;
      collection?: string | undefined;
      detail?: string;
    }
  /** The connection was lost: changes may be missing here. */
  | { kind: "gap" }
);

export type Feed = {
  /** The latest first. */
  lines: readonly Line[];
  isPaused: boolean;
  /** What came since it was paused, the latest first. */
  waiting: readonly Line[];
  /** How many came since it was paused. */
  waitingCount: number;
  /** Of the next line. */
  nextKey: number;
};

/** Lines that are kept. */
export const LINE_COUNT_MAX = 500;

export const EMPTY: Feed = { lines: [], isPaused: false, waiting: [], waitingCount: 0, nextKey: 0 };

export type Step =
  | { kind: "changes"; changes: readonly Change[]; at: number }
  | { kind: "gap"; at: number }
  | { kind: "pause" | "resume" | "clear" };

/** The list after a step. */
export function after(feed: Feed, step: Step): Feed {
  switch (step.kind) {
    case "changes":
    case "gap": {
      const made: Line[] = (
        step.kind === "gap" ? [{ kind: "gap" as const }] : step.changes.slice(-LINE_COUNT_MAX).map(partsOf)
      ).map((parts, index) => ({ ...parts, at: step.at, key: feed.nextKey + index }));
      const nextKey = feed.nextKey + made.length;
      const joined = (lines: readonly Line[]) => [...made.toReversed(), ...lines].slice(0, LINE_COUNT_MAX);
      if (!feed.isPaused) return { ...feed, nextKey, lines: joined(feed.lines) };
      const count = step.kind === "gap" ? 0 : step.changes.length;
      return { ...feed, nextKey, waiting: joined(feed.waiting), waitingCount: feed.waitingCount + count };
    }
    case "pause":
      return { ...feed, isPaused: true };
    case "resume":
      return {
        ...feed,
        isPaused: false,
        lines: [...feed.waiting, ...feed.lines].slice(0, LINE_COUNT_MAX),
        waiting: [],
        waitingCount: 0,
      };
    case "clear":
      return { ...feed, lines: [], waiting: [], waitingCount: 0 };
  }
}

const DOCUMENTS = { Put: { what: "Written", tone: "good" }, Delete: { what: "Deleted", tone: "bad" } } as const;

const COUNTERS = {
  Put: { what: "New counter", tone: "busy" },
  Increment: { what: "Raised", tone: "busy" },
  Delete: { what: "Counter deleted", tone: "bad" },
} as const;

const INDEXES = {
  IndexAdded: { what: "Index added", tone: "good" },
  IndexRemoved: { what: "Index deleted", tone: "bad" },
  BatchCompleted: { what: "Indexed" },
  SideBySideReplace: { what: "Index replaced" },
  IndexMarkedAsErrored: { what: "Index failed", tone: "bad" },
  IndexPaused: { what: "Index paused", tone: "warn" },
  IndexDemotedToDisabled: { what: "Index disabled", tone: "warn" },
  LockModeChanged: { what: "Lock changed" },
  PriorityChanged: { what: "Priority changed" },
} as const;

function partsOf(change: Change) {
  switch (change.Type) {
    case "DocumentChange": {
      const { Type, Id, CollectionName } = change.Value;
      return {
        kind: "documents" as const,
        ...DOCUMENTS[Type],
        name: Id,
        isThere: Type !== "Delete",
        collection: CollectionName ?? undefined,
      };
    }
    case "CounterChange": {
      const { Type, Name, Value, DocumentId, CollectionName } = change.Value;
      return {
        kind: "counters" as const,
        ...COUNTERS[Type],
        name: DocumentId,
        isThere: true,
        collection: CollectionName ?? undefined,
        detail: Type === "Delete" ? Name : `${Name}: ${countOf(digitsOf(change.Value, "Value") ?? String(Value))}`,
      };
    }
    case "IndexChange": {
      const { Type, Name } = change.Value;
      return { kind: "indexes" as const, ...INDEXES[Type], name: Name, isThere: Type !== "IndexRemoved" };
    }
  }
}

/** A filter by what was chosen. Indexes have neither a collection nor an id, so they are left out where one is given. */
export function filterOf(kinds: readonly Kind[], collection: string, prefix: string): Filter {
  if (collection === "" && prefix === "") return { kinds, collection, prefix };
  const ofDocuments = kinds.filter((kind) => kind !== "indexes");
  return { kinds: ofDocuments.length === 0 ? ["documents"] : ofDocuments, collection, prefix };
}

/** Whether a line is shown. A gap always is. */
export function isShown(line: Line, { kinds, collection, prefix }: Filter): boolean {
  if (line.kind === "gap") return true;
  if (!kinds.includes(line.kind)) return false;
  return (
    (collection === "" || line.collection?.toLowerCase() === collection.toLowerCase()) &&
    line.name.toLowerCase().startsWith(prefix.toLowerCase())
  );
}

/** What the server is to tell of: as little as it can, where a filter leaves out most. */
export function watchedBy({ kinds, collection, prefix }: Filter): Watched[] {
  const watched: Watched[] = [];
  if (kinds.includes("documents")) {
    if (collection !== "") watched.push({ command: "watch-collection", of: collection });
    else if (prefix !== "") watched.push({ command: "watch-prefix", of: prefix });
    else watched.push({ command: "watch-docs" });
  }
  if (kinds.includes("counters")) watched.push({ command: "watch-counters" });
  if (kinds.includes("indexes")) watched.push({ command: "watch-indexes" });
  return watched;
}

/** The kinds of an address, which may hold anything: all, if it names none. */
export function kindsOf(text: string | undefined): readonly Kind[] {
  const named = text?.split(",") ?? [];
  const kinds = KINDS.filter((kind) => named.includes(kind));
  return kinds.length === 0 ? KINDS : kinds;
}
