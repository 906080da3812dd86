// A grid of any number of rows, of which only those in view are drawn. It is one stop of the tab key; arrows go through rows.
import { useElementSize, useMergedRef } from "@mantine/hooks";
import { Button, Checkbox, VisuallyHidden } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { useEffect, useId, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { cell, dateTime, glimpse } from "../format/format";
import { goThrough } from "../shell/roving";
import { Icon } from "../theme/icons";
import { digitsAt, headWidth, ID, moved, MODIFIED, nameOf, neededWidth, valueAt, widened, type Column } from "./columns";
import { keepPlace, placeAt } from "./places";
import { ROW_HEIGHT, scrollTo, seen } from "./rows";
import styles from "./grid.module.css";

export type Row = Record<string, unknown>;

/** `count`: rows that are chosen. `all`: chooses every row, or none if all are. */
export type Selection = {
  count: number;
  has: (row: Row) => boolean;
  toggle: (index: number, isRange: boolean) => void;
  all: () => void;
};

/** Sorting by a click on a column. * `title`: what the click does. */
export type Sorting = {
  can: (path: string) => boolean;
  of: (path: string) => "ascending" | "descending" | undefined;
  toggle: (path: string) => void;
  title: (path: string) => string;
};

type Props = {
  label: string;
  rowCount: number;
  /** Undefined while it is loaded. */
  rowAt: (index: number) => Row | undefined;
  columns: readonly Column[];
  setColumns: (columns: Column[]) => void;
  /** Why a row is not there and not on its way, and how to read it again. */
  failureAt?: ((index: number) => Error | undefined) | undefined;
  retry?: (() => void) | undefined;
  /** Told of the rows in view. */
  onSeen?: (first: number, end: number) => void;
  /** Enter or a double click. */
  onOpen?: ((row: Row) => void) | undefined;
  /** A link in the first column, if there is one. */
  linkOf?: (row: Row, text: string) => ReactNode;
  selection?: Selection | undefined;
  sorting?: Sorting | undefined;
  /** Is given the widths as they are drawn, for the menu of the columns. */
  widths?: { current: ReadonlyMap<string, number> };
  /** Told of the pixels that there are for columns. */
  onRoom?: (room: number) => void;
  /** Rows of something else begin at the top again. */
  resetKey: string;
};

const CHECK_WIDTH = 36;

export function Grid({
  label,
  rowCount,
  rowAt,
  columns,
  setColumns,
  failureAt,
  retry,
  onSeen,
  onOpen,
  linkOf,
  selection,
  sorting,
  widths: drawn,
  onRoom,
  resetKey,
}: Props) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const { ref: sized, height, width: boxWidth } = useElementSize();
  const ref = useMergedRef(box, sized);
  const [scrollTop, setScrollTop] = useState(0);
  const [wanted, setActive] = useState(0);
  // There may be fewer rows than there were.
  const active = Math.max(0, Math.min(wanted, rowCount - 1));
  const [hasFocus, setFocus] = useState(false);
  const [dragged, setDragged] = useState<string>();

  // The head is in the way of the view.
  const viewport = Math.max(ROW_HEIGHT, height - ROW_HEIGHT);
  const view = seen(rowCount, scrollTop, viewport);
  // Widths grow with the values that come into view, and stay as wide: nothing jumps while one scrolls back.
  const grown = useRef({ key: resetKey, widths: new Map<string, number>() });
  if (grown.current.key !== resetKey) grown.current = { key: resetKey, widths: new Map() };
  const inView: Row[] = [];
  for (let index = view.first; index < view.end; index++) {
    const row = rowAt(index);
    if (row !== undefined) inView.push(row);
  }
  const shown = columns
    .filter((column) => !column.isHidden)
    .map((column) => {
      if (column.isSet) return column;
      const { widths } = grown.current;
      widths.set(
        column.path,
        Math.max(
          widths.get(column.path) ?? 0,
          neededWidth(column.path, inView),
          sorting?.of(column.path) ? headWidth(column.path, true) : 0,
        ),
      );
      return { ...column, width: Math.max(column.width, widths.get(column.path)!) };
    });
  const width = shown.reduce((sum, column) => sum + column.width, selection ? CHECK_WIDTH : 0);
  const template = `${selection ? `${CHECK_WIDTH}px ` : ""}${shown.map((column) => `${column.width}px`).join(" ")} minmax(0, 1fr)`;

  useEffect(() => {
    if (height > 0) onSeen?.(view.first, view.end);
  }, [view.first, view.end, height, onSeen]);
  useEffect(() => {
    if (drawn) drawn.current = new Map(shown.map((column) => [column.path, column.width]));
  });
  const room = boxWidth - (selection ? CHECK_WIDTH : 0);
  useEffect(() => {
    if (boxWidth > 0) onRoom?.(room);
  }, [boxWidth, room, onRoom]);
  const entry = useLocation({ select: (location) => location.state.__TSR_key ?? "" });
  const placeKey = `${entry} ${resetKey}`;
  const latestKey = useRef(placeKey);
  useEffect(() => {
    latestKey.current = placeKey;
  });
  useEffect(() => {
    const { top, active } = placeAt(latestKey.current) ?? { top: 0, active: 0 };
    box.current?.scrollTo({ top });
    setScrollTop(top);
    setActive(active);
  }, [resetKey]);

  /** Gives a row the focus; going back leads to it. */
  const activate = (row: number) => {
    setActive(row);
    keepPlace(placeKey, { top: scrollTop, active: row });
  };
  const goTo = (row: number) => {
    const next = Math.min(Math.max(0, row), rowCount - 1);
    activate(next);
    const top = scrollTo(next, rowCount, scrollTop, viewport);
    if (top !== scrollTop) box.current?.scrollTo({ top });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || rowCount === 0) return;
    const pageCount = Math.max(1, Math.floor(viewport / ROW_HEIGHT) - 1);
    const steps: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + pageCount,
      PageUp: active - pageCount,
      Home: 0,
      End: rowCount - 1,
    };
    const next = steps[event.key];
    const row = rowAt(active);
    if (next !== undefined) goTo(next);
    else if (event.key === "Enter" && row && onOpen) onOpen(row);
    else if (event.key.toLowerCase() === "a" && (event.ctrlKey || event.metaKey) && selection) selection.all();
    else if (event.key === " " && row && selection) selection.toggle(active, event.shiftKey);
    else if (event.key === "ArrowRight") box.current?.scrollBy({ left: 80 });
    else if (event.key === "ArrowLeft") box.current?.scrollBy({ left: -80 });
    else return;
    event.preventDefault();
  };
  const setWidth = (path: string, next: number) => setColumns(widened(columns, path, next));

  const indexes = Array.from({ length: Math.max(0, view.end - view.first) }, (_, offset) => view.first + offset);
  // A screen reader is told of the row that has the focus; it has to be there, also where it is not in view.
  if (active < rowCount && (active < view.first || active >= view.end)) indexes.push(active);
  // Nowhere but within the rows, whose height the scroll bar is made for.
  const topOf = (index: number) => Math.max(0, Math.min(view.top(index), view.height - ROW_HEIGHT));
  const sample = indexes.map(rowAt).filter((row) => row !== undefined);
  const firstSortable = shown.find(({ path }) => sorting?.can(path))?.path;
  const isNumeric = (path: string) => areNumbers(sample.map((row) => valueAt(row, path)));
  return (
    <div
      ref={ref}
      className={styles.grid}
      role="grid"
      aria-label={label}
      aria-rowcount={rowCount + 1}
      aria-multiselectable={selection ? true : undefined}
      aria-activedescendant={rowCount > 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onFocus={(event) => setFocus(event.target === event.currentTarget)}
      onBlur={() => setFocus(false)}
      onScroll={(event) => {
        const top = event.currentTarget.scrollTop;
        setScrollTop(top);
        keepPlace(placeKey, { top, active });
      }}
    >
      <div
        className={styles.head}
        role="row"
        aria-rowindex={1}
        style={{ gridTemplateColumns: template, minWidth: width }}
        onKeyDown={(event) => goThrough(event, "button")}
      >
        {selection && (
          <div className={styles.check} role="columnheader">
            <VisuallyHidden>Chosen</VisuallyHidden>
            <Checkbox
              size="xs"
              tabIndex={-1}
              aria-label="Choose all"
              disabled={rowCount === 0}
              checked={rowCount > 0 && selection.count >= rowCount}
              indeterminate={selection.count > 0 && selection.count < rowCount}
              onChange={selection.all}
            />
          </div>
        )}
        {shown.map((column) => (
          <div
            key={column.path}
            role="columnheader"
            aria-sort={sorting?.of(column.path)}
            className={styles.headCell}
            data-kind={isNumeric(column.path) ? "number" : undefined}
            data-target={dragged !== undefined && dragged !== column.path ? true : undefined}
            draggable
            title={column.path === MODIFIED ? "In the time zone of this browser" : column.path}
            onDragStart={(event) => {
              event.dataTransfer.setData("text/plain", column.path);
              event.dataTransfer.effectAllowed = "move";
              setDragged(column.path);
            }}
            onDragEnd={() => setDragged(undefined)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged !== undefined) setColumns(moved(columns, dragged, column.path));
              setDragged(undefined);
            }}
          >
            {sorting?.can(column.path) ? (
              <button
                type="button"
                className={styles.sort}
                // One of them is a stop of the tab key; arrows go to the others.
                tabIndex={column.path === firstSortable ? 0 : -1}
                title={sorting.title(column.path)}
                onClick={() => sorting.toggle(column.path)}
              >
                <span className="cut">{nameOf(column.path)}</span>
                {sorting.of(column.path) && <Icon name={sorting.of(column.path) === "descending" ? "down" : "up"} size={12} />}
              </button>
            ) : (
              <span className="cut">{nameOf(column.path)}</span>
            )}
            <Resizer width={column.width} setWidth={(next) => setWidth(column.path, next)} />
          </div>
        ))}
        <div role="presentation" className={styles.headRest} />
      </div>
      <div className={styles.rows} role="rowgroup" style={{ height: view.height, minWidth: width }}>
        {indexes.map((index) => {
          const row = rowAt(index);
          const failure = row === undefined ? failureAt?.(index) : undefined;
          // One of them says why and has the button: the first of a page, and the first in view.
          const isFirstInView = view.top(index) >= scrollTop && view.top(index) < scrollTop + ROW_HEIGHT;
          const isFirstFailed = failure !== undefined && (isFirstInView || failureAt?.(index - 1) === undefined);
          const isChosen = row !== undefined && selection?.has(row) === true;
          const classes = [styles.row, index === active && hasFocus ? styles.active : "", isChosen ? styles.chosen : ""].join(" ");
          return (
            <div
              key={index}
              id={`${id}-${index}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={selection ? isChosen : undefined}
              aria-busy={(row === undefined && failure === undefined) || undefined}
              className={classes}
              data-away={index < view.first || index >= view.end || undefined}
              style={{ transform: `translateY(${topOf(index)}px)`, gridTemplateColumns: template }}
              onClick={() => activate(index)}
              onDoubleClick={() => row && onOpen?.(row)}
            >
              {selection && (
                <div role="gridcell" className={styles.check}>
                  <Checkbox
                    tabIndex={-1}
                    aria-label={`Choose ${row ? cell(valueAt(row, ID)) : "row"}`}
                    checked={isChosen}
                    disabled={row === undefined}
                    onChange={() => undefined}
                    onClick={(event) => selection.toggle(index, event.shiftKey)}
                  />
                </div>
              )}
              {failure !== undefined && (
                <div role="gridcell" className={styles.failed} aria-colspan={shown.length}>
                  {isFirstFailed ? (
                    <span className={styles.failure}>
                      Could not be read: {failure.message}
                      <Button variant="default" size="compact-xs" onClick={retry}>
                        Try again
                      </Button>
                    </span>
                  ) : (
                    <span className="soft">Could not be read</span>
                  )}
                </div>
              )}
              {(failure === undefined ? shown : []).map((column) => (
                <div key={column.path} role="gridcell" className={styles.cell}>
                  {row === undefined ? <span className={styles.waiting} /> : <Value row={row} path={column.path} linkOf={linkOf} />}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Whether most of what there is are numbers, which stand at the right. */
function areNumbers(values: readonly unknown[]): boolean {
  const there = values.filter((value) => value !== undefined && value !== null);
  return there.length > 0 && there.filter((value) => typeof value === "number").length * 2 > there.length;
}

function Value({ row, path, linkOf }: { row: Row; path: string; linkOf: Props["linkOf"] }) {
  const value = valueAt(row, path);
  if (path === ID && linkOf && typeof value === "string") return linkOf(row, value);
  if (path === MODIFIED && typeof value === "string") {
    return (
      <span className="soft number" title={value}>
        {dateTime(value)}
      </span>
    );
  }
  const digits = digitsAt(row, path);
  const text = digits ?? cell(value);
  const kind = value === null ? "null" : typeof value;
  return (
    <span className="cut" data-kind={kind} title={text.length > 24 ? text.slice(0, 500) : undefined}>
      {/* A cell shows a line; a long text would cost as much as the grid. */}
      {(digits ?? glimpse(value)).slice(0, 300)}
    </span>
  );
}

function Resizer({ width, setWidth }: { width: number; setWidth: (width: number) => void }) {
  const start = useRef<{ x: number; width: number }>(undefined);
  const move = (event: PointerEvent) => {
    if (start.current) setWidth(start.current.width + event.clientX - start.current.x);
  };
  return (
    <span
      className={styles.resizer}
      aria-hidden="true"
      draggable
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width };
        event.preventDefault();
      }}
      onPointerMove={move}
      onPointerUp={() => (start.current = undefined)}
    />
  );
}
