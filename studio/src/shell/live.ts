// The live counters, asked for once for all who show them, and the rates between them.
import { useQuery } from "@tanstack/react-query";
import { setServerClock } from "../format/format";
import { live, type Live, type LiveDatabase } from "../api/node";

/** How often they are asked for, in ms, while the page is seen. */
export const LIVE_MS = 2000;
/** Samples that are kept: four minutes. */
const SAMPLE_COUNT_MAX = 120;

let samples: Live[] = [];

/** The latest counters and those before, the oldest first. */
export function useLive() {
  return useQuery({
    queryKey: ["live"],
    queryFn: async ({ signal }) => {
      const askedAt = Date.now();
      const latest = await live(undefined, signal);
      setServerClock(Date.parse(latest.Now));
      // A server that was started anew counts from 0.
      const last = samples.at(-1);
      if (last && latest.UptimeInMs < last.UptimeInMs) samples = [];
      samples = [...samples, latest].slice(-SAMPLE_COUNT_MAX);
      return { latest, samples, askedAt };
    },
    refetchInterval: LIVE_MS,
    structuralSharing: false,
  });
}

/** Rates per second between samples that follow each other. */
export function rates(of: readonly Live[], counter: (live: Live) => number | undefined): number[] {
  const found: number[] = [];
  for (let at = 1; at < of.length; at++) {
    const [before, now] = [of[at - 1]!, of[at]!];
    const [from, to] = [counter(before), counter(now)];
    const seconds = (now.UptimeInMs - before.UptimeInMs) / 1000;
    if (from === undefined || to === undefined || seconds <= 0) continue;
    found.push(Math.max(0, to - from) / seconds);
  }
  return found;
}

/** What is counted of one database. */
export function ofDatabase(live: Live | undefined, name: string): LiveDatabase | undefined {
  return live?.Databases.find((database) => database.Name.toLowerCase() === name.toLowerCase());
}

/** Requests of a database since it was opened. */
export function requestsOf(name: string): (live: Live) => number | undefined {
  return (live) => {
    const database = ofDatabase(live, name);
    return database?.State === "Open" ? database.Requests : undefined;
  };
}

/** Writes of a database: each takes the next etag. */
export function lastEtag(name: string): (live: Live) => number | undefined {
  return (live) => {
    const database = ofDatabase(live, name);
    return database?.State === "Open" ? database.LastEtag : undefined;
  };
}
