// What the index adviser of the server proposes: a card for each piece of advice, with the reason, the effect and the actions.
import { Button, Select } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "../../api/indexes";
import { run } from "../../api/queries";
import { ago, counted, dateTime } from "../../format/format";
import { Confirm, type Question } from "../../shell/Confirm";
import { useLive } from "../../shell/live";
import { Needs } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { byGravity, PROBLEMS, readable, UNUSED_AFTER, unusedAfter } from "./advice";
import { mergedDefinition } from "./merged";
import styles from "./advice.module.css";

const route = getRouteApi("/databases/$database/advice");

/** How often the advice is read, in ms. */
const POLL_MS = 10_000;

export function AdviceScreen() {
  const { database } = route.useParams();
  const { unused } = route.useSearch();
  const after = unusedAfter(unused);
  const navigate = useNavigate();
  const requests = useQueryClient();
  const [question, ask] = useState<Question>();
  const { data, error, refetch } = useQuery({
    queryKey: ["advice", database, after.span],
    queryFn: ({ signal }) => api.advice(database, after.span, signal),
    refetchInterval: POLL_MS,
  });
  const { data: definitions } = useQuery({
    queryKey: ["definitions", database],
    queryFn: ({ signal }) => api.definitions(database, signal),
    enabled: data?.some(({ Merge }) => Merge !== null) ?? false,
  });
  const act = (what: string, failure: string, action: () => Promise<unknown>) =>
    action().then(
      () => {
        told(what);
        const changed = ["advice", "indexes", "definitions", "live", "storage"];
        return requests.invalidateQueries({ predicate: ({ queryKey }) => changed.includes(String(queryKey[0])) });
      },
      (reason: unknown) => failed(failure, reason),
    );
  return (
    <Screen
      title="Index advice"
      about={
        <>
          <Link to="/databases/$database/indexes" params={{ database }}>
            Indexes
          </Link>
          {data && data.length > 0 && <span className="number">{` · ${counted(data.length, "proposal")}`}</span>}
        </>
      }
      actions={
        <div className={styles.after}>
          <span aria-hidden="true">Unused after</span>
          <Select
            aria-label="Unused after"
            data={UNUSED_AFTER.map(({ value, label }) => ({ value, label }))}
            value={after.value}
            onChange={(value) =>
              void navigate({
                to: "/databases/$database/advice",
                params: { database },
                search: value === null || value === "day" ? {} : { unused: value },
                replace: true,
              })
            }
            w={110}
          />
        </div>
      }
    >
      {data === undefined ? (
        error ? (
          <Failed what="The advice cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="advice" />
        )
      ) : data.length === 0 ? (
        <Nothing after={after.label} />
      ) : (
        <ul className={styles.cards}>
          {byGravity(data).map((advice) => (
            <Card
              key={`${advice.Index} ${advice.Problem}`}
              database={database}
              advice={advice}
              definitions={definitions}
              ask={ask}
              act={act}
            />
          ))}
        </ul>
      )}
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}

/** Since when: the time of indexing is counted from the opening of an index, which is never before the start of the server. */
function Nothing({ after }: { after: string }) {
  const { data: live } = useLive();
  const since = live && new Date(Date.parse(live.latest.Now) - live.latest.UptimeInMs).toISOString();
  return (
    <Empty icon="check" title="No advice">
      <p className={styles.nothing}>
        {`No index failed, has errors, is slow, is covered by another one, or was without a query for ${after}.`}
      </p>
      {since && (
        <p
          className={`${styles.nothing} number`}
        >{`The server has watched since it started, ${ago(since)} (${dateTime(since)}).`}</p>
      )}
    </Empty>
  );
}

type CardProps = {
  database: string;
  advice: api.Advice;
  /** Undefined until they were read. */
  definitions: readonly api.Definition[] | undefined;
  ask: (question: Question) => void;
  act: (what: string, failure: string, action: () => Promise<unknown>) => Promise<void>;
};

function Card({ database, advice, definitions, ask, act }: CardProps) {
  const { Index: name, Problem, Merge } = advice;
  const { label, tone } = PROBLEMS[Problem];
  const effect = readable(advice.Effect);
  return (
    <li className={styles.card}>
      <article aria-label={`${Merge ? Merge.Replaced.join(", ") : name}: ${label}`}>
        <header className={styles.head}>
          <h2 className={styles.names}>
            {(Merge?.Replaced ?? [name]).map((index) => (
              <Link key={index} to="/databases/$database/index" params={{ database }} search={{ name: index }}>
                {index}
              </Link>
            ))}
          </h2>
          <span className={tables.badge} data-tone={tone}>
            {label}
          </span>
        </header>
        <dl className={styles.facts}>
          <dt>Reason</dt>
          <dd>{readable(advice.Message)}</dd>
          {Merge && (
            <>
              <dt>Merged</dt>
              <dd className={styles.merged}>{Merge.Index}</dd>
            </>
          )}
          <dt>Effect</dt>
          <dd>{effect}</dd>
        </dl>
        <div className={styles.actions}>
          <Needs right="ReadWrite">
            {advice.Action === "Delete" && (
              <Button
                variant="default"
                leftSection={<Icon name="trash" size={14} />}
                onClick={() =>
                  ask({
                    title: `Delete ${name}?`,
                    text: `${effect} Queries that name the index will fail; others may create an index of their own.`,
                    action: "Delete",
                    run: () => act(`${name} deleted`, `${name} was not deleted`, () => api.remove(database, name)),
                  })
                }
              >
                Delete…
              </Button>
            )}
            {advice.Action === "Reset" && (
              <Button
                variant="default"
                leftSection={<Icon name="refresh" size={14} />}
                onClick={() =>
                  ask({
                    title: `Rebuild ${name}?`,
                    text: effect,
                    action: "Reset",
                    run: () => act(`${name} reset`, `${name} was not reset`, () => api.reset(database, name)),
                  })
                }
              >
                Reset…
              </Button>
            )}
          </Needs>
          {(Problem === "Failed" || Problem === "HasErrors") && (
            <Go database={database} search={{ name, tab: "errors" }} label="Show its errors" />
          )}
          {advice.Action === "ChangeDefinition" && <Go database={database} search={{ name }} label="Show its definition" />}
          {Merge && <MergeActions database={database} advice={advice} definitions={definitions} ask={ask} act={act} />}
        </div>
      </article>
    </li>
  );
}

/** The merged index, made by the server of the query that it proposes, or as a definition that is edited first. */
function MergeActions({ database, advice: { Merge, Request }, definitions, ask, act }: CardProps) {
  const replaced = Merge!.Replaced;
  const found = replaced.map((name) => definitions?.find((definition) => definition.Name === name));
  const definition = found.every((one) => one !== undefined) ? mergedDefinition(found) : undefined;
  const query = Request?.Body?.Query;
  return (
    <>
      {query !== undefined && (
        <Button
          variant="default"
          leftSection={<Icon name="index" size={14} />}
          onClick={() =>
            ask({
              title: "Create the merged index?",
              text: (
                <>
                  The query <code className={styles.query}>{query}</code> makes the server create it. It replaces{" "}
                  {counted(replaced.length, "index", "indexes")} once it is complete, and answers the same queries.
                </>
              ),
              action: "Create",
              isHarmless: true,
              run: () =>
                act(`${Merge!.Index} is being built`, "The merged index was not created", () =>
                  run(database, { text: query, pageSize: 0 }),
                ),
            })
          }
        >
          Create it…
        </Button>
      )}
      <Needs right="Admin">
        {definition && <Go database={database} search={{ merge: replaced.join("\n") }} label="Open as a definition" />}
      </Needs>
      <span className={styles.hint}>
        {definition
          ? "A definition of your own answers only queries that name it; the automatic indexes stay until you delete them."
          : query === undefined && definitions
            ? "Neither one query nor one map has all of these fields, so you cannot create this index here."
            : ""}
      </span>
    </>
  );
}

function Go({ database, search, label }: { database: string; search: Record<string, string>; label: string }) {
  return (
    <Button
      variant="default"
      renderRoot={(props: object) => <Link {...props} to="/databases/$database/index" params={{ database }} search={search} />}
    >
      {label}
    </Button>
  );
}
