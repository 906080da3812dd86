// A constraint as it is typed.
import type { Constraint } from "../../api/constraints";

export type Draft = { name: string; collection: string; fields: readonly string[]; isCaseSensitive: boolean };

/** Of `CONSTRAINT_FIELDS_MAX` on the server. */
export const FIELDS_MAX = 16;

/** What a change begins with; a new one without `before`. */
export function draftOf(before: Constraint | undefined): Draft {
  return {
    name: before?.Name ?? "",
    collection: before?.Collection ?? "",
    fields: before?.Fields ?? [],
    isCaseSensitive: before?.CaseSensitive ?? false,
  };
}

/** The constraint that is put; undefined while something is missing. */
export function constraintOf({ name, collection, fields, isCaseSensitive }: Draft) {
  const named = { Name: name.trim() || undefined, Collection: collection.trim(), Fields: fields, CaseSensitive: isCaseSensitive };
  return named.Collection === "" || fields.length === 0 || fields.length > FIELDS_MAX ? undefined : named;
}

/** The name that the server gives it where none is typed. */
export function nameOf({ collection, fields }: Draft): string {
  return `${collection.trim()}/${fields.join(",")}`;
}

/** Fields as they were typed: without spaces around them, each once. */
export function cleaned(fields: readonly string[]): string[] {
  return [...new Set(fields.map((field) => field.trim()).filter((field) => field !== ""))];
}
