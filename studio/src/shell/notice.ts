// What somebody should look at, made of what the server says: failed indexes, errors, little space, databases that cannot be opened.
import type { Statistics } from "../api/indexes";
import type { LogLine } from "../api/diagnostics";
import type { Live } from "../api/node";
import { count, counted, size } from "../format/format";
import { REPLACEMENT } from "../screens/indexes/state";

export type Notice = {
  /** `kind/database/rest`: the same as long as it is about the same thing. No name of a database has a slash. */
  key: string;
  /** A notice that was dismissed comes back when its cause is another one. */
  cause: string;
  tone: "bad" | "warn";
  text: string;
  /** When it happened, as the server writes times. */
  at?: string | undefined;
  /** The screen that helps. */
  link: { to: string; params?: Record<string, string>; search?: Record<string, string>; label: string };
};

export type Facts = {
  live: Live;
  /** The newest first; undefined if the log cannot be read. */
  errors: readonly LogLine[] | undefined;
  /** Indexes of databases that have some with problems; a database is missing here if they cannot be read. */
  indexes: ReadonlyMap<string, readonly Statistics[]>;
};

/** Causes by the key of what was dismissed. */
export type Dismissed = Readonly<Record<string, string>>;

/** Shares of the disk; the alert in docs/monitoring.md begins at the first. */
const FREE_SHARES = [0.1, 0.05, 0.02] as const;
/** Characters of a log line that a notice quotes. */
const QUOTED_MAX = 160;

/** Lines of the log with a notice of their own: the state of the server says whether they still hold. */
const UNOPENED = /^a database (?:still )?cannot be opened database="([^"]*)" error=(.*?)(?: attempts=\d+)?$/s;
const FAILED_INDEX = /^an index failed database="([^"]*)" index="([^"]*)"/;

/** All notices, the gravest first. */
export function noticesOf(facts: Facts): Notice[] {
  const notices = [...unopened(facts), ...ofIndexes(facts), ...ofDisk(facts.live), ...ofLog(facts.errors ?? [])];
  return notices.sort((a, b) => Number(a.tone === "warn") - Number(b.tone === "warn"));
}

/** A closed database is opened by the next request; that it cannot be is known from the log of the last attempt. */
function unopened({ live, errors }: Facts): Notice[] {
  return live.Databases.filter(({ State }) => State === "Closed").flatMap(({ Name }): Notice[] => {
    for (const line of errors ?? []) {
      const found = UNOPENED.exec(line.Message);
      if (found?.[1] !== Name) continue;
      const text = `The database '${Name}' cannot be opened: ${cut(found[2]!)}`;
      const search = { level: "Error", text: Name };
      return [
        {
          key: `unopened/${Name}`,
          cause: found[2]!,
          tone: "bad",
          text,
          at: line.At,
          link: { to: "/server", search, label: "Log" },
        },
      ];
    }
    return [];
  });
}

function ofIndexes({ live, errors, indexes }: Facts): Notice[] {
  return live.Databases.flatMap((database): Notice[] => {
    if (database.State !== "Open" || (database.FailedIndexes === 0 && database.IndexErrors === 0)) return [];
    const { Name: name } = database;
    const params = { database: name };
    const known = indexes.get(name);
    if (!known) {
      const failed = database.FailedIndexes;
      const text =
        failed > 0
          ? `${counted(failed, "index", "indexes")} of '${name}' failed. Queries that use them are refused.`
          : `Indexes of '${name}' could not index some documents.`;
      const link = { to: "/databases/$database/indexes", params, label: "Indexes" };
      return [{ key: `indexes/${name}`, cause: `${failed}`, tone: failed > 0 ? "bad" : "warn", text, link }];
    }
    return known.flatMap((index): Notice[] => {
      const shown = index.Name.startsWith(REPLACEMENT) ? index.Name.slice(REPLACEMENT.length) : index.Name;
      const link = {
        to: "/databases/$database/index",
        params,
        search: { name: shown, tab: "errors" },
        label: "Errors of the index",
      };
      if (index.State === "Error") {
        const text = `The index '${index.Name}' of '${name}' failed. Queries that use it are refused.`;
        const line = errors?.find(({ Message }) => {
          const found = FAILED_INDEX.exec(Message);
          return found?.[1] === name && found[2] === index.Name;
        });
        return [{ key: `failed/${name}/${index.Name}`, cause: index.CreatedTimestamp, tone: "bad", text, at: line?.At, link }];
      }
      if (index.ErrorsCount === 0) return [];
      const errorCount = Math.max(index.ErrorsCount, index.MapErrors ?? 0);
      const text = `The index '${index.Name}' of '${name}' has ${counted(errorCount, "error")}. Queries do not find the documents that it could not index.`;
      return [{ key: `errors/${name}/${index.Name}`, cause: magnitude(errorCount), tone: "warn", text, link }];
    });
  });
}

function ofDisk({ DiskInBytes, FreeDiskInBytes, Databases }: Live): Notice[] {
  if (!DiskInBytes || FreeDiskInBytes === undefined || FreeDiskInBytes === null) return [];
  const share = FreeDiskInBytes / DiskInBytes;
  const passed = FREE_SHARES.filter((limit) => share < limit);
  if (passed.length === 0) return [];
  const percent = Math.max(0, Math.floor(share * 1000) / 10);
  const text = `The disk of the databases is nearly full: ${size(FreeDiskInBytes)} of ${size(DiskInBytes)} (${percent} %) are free.`;
  // The database that takes most of it.
  const [largest] = Databases.flatMap((one) => (one.State === "Open" && !one.IsInMemory ? [one] : [])).sort(
    (a, b) => b.SizeInBytes - a.SizeInBytes,
  );
  const link = largest
    ? {
        to: "/databases/$database/statistics",
        params: { database: largest.Name },
        label: `What takes the space of '${largest.Name}'`,
      }
    : { to: "/databases", label: "Databases" };
  return [{ key: "disk", cause: `${passed.at(-1)}`, tone: passed.length > 1 ? "bad" : "warn", text, link }];
}

function ofLog(errors: readonly LogLine[]): Notice[] {
  const others = errors.filter(({ Message }) => !UNOPENED.test(Message) && !FAILED_INDEX.test(Message));
  const [newest] = others;
  if (!newest) return [];
  const text =
    others.length === 1
      ? `The log has an error: ${cut(newest.Message)}`
      : `The log has ${count(others.length)} errors. The newest: ${cut(newest.Message)}`;
  const link = { to: "/server", search: { level: "Error" }, label: "Log" };
  return [{ key: "log", cause: newest.At, tone: "warn", text, at: newest.At, link }];
}

function cut(text: string): string {
  return text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text;
}

/** The power of two up to a count: a few more errors are the same cause, twice as many are another one. */
function magnitude(errorCount: number): string {
  return `${2 ** Math.floor(Math.log2(errorCount))}`;
}

/** Which databases have indexes with problems, and roughly how many: their indexes are read again when this changes. */
export function troubled(live: Live | undefined): string[] {
  return (live?.Databases ?? []).flatMap((database) =>
    database.State === "Open" && (database.FailedIndexes > 0 || database.IndexErrors > 0)
      ? [`${database.Name}/${database.FailedIndexes}/${database.IndexErrors > 0 ? magnitude(database.IndexErrors) : 0}`]
      : [],
  );
}

export function withoutDismissed(notices: readonly Notice[], dismissed: Dismissed): Notice[] {
  return notices.filter(({ key, cause }) => dismissed[key] !== cause);
}

/**
 * What was dismissed without what is over: if it comes again it is new. A database that is not open does not say how its indexes are.
 * The same object if all stays.
 */
export function stillDismissed(dismissed: Dismissed, notices: readonly Notice[], live: Live): Dismissed {
  const isKept = (key: string) => {
    if (notices.some((notice) => notice.key === key)) return true;
    const [kind, name] = key.split("/");
    return kind !== "unopened" && live.Databases.some((database) => database.Name === name && database.State !== "Open");
  };
  const kept = Object.entries(dismissed).filter(([key]) => isKept(key));
  return kept.length === Object.keys(dismissed).length ? dismissed : Object.fromEntries(kept);
}
