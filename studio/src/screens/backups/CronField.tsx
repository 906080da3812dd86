// A time by a cron expression: presets, the expression itself, and what it means.
import { NativeSelect, TextInput } from "@mantine/core";
import { meaningOf, type Preset } from "./cron";
import styles from "./backups.module.css";

const OWN = "own";

/** `never`: what is said while there is no expression. */
export function CronField({
  label,
  presets,
  value,
  change,
  never,
}: {
  label: string;
  presets: readonly Preset[];
  value: string;
  change: (value: string) => void;
  never: string;
}) {
  const typed = value.trim();
  const preset = presets.find(({ cron }) => cron === typed);
  const meaning = meaningOf(typed);
  return (
    <div className={styles.cron} role="group" aria-label={label}>
      <NativeSelect
        label={label}
        size="xs"
        value={preset?.cron ?? OWN}
        onChange={(event) => event.currentTarget.value !== OWN && change(event.currentTarget.value)}
        data={[
          ...presets.map(({ label, cron }) => ({ value: cron, label })),
          { value: OWN, label: "By the expression", disabled: preset !== undefined },
        ]}
      />
      <TextInput
        label="Cron expression"
        placeholder="minute hour day month weekday"
        autoComplete="off"
        spellCheck={false}
        className={styles.mono}
        value={value}
        onChange={(event) => change(event.currentTarget.value)}
      />
      <p className={styles.meaning} aria-live="polite">
        {typed === "" ? never : (meaning ?? "The server checks the expression, and tells the next time, when you save.")}
      </p>
    </div>
  );
}
