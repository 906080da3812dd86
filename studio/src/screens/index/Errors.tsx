// What an index could not index, and why.
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import * as api from "../../api/indexes";
import { counted, dateTime } from "../../format/format";
import { Empty, Failed, Loading } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import styles from "./index.module.css";

export function Errors({ database, name }: { database: string; name: string }) {
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
      <Empty icon="check" title="No errors">
        Every document was indexed since the server started.
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
      <div className={styles.termsHead}>
        <span>The last {counted(data.length, "document")} that could not be indexed</span>
        <Button variant="default" onClick={() => void clear()}>
          Clear
        </Button>
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
