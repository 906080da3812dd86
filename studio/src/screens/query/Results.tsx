// What a query gave: numbers about it, and the results in the form that is chosen.
import { Button, Menu, SegmentedControl } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { collectionsQuery } from "../../api/documents";
import { fieldsQuery, progress } from "../../api/indexes";
import { explainedOf, run, type Answer } from "../../api/queries";
import { Editor } from "../../editor/Editor";
import { count, counted, duration } from "../../format/format";
import { columnsFor, ID, MODIFIED, nameOf, valueAt, type Column } from "../../grid/columns";
import { ColumnsMenu } from "../../grid/ColumnsMenu";
import { Grid, type Sorting } from "../../grid/Grid";
import { pageCountFor, usePages } from "../../grid/pages";
import { pretty } from "../../json/scan";
import { ProgressBar } from "../../shell/ProgressBar";
import { keepLatest, useRemembered } from "../../shell/remembered";
import { Sentence } from "../../shell/Sentence";
import { Empty, Loading } from "../../shell/states";
import { progressOf } from "../indexes/state";
import { Icon } from "../../theme/icons";
import { exportResults } from "./exported";
import { Facets, Suggestions } from "./Facets";
import { FilterMenu } from "./FilterMenu";
import { facetsOf, suggestionsOf } from "./facets";
import { Explanations, Highlights } from "./Highlights";
import { isSortable, nameInQuery, ordered, orderingOf, turned, typeOf } from "./ordering";
import { Plan } from "./Plan";
import { pointsOf } from "./points";
import { documentSize } from "./steps";
import type { Format } from "./resultFile";
import { collectionOf, indexOf, isExplain } from "./text";
import styles from "./query.module.css";

const MapView = lazy(() => import("./MapView"));

/** `parameters`: a JSON object as text. */
export type Submitted = { text: string; parameters: string; run: number };

type Form = "table" | "json" | "map" | "plan" | "facets" | "suggestions" | "highlights" | "explanations";

const NO_COLUMNS: Column[] = [];
/** How often one asks how far an index is, in ms. */
const BUILDING_MS = 1000;
/** Shapes of results whose columns are kept for a database. */
const SHAPE_COUNT = 30;

export function Results({
  database,
  submitted,
  onError,
  stopped,
  form,
  setForm,
  runInstead,
}: {
  database: string;
  submitted: Submitted;
  onError: (error: unknown, text: string) => void;
  /** Its user did not wait for the answer. */
  stopped: () => void;
  /** The form that the address asks for; undefined is what suits the results. */
  form: string | undefined;
  setForm: (form: string) => void;
  /** Puts another query into the editor and runs it. */
  runInstead: (text: string) => void;
}) {
  const requests = useQueryClient();
  const queryKey = ["answer", database, submitted];
  const { data, error, isFetching } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const found = await requests.ensureQueryData(collectionsQuery(database)).catch(() => undefined);
      const pageSize = pageCountFor(documentSize(submitted.text, found?.collections ?? []));
      return run(database, { ...submitted, pageSize }, signal);
    },
    // What was run is what is shown, until it is run again.
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    // An answer is kept as it came, with the digits of its numbers.
    structuralSharing: false,
  });
  useEffect(() => {
    if (error) onError(error, submitted.text);
  }, [error, onError, submitted.text]);
  if (isFetching) {
    const stop = () => void requests.cancelQueries({ queryKey }, { silent: true }).then(stopped);
    return <Waiting database={database} text={submitted.text} stop={stop} />;
  }
  // Without data it was stopped, which the screen says.
  if (error || !data) return null;
  return (
    <Answered database={database} submitted={submitted} answer={data} wanted={form} setForm={setForm} runInstead={runInstead} />
  );
}

/** A query on its way: after a moment, for how long, and a way to stop it. The server stops with the request. */
function Waiting({ database, text, stop }: { database: string; text: string; stop: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Loading what="results">
      {seconds > 0 && (
        <>
          <Building database={database} text={text} />
          <div className={styles.waiting}>
            <span className="soft number">{`${count(seconds)} s`}</span>
            <Button variant="default" leftSection={<Icon name="stop" size={12} />} onClick={stop}>
              Stop
            </Button>
          </div>
        </>
      )}
    </Loading>
  );
}

/** How far the automatic index is that a query waits for. */
function Building({ database, text }: { database: string; text: string }) {
  const { data } = useQuery({
    queryKey: ["building", database],
    queryFn: ({ signal }) => progress(database, signal),
    refetchInterval: BUILDING_MS,
    retry: false,
  });
  const name = collectionOf(text);
  if (name === undefined) return null;
  const beginning = `auto/${name.toLowerCase()}/`;
  const building = data?.find(({ Name }) =>
    Name.toLowerCase()
      .replace(/^replacementof\//, "")
      .startsWith(beginning),
  );
  if (!building) return null;
  const { share } = progressOf(building);
  return (
    <div className={styles.building}>
      <p>
        Building the index <b>{building.Name}</b>, <span className="number">{`${Math.floor(share * 100)}%`}</span>. The first query
        with these fields needs it; later ones use it.
      </p>
      <ProgressBar part={share} status={undefined} />
    </div>
  );
}

type AnsweredProps = {
  database: string;
  submitted: Submitted;
  answer: Answer;
  wanted: string | undefined;
  setForm: (form: string) => void;
  runInstead: (text: string) => void;
};

function Answered({ database, submitted, answer, wanted, setForm, runInstead }: AnsweredProps) {
  const [tools, setTools] = useState<HTMLElement | null>(null);
  const [room, setRoom] = useState(0);
  const facets = useMemo(() => facetsOf(answer.results), [answer]);
  const suggestions = useMemo(() => suggestionsOf(answer.results), [answer]);
  const hasPoints = useMemo(() => pointsOf(answer.results.slice(0, 20)).length > 0, [answer]);
  const explained = useMemo(() => (isExplain(submitted.text) ? explainedOf(answer) : undefined), [submitted, answer]);
  const usual: Form = explained
    ? "plan"
    : facets
      ? "facets"
      : suggestions
        ? "suggestions"
        : answer.highlightings
          ? "highlights"
          : answer.explanations
            ? "explanations"
            : "table";
  const forms: { value: Form; label: string }[] = [
    ...(facets ? [{ value: "facets" as const, label: "Facets" }] : []),
    ...(suggestions ? [{ value: "suggestions" as const, label: "Suggestions" }] : []),
    { value: "table", label: "Table" },
    { value: "json", label: "JSON" },
    ...(answer.highlightings ? [{ value: "highlights" as const, label: "Highlights" }] : []),
    ...(answer.explanations ? [{ value: "explanations" as const, label: "Scores" }] : []),
    ...(hasPoints ? [{ value: "map" as const, label: "Map" }] : []),
    { value: "plan", label: "Plan" },
  ];
  const form = forms.find(({ value }) => value === wanted)?.value ?? usual;
  const { columns, setColumns } = useColumns(database, answer, room);
  const canFilter = useIndexed(database, submitted.text);
  const isOfIndex = !answer.index.startsWith("collection/") && answer.index !== "AllDocs";
  return (
    <section className={styles.results} aria-label="Results">
      <div className={styles.bar}>
        <SegmentedControl size="xs" aria-label="Form of the results" data={forms} value={form} onChange={setForm} />
        <span className={`${styles.about} number`} role="status" title={isOfIndex ? answer.index : undefined}>
          {`${counted(answer.total, "result")} in ${answer.durationMs < 1 ? "less than 1 ms" : duration(answer.durationMs)}`}
          {" · "}
          {isOfIndex ? `index ${answer.index}` : "no index needed"}
          {answer.isStale && <span className={styles.stale}>stale</span>}
        </span>
        {form === "table" && (
          <span className={styles.tools}>
            <FilterMenu
              text={submitted.text}
              paths={columns.filter(({ path }) => canFilter(path)).map(({ path }) => path)}
              valuesOf={(path) => answer.results.map((row) => valueAt(row, path))}
              apply={runInstead}
            />
          </span>
        )}
        <span ref={setTools} className={styles.tools} />
        <span className={styles.tools}>
          <Export database={database} submitted={submitted} answer={answer} columns={columns} />
        </span>
      </div>
      {answer.warnings.map((warning) => (
        <p key={warning} className={styles.warning} role="status">
          <Icon name="warning" size={15} />
          <span>
            <Sentence text={warning} />
          </span>
        </p>
      ))}
      {form === "facets" && facets && <Facets facets={facets} />}
      {form === "suggestions" && suggestions && <Suggestions suggestions={suggestions} />}
      {form === "table" && (
        <Table
          database={database}
          submitted={submitted}
          answer={answer}
          columns={columns}
          setColumns={setColumns}
          tools={tools}
          setRoom={setRoom}
          runInstead={runInstead}
        />
      )}
      {form === "json" && <Json answer={answer} />}
      {form === "map" && (
        <Suspense fallback={<Loading what="the map" />}>
          <MapView database={database} submitted={submitted} answer={answer} />
        </Suspense>
      )}
      {form === "highlights" && (
        <Highlights database={database} found={answer.highlightings ?? {}} parameters={submitted.parameters} />
      )}
      {form === "explanations" && <Explanations database={database} found={answer.explanations ?? {}} />}
      {form === "plan" && <Plan database={database} submitted={submitted} found={explained} />}
    </section>
  );
}

/** The columns for these results, as they were set for results of the same form. */
function useColumns(
  database: string,
  answer: Answer,
  room: number,
): { columns: Column[]; setColumns: (columns: Column[]) => void } {
  const shape = useMemo(
    () =>
      Object.keys(answer.results[0] ?? {})
        .sort()
        .join(",")
        .slice(0, 200),
    [answer],
  );
  const key = `columns.${database}/query.${shape}`;
  const [kept, setKept] = useRemembered<Column[]>(key, NO_COLUMNS);
  const columns = useMemo(() => columnsFor(answer.results, kept, hasIds(answer), [], room), [answer, kept, room]);
  const setColumns = (next: Column[]) => {
    setKept(next);
    keepLatest(`columns.${database}/query.`, key, SHAPE_COUNT);
  };
  return { columns, setColumns };
}

function hasIds({ results }: Answer): boolean {
  return results.some((row) => row["@metadata"]?.["@id"] !== undefined);
}

type TableProps = {
  database: string;
  submitted: Submitted;
  answer: Answer;
  columns: readonly Column[];
  setColumns: (columns: Column[]) => void;
  /** Where the buttons of the table stand. */
  tools: HTMLElement | null;
  setRoom: (room: number) => void;
  runInstead: (text: string) => void;
};

function Table({ database, submitted, answer, columns: found, setColumns, tools, setRoom, runInstead }: TableProps) {
  const navigate = useNavigate();
  const pages = usePages(
    ["rows", database, submitted],
    answer.resultSize,
    async (start, pageSize, signal) => (await run(database, { ...submitted, start, pageSize }, signal)).results,
    answer.results,
  );
  // Further rows have further fields, which are offered.
  const { inView } = pages;
  const columns = useMemo(() => columnsFor(answer.results, found, hasIds(answer), inView), [answer, found, inView]);
  const toDocument = (id: string) => ({ to: "/databases/$database/document", params: { database }, search: { id } }) as const;
  const widths = useRef<ReadonlyMap<string, number>>(new Map());
  const sorting = useSorting(database, submitted.text, answer, runInstead);
  if (answer.total === 0 || answer.results.length === 0) {
    return (
      <Empty icon="search" title="Nothing was found">
        {answer.warnings.length > 0 ? "See the warning above." : "The query ran, and no document matches it."}
      </Empty>
    );
  }
  return (
    <>
      {tools &&
        createPortal(
          <ColumnsMenu columns={columns} setColumns={setColumns} reset={() => setColumns(NO_COLUMNS)} widths={widths} />,
          tools,
        )}
      <Grid
        label="Results"
        rowCount={answer.results.length < answer.pageSize ? answer.results.length : answer.total}
        rowAt={pages.rowAt}
        columns={columns}
        setColumns={setColumns}
        failureAt={pages.failureAt}
        retry={pages.retry}
        onSeen={pages.onSeen}
        sorting={sorting}
        onRoom={setRoom}
        widths={widths}
        resetKey={`${submitted.run}`}
        onOpen={(row) => {
          const id = valueAt(row, ID);
          if (typeof id === "string") void navigate(toDocument(id));
        }}
        linkOf={(_, id) => (
          <Link {...toDocument(id)} className="cut" tabIndex={-1} title={id}>
            {id}
          </Link>
        )}
      />
    </>
  );
}

/** Which columns a query can compare: of an index only its fields. */
function useIndexed(database: string, text: string): (path: string) => boolean {
  const index = indexOf(text);
  const { data: fields } = useQuery({ ...fieldsQuery(database, index ?? ""), enabled: index !== undefined, retry: false });
  return useMemo(() => {
    const known = index === undefined ? undefined : new Set(fields?.map(({ Name }) => Name));
    return (path) => (known === undefined ? path !== MODIFIED : known.has(path) || path === ID);
  }, [index, fields]);
}

/** Sorting rewrites the query, so that it can be taken along. */
function useSorting(database: string, text: string, answer: Answer, runInstead: (text: string) => void): Sorting | undefined {
  const can = useIndexed(database, text);
  return useMemo(() => {
    if (!isSortable(text)) return undefined;
    const now = orderingOf(text);
    return {
      can,
      of: (path) => (now?.by === nameInQuery(path, text) ? now.direction : undefined),
      toggle: (path) => {
        const type = typeOf(answer.results.map((row) => valueAt(row, path)));
        runInstead(ordered(text, turned(now, nameInQuery(path, text)), type));
      },
      title: (path) => `${nameOf(path)}: sort with order by`,
    };
  }, [text, can, answer, runInstead]);
}

function Json({ answer }: { answer: Answer }) {
  const text = useMemo(() => pretty(`[${answer.texts.join(",")}]`), [answer]);
  return (
    <>
      {answer.total > answer.texts.length && (
        <p
          className={styles.note}
        >{`The first ${count(answer.texts.length)} of ${count(answer.total)}. An export contains all of them.`}</p>
      )}
      <Editor label="Results as JSON" language="json" value={text} isReadOnly />
    </>
  );
}

type ExportProps = { database: string; submitted: Submitted; answer: Answer; columns: readonly Column[] };

function Export({ database, submitted, answer, columns }: ExportProps) {
  const save = (format: Format) => exportResults(database, submitted, answer.resultSize, format);
  const paths = columns.filter((column) => !column.isHidden).map(({ path }) => path);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={14} />} disabled={answer.total === 0}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => save({ kind: "csv", paths })}>CSV, the columns of the table</Menu.Item>
        <Menu.Item onClick={() => save({ kind: "csv", paths: undefined })}>CSV, all fields</Menu.Item>
        <Menu.Item onClick={() => save({ kind: "json" })}>JSON, with all digits</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
