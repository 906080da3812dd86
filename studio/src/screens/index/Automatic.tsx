// The definition of an index that a query made.
import type { Definition } from "../../api/indexes";
import styles from "./index.module.css";

export function Automatic({ definition }: { definition: Definition }) {
  return (
    <div className={styles.editor}>
      <div className={styles.form}>
        <p className="soft">A query created this index, and other queries may extend it. It cannot be edited.</p>
        <table className={styles.fields}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Indexing</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(definition.Fields ?? {}).map(([field, options]) => (
              <tr key={field}>
                <td>{field}</td>
                <td>{options.Indexing ?? "Default"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
