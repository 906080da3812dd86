// Queries: an editor of RQL, and what it gives as table, JSON, map and plan.
import { Button, Menu, Tooltip } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState, type CSSProperties } from "react";
import { collectionsQuery } from "../../api/documents";
import { ApiError } from "../../api/http";
import { definitions, statistics } from "../../api/indexes";
import { Editor } from "../../editor/Editor";
import { useRemembered } from "../../shell/remembered";
import { copyText } from "../../shell/clipboard";
import { MoreActions } from "../../shell/MoreActions";
import { Screen } from "../../shell/Screen";
import { isUnreachable, useAnswering } from "../../shell/recovery";
import { Empty } from "../../shell/states";
import { Icon } from "../../theme/icons";
import { Examples } from "./Examples";
import { knownOf } from "./samples";
import { withoutReplacements } from "../indexes/state";
import { completion } from "./completion";
import { checked, draftOf, firstDraft, namesOf, noObject, submit } from "./draft";
import { Kept, remember, type KeptQuery } from "./Kept";
import { Results } from "./Results";
import { collectionOf, findingPart, indexOf, isPatch, mistakeOf, parametersOf, reasonOf } from "./text";
import { useChanging } from "./useChanging";
import styles from "./query.module.css";

const route = getRouteApi("/databases/$database/query");

const NO_KEPT: KeptQuery[] = [];
const NO_RUNS: ReadonlyMap<string, number> = new Map();

const runKey = (q: string, p: string | undefined) => JSON.stringify([q, p]);

export function QueryScreen() {
  const { database } = route.useParams();
  return <QueryEditor key={database} database={database} />;
}

function QueryEditor({ database }: { database: string }) {
  const { q, p, as, run: runMode } = route.useSearch();
  const navigate = useNavigate();
  const requests = useQueryClient();
  const [recent, setRecent] = useRemembered<KeptQuery[]>(`queries.${database}`, NO_KEPT);
  const [begun] = useState(() => firstDraft(database, q, p, recent[0]));
  const [text, setText] = useState(begun.text);
  const [parameters, setParameters] = useState(begun.parameters);
  const [hasParameters, setHasParameters] = useState(begun.parameters !== "" || p !== undefined);
  const [met, setProblem] = useState<{ error: unknown; text: string }>();
  // How often what stands in an address was run here. It is of the address: the new one comes a moment after what was run.
  const [runs, setRuns] = useState<ReadonlyMap<string, number>>(NO_RUNS);
  const [isStopped, setStopped] = useState(false);

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
  useEffect(() => draftOf(database).set({ text, parameters, q, p }), [database, text, parameters, q, p]);
  const isRun = q !== undefined && runMode !== "no";
  // Of a patch, what it finds.
  const submitted = useMemo(
    () => (isRun ? submit(findingPart(q), p ?? "", runs.get(runKey(q, p)) ?? 0) : undefined),
    [isRun, q, p, runs],
  );

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
  const goTo = (search: { q: string | undefined; p: string | undefined; as: string | undefined }, replace: boolean) =>
    // What is undefined does not come into the address.
    void navigate({ to: "/databases/$database/query", params: { database }, search: search as { q: string }, replace });
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
    <Screen
      title="Query"
      about={database}
      actions={
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
            </MoreActions>
          )}
          <Tooltip label="Ctrl+Enter">
            <Button
              color={patching ? "red.8" : "rook"}
              leftSection={<Icon name={patching ? "edit" : "start"} size={13} />}
              onClick={runNow}
              loading={changing.isAsking}
              disabled={text.trim() === ""}
            >
              {patching ? "Patch…" : "Run"}
            </Button>
          </Tooltip>
        </>
      }
    >
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
          isFocused
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
            {reasonOf(problem.error)}
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
            Write a query in RQL and run it with Ctrl+Enter. Ctrl+Space completes names and values.{" "}
            <Link to="/help" search={{ page: "docs/rql" }}>
              The language
            </Link>
          </Empty>
        )
      )}
      {changing.dialogs}
    </Screen>
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
