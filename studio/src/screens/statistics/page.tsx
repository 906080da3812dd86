// How a database does: live charts, what takes the space, and numbers about it.
import { useElementSize } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { collections } from "../../api/documents";
import type { Live } from "../../api/node";
import { statistics, type DatabaseStatistics } from "../../api/statistics";
import { treemap } from "../../chart/treemap";
import { ago, count, duration, rate, size } from "../../format/format";
import { lastEtag, ofDatabase, rates, useLive } from "../../shell/live";
import { Screen } from "../../shell/Screen";
import { Failed, Loading } from "../../shell/states";
import styles from "./statistics.module.css";

const LiveChart = lazy(() => import("../../chart/LiveChart"));
const route = getRouteApi("/databases/$database/statistics");

export function Statistics() {
  const { database } = route.useParams();
  const { data, error, refetch } = useQuery({
    queryKey: ["statistics", database],
    queryFn: ({ signal }) => statistics(database, signal),
    refetchInterval: 4000,
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
        <div className={styles.page}>
          <Charts database={database} />
          <Space database={database} total={data.SizeOnDisk.SizeInBytes} />
          <Numbers data={data} />
        </div>
      )}
    </Screen>
  );
}

function Charts({ database }: { database: string }) {
  const { data: live } = useLive();
  const samples = live?.samples ?? NONE;
  const series = useMemo(() => {
    const seconds = (sample: Live) => Date.parse(sample.Now) / 1000;
    const after = samples.slice(1).map(seconds);
    const writes = rates(samples, lastEtag(database));
    return {
      after,
      // It may have been opened in between; the rates are those of the latest samples.
      writeTimes: after.slice(after.length - writes.length),
      writes,
      requests: rates(samples, (sample) => sample.Requests),
      all: samples.map(seconds),
      memory: samples.map((sample) => sample.ResidentInBytes),
    };
  }, [samples, database]);
  return (
    <div className={styles.charts}>
      <Suspense fallback={<Loading what="charts" />}>
        <LiveChart title="Writes per second" times={series.writeTimes} values={series.writes} format={rate} topMin={5} />
        <LiveChart
          title="Requests per second, whole server"
          times={series.after}
          values={series.requests}
          format={rate}
          topMin={5}
        />
        <LiveChart
          title="Memory, whole server"
          times={series.all}
          values={series.memory}
          format={size}
          topMin={16 << 20}
          increments={BYTES}
        />
      </Suspense>
    </div>
  );
}

const NONE: Live[] = [];
/** Steps of an axis of bytes: powers of two. */
const BYTES = Array.from({ length: 24 }, (_, at) => 2 ** (20 + at));
const MAP_HEIGHT = 260;

/** What takes the space of a database, as areas. */
function Space({ database, total }: { database: string; total: number }) {
  const { ref, width } = useElementSize();
  const { data } = useQuery({ queryKey: ["collections", database], queryFn: ({ signal }) => collections(database, signal) });
  const parts = useMemo(() => {
    const found = (data?.collections ?? []).map((collection) => ({
      name: collection.name,
      bytes: collection.size,
      isCollection: true,
    }));
    const rest = total - found.reduce((sum, part) => sum + part.bytes, 0);
    if (rest > 0) found.push({ name: "Indexes, journals and free space", bytes: rest, isCollection: false });
    return found.filter((part) => part.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  }, [data, total]);
  const areas = treemap(
    parts.map((part) => part.bytes),
    width,
    MAP_HEIGHT,
  );
  if (parts.length === 0) return null;
  return (
    <section className={styles.panel} aria-labelledby="space">
      <h2 id="space">
        What takes the space <span className="soft number">{total > 0 ? `${size(total)} on disk` : "in memory"}</span>
      </h2>
      <div ref={ref} className={styles.treemap} style={{ height: MAP_HEIGHT }}>
        <ul>
          {areas.map((area, at) => {
            const part = parts[at]!;
            const isRoomy = area.width > 70 && area.height > 34;
            const label = (
              <>
                <b className="cut">{part.name}</b>
                <span className="number">{size(part.bytes)}</span>
              </>
            );
            const style = { left: area.x, top: area.y, width: Math.max(0, area.width - 2), height: Math.max(0, area.height - 2) };
            return (
              <li key={part.name} style={style} className={part.isCollection ? styles.area : `${styles.area} ${styles.rest}`}>
                {part.isCollection ? (
                  <Link
                    to="/databases/$database/documents"
                    params={{ database }}
                    search={{ collection: part.name }}
                    aria-label={`${part.name}, ${size(part.bytes)}`}
                    title={`${part.name}, ${size(part.bytes)}`}
                  >
                    {isRoomy && label}
                  </Link>
                ) : (
                  <span title={`${part.name}, ${size(part.bytes)}`}>{isRoomy && label}</span>
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </section>
  );
}

function Numbers({ data }: { data: DatabaseStatistics }) {
  const { data: live } = useLive();
  const { database } = route.useParams();
  const counters = ofDatabase(live?.latest, database);
  const open = counters?.State === "Open" ? counters : undefined;
  const staleCount = data.Indexes.filter((index) => index.IsStale).length;
  const facts: [string, string][] = [
    ["Documents", count(data.CountOfDocuments)],
    ["Tombstones", count(data.CountOfTombstones)],
    ["Identities", count(data.CountOfIdentities)],
    ["Indexes", `${count(data.CountOfIndexes)}${staleCount > 0 ? `, ${count(staleCount)} stale` : ""}`],
    ["Last indexed", ago(data.LastIndexingTime)],
    ["Batches that wait", count(data.NumberOfTransactionMergerQueueOperations)],
    ["Operations under way", open ? count(open.RunningOperations) : "–"],
    ["Last etag", count(data.LastDatabaseEtag)],
    ["Server up for", live ? duration(live.latest.UptimeInMs) : "–"],
    ["Answers with 5xx since then", live ? count(live.latest.ServerErrors) : "–"],
    ["Database id", data.DatabaseId],
    ["Change vector", data.DatabaseChangeVector || "–"],
  ];
  return (
    <section className={styles.panel} aria-labelledby="numbers">
      <h2 id="numbers">Numbers</h2>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="number">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
