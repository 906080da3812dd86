// How far something is, and whether it went well.
import styles from "./running.module.css";

/** `part`: from 0 to 1; `status`: of an operation, once it is known. */
export function ProgressBar({ part, status }: { part: number; status: string | undefined }) {
  return (
    <div
      className={styles.track}
      role="progressbar"
      aria-label="Progress"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(part * 100)}
      data-status={status}
    >
      <span style={{ width: `${part * 100}%` }} />
    </div>
  );
}
