// How a query runs: its operators as a tree, each with what it expected, gave and took; and where the time went.
import { useQuery } from "@tanstack/react-query";
import type { CSSProperties } from "react";
import { explain, run, type Explained, type PlanStep, type Timings } from "../../api/queries";
import { count, duration } from "../../format/format";
import { Failed, Loading } from "../../shell/states";
import { isPatch, reasonOf, withoutInclude, withTimings } from "./text";
import type { Submitted } from "./Results";
import styles from "./plan.module.css";

/** `found`: the plan, if the query itself asked for it. */
export function Plan({ database, submitted, found }: { database: string; submitted: Submitted; found: Explained | undefined }) {
  const {
    data = found,
    error,
    refetch,
  } = useQuery({
    queryKey: ["plan", database, submitted],
    enabled: found === undefined,
    queryFn: ({ signal }) => explain(database, { ...submitted, text: withoutInclude(submitted.text) }, signal),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const { data: timings } = useQuery({
    queryKey: ["timings", database, submitted],
    queryFn: async ({ signal }) =>
      (await run(database, { ...submitted, text: withTimings(submitted.text), pageSize: 100 }, signal)).timings ?? null,
    enabled: found === undefined && !isPatch(submitted.text),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  if (error)
    return <Failed what="There is no plan for this query" error={new Error(reasonOf(error))} retry={() => void refetch()} />;
  if (!data) return <Loading what="the plan" />;
  const total = Math.max(1, data.plan.Microseconds ?? 1);
  return (
    <div className={styles.plan} tabIndex={0} role="region" aria-label="Plan of the query">
      <section>
        <h2 className={styles.planTitle}>
          {data.index.startsWith("collection/") ? "Without an index" : data.index}{" "}
          <span className="soft number">{micros(total)}</span>
        </h2>
        <div className={styles.planHead} aria-hidden="true">
          <span>Operator</span>
          <span>Expected</span>
          <span>Found</span>
          <span title="With the steps below it">Total time</span>
        </div>
        <ul className={styles.tree} aria-label="Plan">
          <Step step={data.plan} total={total} depth={0} />
        </ul>
      </section>
      {!found && withoutInclude(submitted.text) !== submitted.text && (
        <p className="soft">The plan is that of the query without its include; the timings have it.</p>
      )}
      {timings && (
        <section>
          <h2 className={styles.planTitle}>Timings</h2>
          <ul className={styles.tree} aria-label="Timings">
            <TimingRow name="Total" timing={timings} total={Math.max(1, timings.DurationInMs)} depth={0} />
          </ul>
        </section>
      )}
    </div>
  );
}

function Step({ step, total, depth }: { step: PlanStep; total: number; depth: number }) {
  const time = step.Microseconds ?? undefined;
  return (
    <li>
      <div className={styles.step}>
        <span className={styles.operator} style={inset(depth)}>
          <b>{step.Operator}</b>
          {step.Field && <span className={styles.field}>{step.Field}</span>}
          {step.Argument && <code>{step.Argument}</code>}
          {step.Omitted ? <span className="soft">{`${count(step.Omitted)} more below`}</span> : null}
        </span>
        <span className="number soft">{step.Estimate == null ? "–" : count(step.Estimate)}</span>
        <span className="number">{step.Rows == null ? "–" : count(step.Rows)}</span>
        <span className={styles.time}>
          <i style={{ width: `${time === undefined ? 0 : Math.min(100, (time / total) * 100)}%` }} />
          <span className="number">{time === undefined ? "–" : micros(time)}</span>
        </span>
      </div>
      {step.Children.length > 0 && (
        <ul className={styles.tree}>
          {step.Children.map((child, index) => (
            <Step key={index} step={child} total={total} depth={depth + 1} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Names of steps that are those of another engine, which clients expect. */
const STEPS: Readonly<Record<string, string>> = { Lucene: "Index search" };

/** Steps that took less than a millisecond, which is what they are counted in, are named together. */
function TimingRow({ name, timing, total, depth }: { name: string; timing: Timings; total: number; depth: number }) {
  const below = Object.entries(timing.Timings ?? {});
  const long = below.filter(([, inner]) => inner.DurationInMs >= 1);
  const short = below.filter(([, inner]) => inner.DurationInMs < 1).map(([step]) => STEPS[step] ?? step);
  return (
    <li>
      <div className={styles.timing}>
        <span className={styles.operator} style={inset(depth)}>
          <b>{STEPS[name] ?? name}</b>
        </span>
        <span className={styles.time}>
          <i style={{ width: `${Math.min(100, (timing.DurationInMs / total) * 100)}%` }} />
          <span className="number">{timing.DurationInMs < 1 ? "< 1 ms" : duration(timing.DurationInMs)}</span>
        </span>
      </div>
      {below.length > 0 && (
        <ul className={styles.tree}>
          {long.map(([step, inner]) => (
            <TimingRow key={step} name={step} timing={inner} total={total} depth={depth + 1} />
          ))}
          {short.length > 0 && (
            <li className={styles.timing}>
              <span className={`${styles.operator} soft`} style={inset(depth + 1)}>
                {short.join(", ")}
              </span>
              <span className={`${styles.time} soft number`}>each &lt; 1 ms</span>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** How far a step stands to the right; less on a narrow screen (plan.module.css). */
function inset(depth: number): CSSProperties {
  return { paddingLeft: depth * 20, "--depth": depth } as CSSProperties;
}

function micros(time: number): string {
  return time < 1000 ? `${count(time)} µs` : duration(time / 1000);
}
