// The findings, for the screen and for the mark in the navigation.
import { useQuery } from "@tanstack/react-query";
import { safety } from "../../api/safety";
import { useAbilities } from "../../shell/session";

/** How often they are read, in ms, while the page is seen: what they are about changes by the day. */
const POLL_MS = 300_000;

export function useSafety() {
  const { isOperator } = useAbilities();
  return useQuery({
    queryKey: ["safety"],
    queryFn: ({ signal }) => safety(signal),
    enabled: isOperator,
    refetchInterval: POLL_MS,
    staleTime: POLL_MS / 10,
  });
}
