// The studio of who is known to the server; who is not gets the screen to sign in, and what was open stays behind it.
import { useQuery } from "@tanstack/react-query";
import { Activity, lazy, Suspense, useEffect, type ReactNode } from "react";
import { whenNobodyAsked } from "../api/http";
import { requests } from "../requests";
import type { User } from "./abilities";
import { identify, MAY_SIGN_IN, UserContext, type Identity } from "./session";
import { Failed } from "./states";

const SignIn = lazy(() => import("../screens/sign-in/page"));

const KEY = ["identity"];
const ANYONE: Identity = { kind: "anyone" };

/** Who was known last. */
let lastUser: User | undefined;

const nameOf = (user: User | undefined) => (user?.kind === "known" ? user.caller.name : undefined);

async function ask(signal: AbortSignal): Promise<Identity> {
  const found = await identify(signal);
  if (found.kind === "nobody") return found;
  // What was read is what another one may read.
  if (lastUser && nameOf(lastUser) !== nameOf(found))
    requests.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
  lastUser = found;
  return found;
}

export function Session({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => ask(signal),
    enabled: MAY_SIGN_IN,
    ...(!MAY_SIGN_IN && { initialData: ANYONE }),
  });
  useEffect(() => {
    if (!MAY_SIGN_IN) return;
    whenNobodyAsked(() => void requests.invalidateQueries({ queryKey: KEY }, { cancelRefetch: false }));
    return () => whenNobodyAsked(() => {});
  }, []);
  if (!data)
    return error ? <Failed what="The server cannot be asked who you are" error={error} retry={() => void refetch()} /> : null;
  const user = data.kind === "nobody" ? lastUser : data;
  return (
    <>
      {user && (
        <Activity mode={data.kind === "nobody" ? "hidden" : "visible"}>
          <UserContext key={nameOf(user)} value={user}>
            {children}
          </UserContext>
        </Activity>
      )}
      {data.kind === "nobody" && (
        <Suspense>
          <SignIn reason={data.reason} wasSignedIn={user !== undefined} signedIn={() => requests.invalidateQueries()} />
        </Suspense>
      )}
    </>
  );
}
