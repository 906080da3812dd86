// The queries that run now, for how long, and a way to end one.
import { Button, VisuallyHidden } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { endQuery, runningQueries, type RunningQuery } from "../../api/diagnostics";
import { ApiError } from "../../api/http";
import { counted, duration } from "../../format/format";
import { Confirm } from "../../shell/Confirm";
import { Empty, Failed, Loading } from "../../shell/states";
import { told } from "../../shell/toasts";
import styles from "./server.module.css";

const POLL_MS = 1000;

export function RunningQueries() {
  const requests = useQueryClient();
  const [ending, setEnding] = useState<RunningQuery>();
  const { data, error, refetch } = useQuery({
    queryKey: ["running"],
    queryFn: ({ signal }) => runningQueries(signal),
    refetchInterval: POLL_MS,
  });
  if (!data) {
    return error ? (
      <Failed what="The running queries cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="running queries" />
    );
  }
  const end = async (query: RunningQuery) => {
    try {
      await endQuery(query);
      told("The query was ended");
    } catch (failure) {
      if (!(failure instanceof ApiError && failure.status === 404)) throw failure;
      told("The query had ended before");
    }
    await requests.invalidateQueries({ queryKey: ["running"] });
  };
  return (
    <>
      {data.length === 0 ? (
        <Empty icon="query" title="No query runs">
          Queries that last longer than a moment appear here while they run.
        </Empty>
      ) : (
        <>
          <p className={styles.note}>{counted(data.length, "query", "queries")} at this moment, the oldest first.</p>
          <div className={styles.tableBox}>
            <table className={styles.table} aria-label="Running queries">
              <thead>
                <tr>
                  <th scope="col" className={styles.right}>
                    Runs for
                  </th>
                  <th scope="col">Database</th>
                  <th scope="col">Query</th>
                  <th scope="col">Index</th>
                  <th scope="col">
                    <VisuallyHidden>Actions</VisuallyHidden>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.map((query) => (
                  <tr key={query.QueryId}>
                    <td className={`${styles.right} number`}>
                      <b>{duration(query.DurationInMs)}</b>
                    </td>
                    <td>{query.Database}</td>
                    <td className={styles.request}>
                      <code>{query.QueryInfo.Query}</code>
                      {query.IsStreaming && <span className="soft"> (stream)</span>}
                    </td>
                    <td>{query.IndexName}</td>
                    <td className={styles.right}>
                      <Button size="xs" variant="default" onClick={() => setEnding(query)}>
                        End…
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      <Confirm
        question={
          ending && {
            title: "End this query?",
            text: (
              <>
                <code>{ending.QueryInfo.Query}</code>
                <p>Its client gets an error that says that an operator ended it. A streamed answer is cut off.</p>
              </>
            ),
            action: "End",
            run: () => end(ending),
          }
        }
        close={() => setEnding(undefined)}
      />
    </>
  );
}
