// The rows of a long list, read page by page as they come into view, and kept for a while.
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { Row } from "./Grid";

/** Rows of one request. */
const COUNT_MAX = 100;
/** Fewer are not asked for at once, whatever their size: a request for each row in view would be slower still. */
const COUNT_MIN = 4;
/** Bytes that a request should give. */
const PAGE_SIZE = 4 << 20;
/** What is out of view is kept for so long, in ms, if its pages are full. Pages of fewer, larger rows are kept for less. */
const KEPT_MS = 120_000;

/** Rows of one request. * `rowSize`: bytes of a row as far as known. */
export function pageCountFor(rowSize: number): number {
  return Math.max(COUNT_MIN, Math.min(COUNT_MAX, Math.floor(PAGE_SIZE / Math.max(1, rowSize))));
}

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

/**
 * * `key`: what the rows are of.
 * * `rowSize`: bytes of a row as far as known; what it is first decides how many rows a page has.
 * * `fetchPage`: `count` rows from `start` on.
 * * `given`: the first rows, where they are there already.
 */
export function usePages(
  key: readonly unknown[],
  rowSize: number,
  fetchPage: (start: number, count: number, signal: AbortSignal) => Promise<Row[]>,
  given?: Row[],
): Pages {
  const [pageCount] = useState(() => pageCountFor(rowSize));
  // None at first.
  const [view, setView] = useState({ first: 0, last: -1 });
  const requests = useQueryClient();
  const givenCount = given?.length ?? 0;
  const pages = new Set(given ? [] : [0]);
  for (let page = view.first; page <= view.last; page++) pages.add(page);
  const numbers = [...pages];
  const keyOf = (page: number) => [...key, pageCount, page];
  const found = useQueries({
    // Both are read of each page: what is not read does not render anew when it comes.
    combine: (results) => ({
      first: results[0]?.data,
      inView: results.flatMap(({ data }) => data ?? []),
      failures: results.map(({ error, data }) => (data === undefined ? error : null)),
    }),
    queries: numbers.map((page) => ({
      queryKey: keyOf(page),
      // A page that left the view before it came is given up.
      queryFn: ({ signal }: { signal: AbortSignal }) => fetchPage(page * pageCount, pageCount, signal),
      staleTime: 10_000,
      gcTime: (KEPT_MS * pageCount) / COUNT_MAX,
      // Rows are kept as they came, with the digits of their numbers.
      structuralSharing: false,
    })),
  });
  const onSeen = useCallback(
    (first: number, end: number) => {
      const from = Math.max(first, givenCount);
      const next =
        from < end ? { first: Math.floor(from / pageCount), last: Math.floor((end - 1) / pageCount) } : { first: 0, last: -1 };
      setView((before) => (before.first === next.first && before.last === next.last ? before : next));
    },
    [pageCount, givenCount],
  );
  return {
    rowAt: (index) => {
      if (index < givenCount) return given?.[index];
      const page = Math.floor(index / pageCount);
      return requests.getQueryData<Row[]>(keyOf(page))?.[index - page * pageCount];
    },
    onSeen,
    firstPage: given ?? found.first,
    inView: found.inView,
    failureAt: (index) => found.failures[numbers.indexOf(Math.floor(index / pageCount))] ?? undefined,
    retry: () => void requests.refetchQueries({ queryKey: key, predicate: ({ state }) => state.status === "error" }),
  };
}
