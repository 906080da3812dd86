// What was read is kept for a moment, and read again when it is looked at again.
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api/http";
import { recover } from "./shell/recovery";

/** How often a request is repeated that had no answer, or one that says that the server is busy. */
const RETRY_COUNT = 1;

export const requests = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      retry: (count, error) => count < RETRY_COUNT && error instanceof ApiError && error.status === 503,
      refetchOnWindowFocus: true,
      // A server on loopback is there without a network too.
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

recover(requests);
