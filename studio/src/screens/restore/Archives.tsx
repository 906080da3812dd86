// The archives of a folder, the newest first: each is a run of states, of which any can be restored.
import type { Archive } from "../../api/backups";
import { count, dateTime, size } from "../../format/format";
import tables from "../../shell/table.module.css";
import { keyOf } from "./moment";
import styles from "./restore.module.css";

type Props = { archives: readonly Archive[]; chosen: Archive | undefined; choose: (archive: Archive) => void };

export function Archives({ archives, chosen, choose }: Props) {
  const key = chosen && keyOf(chosen);
  return (
    <section aria-label="Archives" className={styles.points}>
      <h2 className={styles.title}>Any second of an archive</h2>
      <div className={styles.list}>
        <table className={tables.table} role="table">
          <thead role="rowgroup">
            <tr role="row">
              {["From", "To", "Database", "Transactions", "Size of the journal", "Folder"].map((name) => (
                <th key={name} scope="col" role="columnheader">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {archives.map((archive) => (
              <tr key={keyOf(archive)} role="row">
                <th scope="row" role="rowheader" className={tables.name}>
                  <label className={styles.choice}>
                    <input type="radio" name="state" checked={keyOf(archive) === key} onChange={() => choose(archive)} />
                    <span className="number">{dateTime(archive.From)}</span>
                  </label>
                </th>
                <td role="cell" className="number" data-label="to">
                  {dateTime(archive.Until)}
                </td>
                <td role="cell">
                  {archive.DatabaseName}
                  {archive.IsEncrypted && ", encrypted"}
                </td>
                <td role="cell" className="number" data-label="transactions">
                  {count(archive.FirstTransaction)} – {count(archive.LastTransaction)}
                </td>
                <td role="cell" className="number">
                  {size(archive.SizeInBytes)}
                </td>
                <td role="cell">
                  <code className={styles.path}>{archive.Location}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
