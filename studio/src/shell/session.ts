// Who uses the studio, as the server knows them, and what they may do.
import { createContext, useContext } from "react";
import { whoami } from "../api/access";
import { failure, send } from "../api/http";
import { abilitiesOf, type Abilities, type User } from "./abilities";

/** `nobody`: who has to sign in, and why. */
export type Identity = User | { kind: "nobody"; reason: string };

/** Over HTTP there is nothing to sign in to, unless a proxy in front of the server speaks HTTPS: then the server says so. */
export const MAY_SIGN_IN = location.protocol === "https:";

/** Asks the server. */
export async function identify(signal?: AbortSignal): Promise<Identity> {
  const caller = await whoami(signal);
  // What is known may be refused, as a certificate that has expired.
  const probe = await send("/databases", { query: { namesOnly: true, pageSize: 0 }, signal }, [401, 403]);
  if (!probe.ok) return { kind: "nobody", reason: (await failure(probe)).message };
  return caller ? { kind: "known", caller } : { kind: "anyone" };
}

export const UserContext = createContext<User>({ kind: "anyone" });

/** What the user may do. */
export function useAbilities(): Abilities {
  const user = useContext(UserContext);
  return abilitiesOf(user);
}
