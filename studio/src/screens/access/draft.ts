// Rights while they are typed in.
import type { Clearance, Permission, Rights } from "../../api/access";

/** A line of the fields. Its number tells it from others: names change as they are typed. */
export type Line = { number: number; database: string; permission: Permission };

export type Draft = { clearance: Clearance; lines: readonly Line[] };

export function draftOf({ clearance, permissions }: Rights): Draft {
  const lines = Object.entries(permissions).map(([database, permission], number) => ({ number, database, permission }));
  return { clearance, lines };
}

export const NEW_DRAFT: Draft = { clearance: "ValidUser", lines: [{ number: 0, database: "", permission: "ReadWrite" }] };

/** The rights that the fields have; lines without a name are left out. */
export function rightsOf({ clearance, lines }: Draft): Rights {
  const named = lines.map(({ database, permission }) => [database.trim(), permission] as const).filter(([name]) => name !== "");
  return { clearance, permissions: clearance === "ValidUser" ? Object.fromEntries(named) : {} };
}

/** Whether somebody can do anything with them. */
export function isSomething(rights: Rights): boolean {
  return rights.clearance !== "ValidUser" || Object.keys(rights.permissions).length > 0;
}
