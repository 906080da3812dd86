// Which state of an archive is restored.
import { SegmentedControl, TextInput } from "@mantine/core";
import type { Archive } from "../../api/backups";
import { count, dateTime } from "../../format/format";
import { fieldOf, secondsOf, stateOf, type Moment } from "./moment";
import styles from "./restore.module.css";

const KINDS: { value: Moment["kind"]; label: string }[] = [
  { value: "time", label: "A time" },
  { value: "transaction", label: "A transaction" },
  { value: "last", label: "The last state" },
];

type Props = { archive: Archive; moment: Moment; change: (moment: Moment) => void };

export function MomentField({ archive, moment, change }: Props) {
  const set = (part: Partial<Moment>) => change({ ...moment, ...part });
  const chosen = stateOf(moment, archive);
  const error = "reason" in chosen ? chosen.reason : undefined;
  const { first, last } = secondsOf(archive);
  return (
    <div className={styles.moment}>
      <span className={styles.label}>Restore to</span>
      <SegmentedControl
        size="xs"
        aria-label="Restore to"
        value={moment.kind}
        onChange={(value) => set({ kind: value as Moment["kind"] })}
        data={KINDS}
      />
      {moment.kind === "time" && (
        <div className={styles.timeRow}>
          <TextInput
            type="datetime-local"
            step={1}
            label="Time"
            description="In the time zone of this browser. The last state at this second is restored."
            className={styles.time}
            min={fieldOf(first)}
            max={fieldOf(last)}
            value={moment.time}
            onChange={(event) => set({ time: event.currentTarget.value })}
            error={error}
          />
          {"state" in chosen && "time" in chosen.state && (
            <p className={`${styles.note} number`} role="status">
              {chosen.state.time.slice(0, 19).replace("T", " ")} UTC
            </p>
          )}
        </div>
      )}
      {moment.kind === "transaction" && (
        <TextInput
          label="Transaction"
          description={`From ${count(archive.FirstTransaction)} to ${count(archive.LastTransaction)}.`}
          inputMode="numeric"
          autoComplete="off"
          value={moment.transaction}
          onChange={(event) => set({ transaction: event.currentTarget.value })}
          error={error}
        />
      )}
      {moment.kind === "last" && (
        <p className={`${styles.note} number`}>
          Transaction {count(archive.LastTransaction)}, of {dateTime(archive.Until)}
        </p>
      )}
    </div>
  );
}
