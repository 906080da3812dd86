// What happens to documents at times that their metadata name: three tasks, each with a switch, and what is due next.
import { Button, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { configure, read, type Task, type TaskName, type TaskState } from "../../api/lifetimes";
import { counted, dateTime, serverNow } from "../../format/format";
import { changed } from "../../shell/changed";
import { Changeable, Needs } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Failed, Loading, messageOf } from "../../shell/states";
import { told } from "../../shell/toasts";
import tables from "../../shell/table.module.css";
import { wholeNumber } from "../../format/number";
import styles from "./lifetimes.module.css";

const route = getRouteApi("/databases/$database/lifetimes");

/** How often the list is read, in ms. */
const POLL_MS = 5000;

const TASKS: readonly { name: TaskName; title: string; property: string; effect: string; handled: string }[] = [
  { name: "Expiration", title: "Expiration", property: "@expires", effect: "the document is deleted", handled: "expired" },
  {
    name: "Refresh",
    title: "Refresh",
    property: "@refresh",
    effect: "the document is written again, so that indexes and listeners see a change",
    handled: "refreshed",
  },
  {
    name: "DataArchival",
    title: "Archival",
    property: "@archive-at",
    effect: "the document is archived: indexes leave it out, unless they say otherwise",
    handled: "archived",
  },
];

export function Lifetimes() {
  const { database } = route.useParams();
  const { data, error, refetch } = useQuery({
    queryKey: ["lifetimes", database],
    queryFn: ({ signal }) => read(database, signal),
    refetchInterval: POLL_MS,
  });
  return (
    <Screen title="Lifetimes">
      {data === undefined ? (
        error ? (
          <Failed what="The tasks cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="tasks" />
        )
      ) : (
        <div className={styles.cards}>
          <Changeable right="Admin">
            {TASKS.map((task) => (
              <section key={task.name} className={styles.card} aria-labelledby={`task-${task.name}`}>
                <h2 id={`task-${task.name}`} className={styles.title}>
                  {task.title}
                </h2>
                <p className={styles.about}>
                  At the time in <code>{task.property}</code> {task.effect}.
                </p>
                <Settings
                  // What was typed belongs to the configuration that it began from.
                  key={JSON.stringify([data[task.name].isEnabled, data[task.name].frequency, data[task.name].countMax])}
                  database={database}
                  name={task.name}
                  title={task.title}
                  state={data[task.name]}
                />
                <Next database={database} title={task.title} handled={task.handled} state={data[task.name]} />
              </section>
            ))}
          </Changeable>
        </div>
      )}
    </Screen>
  );
}

const textOf = (value: number | undefined) => (value === undefined ? "" : String(value));

function Settings({ database, name, title, state }: { database: string; name: TaskName; title: string; state: TaskState }) {
  const [isEnabled, setEnabled] = useState(state.isEnabled);
  const [frequency, setFrequency] = useState(textOf(state.frequency));
  const [countMax, setCountMax] = useState(textOf(state.countMax));
  const parsed = { frequency: wholeNumber(frequency), countMax: wholeNumber(countMax) };
  const isWrong = parsed.frequency === "wrong" || parsed.countMax === "wrong";
  const isChanged =
    isEnabled !== state.isEnabled || frequency.trim() !== textOf(state.frequency) || countMax.trim() !== textOf(state.countMax);
  const saving = useMutation({
    mutationFn: (task: Task) => configure(database, name, task),
    onSuccess: () => told(`${title} is ${isEnabled ? "enabled" : "disabled"}`),
    onSettled: () => changed("lifetimes"),
  });
  return (
    <form
      className={styles.form}
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        if (parsed.frequency === "wrong" || parsed.countMax === "wrong") return;
        saving.mutate({ isEnabled, frequency: parsed.frequency, countMax: parsed.countMax });
      }}
    >
      <Switch
        label="Enabled"
        checked={isEnabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
        className={styles.switch}
      />
      <TextInput
        label="Seconds between runs"
        placeholder="60"
        inputMode="numeric"
        autoComplete="off"
        value={frequency}
        onChange={(event) => setFrequency(event.currentTarget.value)}
        error={parsed.frequency === "wrong" ? "A whole number from 1 on" : undefined}
      />
      <TextInput
        label="Documents of a run"
        placeholder="all that are due"
        inputMode="numeric"
        autoComplete="off"
        value={countMax}
        onChange={(event) => setCountMax(event.currentTarget.value)}
        error={parsed.countMax === "wrong" ? "A whole number from 1 on" : undefined}
      />
      <Needs right="Admin">
        <Button type="submit" variant="default" disabled={isWrong || !isChanged} loading={saving.isPending}>
          Save
        </Button>
      </Needs>
      {saving.error && (
        <p className={styles.error} role="alert">
          {messageOf(saving.error)}
        </p>
      )}
    </form>
  );
}

function Next({ database, title, handled, state }: { database: string; title: string; handled: string; state: TaskState }) {
  const before = state.handled > 0 && `${counted(state.handled, "document")} ${handled} since the database was opened.`;
  if (state.due.length === 0) return <p className={styles.about}>{before || "No document names a time."}</p>;
  return (
    <>
      {before && <p className={styles.about}>{before}</p>}
      <div className={tables.scroll}>
        <table className={tables.table} role="table" aria-label={`${title}, next documents`}>
          <thead role="rowgroup">
            <tr role="row">
              <th scope="col" role="columnheader">
                Document
              </th>
              <th scope="col" role="columnheader">
                Due
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {state.due.map(({ Id, At }) => (
              <tr key={Id} role="row">
                <th scope="row" role="rowheader" className={tables.name}>
                  <Link to="/databases/$database/document" params={{ database }} search={{ id: Id }}>
                    {Id}
                  </Link>
                </th>
                <td role="cell" data-label="Due" className="number">
                  {dateTime(At)}
                  {Date.parse(At) <= serverNow() && (
                    <span className={tables.badge} data-tone="warn">
                      {state.isEnabled ? "Waits for the next run" : "Due, and disabled"}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
