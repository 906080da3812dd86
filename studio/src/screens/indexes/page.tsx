// The indexes of a database: how each does, and switching it.
import { ActionIcon, Button, Menu, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import * as api from "../../api/indexes";
import { ago, count, counted, rate } from "../../format/format";
import { Confirm, type Question } from "../../shell/Confirm";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { useSpeeds } from "./speed";
import { arranged, errorCount, isBuilding, kindOf, progressOf, REPLACEMENT, stateOf } from "./state";
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
  const newIndex = (
    <Button
      leftSection={<Icon name="plus" size={14} />}
      onClick={() => void navigate({ to: "/databases/$database/index", params: { database }, search: {} })}
    >
      New index
    </Button>
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
            <TextInput
              placeholder="Filter by name"
              aria-label="Filter indexes by name"
              leftSection={<Icon name="search" size={13} />}
              value={filter}
              onChange={(event) => setFilter(event.currentTarget.value)}
            />
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
        <Empty icon="index" title="No index yet" action={newIndex}>
          Queries make the indexes that they need. One of your own can compute, group, and search in texts.
        </Empty>
      ) : (
        <div className={styles.scroll}>
          <table className={styles.table} role="table">
            <thead role="rowgroup">
              <tr role="row">
                <th scope="col" role="columnheader">
                  Name
                </th>
                <th scope="col" role="columnheader">
                  State
                </th>
                <th scope="col" role="columnheader" className={styles.right}>
                  Entries
                </th>
                <th scope="col" role="columnheader" className={styles.right}>
                  Documents/s
                </th>
                <th scope="col" role="columnheader" className={styles.right}>
                  Errors
                </th>
                <th scope="col" role="columnheader">
                  Last indexed
                </th>
                <th scope="col" role="columnheader">
                  Last queried
                </th>
                <th scope="col" role="columnheader">
                  <span className={styles.hidden}>Actions</span>
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
    <tr role="row" data-replacement={isReplacement || undefined}>
      <th scope="row" role="rowheader" className={styles.name}>
        {isReplacement ? (
          <span className={styles.replacement}>
            <Icon name="refresh" size={13} /> Being built to replace it
          </span>
        ) : (
          <Link to="/databases/$database/index" params={{ database }} search={{ name: index.Name }}>
            {index.Name}
          </Link>
        )}
        <span className={styles.kind}>
          {kindOf(index.Type)} of {Object.keys(index.Collections).join(", ") || "all documents"}
          {index.Priority !== "Normal" && ` · ${index.Priority.toLowerCase()} priority`}
          {index.LockMode !== "Unlock" && (
            <span className={styles.locked}>
              <Icon name="lock" size={11} /> locked{index.LockMode === "LockedIgnore" ? " (ignore)" : " (error)"}
            </span>
          )}
        </span>
      </th>
      <td role="cell" className={styles.state}>
        <span className={styles.badge} data-tone={state.tone}>
          {state.label}
        </span>
        {progress && progress.left > 0 && (
          <>
            <span
              className={styles.progress}
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
      <td role="cell" data-label="Entries" className={`${styles.right} number`}>
        {count(index.EntriesCount)}
      </td>
      <td role="cell" data-label="Documents/s" className={`${styles.right} number`}>
        {speed > 0 ? rate(speed) : <span className="soft">–</span>}
      </td>
      <td role="cell" data-label="Errors" className={`${styles.right} number`}>
        {index.ErrorsCount > 0 ? (
          <Link
            className={styles.errors!}
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
      <td role="cell" data-label="Last indexed" className="number">
        {since(index.LastIndexingTime)}
      </td>
      <td role="cell" data-label="Last queried" className="number">
        {since(index.LastQueryingTime)}
      </td>
      <td role="cell" className={`${styles.right} ${styles.menu}`}>
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

/** What can be done with an index. */
export function IndexMenu({
  database,
  index,
  ask,
  changed,
}: {
  database: string;
  index: api.Statistics;
  ask: (question: Question) => void;
  changed: (isDeleted: boolean) => unknown;
}) {
  const name = index.Name;
  const isReplacement = name.startsWith(REPLACEMENT);
  const isAutomatic = index.Type.startsWith("Auto");
  const act = (what: string, action: () => Promise<unknown>, isDeleted = false) =>
    action().then(
      () => (told(`${name} ${what}`), changed(isDeleted)),
      (error: unknown) => failed(`${name} was not ${what}`, error),
    );
  const isPaused = index.Status === "Paused";
  const isDisabled = index.State === "Disabled";
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${name}`}>
          <Icon name="dots" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {isReplacement ? (
          <Menu.Item
            leftSection={<Icon name="check" size={14} />}
            onClick={() => void act("swapped in", () => api.replace(database, name.slice(REPLACEMENT.length)))}
          >
            Use it now
          </Menu.Item>
        ) : (
          <>
            {!isDisabled && (
              <Menu.Item
                leftSection={<Icon name={isPaused ? "start" : "pause"} size={14} />}
                onClick={() =>
                  void act(isPaused ? "resumed" : "paused", () => api.control(database, name, isPaused ? "start" : "stop"))
                }
              >
                {isPaused ? "Resume" : "Pause until restart"}
              </Menu.Item>
            )}
            <Menu.Item
              leftSection={<Icon name="power" size={14} />}
              onClick={() =>
                void act(isDisabled ? "enabled" : "disabled", () => api.control(database, name, isDisabled ? "enable" : "disable"))
              }
            >
              {isDisabled ? "Enable" : "Disable"}
            </Menu.Item>
            <Menu.Item
              leftSection={<Icon name="refresh" size={14} />}
              onClick={() =>
                ask({
                  title: `Build ${name} anew?`,
                  text: "All of its entries are thrown away and made again. Until then queries on it find less.",
                  action: "Reset",
                  run: () => act("reset", () => api.reset(database, name)),
                })
              }
            >
              Reset…
            </Menu.Item>
            <Menu.Divider />
            <Menu.Label>Priority</Menu.Label>
            <Menu.RadioGroup
              aria-label="Priority"
              value={index.Priority}
              onChange={(value) => {
                const priority = value as api.Priority;
                void act(`given ${priority.toLowerCase()} priority`, () => api.setPriority(database, name, priority));
              }}
            >
              {(["Low", "Normal", "High"] as const).map((priority) => (
                <Menu.RadioItem key={priority} value={priority} closeMenuOnClick>
                  {priority}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            {!isAutomatic && (
              <>
                <Menu.Divider />
                <Menu.Label>Changes of the definition</Menu.Label>
                <Menu.RadioGroup
                  aria-label="Changes of the definition"
                  value={index.LockMode}
                  onChange={(value) => {
                    const mode = value as api.LockMode;
                    void act(mode === "Unlock" ? "unlocked" : "locked", () => api.setLock(database, name, mode));
                  }}
                >
                  {LOCKS.map(({ mode, label }) => (
                    <Menu.RadioItem key={mode} value={mode} closeMenuOnClick>
                      {label}
                    </Menu.RadioItem>
                  ))}
                </Menu.RadioGroup>
              </>
            )}
          </>
        )}
        <Menu.Divider />
        <Menu.Item
          color="red"
          leftSection={<Icon name="trash" size={14} />}
          onClick={() =>
            ask({
              title: isReplacement ? "Give up building it?" : `Delete ${name}?`,
              text: isReplacement ? "The present index stays as it is." : "Queries that need it fail, or make one of their own.",
              action: "Delete",
              run: () => act("deleted", () => api.remove(database, name), true),
            })
          }
        >
          Delete…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

const LOCKS: { mode: api.LockMode; label: string }[] = [
  { mode: "Unlock", label: "Unlocked" },
  { mode: "LockedIgnore", label: "Locked (ignore)" },
  { mode: "LockedError", label: "Locked (error)" },
];
