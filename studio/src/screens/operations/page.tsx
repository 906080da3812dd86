// What goes on in the background of a database, and what went on lately.
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { kill, list, type Operation } from "../../api/operations";
import { count, counted, dateTime, duration, serverNow } from "../../format/format";
import { Needs } from "../../shell/rights";
import { Screen } from "../../shell/Screen";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed } from "../../shell/toasts";
import { began } from "../../shell/begun";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";

const route = getRouteApi("/databases/$database/operations");

const POLL_MS = 1000;

export function Operations() {
  const { database } = route.useParams();
  const { data, error, refetch } = useQuery({
    queryKey: ["operations", database],
    queryFn: ({ signal }) => list(database, signal),
    refetchInterval: POLL_MS,
  });
  const runningCount = data?.filter((operation) => operation.State.Status === "InProgress").length ?? 0;
  return (
    <Screen
      title="Operations"
      about={data && <span className="number">{runningCount === 0 ? "None running" : `${count(runningCount)} running`}</span>}
    >
      {!data ? (
        error ? (
          <Failed what="The operations cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="operations" />
        )
      ) : data.length === 0 ? (
        <Empty icon="operations" title="No operations">
          Bulk inserts, backups, and patches and deletions by query, are listed here while they run and for a while after.
        </Empty>
      ) : (
        <div className={tables.scroll}>
          <table className={tables.table} role="table">
            <thead role="rowgroup">
              <tr role="row">
                <th scope="col" role="columnheader">
                  Operation
                </th>
                <th scope="col" role="columnheader">
                  State
                </th>
                <th scope="col" role="columnheader">
                  Started
                </th>
                <th scope="col" role="columnheader">
                  Duration
                </th>
                <th scope="col" role="columnheader">
                  <span className={tables.hidden}>Actions</span>
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {data.map((operation) => (
                <Row key={operation.Id} database={database} operation={operation} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Screen>
  );
}

/** What it does, as people say it. */
function titleOf({ Description }: Operation): string {
  return Description === "Bulk Insert" ? "Bulk insert" : Description;
}

/** How much it did, or why it failed. */
function doneBy({ Id, State: { Status, Progress, Result } }: Operation): string {
  const documents = (Progress ?? Result)?.Documents?.ReadCount;
  if (documents !== undefined) {
    const done = counted(documents, "document");
    return Status === "Completed" ? done : Status === "InProgress" ? `${done} so far` : `Ended after ${done}`;
  }
  if (Progress?.Total !== undefined && Progress.Processed !== undefined) {
    const of = Progress.Total > 0 ? ` of ${count(Progress.Total)}` : "";
    const what = Progress.Total === 1 || (Progress.Total <= 0 && Progress.Processed === 1) ? "document" : "documents";
    return `${Status === "InProgress" ? "" : "Ended after "}${count(Progress.Processed)}${of} ${what}`;
  }
  if (Status === "Completed" && Result?.Total !== undefined) return counted(Result.Total, "document");
  return Result?.Message ?? `number ${Id}`;
}

const STATES = {
  InProgress: { label: "Running", tone: "busy" },
  Completed: { label: "Done", tone: "good" },
  Faulted: { label: "Failed", tone: "bad" },
  Canceled: { label: "Stopped", tone: "warn" },
} as const;

function Row({ database, operation }: { database: string; operation: Operation }) {
  const requests = useQueryClient();
  const { Status, Progress } = operation.State;
  const { Processed: processed = 0, Total: total = 0 } = Progress ?? {};
  const part = total > 0 ? processed / total : undefined;
  const took = (operation.EndTime ? Date.parse(operation.EndTime) : serverNow()) - Date.parse(operation.StartTime);
  const stop = () =>
    kill(database, operation.Id).then(
      () => requests.invalidateQueries({ queryKey: ["operations", database] }),
      (error: unknown) => failed("The operation could not be stopped", error),
    );
  return (
    <tr role="row">
      <th scope="row" role="rowheader" className={tables.name}>
        <b>{titleOf(operation)}</b>
        <span className={tables.kind}>
          {[began(database, operation.Id, operation.StartTime), doneBy(operation)].filter(Boolean).join(" · ")}
        </span>
        {operation.Query && <code className={`${tables.kind} cut`}>{operation.Query}</code>}
      </th>
      <td role="cell" className={tables.state}>
        <span className={tables.badge} data-tone={STATES[Status].tone}>
          {STATES[Status].label}
        </span>
        {Status === "InProgress" && part !== undefined && (
          <span
            className={tables.progress}
            role="progressbar"
            aria-label={titleOf(operation)}
            aria-valuenow={Math.floor(part * 100)}
          >
            <i style={{ width: `${part * 100}%` }} />
          </span>
        )}
      </td>
      <td role="cell" data-label="Started" className="number">
        {dateTime(operation.StartTime)}
      </td>
      <td role="cell" data-label="Duration" className="number">
        {duration(Math.max(0, took))}
      </td>
      <td role="cell" className={tables.right}>
        {Status === "InProgress" && (
          <Needs right="ReadWrite">
            <Button variant="default" leftSection={<Icon name="stop" size={12} />} onClick={() => void stop()}>
              Stop
            </Button>
          </Needs>
        )}
      </td>
    </tr>
  );
}
