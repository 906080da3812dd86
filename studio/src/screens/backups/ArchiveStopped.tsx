// The warning of a task whose archive does not go on.
import type { ArchiveStatus } from "../../api/backups";
import { ago, dateTime } from "../../format/format";
import { Icon } from "../../theme/icons";
import styles from "./backups.module.css";

export function ArchiveStopped({ archive: { LastTime, Error: reason, ErrorAt } }: { archive: ArchiveStatus }) {
  return (
    <div className={styles.failure}>
      <p>
        <Icon name="warning" size={14} />{" "}
        <b>{LastTime === null ? "The archive cannot begin." : `The archive stopped at ${dateTime(LastTime)}, ${ago(LastTime)}.`}</b>{" "}
        {reason}
      </p>
      <p>
        {LastTime !== null && "A restore does not reach what was written since. "}
        {ErrorAt !== null && `The server tried at ${dateTime(ErrorAt)}, and tries again by itself. `}Until that succeeds it keeps
        the journal on its own disk, up to 4 GiB. Check that the server can write to all places of the task.
      </p>
    </div>
  );
}
