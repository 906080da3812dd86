// The live charts: writes, requests, how long they take, memory and disk.
import { lazy, useMemo } from "react";
import { serverOf, type Latency, type Live, type ServerCounters } from "../../api/node";
import { percentile, since } from "../../chart/percentiles";
import { duration, rate, size } from "../../format/format";
import { lastEtag, rates, requestsOf, useLive } from "../../shell/live";
import styles from "./statistics.module.css";

const LiveChart = lazy(() => import("../../chart/LiveChart"));

type Lines = { name?: string; values: (number | null)[] }[];

const NONE: Live[] = [];
/** Steps of an axis of bytes: powers of two. */
const BYTES = Array.from({ length: 30 }, (_, at) => 2 ** (10 + at));
/** A percentile is that of the requests between so many samples: 10 seconds. */
const WINDOW_SAMPLES = 5;
const PERCENTILES = [
  ["p50", 0.5],
  ["p90", 0.9],
  ["p99", 0.99],
] as const;

export function Charts({ database }: { database: string }) {
  const { data: live, isError: isLost } = useLive();
  const samples = live?.samples ?? NONE;
  const series = useMemo(() => {
    const seconds = (sample: Live) => Date.parse(sample.Now) / 1000;
    const after = samples.slice(1).map(seconds);
    // It may have been opened in between; what was not counted then is not known.
    const padded = (found: number[]) => [...Array<null>(Math.max(0, after.length - found.length)).fill(null), ...found];
    const rateOf = (counter: (live: Live) => number | undefined) => padded(rates(samples, counter));
    // All or none: rights that change make another user.
    const ofServer = samples.flatMap((sample) => serverOf(sample) ?? []);
    const latency = (kind: (server: ServerCounters) => Latency) => {
      const windows = ofServer.slice(1).map((sample, at) => {
        const earlier = ofServer[Math.max(0, at + 1 - WINDOW_SAMPLES)]!;
        return since(kind(earlier).Buckets, kind(sample).Buckets);
      });
      return PERCENTILES.map(([name, part]) => ({ name, values: windows.map((window) => percentile(window, part)) }));
    };
    const all = {
      after,
      isOfServer: ofServer.length === samples.length,
      writes: [{ values: rateOf(lastEtag(database)) }],
      requests: [
        { name: "database", values: rateOf(requestsOf(database)) },
        ...(ofServer.length > 0 ? [{ name: "whole server", values: rateOf((sample) => sample.Requests) }] : []),
      ],
      reads: latency((sample) => sample.Latency.Reads),
      changes: latency((sample) => sample.Latency.Writes),
      memory: [{ values: ofServer.slice(1).map((sample) => sample.ResidentInBytes) }],
      disk: [
        { name: "read", values: rateOf((sample) => sample.DiskReadInBytes) },
        { name: "written", values: rateOf((sample) => sample.DiskWrittenInBytes) },
      ],
    };
    if (!isLost) return all;
    // The last value is not that of now.
    const broken = (lines: Lines) => lines.map((line) => ({ ...line, values: [...line.values, null] }));
    return {
      after: [...after, (after.at(-1) ?? 0) + 1],
      isOfServer: all.isOfServer,
      writes: broken(all.writes),
      requests: broken(all.requests),
      reads: broken(all.reads),
      changes: broken(all.changes),
      memory: broken(all.memory),
      disk: broken(all.disk),
    };
  }, [samples, database, isLost]);
  const times = series.after;
  return (
    <div className={styles.charts}>
      <LiveChart title="Writes per second" times={times} lines={series.writes} format={rate} topMin={5} />
      <LiveChart title="Requests per second" times={times} lines={series.requests} format={rate} topMin={5} />
      {series.isOfServer && (
        <>
          <LiveChart title="Read latency, whole server" times={times} lines={series.reads} format={duration} topMin={1} />
          <LiveChart title="Write latency, whole server" times={times} lines={series.changes} format={duration} topMin={1} />
          <LiveChart
            title="Memory, whole server"
            times={times}
            lines={series.memory}
            format={size}
            topMin={16 << 20}
            increments={BYTES}
          />
          <LiveChart
            title="Disk per second, whole server"
            times={times}
            lines={series.disk}
            format={size}
            topMin={64 << 10}
            increments={BYTES}
          />
        </>
      )}
    </div>
  );
}
