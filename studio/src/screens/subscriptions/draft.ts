// A subscription while it is being written.
import type { Archived, Subscription } from "../../api/subscriptions";

export type Draft = {
  name: string;
  query: string;
  /** Where it begins; `behind`: behind `changeVector`. */
  begin: "DoNotChange" | "BeginningOfTime" | "LastDocument" | "behind";
  changeVector: string;
  archived: Archived;
  isDisabled: boolean;
};

export function draftOf(before: Subscription | undefined): Draft {
  return {
    name: before?.SubscriptionName ?? "",
    query: before?.Query ?? "",
    begin: before ? "DoNotChange" : "BeginningOfTime",
    changeVector: before?.ChangeVectorForNextBatchStartingPoint ?? "",
    archived: before?.ArchivedDataProcessingBehavior ?? "ExcludeArchived",
    isDisabled: before?.Disabled ?? false,
  };
}

/** Where it begins, as the server takes it; undefined if something is missing. */
export function beginOf({ begin, changeVector }: Draft): string | undefined {
  if (begin !== "behind") return begin;
  return changeVector.trim() || undefined;
}
