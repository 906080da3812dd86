// The recent slow requests, with the texts of their queries.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { slowRequests, type SlowRequest } from "../../api/diagnostics";
import { counted, dateTime, duration } from "../../format/format";
import { Empty, Failed, Loading } from "../../shell/states";
import styles from "./server.module.css";

const POLL_MS = 3000;

/** `database`: those of one database only, without a column for it. */
export function SlowRequests({ database, countMax }: { database?: string; countMax: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["slow", database],
    queryFn: ({ signal }) => slowRequests(database, signal),
    refetchInterval: POLL_MS,
  });
  if (!data) {
    return error ? (
      <Failed what="The slow requests cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="slow requests" />
    );
  }
  const { ThresholdInMs, Results } = data;
  if (Results.length === 0) {
    const why = `No request has taken ${duration(ThresholdInMs)} or more since the server started.`;
    return database !== undefined ? (
      <p className={styles.note}>{why}</p>
    ) : (
      <Empty icon="statistics" title="No slow requests">
        {why}
      </Empty>
    );
  }
  const shown = Results.slice(0, countMax);
  return (
    <>
      <p className={styles.note}>
        {counted(Results.length, "request")} whose answer took {duration(ThresholdInMs)} or more to begin
        {shown.length < Results.length && `, the last ${shown.length} of them`}.
      </p>
      <div className={styles.tableBox}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col" className={styles.right}>
                Took
              </th>
              {database === undefined && <th scope="col">Database</th>}
              <th scope="col">Request</th>
              <th scope="col">Answer</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((request, at) => (
              <tr key={`${request.At} ${at}`}>
                <td className="number">{dateTime(request.At)}</td>
                <td className={`${styles.right} number`}>
                  <b>{duration(request.DurationInMs)}</b>
                </td>
                {database === undefined && <td>{request.Database ?? <span className="soft">–</span>}</td>}
                <td className={styles.request}>
                  <What request={request} />
                </td>
                <td className="number">{request.Status ?? "failed"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function What({ request: { Method, Url, Query, Database } }: { request: SlowRequest }) {
  if (Query === null || Database === null) return <code>{`${Method} ${Url}`}</code>;
  return (
    <Link
      to="/databases/$database/query"
      params={{ database: Database }}
      search={{ q: Query, run: "no" }}
      title="Open in the query editor, without running it"
    >
      <code>{Query}</code>
    </Link>
  );
}
