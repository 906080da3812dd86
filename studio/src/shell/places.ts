// The screens of a database: those of the navigation, and further ones that only the palette lists.
import type { LiveDatabase } from "../api/node";
import { counted } from "../format/format";
import type { IconName } from "../theme/icons";

export type Open = Extract<LiveDatabase, { State: "Open" }>;

type Place = {
  to: string;
  label: string;
  icon: IconName;
  count?: (database: Open) => number | undefined;
  /** Why somebody should look there. */
  alarm?: (database: Open) => string | undefined;
};

export const SCREENS: readonly Place[] = [
  { to: "/databases/$database/documents", label: "Documents", icon: "documents", count: (database) => database.Documents },
  { to: "/databases/$database/query", label: "Query", icon: "query" },
  {
    to: "/databases/$database/indexes",
    label: "Indexes",
    icon: "index",
    count: (database) => database.Indexes,
    alarm: ({ FailedIndexes, IndexErrors }) =>
      FailedIndexes > 0
        ? `${counted(FailedIndexes, "index", "indexes")} failed`
        : IndexErrors > 0
          ? "Some documents could not be indexed"
          : undefined,
  },
  { to: "/databases/$database/compare-exchange", label: "Compare exchange", icon: "exchange" },
  { to: "/databases/$database/constraints", label: "Unique constraints", icon: "unique" },
  { to: "/databases/$database/subscriptions", label: "Subscriptions", icon: "subscription" },
  { to: "/databases/$database/revisions", label: "Revisions", icon: "history" },
  { to: "/databases/$database/feed", label: "Live feed", icon: "feed" },
  { to: "/databases/$database/statistics", label: "Statistics", icon: "statistics" },
  {
    to: "/databases/$database/operations",
    label: "Operations",
    icon: "operations",
    count: (database) => database.RunningOperations || undefined,
  },
  { to: "/databases/$database/lifetimes", label: "Lifetimes", icon: "clock" },
  { to: "/databases/$database/backups", label: "Backups", icon: "save" },
];

/** Screens that another screen leads to. */
export const FURTHER_SCREENS: readonly Place[] = [{ to: "/databases/$database/advice", label: "Index advice", icon: "advice" }];
