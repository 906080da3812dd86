// The indexes of a database: how each does, and switching it.
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "../../api/indexes";
import { ago, count, counted, rate } from "../../format/format";
import { Confirm, type Question } from "../../shell/Confirm";
import { FilterField } from "../../shell/FilterField";
import { Needs } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { Icon } from "../../theme/icons";
import { unusedAfter } from "../advice/advice";
import { IndexMenu } from "./IndexMenu";
import { useSpeeds } from "./speed";
import { arranged, errorCount, isBuilding, isQueried, kindOf, progressOf, REPLACEMENT, stateOf } from "./state";
import tables from "../../shell/table.module.css";
import styles from "./indexes.module.css";

const route = getRouteApi("/databases/$database/indexes");

/** How often states are asked for, in ms: more often while something is built. */
const POLL_MS = 3000;
const BUILDING_POLL_MS = 700;
const FILTER_FROM_COUNT = 8;

export function Indexes() {
  const { database } = route.useParams();
  const navigate = useNavigate();
  const [filter, setFilter] = useState("");
  const [question, ask] = useState<Question>();
  const { data, error, refetch, dataUpdatedAt } = useQuery({
    queryKey: ["indexes", database],
    queryFn: ({ signal }) => api.statistics(database, signal),
    refetchInterval: (query) => (query.state.data?.some(isBuilding) ? BUILDING_POLL_MS : POLL_MS),
  });
  // Asked while something is built: it is counted by the server.
  const { data: progress } = useQuery({
    queryKey: ["index-progress", database],
    queryFn: ({ signal }) => api.progress(database, signal),
    enabled: data?.some(isBuilding) ?? false,
    refetchInterval: BUILDING_POLL_MS,
  });
  const progresses = new Map(progress?.map((one) => [one.Name, progressOf(one)]));
  const speeds = useSpeeds(data, dataUpdatedAt);
  // Not again and again: advice changes slowly, and has a screen of its own.
  const { data: advice } = useQuery({
    queryKey: ["advice", database, unusedAfter(undefined).span],
    queryFn: ({ signal }) => api.advice(database, unusedAfter(undefined).span, signal),
    staleTime: 60_000,
  });
  const newIndex = (
    <Needs right="Admin">
      <Button
        leftSection={<Icon name="plus" size={14} />}
        onClick={() => void navigate({ to: "/databases/$database/index", params: { database }, search: {} })}
      >
        New index
      </Button>
    </Needs>
  );
  const shown = data && arranged(data).filter((index) => index.Name.toLowerCase().includes(filter.trim().toLowerCase()));
  const staleCount = data?.filter((index) => index.IsStale && index.State !== "Error").length ?? 0;
  return (
    <Screen
      title="Indexes"
      about={
        data && (
          <span className="number">
            {counted(data.length, "index", "indexes")}
            {staleCount > 0 && ` · ${count(staleCount)} stale`}
          </span>
        )
      }
      actions={
        <>
          {data && data.length >= FILTER_FROM_COUNT && (
            <FilterField label="Filter indexes by name" placeholder="Filter by name" value={filter} onChange={setFilter} />
          )}
          {data && data.length > 0 && (
            <Button
              variant="default"
              leftSection={<Icon name="advice" size={14} />}
              renderRoot={(props: object) => <Link {...props} to="/databases/$database/advice" params={{ database }} search={{}} />}
            >
              {advice && advice.length > 0 ? `Advice (${count(advice.length)})` : "Advice"}
            </Button>
          )}
          {newIndex}
        </>
      }
    >
      {data === undefined ? (
        error ? (
          <Failed what="The indexes cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="indexes" />
        )
      ) : data.length === 0 ? (
        <Empty icon="index" title="No indexes yet" action={newIndex}>
          Queries create the indexes that they need. An index of your own can compute, group, and search text.
        </Empty>
      ) : (
        <div className={tables.scroll}>
          <table className={tables.table} role="table">
            <thead role="rowgroup">
              <tr role="row">
                <th scope="col" role="columnheader">
                  Name
                </th>
                <th scope="col" role="columnheader">
                  State
                </th>
                <th scope="col" role="columnheader" className={tables.right}>
                  Entries
                </th>
                <th scope="col" role="columnheader" className={tables.right}>
                  Documents/s
                </th>
                <th scope="col" role="columnheader" className={tables.right}>
                  Errors
                </th>
                <th scope="col" role="columnheader">
                  Last indexed
                </th>
                <th scope="col" role="columnheader">
                  Last queried
                </th>
                <th scope="col" role="columnheader">
                  <span className={tables.hidden}>Actions</span>
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {shown?.map((index) => (
                <Row
                  key={index.Name}
                  database={database}
                  index={index}
                  speed={speeds.get(index.Name) ?? 0}
                  progress={isBuilding(index) ? progresses.get(index.Name) : undefined}
                  ask={ask}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Confirm question={question} close={() => ask(undefined)} />
    </Screen>
  );
}

function Row({
  database,
  index,
  speed,
  progress,
  ask,
}: {
  database: string;
  index: api.Statistics;
  /** Documents that it takes per second. */
  speed: number;
  /** What it has to take, if it is being built. */
  progress: ReturnType<typeof progressOf> | undefined;
  ask: (question: Question) => void;
}) {
  const requests = useQueryClient();
  const isReplacement = index.Name.startsWith(REPLACEMENT);
  const state = stateOf(index);
  return (
    <tr role="row" data-inset={isReplacement || undefined}>
      <th scope="row" role="rowheader" className={tables.name}>
        {isReplacement ? (
          <span className={styles.replacement}>
            <Icon name="refresh" size={13} /> Being built to replace it
          </span>
        ) : (
          <Link to="/databases/$database/index" params={{ database }} search={{ name: index.Name }}>
            {index.Name}
          </Link>
        )}
        <span className={tables.kind}>
          {kindOf(index.Type)} of {Object.keys(index.Collections).join(", ") || "all documents"}
          {index.Priority !== "Normal" && ` · ${index.Priority.toLowerCase()} priority`}
          {index.LockMode !== "Unlock" && (
            <span className={styles.locked}>
              <Icon name="lock" size={11} /> locked{index.LockMode === "LockedIgnore" ? " (ignore)" : " (error)"}
            </span>
          )}
        </span>
      </th>
      <td role="cell" className={tables.state}>
        <span className={tables.badge} data-tone={state.tone}>
          {state.label}
        </span>
        {progress && progress.left > 0 && (
          <>
            <span
              className={tables.progress}
              role="progressbar"
              aria-label={`Building ${index.Name}`}
              aria-valuemin={0}
              aria-valuemax={100}
              aria-valuenow={Math.floor(progress.share * 100)}
            >
              <i style={{ width: `${progress.share * 100}%` }} />
            </span>
            <span className={`${styles.left} number`}>{count(progress.left)} left</span>
          </>
        )}
      </td>
      <td role="cell" data-label="Entries" className={`${tables.right} number`}>
        {count(index.EntriesCount)}
      </td>
      <td role="cell" data-label="Documents/s" className={`${tables.right} number`}>
        {speed > 0 ? rate(speed) : <span className="soft">–</span>}
      </td>
      <td role="cell" data-label="Errors" className={`${tables.right} number`}>
        {index.ErrorsCount > 0 ? (
          <Link
            className={tables.errors!}
            to="/databases/$database/index"
            params={{ database }}
            search={{ name: index.Name, tab: "errors" }}
          >
            {errorCount(index)}
          </Link>
        ) : (
          <span className="soft">0</span>
        )}
      </td>
      <td role="cell" data-label="Last indexed" className={`number ${styles.age}`}>
        {since(index.LastIndexingTime)}
      </td>
      <td role="cell" data-label="Last queried" className={`number ${styles.age}`}>
        {isQueried(index) ? since(index.LastQueryingTime) : <span className="soft">never</span>}
      </td>
      <td role="cell" className={`${tables.right} ${tables.menu}`}>
        <IndexMenu
          database={database}
          index={index}
          ask={ask}
          changed={() => requests.invalidateQueries({ queryKey: ["indexes", database] })}
        />
      </td>
    </tr>
  );
}

function since(date: string) {
  const text = ago(date);
  return text === "never" ? (
    <span className="soft" title="Never">
      –
    </span>
  ) : (
    text
  );
}
