// Which rows of a long list are seen, and where they stand. Browsers draw nothing that is higher than some 17 million
// pixels (Firefox) or 33 million (Chromium): above `HEIGHT_MAX` the scroll bar stands for more than it is long.

export const ROW_HEIGHT = 30;
export const HEIGHT_MAX = 15_000_000;
/** Rows that are drawn above and below what is seen. */
const MARGIN_COUNT = 6;

export type Seen = {
  /** Height of the whole in pixels, as the scroll bar sees it. */
  height: number;
  /** Rows to draw: from `first` up to, not including, `end`. */
  first: number;
  end: number;
  /** Where a row is drawn, from the top of the whole. */
  top: (row: number) => number;
};

/** `scrollTop`, `viewport`: pixels. */
export function seen(rowCount: number, scrollTop: number, viewport: number): Seen {
  const full = rowCount * ROW_HEIGHT;
  const height = Math.min(full, HEIGHT_MAX);
  const path = Math.max(1, height - viewport);
  const place = Math.min(Math.max(0, scrollTop), path);
  // Where the top of the view would be if nothing were shortened.
  const virtualTop = height === full ? place : (place / path) * Math.max(0, full - viewport);
  const first = Math.max(0, Math.floor(virtualTop / ROW_HEIGHT) - MARGIN_COUNT);
  const end = Math.min(rowCount, Math.ceil((virtualTop + viewport) / ROW_HEIGHT) + MARGIN_COUNT);
  return { height, first, end, top: (row) => place + row * ROW_HEIGHT - virtualTop };
}

/** Where to scroll so that `row` is seen, or `scrollTop` if it is already. */
export function scrollTo(row: number, rowCount: number, scrollTop: number, viewport: number): number {
  const now = seen(rowCount, scrollTop, viewport);
  const top = now.top(row) - scrollTop;
  if (top >= 0 && top + ROW_HEIGHT <= viewport) return scrollTop;
  const full = rowCount * ROW_HEIGHT;
  const wanted = top < 0 ? row * ROW_HEIGHT : (row + 1) * ROW_HEIGHT - viewport;
  if (now.height === full) return Math.max(0, wanted);
  return (Math.max(0, wanted) / Math.max(1, full - viewport)) * (now.height - viewport);
}
