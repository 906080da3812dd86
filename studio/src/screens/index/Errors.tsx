// What an index could not index, and why.
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import * as api from "../../api/indexes";
import { count, counted, dateTime } from "../../format/format";
import { Needs } from "../../shell/rights";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import { ERRORS_KEPT_MAX } from "../indexes/state";
import styles from "./index.module.css";

export function Errors({ database, name, statistics }: { database: string; name: string; statistics: api.Statistics | undefined }) {
  const requests = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ["index-errors", database, name],
    queryFn: ({ signal }) => api.errors(database, name, signal),
    refetchInterval: 4000,
  });
  if (!data)
    return error ? (
      <Failed what="The errors cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="errors" />
    );
  if (data.length === 0) {
    return (
      <Empty icon={statistics?.State === "Error" ? "warning" : "check"} title="No errors recorded">
        {statistics?.State === "Error"
          ? "The index has failed, and its errors were cleared. Change the definition or reset the index."
          : "Documents that cannot be indexed are listed here, with the reason."}
      </Empty>
    );
  }
  const clear = () =>
    api.clearErrors(database, name).then(
      () => (
        told("Errors cleared"),
        requests.invalidateQueries({ predicate: ({ queryKey }) => ["index-errors", "indexes"].includes(String(queryKey[0])) })
      ),
      (reason: unknown) => failed("The errors were not cleared", reason),
    );
  return (
    <div className={styles.terms}>
      {statistics?.State === "Error" && (
        <div className={styles.problem} role="alert">
          {`The index has failed and stopped: ${count(statistics.MapErrors ?? data.length)} of ${counted(statistics.MapAttempts, "document")} could not be indexed. Change the definition or reset the index.`}
        </div>
      )}
      <div className={styles.errorsHead}>
        <span>
          {data.length < ERRORS_KEPT_MAX
            ? counted(data.length, "error")
            : `The last ${count(data.length)} errors; the server keeps no more`}
        </span>
        <Needs right="ReadWrite">
          <Button variant="default" onClick={() => void clear()}>
            Clear
          </Button>
        </Needs>
      </div>
      <table className={styles.errors}>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Document</th>
            <th scope="col">Step</th>
            <th scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          {data.map((found, index) => (
            <tr key={index}>
              <td className="number">{dateTime(found.Timestamp)}</td>
              <td>
                <Link to="/databases/$database/document" params={{ database }} search={{ id: found.Document }}>
                  {found.Document}
                </Link>
              </td>
              <td>{found.Action}</td>
              <td>{found.Error}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
