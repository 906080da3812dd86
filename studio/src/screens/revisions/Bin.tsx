// Documents that were deleted and have revisions.
import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bin } from "../../api/revisions";
import { ago, dateTime } from "../../format/format";
import { Empty, Failed, Loading } from "../../shell/states";
import tables from "../../shell/table.module.css";
import styles from "./revisions.module.css";

const PAGE_COUNT = 100;

export function Bin({ database }: { database: string }) {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetching } = useInfiniteQuery({
    queryKey: ["revisions-bin", database],
    queryFn: ({ pageParam, signal }) => bin(database, pageParam, PAGE_COUNT, signal),
    initialPageParam: 0,
    // Deletions elsewhere are seen when the list is looked at again.
    staleTime: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE_COUNT ? undefined : pages.length * PAGE_COUNT),
  });
  const found = data?.pages.flat();
  if (found === undefined) {
    return error ? (
      <Failed what="The deleted documents cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="deleted documents" />
    );
  }
  if (found.length === 0) {
    return (
      <Empty icon="history" title="No deleted documents with revisions">
        The revisions of a document are shown by its menu, or by its id above. Revisions are kept of the collections that are
        configured for it.
      </Empty>
    );
  }
  return (
    <div className={tables.scroll}>
      <table className={tables.table} role="table" aria-label="Deleted documents, the latest first">
        <thead role="rowgroup">
          <tr role="row">
            {["Deleted document", "Collection", "Deleted"].map((title) => (
              <th key={title} scope="col" role="columnheader">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {found.map(({ id, collection, at, changeVector }) => (
            <tr key={changeVector} role="row">
              <th scope="row" role="rowheader" className={tables.name}>
                <Link to="/databases/$database/revisions" params={{ database }} search={{ id }}>
                  {id}
                </Link>
              </th>
              <td role="cell">{collection}</td>
              <td role="cell" data-label="Deleted" className="number">
                {dateTime(at)} <span className="soft">{ago(at)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()} loading={isFetching} className={styles.more!}>
          More
        </Button>
      )}
    </div>
  );
}
