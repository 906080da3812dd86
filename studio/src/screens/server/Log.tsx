// The newest lines of the server's log, by level and text.
import { SegmentedControl } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { LEVELS, logLines, type Level } from "../../api/diagnostics";
import { counted, dateTime } from "../../format/format";
import { FilterField } from "../../shell/FilterField";
import { Failed, Loading } from "../../shell/states";
import { useSettings } from "./useSettings";
import tables from "../../shell/table.module.css";
import styles from "./server.module.css";

const POLL_MS = 2000;
/** Lines that are shown. */
const LINE_COUNT_MAX = 500;

const TONES: Record<Level, string | undefined> = {
  Trace: undefined,
  Debug: undefined,
  Info: "busy",
  Warn: "warn",
  Error: "bad",
};

export type LogFilter = { level: Level; text: string };

/** The level of an address, which may hold anything. */
export function levelOf(text: string | undefined): Level {
  return LEVELS.find((level) => level === text) ?? "Trace";
}

/** The place of the lowest level that a setting lets pass. */
function lowest(setting: string | null | undefined): number {
  return Math.max(
    0,
    LEVELS.findIndex((level) => level.toLowerCase() === setting?.toLowerCase()),
  );
}

/** `filter`: what the address says; `setFilter` puts it there. */
export function Log({ filter, setFilter }: { filter: LogFilter; setFilter: (filter: LogFilter) => void }) {
  const [text, setText] = useState(filter.text);
  const [part] = useDebouncedValue(text.trim(), 150);
  const { data, error, refetch } = useQuery({
    queryKey: ["log", filter.level, part],
    queryFn: ({ signal }) => logLines(filter.level, part, LINE_COUNT_MAX, signal),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
  const { data: inForce } = useSettings();
  const level = inForce?.find(({ name }) => name === "Log.Level");
  const logged = LEVELS.filter((_, at) => at >= lowest(level?.given?.value ?? level?.default));
  return (
    <>
      <div className={styles.filter}>
        <SegmentedControl
          size="xs"
          aria-label="Minimum level"
          value={logged.slice(1).includes(filter.level) ? filter.level : "Trace"}
          onChange={(level) => setFilter({ ...filter, level: levelOf(level) })}
          data={[
            { value: "Trace", label: "All" },
            // Of the lowest that is logged, and of those below it, there is nothing but all.
            ...logged.slice(1).map((level) => ({ value: level, label: level })),
          ]}
        />
        <FilterField
          className={styles.text}
          label="Filter the log by text"
          placeholder="Filter by text"
          value={text}
          onChange={(next) => {
            setText(next);
            setFilter({ ...filter, text: next });
          }}
        />
        {data && (
          <span className="soft number" role="status">
            {data.length === LINE_COUNT_MAX ? `the last ${LINE_COUNT_MAX} lines` : counted(data.length, "line")}
          </span>
        )}
      </div>
      {!data ? (
        error ? (
          <Failed what="The log cannot be read" error={error} retry={() => void refetch()} />
        ) : (
          <Loading what="the log" />
        )
      ) : data.length === 0 ? (
        <p className={styles.none}>
          No line matches. The server keeps only what its setting <code>Log.Level</code> lets through.
        </p>
      ) : (
        <div className={styles.tableBox}>
          <table className={`${styles.table} ${styles.log}`} aria-label="Lines of the log, the newest first">
            <tbody>
              {data.map((line) => (
                <tr key={line.Number}>
                  <td className="number">{dateTime(line.At)}</td>
                  <td>
                    <span className={tables.badge} data-tone={TONES[line.Level]}>
                      {line.Level}
                    </span>
                  </td>
                  <td className={styles.request}>
                    <code>{line.Message}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
