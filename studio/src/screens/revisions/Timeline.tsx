// The revisions of a document in the order of time, and one of them beside.
import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { revisions, type Revision } from "../../api/revisions";
import { ago, counted, dateTime } from "../../format/format";
import { goThrough } from "../../shell/roving";
import { Empty, Failed, Loading } from "../../shell/states";
import tables from "../../shell/table.module.css";
import { One, viewOf } from "./One";
import styles from "./revisions.module.css";

const route = getRouteApi("/databases/$database/revisions");

const PAGE_COUNT = 50;

export function Timeline({ database, id }: { database: string; id: string }) {
  const { at, view } = route.useSearch();
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetching } = useInfiniteQuery({
    queryKey: ["revisions", database, id],
    queryFn: ({ pageParam, signal }) => revisions(database, id, pageParam, PAGE_COUNT, signal),
    initialPageParam: 0,
    // Writes of the document elsewhere are seen when the list is looked at again.
    staleTime: 0,
    getNextPageParam: (page, pages) => (page.revisions.length < PAGE_COUNT ? undefined : pages.length * PAGE_COUNT),
  });
  const all = data?.pages.flatMap((page) => page.revisions);
  if (all === undefined) {
    return error ? (
      <Failed what="The revisions cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="revisions" />
    );
  }
  if (all.length === 0) {
    return (
      <Empty icon="history" title={`There are no revisions of '${id}'`}>
        Revisions are kept from the next write on, once they are configured for its collection.
      </Empty>
    );
  }
  const place = Math.max(
    0,
    all.findIndex(({ changeVector }) => changeVector === at),
  );
  const chosen = all[place]!;
  return (
    <div className={styles.split}>
      <nav className={styles.timeline} aria-label="Revisions, the newest first" onKeyDown={goThrough}>
        <p className={`${styles.total} number soft`}>{counted(data!.pages[0]!.total, "revision")}</p>
        {all.map((revision) => (
          <Link
            key={revision.changeVector}
            to="/databases/$database/revisions"
            params={{ database }}
            search={{ id, at: revision.changeVector, ...(view !== undefined && { view }) }}
            replace
            className={styles.entry}
            tabIndex={revision === chosen ? 0 : -1}
            aria-current={revision === chosen ? "true" : undefined}
            activeProps={{}}
          >
            <span className="number">{dateTime(revision.at)}</span>
            <span className={`${styles.age} soft`}>{ago(revision.at)}</span>
            <Kinds revision={revision} />
          </Link>
        ))}
        {hasNextPage && (
          <Button variant="default" onClick={() => void fetchNextPage()} loading={isFetching} className={styles.more!}>
            More
          </Button>
        )}
      </nav>
      <One
        key={chosen.changeVector}
        database={database}
        id={id}
        revision={chosen}
        // Undefined while it is not known, and null if there is none.
        before={all[place + 1] ?? (hasNextPage ? undefined : null)}
        readBefore={() => void fetchNextPage()}
        view={viewOf(view)}
      />
    </div>
  );
}

function Kinds({ revision: { isDeletion, flags } }: { revision: Revision }) {
  const kinds = [
    ...(isDeletion ? [{ label: "Deleted", tone: "bad" }] : []),
    ...(flags.includes("Reverted") ? [{ label: "Reverted", tone: "busy" }] : []),
    ...(flags.includes("Conflicted") || flags.includes("Resolved") ? [{ label: "Conflict", tone: "warn" }] : []),
    ...(flags.includes("ForceCreated") ? [{ label: "By request", tone: undefined }] : []),
  ];
  return kinds.map(({ label, tone }) => (
    <span key={label} className={tables.badge} data-tone={tone}>
      {label}
    </span>
  ));
}
