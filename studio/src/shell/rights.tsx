// What a user may not do is left out of the screens, or disabled with the reason: all of them ask here.
import { VisuallyHidden } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Permission } from "../api/access";
import { useAbilities } from "./session";
import { Empty } from "./states";
import screens from "./screen.module.css";
import tables from "./table.module.css";

/** `database`: undefined for that of the address. */
type Wanted = { right: Exclude<Permission, "Read">; database?: string };

const REASONS: Record<Wanted["right"], string> = {
  ReadWrite: "You may read this database, but not change it.",
  Admin: "Only administrators of this database can change this.",
};

/** Why the user may not, or undefined: the user may. */
export function useRefusal(right: Wanted["right"], database?: string): string | undefined {
  const { database: current } = useParams({ strict: false }) as { database?: string };
  const { may } = useAbilities();
  return may(right, database ?? current ?? "") ? undefined : REASONS[right];
}

/** What only those with a right get to see, such as a button. */
export function Needs({ right, database, children }: Wanted & { children: ReactNode }) {
  return useRefusal(right, database) === undefined && children;
}

/** Fields that others see, and cannot change. */
export function Changeable({ right, database, children }: Wanted & { children: ReactNode }) {
  const refusal = useRefusal(right, database);
  return (
    <fieldset className={screens.fields} disabled={refusal !== undefined}>
      {refusal !== undefined && <p className={screens.refusal}>{refusal}</p>}
      {children}
    </fieldset>
  );
}

/** In place of a screen that makes something new. */
export function Refused({ reason }: { reason: string }) {
  return (
    <Empty icon="lock" title="You cannot do this">
      {reason} An operator of the server can grant more rights.
    </Empty>
  );
}

/** Stands beside the title of each screen of a database that the user may only read. */
export function ReadOnly({ database }: { database: string }) {
  const refusal = useRefusal("ReadWrite", database);
  return (
    refusal !== undefined && (
      <span className={tables.badge} title={refusal}>
        Read only<VisuallyHidden>: {refusal}</VisuallyHidden>
      </span>
    )
  );
}
