// How revisions of a collection are kept, while it is being written.
import type { CollectionConfiguration, Configuration } from "../../api/revisions";

export type Draft = {
  /** `default`: that of the other collections holds. */
  state: "kept" | "disabled" | "default";
  /** How many stay, as it is typed; "" for all. */
  count: string;
  /** In days, as it is typed; "" for no limit by age. */
  days: string;
  purges: boolean;
};

/** The configuration of a collection; undefined if it has none of its own. `collection`: undefined for the default. */
export function configured(
  { Default, Collections }: Configuration,
  collection: string | undefined,
): CollectionConfiguration | undefined {
  if (collection === undefined) return Default ?? undefined;
  // Names are the same in any case.
  return Object.entries(Collections).find(([name]) => name.toLowerCase() === collection.toLowerCase())?.[1];
}

/** The days of a time span, if it is of whole days: `14.00:00:00`. */
function daysOf(span: string | null | undefined): string {
  return /^(\d+)\.00:00:00$/.exec(span ?? "")?.[1] ?? "";
}

export function draftOf(before: CollectionConfiguration | undefined): Draft {
  return {
    state: before === undefined ? "default" : before.Disabled ? "disabled" : "kept",
    count: before?.MinimumRevisionsToKeep == null ? "" : String(before.MinimumRevisionsToKeep),
    days: daysOf(before?.MinimumRevisionAgeToKeep),
    purges: before?.PurgeOnDelete ?? false,
  };
}

/** The configuration with what was written for a collection. `count` and `days`: undefined for no limit. */
export function changedBy(
  configuration: Configuration,
  collection: string | undefined,
  draft: Pick<Draft, "state" | "days" | "purges">,
  count: number | undefined,
  days: number | undefined,
): Configuration {
  const before = configured(configuration, collection);
  // A span that is not of whole days has an empty field, and stays unless something is typed there.
  const isAgeUntouched = draft.days.trim() === daysOf(before?.MinimumRevisionAgeToKeep);
  const after: CollectionConfiguration | undefined =
    draft.state === "default"
      ? undefined
      : {
          ...before,
          Disabled: draft.state === "disabled",
          MinimumRevisionsToKeep: count ?? null,
          MinimumRevisionAgeToKeep: isAgeUntouched
            ? (before?.MinimumRevisionAgeToKeep ?? null)
            : days === undefined
              ? null
              : `${days}.00:00:00`,
          PurgeOnDelete: draft.purges,
        };
  if (collection === undefined) return { ...configuration, Default: after ?? null };
  const others = Object.entries(configuration.Collections).filter(([name]) => name.toLowerCase() !== collection.toLowerCase());
  return {
    ...configuration,
    Collections: Object.fromEntries(after === undefined ? others : [...others, [collection, after]]),
  };
}
