// What of a database goes through a dump, while it is chosen.
import type { DumpOptions, DumpType } from "../../api/databases";

export const TYPES: readonly { type: DumpType; label: string }[] = [
  { type: "Documents", label: "Documents" },
  { type: "Indexes", label: "Indexes" },
  { type: "Identities", label: "Identities" },
  { type: "DatabaseRecord", label: "Settings of the database" },
];

export const ALL: DumpOptions = {
  types: TYPES.map(({ type }) => type),
  collections: [],
  hasExpired: true,
  hasArchived: true,
  hasArtificial: false,
  script: "",
};

/** With a type, or without it; in the order of the list. */
export function withType(options: DumpOptions, type: DumpType, isWanted: boolean): DumpOptions {
  const has = (one: DumpType) => (one === type ? isWanted : options.types.includes(one));
  return { ...options, types: TYPES.map(({ type }) => type).filter(has) };
}
