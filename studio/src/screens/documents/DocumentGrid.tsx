// The documents of a collection, or all of them, as a grid in which several are chosen.
import { ActionIcon, Button, Menu, SegmentedControl, Tooltip } from "@mantine/core";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import { idOf, idsOf, latest, quoted, type Document } from "../../api/documents";
import { ofCollection, removeFound } from "../../api/queries";
import { count, counted, size } from "../../format/format";
import { choose, useChosen } from "../../grid/chosen";
import { columnsFor, ID, MODIFIED, nameOf, valueAt, type Column } from "../../grid/columns";
import { ColumnsMenu } from "../../grid/ColumnsMenu";
import { Grid, type Row, type Sorting } from "../../grid/Grid";
import { usePages } from "../../grid/pages";
import { changed } from "../../shell/changed";
import { Confirm, type Question } from "../../shell/Confirm";
import { MoreActions } from "../../shell/MoreActions";
import { useRemembered } from "../../shell/remembered";
import type { RunningOperation } from "../../shell/Running";
import { Needs, useRefusal } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Failed, Loading } from "../../shell/states";
import { TaskDialog, type Task } from "../../shell/Task";
import { failed } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { FilterMenu } from "../query/FilterMenu";
import { nameInQuery, ordered, typeOf } from "../query/ordering";
import type { Format } from "../query/resultFile";
import { quotedIfNeeded } from "../query/text";
import { toDocuments } from "./Collections";
import { deleteChosen } from "./deleting";
import { Fields } from "./Fields";
import { GoTo } from "./GoTo";

/** Ids that one request reads. */
const READ_COUNT = 2000;
const NO_COLUMNS: Column[] = [];
const NO_ROWS: Row[] = [];

type GridProps = {
  database: string;
  collection: string | undefined;
  /** Whether the fields of the collection are shown, and no grid. */
  isOfFields: boolean;
  rowCount: number;
  size: number;
  setRunning: (operation: RunningOperation) => void;
};

export function DocumentGrid({ database, collection, isOfFields, rowCount, size: bytes, setRunning }: GridProps) {
  const navigate = useNavigate();
  const mayDelete = useRefusal("ReadWrite") === undefined;
  const [question, ask] = useState<Question>();
  const entry = useLocation({ select: (location) => location.state.__TSR_key ?? "" });
  const chosenKey = `${entry} ${database}/${collection ?? ""}`;
  const chosen = useChosen(chosenKey);
  const setChosen = (ids: Iterable<string>) => choose(chosenKey, database, ids);
  const [task, setTask] = useState<Task>();
  const [anchor, setAnchor] = useState(0);
  const [room, setRoom] = useState(0);
  const widths = useRef<ReadonlyMap<string, number>>(new Map());
  const [kept, setKept] = useRemembered<Column[]>(`columns.${database}/${collection ?? "@all"}`, NO_COLUMNS);

  const pages = usePages(
    ["documents", database, collection ?? null],
    bytes / Math.max(1, rowCount),
    (start, pageSize, signal) =>
      collection === undefined
        ? latest(database, start, pageSize, signal)
        : ofCollection(database, collection, start, pageSize, signal),
    // Without a grid no rows are read.
    isOfFields ? NO_ROWS : undefined,
  );
  const { rowAt, firstPage, inView } = pages;
  const columns = useMemo(() => columnsFor(firstPage ?? [], kept, true, inView, room), [firstPage, kept, inView, room]);
  const toDocument = useCallback(
    (id: string) => ({ to: "/databases/$database/document", params: { database }, search: { id } }) as const,
    [database],
  );
  const refresh = () => changed(isOfFields ? "fields" : "documents");
  const from = `from ${quotedIfNeeded(collection ?? "@all_docs")}`;
  const toQuery = (q: string, run?: "no") =>
    void navigate({ to: "/databases/$database/query", params: { database }, search: run === undefined ? { q } : { q, run } });
  const exportAs = async (format: Format) => {
    const { exportResults } = await import("../query/exported");
    exportResults(database, { text: from, parameters: "{}", run: 0 }, bytes / Math.max(1, rowCount), format);
  };
  // What is sorted is a query, which can be taken along; its screen shows it.
  const sorting: Sorting | undefined =
    collection === undefined
      ? undefined
      : {
          can: (path) => path !== MODIFIED,
          of: () => undefined,
          toggle: (path) => {
            const type = typeOf((firstPage ?? []).map((row) => valueAt(row, path)));
            toQuery(ordered(from, { by: nameInQuery(path), direction: "ascending" }, type));
          },
          title: (path) => `${nameOf(path)}: sort with a query`,
        };

  const idAt = (index: number) => {
    const row = rowAt(index);
    return row && idOf(row as Document);
  };
  const toggle = (index: number, isRange: boolean) => {
    const [from, to] = isRange ? [Math.min(anchor, index), Math.max(anchor, index)] : [index, index];
    const isOn = !chosen.has(idAt(index) ?? "");
    const take = (ids: readonly string[]) => {
      const next = new Set(chosen);
      for (const id of ids) {
        if (isOn) next.add(id);
        else next.delete(id);
      }
      setChosen(next);
      setAnchor(index);
    };
    withIds(from, to - from + 1, take);
  };
  const toggleAll = () => (chosen.size >= rowCount ? setChosen([]) : withIds(0, rowCount, (ids) => setChosen(ids)));
  /** Gives the ids of rows, those that are not in view read first. */
  const withIds = (from: number, total: number, take: (ids: readonly string[]) => void) => {
    const known: string[] = [];
    while (known.length < total) {
      const id = idAt(from + known.length);
      if (id === undefined) break;
      known.push(id);
    }
    if (known.length === total) return take(known);
    // The whole of the range in one go: rows that are read one after the other may have moved meanwhile.
    setTask({
      title: "Reading ids",
      total,
      run: async (tell, signal) => {
        const ids: string[] = [];
        while (ids.length < total) {
          const more = await idsOf(database, collection, from + ids.length, Math.min(READ_COUNT, total - ids.length), signal);
          if (more.length === 0) break;
          ids.push(...more);
          tell(ids.length);
        }
        take(ids);
      },
      partly: () => "Nothing was chosen.",
    });
  };
  const title = collection ?? "All documents";
  return (
    <Screen
      title={title}
      about={<span className="number">{`${counted(rowCount, "document")} · ${size(bytes)}`}</span>}
      actions={
        <>
          {collection !== undefined && (
            <SegmentedControl
              size="xs"
              aria-label="What is shown of the collection"
              data={["Documents", "Fields"]}
              value={isOfFields ? "Fields" : "Documents"}
              onChange={(value) => void navigate(toDocuments(database, collection, value === "Fields" ? "fields" : undefined))}
            />
          )}
          <GoTo database={database} />
          <Tooltip label="Reload">
            <ActionIcon variant="default" size={30} aria-label="Reload" onClick={() => void refresh()}>
              <Icon name="refresh" size={14} />
            </ActionIcon>
          </Tooltip>
          {!isOfFields && collection !== undefined && (
            <FilterMenu
              text={from}
              paths={columns.filter(({ path }) => path !== MODIFIED).map(({ path }) => path)}
              valuesOf={(path) => (firstPage ?? []).map((row) => valueAt(row, path))}
              apply={toQuery}
            />
          )}
          {!isOfFields && <ColumnsMenu columns={columns} setColumns={setKept} reset={() => setKept(NO_COLUMNS)} widths={widths} />}
          {collection !== undefined && (
            <MoreActions>
              <Menu.Item leftSection={<Icon name="query" size={14} />} onClick={() => toQuery(from)}>
                Query
              </Menu.Item>
              <Needs right="ReadWrite">
                <Menu.Item leftSection={<Icon name="edit" size={14} />} onClick={() => toQuery(`${from} update {\n    \n}`, "no")}>
                  Patch…
                </Menu.Item>
              </Needs>
              <Menu.Item leftSection={<Icon name="download" size={14} />} onClick={() => exportAs({ kind: "json" })}>
                Export as JSON
              </Menu.Item>
              <Menu.Item
                leftSection={<Icon name="download" size={14} />}
                onClick={() => exportAs({ kind: "csv", paths: undefined })}
              >
                Export as CSV
              </Menu.Item>
              <Needs right="ReadWrite">
                <Menu.Divider />
                <Menu.Item
                  color="red"
                  leftSection={<Icon name="trash" size={14} />}
                  onClick={() =>
                    ask({
                      title: `Delete all of '${collection}'?`,
                      text: `All ${counted(rowCount, "document")} of the collection are deleted in the background. This cannot be undone.`,
                      action: "Delete all",
                      typed: collection,
                      typedWhat: "the name of the collection",
                      run: () =>
                        removeFound(database, `from ${quoted(collection)}`, "{}").then(
                          ({ OperationId }) => setRunning({ database, id: OperationId, title: `Deleting all of '${collection}'` }),
                          (error: unknown) => failed(`'${collection}' was not deleted`, error),
                        ),
                    })
                  }
                >
                  Delete all documents…
                </Menu.Item>
              </Needs>
            </MoreActions>
          )}
          {/* In one place, and about as wide: nothing moves when the first row is chosen. */}
          {chosen.size > 0 ? (
            <>
              <Tooltip label="Clear the selection">
                <ActionIcon size={30} aria-label="Clear the selection" onClick={() => setChosen([])}>
                  <Icon name="close" size={14} />
                </ActionIcon>
              </Tooltip>
              <Button
                color="red.8"
                leftSection={<Icon name="trash" size={14} />}
                onClick={() =>
                  ask({
                    title: `Delete ${counted(chosen.size, "document")}?`,
                    text: "They are deleted in transactions of up to 500. This cannot be undone.",
                    action: "Delete",
                    run: () => deleteChosen(database, chosen),
                  })
                }
              >
                Delete {count(chosen.size)}
              </Button>
            </>
          ) : (
            <Needs right="ReadWrite">
              <Button
                leftSection={<Icon name="plus" size={14} />}
                onClick={() =>
                  void navigate({
                    to: "/databases/$database/document",
                    params: { database },
                    search: collection === undefined ? {} : { collection },
                  })
                }
              >
                New document
              </Button>
            </Needs>
          )}
        </>
      }
    >
      {isOfFields && collection !== undefined ? (
        <Fields database={database} collection={collection} documentCount={rowCount} size={bytes} />
      ) : firstPage === undefined && pages.failureAt(0) ? (
        <Failed what="These documents cannot be read" error={pages.failureAt(0)} retry={pages.retry} />
      ) : firstPage === undefined ? (
        <Loading what="documents" />
      ) : (
        <Grid
          label={title}
          rowCount={rowCount}
          rowAt={rowAt}
          columns={columns}
          setColumns={setKept}
          failureAt={pages.failureAt}
          retry={pages.retry}
          onSeen={pages.onSeen}
          sorting={sorting}
          onRoom={setRoom}
          widths={widths}
          resetKey={`${database}/${collection ?? ""}`}
          // Documents are chosen to be deleted.
          selection={
            mayDelete
              ? { count: chosen.size, has: (row: Row) => chosen.has(String(valueAt(row, ID))), toggle, all: toggleAll }
              : undefined
          }
          onOpen={(row) => {
            const id = idOf(row as Document);
            if (id !== undefined) void navigate(toDocument(id));
          }}
          linkOf={(_, id) => (
            <Link {...toDocument(id)} className="cut" tabIndex={-1} title={id}>
              {id}
            </Link>
          )}
        />
      )}
      <Confirm question={question} close={() => ask(undefined)} />
      <TaskDialog task={task} close={() => setTask(undefined)} />
    </Screen>
  );
}
