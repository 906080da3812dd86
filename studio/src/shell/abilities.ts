// What a user of the studio may do, by the rights that the server grants.
import type { Caller, Permission } from "../api/access";

/** `anyone`: the server asks nobody who they are. */
export type User = { kind: "known"; caller: Caller } | { kind: "anyone" };

export type Abilities = {
  user: User;
  /** May operate the server and all of its databases. */
  isOperator: boolean;
  isClusterAdmin: boolean;
  /** Has a right on a database. */
  may: (right: Permission, database: string) => boolean;
};

/** Each right includes those before it. */
const RIGHTS: readonly Permission[] = ["Read", "ReadWrite", "Admin"];

/** What a user may do: the server decides, the studio leaves out what it would refuse. */
export function abilitiesOf(user: User): Abilities {
  if (user.kind === "anyone") return { user, isOperator: true, isClusterAdmin: true, may: () => true };
  const { clearance, permissions } = user.caller;
  const isOperator = clearance !== "ValidUser";
  return {
    user,
    isOperator,
    isClusterAdmin: clearance === "ClusterAdmin",
    may: (wanted, database) =>
      isOperator ||
      Object.entries(permissions).some(
        ([name, right]) => name.toLowerCase() === database.toLowerCase() && RIGHTS.indexOf(right) >= RIGHTS.indexOf(wanted),
      ),
  };
}
