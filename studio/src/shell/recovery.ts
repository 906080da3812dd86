// A server that is back: what had no answer while it was gone is asked again, by itself.
import type { Query, QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiError } from "../api/http";

/** How often a request is asked again like this: one that never gets an answer may be what stops the server. */
const AGAIN_COUNT_MAX = 3;

/** Whether there was no answer at all. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0;
}

const listeners = new Set<() => void>();

/** Asks again, each time the live counters came, for what is on the screen and had no answer. */
export function recover(requests: QueryClient) {
  const again = new WeakMap<Query, number>();
  requests.getQueryCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "success") return;
    if (event.query.queryKey[0] !== "live") return void again.delete(event.query);
    for (const listener of listeners) listener();
    const mayAsk = (query: Query) => {
      const count = again.get(query) ?? 0;
      if (!isUnreachable(query.state.error) || count >= AGAIN_COUNT_MAX) return false;
      again.set(query, count + 1);
      return true;
    };
    void requests.refetchQueries({ type: "active", predicate: mayAsk }, { cancelRefetch: false });
  });
}

/** Calls a function, which stays the same, whenever the server has answered: what says that it cannot be reached is over. */
export function useAnswering(listener: () => void) {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [listener]);
}
