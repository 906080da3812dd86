// The rows of a long list, read page by page as they come into view, and kept for a while.
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { Row } from "./Grid";

/** Rows of one request. */
export const PAGE_COUNT = 100;
/** What is out of view is kept for so long, in ms. */
const KEPT_MS = 120_000;

export type Pages = {
  rowAt: (index: number) => Row | undefined;
  onSeen: (first: number, end: number) => void;
  /** The first page, once it is there. */
  firstPage: Row[] | undefined;
  /** The rows in view, as far as they are there. */
  inView: Row[];
  /** Why a row in view is missing, if it is not on its way. */
  failureAt: (index: number) => Error | undefined;
  /** Reads again what failed. */
  retry: () => void;
};

/** * `key`: what the rows are of; `fetchPage`: `count` rows from `start` on; `given`: the first page, where it is there already. */
export function usePages(
  key: readonly unknown[],
  fetchPage: (start: number, count: number, signal: AbortSignal) => Promise<Row[]>,
  given?: Row[],
): Pages {
  const [view, setView] = useState({ first: 0, last: 0 });
  const requests = useQueryClient();
  const pages = new Set(given ? [] : [0]);
  for (let page = view.first; page <= view.last; page++) pages.add(page);
  if (given) pages.delete(0);
  const numbers = [...pages];
  const found = useQueries({
    // Both are read of each page: what is not read does not render anew when it comes.
    combine: (results) => ({
      first: results[0]?.data,
      inView: results.flatMap(({ data }) => data ?? []),
      failures: results.map(({ error, data }) => (data === undefined ? error : null)),
    }),
    queries: numbers.map((page) => ({
      queryKey: [...key, page],
      // A page that left the view before it came is given up.
      queryFn: ({ signal }: { signal: AbortSignal }) => fetchPage(page * PAGE_COUNT, PAGE_COUNT, signal),
      staleTime: 10_000,
      gcTime: KEPT_MS,
      // Rows are kept as they came, with the digits of their numbers.
      structuralSharing: false,
    })),
  });
  const onSeen = useCallback((first: number, end: number) => {
    const next = { first: Math.floor(first / PAGE_COUNT), last: Math.floor(Math.max(first, end - 1) / PAGE_COUNT) };
    setView((before) => (before.first === next.first && before.last === next.last ? before : next));
  }, []);
  return {
    rowAt: (index) => {
      const page = Math.floor(index / PAGE_COUNT);
      if (given && page === 0) return given[index];
      const rows = requests.getQueryData<Row[]>([...key, page]);
      return rows?.[index - page * PAGE_COUNT];
    },
    onSeen,
    firstPage: given ?? found.first,
    inView: found.inView,
    failureAt: (index) => found.failures[numbers.indexOf(Math.floor(index / PAGE_COUNT))] ?? undefined,
    retry: () => void requests.refetchQueries({ queryKey: key, predicate: ({ state }) => state.status === "error" }),
  };
}
