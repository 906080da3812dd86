// The states that can be restored from a folder, the newest first; one of them is chosen.
import { Button } from "@mantine/core";
import { useState } from "react";
import type { RestorePoint } from "../../api/backups";
import { count, counted, dateTime, size } from "../../format/format";
import tables from "../../shell/table.module.css";
import { databaseOf } from "./database";
import styles from "./restore.module.css";

/** Points that are shown at first, and more at each click: a year of backups every 15 minutes has 35,000. */
const SHOWN_COUNT = 50;

type Props = {
  points: readonly RestorePoint[];
  chosen: RestorePoint | undefined;
  choose: (point: RestorePoint) => void;
  /** Archives stand above them. */
  isTitled: boolean;
};

export function Points({ points, chosen, choose, isTitled }: Props) {
  const [shown, setShown] = useState(SHOWN_COUNT);
  return (
    <section aria-label="Backups" className={styles.points}>
      {isTitled && <h2 className={styles.title}>Backups</h2>}
      <div className={styles.list}>
        <table className={tables.table} role="table">
          <thead role="rowgroup">
            <tr role="row">
              <th scope="col" role="columnheader">
                State of
              </th>
              <th scope="col" role="columnheader">
                Database
              </th>
              <th scope="col" role="columnheader">
                Kind
              </th>
              <th scope="col" role="columnheader">
                Size
              </th>
              <th scope="col" role="columnheader">
                Folder
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {points.slice(0, shown).map((point) => (
              <tr key={point.FileName} role="row">
                <th scope="row" role="rowheader" className={tables.name}>
                  <label className={styles.choice}>
                    <input type="radio" name="state" checked={point.FileName === chosen?.FileName} onChange={() => choose(point)} />
                    <span className="number">{dateTime(`${point.DateTime}Z`)}</span>
                  </label>
                </th>
                <td role="cell">{databaseOf(point) ?? "unknown"}</td>
                <td role="cell">
                  {point.IsIncremental ? "incremental" : point.IsSnapshotRestore ? "snapshot" : "full"}
                  {point.IsEncrypted && ", encrypted"}
                </td>
                <td role="cell" className="number">
                  {size(point.SizeInBytes)} in {counted(point.FilesToRestore, "file")}
                </td>
                <td role="cell">
                  <code className={styles.path}>{point.Location}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {points.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + SHOWN_COUNT)}>
          Show more: {count(points.length - shown)} older
        </Button>
      )}
    </section>
  );
}
