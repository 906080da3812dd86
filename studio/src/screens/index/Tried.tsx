// What a definition makes of some documents: from the map's results to the groups of the reduce, to the terms of the entries.
import { ActionIcon } from "@mantine/core";
import type { Tested } from "../../api/indexes";
import { cell, counted } from "../../format/format";
import { digitsOf } from "../../json/exact";
import { Icon } from "../../theme/icons";
import styles from "./index.module.css";

type Row = Record<string, unknown>;

/** Rows that are shown of each step. */
const SHOWN_COUNT = 50;

export function Tried({ result, close }: { result: Tested; close: () => void }) {
  const isReduced = result.IndexType.endsWith("MapReduce");
  return (
    <section className={styles.tried} aria-label="Result of the test">
      <header className={styles.codeHead}>
        <h2>Result for the first documents</h2>
        <ActionIcon size="sm" aria-label="Close the result of the test" onClick={close} style={{ marginLeft: "auto" }}>
          <Icon name="close" size={13} />
        </ActionIcon>
      </header>
      {(result.Errors?.length ?? 0) > 0 && (
        <div className={styles.problem} role="alert">
          <Icon name="warning" size={15} />
          <span>{result.Errors!.map((error) => (typeof error === "string" ? error : JSON.stringify(error))).join("\n")}</span>
        </div>
      )}
      {isReduced && <Step title="Results of the map" rows={result.MapResults} />}
      {isReduced && <Step title="Results of the reduce" rows={result.ReduceResults} />}
      <Step title="Terms of the entries" rows={result.IndexEntries} />
    </section>
  );
}

function Step({ title, rows }: { title: string; rows: readonly Row[] }) {
  const names = [...new Set(rows.slice(0, SHOWN_COUNT).flatMap((row) => Object.keys(row)))].filter((name) => name !== "@metadata");
  return (
    <div className={styles.step}>
      <h3>
        {title} <span className="soft number">{counted(rows.length, "row")}</span>
      </h3>
      {rows.length > 0 && (
        <div className={styles.stepTable} tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                {names.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, SHOWN_COUNT).map((row, index) => (
                <tr key={index}>
                  {names.map((name) => (
                    <td key={name} className={typeof row[name] === "number" ? "number" : undefined}>
                      {(digitsOf(row, name) ?? cell(row[name])).slice(0, 200)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
