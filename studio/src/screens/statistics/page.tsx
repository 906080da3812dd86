// How a database does: live charts, what takes the space, its journal and readers, what was slow, and numbers about it.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense } from "react";
import { storageReport } from "../../api/diagnostics";
import { statistics, type DatabaseStatistics } from "../../api/statistics";
import { serverOf } from "../../api/node";
import { ago, count, duration } from "../../format/format";
import { ofDatabase, useLive } from "../../shell/live";
import { Screen } from "../../shell/Screen";
import { useAbilities } from "../../shell/session";
import { Failed, Loading } from "../../shell/states";
import { SlowRequests } from "../server/SlowRequests";
import { Charts } from "./Charts";
import { Facts } from "./Facts";
import { Space } from "./Space";
import { Storage } from "./Storage";
import styles from "./statistics.module.css";

const route = getRouteApi("/databases/$database/statistics");

/** How often numbers are asked for that no chart is drawn of, in ms. */
const POLL_MS = 4000;

export function Statistics() {
  const { database } = route.useParams();
  const { isOperator, may } = useAbilities();
  const { data, error, refetch } = useQuery({
    queryKey: ["statistics", database],
    queryFn: ({ signal }) => statistics(database, signal),
    refetchInterval: POLL_MS,
  });
  const storage = useQuery({
    queryKey: ["storage", database],
    queryFn: ({ signal }) => storageReport(database, signal),
    refetchInterval: POLL_MS,
    enabled: may("Admin", database),
  });
  return (
    <Screen title="Statistics" about={database}>
      {!data ? (
        error ? (
          <Failed what="The statistics cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="statistics" />
        )
      ) : (
        // Nothing is shown before the code of the charts is there: what is below them would move away from who is about to click it.
        <Suspense fallback={<Loading what="charts" />}>
          <div className={styles.page}>
            <Charts database={database} />
            {storage.data ? (
              <>
                <Space database={database} areas={storage.data.Results} fileSize={storage.data.SizeInBytes} />
                <Storage areas={storage.data.Results} />
              </>
            ) : storage.error ? (
              <Failed what="The storage report cannot be read" error={storage.error} retry={() => void storage.refetch()} />
            ) : (
              may("Admin", database) && <Loading what="the storage report" />
            )}
            {isOperator && (
              <section className={styles.panel} aria-labelledby="slow">
                <h2 id="slow">
                  Slow requests and queries
                  <Link to="/server" search={{ tab: "slow" }}>
                    of the whole server
                  </Link>
                </h2>
                <SlowRequests database={database} countMax={20} />
              </section>
            )}
            <Numbers database={database} data={data} />
          </div>
        </Suspense>
      )}
    </Screen>
  );
}

function Numbers({ database, data }: { database: string; data: DatabaseStatistics }) {
  const { data: live } = useLive();
  const counters = ofDatabase(live?.latest, database);
  const node = serverOf(live?.latest);
  const open = counters?.State === "Open" ? counters : undefined;
  const failedCount = data.Indexes.filter((index) => index.State === "Error").length;
  const staleCount = data.Indexes.filter((index) => index.IsStale && index.State !== "Error").length;
  const facts: [string, string][] = [
    ["Documents", count(data.CountOfDocuments)],
    ["Tombstones", count(data.CountOfTombstones)],
    ["Identities", count(data.CountOfIdentities)],
    [
      "Indexes",
      [
        count(data.CountOfIndexes),
        ...(failedCount > 0 ? [`${count(failedCount)} failed`] : []),
        ...(staleCount > 0 ? [`${count(staleCount)} stale`] : []),
      ].join(", "),
    ],
    ["Last indexed", ago(data.LastIndexingTime)],
    ["Queued batches", count(data.NumberOfTransactionMergerQueueOperations)],
    ["Running operations", open ? count(open.RunningOperations) : "–"],
    ["Requests since the database was loaded", open ? count(open.Requests) : "–"],
    ["Last etag", count(data.LastDatabaseEtag)],
    ["Server running for", live ? duration(live.latest.UptimeInMs) : "–"],
    ...(node ? [["Server errors since its start", count(node.ServerErrors)] satisfies [string, string]] : []),
    ["Database id", data.DatabaseId],
    ["Change vector", data.DatabaseChangeVector || "–"],
  ];
  return (
    <section className={styles.panel} aria-labelledby="numbers">
      <h2 id="numbers">Numbers</h2>
      <Facts facts={facts} />
    </section>
  );
}
