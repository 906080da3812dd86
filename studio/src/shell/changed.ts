// What was read and is not so any more. Each key of what is read begins with one of these words.
import { requests } from "../requests";

const KEYS = {
  /** Documents were written or deleted. */
  documents: ["documents", "collections", "ids", "live", "statistics", "storage"],
  /** The fields of a collection are to be read again; they are not by themselves, since it takes a thousand documents. */
  fields: ["fields", "collections"],
  /** A database was created, deleted, enabled or disabled. */
  databases: ["databases", "live"],
  /** A document has another revision, or others are kept. */
  revisions: ["revisions", "revisions-bin", "revision", "revisions-configuration"],
  /** An attachment was stored or deleted. */
  attachments: ["attachments"],
  /** A counter was raised, set or deleted. */
  counters: ["counters"],
  /** A compare-exchange value was put or deleted. */
  compareExchange: ["compare-exchange"],
  /** A unique constraint was made or deleted. */
  constraints: ["constraints"],
  /** A subscription was made, changed or deleted, or its workers were sent away. */
  subscriptions: ["subscriptions"],
  /** A task by the clock was configured. */
  lifetimes: ["lifetimes"],
  /** A key was made, changed or revoked, or a certificate. */
  access: ["api-keys", "certificates", "safety"],
  /** A task that makes backups was configured, or has run. */
  backups: ["backups", "backup-configurations", "server-wide-backups"],
} as const;

/** What a query gave: what was run is what is shown, until it is run again. */
const RESULTS: readonly string[] = ["answer", "rows", "points", "plan", "timings"];

/** Has all but results of queries read again: a dump has more than documents. */
export function changedByImport(): Promise<void> {
  return requests.invalidateQueries({ predicate: ({ queryKey }) => !RESULTS.includes(String(queryKey[0])) });
}

/** Has all of a database read again, with results: a patch or a deletion by query has ended. */
export function changedByQuery(database: string): Promise<void> {
  return requests.invalidateQueries({
    predicate: ({ queryKey: [what, of] }) => of === database || !RESULTS.includes(String(what)),
  });
}

/** Has it read again where it is shown. */
export function changed(what: keyof typeof KEYS): Promise<void> {
  const keys: readonly string[] = KEYS[what];
  return requests.invalidateQueries({ predicate: ({ queryKey }) => keys.includes(String(queryKey[0])) });
}
