// Queries: an editor of RQL, and what it gives as table, JSON, map and plan.
import { Button, Menu, Tooltip } from "@mantine/core";
import { useIsFetching, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useLocation, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useId, useMemo, useRef, useState, type CSSProperties } from "react";
import { createPortal } from "react-dom";
import { collectionsQuery } from "../../api/documents";
import { ApiError } from "../../api/http";
import { definitions, statistics, type Definition } from "../../api/indexes";
import { Editor } from "../../editor/Editor";
import { useRemembered } from "../../shell/remembered";
import { copyText } from "../../shell/clipboard";
import { MoreActions } from "../../shell/MoreActions";
import { Needs, useRefusal } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Sentence } from "../../shell/Sentence";
import { isUnreachable, useAnswering } from "../../shell/recovery";
import { Empty } from "../../shell/states";
import { Icon } from "../../theme/icons";
import { Examples } from "./Examples";
import { knownOf } from "./samples";
import { withoutReplacements } from "../indexes/state";
import { Code } from "./Code";
import { completion } from "./completion";
import { checked, namesOf, noObject, submit } from "./draft";
import { Kept, remember, type KeptQuery } from "./Kept";
import { nearest } from "./nearest";
import { Results } from "./Results";
import { collectionOf, findingPart, indexOf, isPatch, mistakeOf, parametersOf, reasonOf } from "./text";
import {
  activeOf,
  arrived,
  changed,
  closed,
  closedOthers,
  ensured,
  opened,
  reopened,
  storedTabs,
  storeTabs,
  TAB_COUNT,
  type Address,
  type Tab,
  type Tabs,
} from "./tabs";
import { TabStrip } from "./TabStrip";
import { useChanging } from "./useChanging";
import styles from "./query.module.css";
import strip from "./tabStrip.module.css";

const route = getRouteApi("/databases/$database/query");

const NO_KEPT: KeptQuery[] = [];
const NO_IDS: ReadonlySet<string> = new Set();
const NO_RUNS: ReadonlyMap<string, number> = new Map();

const runKey = (q: string, p: string | undefined) => JSON.stringify([q, p]);

export function QueryScreen() {
  const { database } = route.useParams();
  return <OpenQueries key={database} database={database} />;
}

/** The tabs, and a panel for each of them that was looked at: a query in another tab runs on, and its results stay what they are. */
function OpenQueries({ database }: { database: string }) {
  // The location itself: its search and its state change together. On the way to another screen this one is still shown.
  const location = useLocation();
  const isHere = location.pathname === route.useMatch().pathname;
  const address = location.search as Address;
  const entryTab = location.state.queryTab;
  const navigate = useNavigate();
  const [recent] = useRemembered<KeptQuery[]>(`queries.${database}`, NO_KEPT);
  const [tabs, setTabs] = useState(() => {
    const [last] = address.q === undefined ? recent : [];
    return arrived(ensured(storedTabs(database), last?.text ?? "", last?.parameters ?? ""), address, entryTab);
  });
  const place = JSON.stringify([address.q, address.p, address.as, address.run, entryTab]);
  const [followed, follow] = useState(place);
  if (isHere && followed !== place) {
    follow(place);
    setTabs(arrived(tabs, address, entryTab));
  }
  useEffect(() => storeTabs(database, tabs), [database, tabs]);

  /** Writes a tab's query into the address. */
  const goTo = useCallback(
    (id: string, search: Address, replace: boolean) =>
      void navigate({
        to: "/databases/$database/query",
        params: { database },
        // What is undefined does not come into the address.
        search: search as { q: string },
        state: { queryTab: id },
        replace,
      }),
    [navigate, database],
  );
  // An entry of the history without a tab, as that of a link, gets the one that shows it: going back leads to it.
  const isStamped = !isHere || tabs.all.some(({ id }) => id === entryTab);
  useEffect(() => {
    if (!isStamped) goTo(tabs.active, activeOf(tabs).address, true);
    // Of the tabs as they are when the entry comes.
  }, [isStamped, place]);

  /** Shows the tabs as they are now. The entry of the history stays the same: going back leads to what ran before. */
  const show = (next: Tabs) => {
    setTabs(next);
    if (next.active !== tabs.active) goTo(next.active, activeOf(next).address, true);
  };
  const panels = useRef(new Map<string, HTMLElement>());
  /** The same from anywhere but the row of tabs: the editor gets the focus. */
  const showEditor = (next: Tabs) => {
    setFocused(true);
    takesFocus.current = true;
    show(next);
  };
  // Once the panel is not inert any more. An editor that is still to be loaded takes the focus by itself.
  const takesFocus = useRef(false);
  useEffect(() => {
    if (takesFocus.current) panels.current.get(tabs.active)?.querySelector<HTMLElement>(".cm-content")?.focus();
    takesFocus.current = false;
  }, [tabs]);
  const [isFocused, setFocused] = useState(true);
  const showTab = (next: Tabs) => {
    setFocused(false);
    show(next);
  };

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey || document.querySelector("[role=dialog]")) return;
      // With Alt, some keyboards have other characters on the keys.
      const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
      const wanted = digit === undefined ? undefined : tabs.all[Number(digit) - 1];
      if (event.code === "KeyT" && event.shiftKey) showEditor(reopened(tabs));
      else if (event.code === "KeyT" && tabs.all.length < TAB_COUNT) showEditor(opened(tabs));
      else if (event.code === "KeyW" && !event.shiftKey) showEditor(closed(tabs, tabs.active));
      else if (wanted && !event.shiftKey) showEditor({ ...tabs, active: wanted.id });
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("keydown", onKeyDown, true);
    return () => window.removeEventListener("keydown", onKeyDown, true);
  });

  // Those that were looked at, and are open.
  const [seen, setSeen] = useState<ReadonlySet<string>>(() => new Set([tabs.active]));
  if (!seen.has(tabs.active)) setSeen(new Set([...seen, tabs.active]));
  const [running, setRunning] = useState<ReadonlySet<string>>(NO_IDS);
  const runs = useCallback(
    (id: string, isRunning: boolean) =>
      setRunning((before) => {
        if (before.has(id) === isRunning) return before;
        const next = new Set(before);
        if (isRunning) next.add(id);
        else next.delete(id);
        return next;
      }),
    [],
  );
  const edit = useCallback(
    (id: string, text: string, parameters: string) => setTabs((before) => changed(before, id, { text, parameters })),
    [],
  );
  const [actions, setActions] = useState<HTMLElement | null>(null);
  const prefix = useId();
  const tabId = (id: string) => `${prefix}tab-${id}`;
  const panelId = (id: string) => `${prefix}panel-${id}`;
  return (
    <Screen title="Query" about={database} actions={<span ref={setActions} className={strip.actions} />}>
      <TabStrip
        tabs={tabs}
        running={running}
        tabId={tabId}
        panelId={panelId}
        hasPanel={seen}
        activate={(id) => showTab({ ...tabs, active: id })}
        add={() => showEditor(opened(tabs))}
        close={(id) => showTab(closed(tabs, id))}
        closeOthers={(id) => showTab(closedOthers(tabs, id))}
        reopen={() => showEditor(reopened(tabs))}
        rename={(id, name) => setTabs(changed(tabs, id, { name }))}
      />
      <div className={strip.panels}>
        {tabs.all
          .filter(({ id }) => seen.has(id))
          .map((tab) => (
            <div
              key={tab.id}
              ref={(element) => {
                if (element) panels.current.set(tab.id, element);
                else panels.current.delete(tab.id);
              }}
              role="tabpanel"
              id={panelId(tab.id)}
              aria-labelledby={tabId(tab.id)}
              inert={tab.id !== tabs.active}
              className={strip.panel}
            >
              <QueryEditor
                database={database}
                tab={tab}
                actions={tab.id === tabs.active ? actions : null}
                isFocused={isFocused}
                edit={edit}
                runs={runs}
                goTo={(search, replace) =>
                  tab.id === tabs.active
                    ? goTo(tab.id, search, replace)
                    : setTabs((before) => changed(before, tab.id, { address: search }))
                }
              />
            </div>
          ))}
      </div>
    </Screen>
  );
}

type QueryProps = {
  database: string;
  tab: Tab;
  /** Where its buttons stand; null if it is not shown. */
  actions: HTMLElement | null;
  isFocused: boolean;
  /** Keeps what is in the editors. */
  edit: (id: string, text: string, parameters: string) => void;
  /** Says whether its query runs. */
  runs: (id: string, isRunning: boolean) => void;
  goTo: (search: Address, replace: boolean) => void;
};

function QueryEditor({ database, tab, actions, isFocused, edit, runs: tellRunning, goTo }: QueryProps) {
  const { q, p, as, run: runMode } = tab.address;
  const navigate = useNavigate();
  const requests = useQueryClient();
  const refusal = useRefusal("ReadWrite");
  const [recent, setRecent] = useRemembered<KeptQuery[]>(`queries.${database}`, NO_KEPT);
  const [text, setText] = useState(tab.text);
  const [parameters, setParameters] = useState(tab.parameters);
  const [hasParameters, setHasParameters] = useState(tab.parameters !== "" || p !== undefined);
  const [met, setProblem] = useState<{ error: unknown; text: string }>();
  // How often what stands in an address was run here. It is of the address: the new one comes a moment after what was run.
  const [runs, setRuns] = useState<ReadonlyMap<string, number>>(NO_RUNS);
  const [isStopped, setStopped] = useState(false);
  const [codeParameters, setCodeParameters] = useState<string>();

  // The editors follow the address, but for one that was made of what stands in them.
  const [followed, follow] = useState({ q, p });
  const [own, setOwn] = useState<{ q: string; p: string | undefined }>();
  if (followed.q !== q || followed.p !== p) {
    follow({ q, p });
    setProblem(undefined);
    setStopped(false);
    if (q !== undefined && (own?.q !== q || own.p !== p)) {
      setText(q);
      setParameters(p ?? "");
      setHasParameters(p !== undefined);
    }
    setOwn(undefined);
  }
  useEffect(() => {
    if (tab.text !== text || tab.parameters !== parameters) edit(tab.id, text, parameters);
  }, [tab, text, parameters, edit]);
  const isRun = q !== undefined && runMode !== "no";
  // Of a patch, what it finds.
  const submitted = useMemo(
    () => (isRun ? submit(findingPart(q), p ?? "", runs.get(runKey(q, p)) ?? 0) : undefined),
    [isRun, q, p, runs],
  );
  const isRunning = useIsFetching({ queryKey: ["answer", database, submitted], exact: true }) > 0;
  useEffect(() => {
    tellRunning(tab.id, isRunning);
    return () => tellRunning(tab.id, false);
  }, [tab.id, isRunning, tellRunning]);

  const typed = useRef(parameters);
  useEffect(() => void (typed.current = parameters), [parameters]);
  const { data: found } = useQuery(collectionsQuery(database));
  const { data: indexes } = useQuery({
    queryKey: ["definitions", database],
    queryFn: ({ signal }) => definitions(database, signal),
  });
  const complete = useMemo(
    () =>
      completion({
        collections: found?.collections.map(({ name }) => name) ?? [],
        indexes: withoutReplacements(indexes ?? []).map(({ Name }) => Name),
        ...knownOf(requests, database, found?.collections ?? [], indexes ?? []),
        parameters: () => namesOf(typed.current),
      }),
    [found, indexes, database, requests],
  );

  /** The parameters as they were typed, or undefined if they are no object; then it is said. */
  const readParameters = (): string | undefined => {
    try {
      return checked(parameters);
    } catch (error) {
      setProblem({ error: noObject(error), text });
      return undefined;
    }
  };
  const runNow = () => {
    const values = text.trim() === "" ? undefined : readParameters();
    if (values === undefined) return;
    setProblem(undefined);
    setStopped(false);
    // What is on the screen stays until the patch is confirmed.
    if (isPatch(text) && refusal !== undefined) return setProblem({ error: new Error(refusal), text });
    if (isPatch(text)) return void changing.ask("patch", text, values);
    runAs(text);
  };
  const runAs = (wanted: string) => {
    const key = runKey(...keep(wanted));
    setRuns(new Map(runs).set(key, (runs.get(key) ?? 0) + 1));
  };
  /** Another query with the parameters that were sent, as the grid asks for it. */
  const runInstead = (wanted: string) => {
    setText(wanted);
    setProblem(undefined);
    setStopped(false);
    runAs(wanted);
  };
  /** Puts a query and the parameters into the address and among the recent queries. */
  const keep = (wanted = text): [q: string, p: string | undefined] => {
    setRecent((stored) => remember(stored, wanted, parameters));
    const next = parameters.trim() === "" ? undefined : parameters;
    const isSame = q === wanted && p === next;
    if (!isSame) setOwn({ q: wanted, p: next });
    goTo({ q: wanted, p: next, as }, isSame || q === undefined);
    return [wanted, next];
  };
  const changing = useChanging(
    database,
    () => void keep(),
    (error, of) => setProblem({ error, text: of }),
  );
  const problem = met ?? (submitted && "error" in submitted ? { error: noObject(submitted.error), text: q ?? "" } : undefined);
  const onError = useCallback((error: unknown, of: string) => setProblem({ error, text: of }), []);
  useAnswering(useCallback(() => setProblem((before) => (isUnreachable(before?.error) ? undefined : before)), []));
  const mistake = useMemo(() => (problem && problem.text === text ? mistakeOf(problem.error) : undefined), [problem, text]);
  const lines = Math.max(text.split("\n").length, hasParameters ? parameters.split("\n").length : 0);
  const patching = isPatch(text);
  return (
    <>
      {actions &&
        createPortal(
          <>
            <Kept
              database={database}
              recent={recent}
              text={text}
              parameters={parameters}
              use={(kept) => {
                setText(kept.text);
                setParameters(kept.parameters);
                setHasParameters(kept.parameters.trim() !== "");
                setProblem(undefined);
              }}
            />
            <Button variant="default" aria-pressed={hasParameters} onClick={() => setHasParameters(!hasParameters)}>
              Parameters
            </Button>
            <Button
              variant="default"
              disabled={text.trim() === ""}
              // Parameters that are not an object are an error here too.
              onClick={() => setCodeParameters(readParameters())}
            >
              Code
            </Button>
            {!patching && (
              <MoreActions>
                <Menu.Item
                  leftSection={<Icon name="link" size={14} />}
                  disabled={q === undefined}
                  onClick={() => void copyText(location.href, "The link to the last query that ran was")}
                >
                  Copy the link
                </Menu.Item>
                <Menu.Item
                  leftSection={<Icon name="help" size={14} />}
                  onClick={() => void navigate({ to: "/help", search: { page: "docs/rql" } })}
                >
                  Help: RQL
                </Menu.Item>
                <Needs right="ReadWrite">
                  <Menu.Divider />
                  <Menu.Item
                    color="red"
                    leftSection={<Icon name="trash" size={14} />}
                    disabled={text.trim() === ""}
                    onClick={() => {
                      const values = readParameters();
                      if (values !== undefined) void changing.ask("delete", text, values);
                    }}
                  >
                    Delete the results…
                  </Menu.Item>
                </Needs>
              </MoreActions>
            )}
            <Tooltip label={(patching && refusal) || "Ctrl+Enter"}>
              <Button
                color={patching ? "red.8" : "rook"}
                leftSection={<Icon name={patching ? "edit" : "start"} size={13} />}
                onClick={runNow}
                loading={changing.isAsking}
                disabled={text.trim() === ""}
                // What a tooltip explains stays in reach of the pointer and of the keyboard.
                data-disabled={patching && refusal !== undefined}
                aria-disabled={patching && refusal !== undefined}
              >
                {patching ? "Patch…" : "Run"}
              </Button>
            </Tooltip>
          </>,
          actions,
        )}
      <div
        style={{ "--lines": lines } as CSSProperties}
        className={hasParameters ? `${styles.editors} ${styles.two}` : styles.editors}
      >
        <Editor
          label="Query in RQL"
          language="rql"
          value={text}
          onChange={setText}
          onRun={runNow}
          complete={complete}
          mistake={mistake}
          isFocused={isFocused}
        />
        {hasParameters && (
          <div className={styles.parameters}>
            <Editor
              label="Parameters as JSON"
              language="json"
              value={parameters}
              onChange={setParameters}
              onRun={runNow}
              placeholder={'{ "city": "Oslo" } for $city'}
            />
          </div>
        )}
      </div>
      {problem && (
        <div className={styles.problem} role="alert">
          <Icon name="warning" size={15} />
          <span>
            {mistakeOf(problem.error) && (
              <b className="number">{`Line ${mistakeOf(problem.error)!.line}, column ${mistakeOf(problem.error)!.column}: `}</b>
            )}
            <Sentence text={missingIndex(problem, indexes) ?? reasonOf(problem.error)} />
            {isIndexFailure(problem.error) && <FailedIndexes database={database} text={problem.text} />}
          </span>
        </div>
      )}
      {runMode === "no" && <NotRun text={text} />}
      {isRun && q !== undefined && isPatch(q) && !problem && (
        <p className={styles.patched}>These are the documents that the patch matches now.</p>
      )}
      {isStopped && (
        <p className={styles.notRun} role="status">
          The query was stopped.
        </p>
      )}
      {submitted && !("error" in submitted) ? (
        <Results
          key={JSON.stringify(submitted)}
          database={database}
          submitted={submitted}
          onError={onError}
          stopped={() => setStopped(true)}
          form={as}
          setForm={(form) => goTo({ q, p, as: form }, true)}
          runInstead={runInstead}
        />
      ) : (
        !problem &&
        runMode !== "no" && (
          <Empty
            icon="query"
            title={text.trim() === "" ? "Run a query" : "Not run yet"}
            // What was written is not thrown away.
            action={text.trim() === "" && <Examples database={database} collections={found?.collections ?? []} use={setText} />}
          >
            Write a query in RQL and run it<span className="keys"> with Ctrl+Enter. Ctrl+Space completes names and values</span>.{" "}
            <Link to="/help" search={{ page: "docs/rql" }}>
              The language
            </Link>
          </Empty>
        )
      )}
      {changing.dialogs}
      <Code
        isOpen={codeParameters !== undefined}
        close={() => setCodeParameters(undefined)}
        database={database}
        text={text}
        parameters={codeParameters ?? ""}
      />
    </>
  );
}

/** What a link opened without running it, and why. */
function NotRun({ text }: { text: string }) {
  const names = parametersOf(text);
  return (
    <p className={styles.notRun} role="status">
      {names.length > 0
        ? `Not run: the server does not keep parameters, and these are missing: ${names.map((name) => `$${name}`).join(", ")}.`
        : "Not run yet."}
    </p>
  );
}

/** What to say if the query names an index that does not exist: the server answers with 404 and no words. */
function missingIndex(
  { error, text }: { error: unknown; text: string },
  indexes: readonly Definition[] | undefined,
): string | undefined {
  const name = error instanceof ApiError && error.status === 404 ? indexOf(text) : undefined;
  const names = indexes?.map(({ Name }) => Name);
  if (name === undefined || names?.some((one) => one.toLowerCase() === name.toLowerCase())) return undefined;
  const meant = nearest(name, names ?? []);
  return `There is no index '${name}'.${meant === undefined ? "" : ` Did you mean '${meant}'?`}`;
}

/** Whether an index could not answer because it has failed. */
function isIndexFailure(error: unknown): boolean {
  return error instanceof ApiError && /IndexInvalid|could not be indexed/.test(`${error.kind} ${error.message}`);
}

/** The failed indexes that the query may have asked, with their errors. */
function FailedIndexes({ database, text }: { database: string; text: string }) {
  const { data } = useQuery({
    queryKey: ["indexes", database],
    queryFn: ({ signal }) => statistics(database, signal),
  });
  const [index, collection] = [indexOf(text)?.toLowerCase(), collectionOf(text)?.toLowerCase()];
  const failed = (data ?? []).filter(
    ({ State, Name }) =>
      State === "Error" &&
      (index === undefined ? Name.toLowerCase().startsWith(`auto/${collection}/`) : Name.toLowerCase() === index),
  );
  return failed.map(({ Name }) => (
    <span key={Name} className={styles.failedIndex}>
      {`The index ${Name} has failed. `}
      <Link to="/databases/$database/index" params={{ database }} search={{ name: Name, tab: "errors" }}>
        Show its errors
      </Link>
    </span>
  ));
}
