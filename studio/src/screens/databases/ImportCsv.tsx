// What becomes of the columns of a file of CSV: a look at its first rows, the ids, and a kind for each column.
import { Button, Select, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import {
  csvDocument,
  distinct,
  guessed,
  guessedCollection,
  guessedId,
  type Column,
  type ColumnKind,
  type CsvPlan,
  type Row,
} from "../../importing/csv";
import { prefixOf } from "../../api/documents";
import { previewRows } from "../../importing/importing";
import { Failed, Loading } from "../../shell/states";
import styles from "./databases.module.css";

/** Rows that kinds are guessed from, and rows that are shown. */
const GUESSED_COUNT = 200;
const SHOWN_COUNT = 5;

const KINDS: { value: ColumnKind; label: string }[] = [
  { value: "text", label: "Text" },
  { value: "number", label: "Number" },
  { value: "truth", label: "True or false" },
  { value: "json", label: "JSON" },
  { value: "none", label: "Left out" },
];

const MADE = "-1";

export function ImportCsv({ file, begin, close }: { file: File; begin: (plan: CsvPlan) => void; close: () => void }) {
  const [rows, setRows] = useState<readonly Row[]>();
  const [plan, setPlan] = useState<CsvPlan>();
  /** The columns as they were guessed, none of them the id. */
  const [usual, setUsual] = useState<readonly Column[]>([]);
  /** Whether somebody said what ids begin with; until then it follows the collection. */
  const [isPrefixTyped, setPrefixTyped] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let isCurrent = true;
    previewRows(file, GUESSED_COUNT).then(
      ({ separator, rows: [names, ...found] }) => {
        if (!isCurrent) return;
        if (!names) return setError(new Error("The file is empty."));
        const collection = guessedCollection(file.name);
        const columns = guessed(distinct(names.fields), found);
        setRows(found);
        setUsual(columns);
        const idColumn = guessedId(names.fields);
        setPlan({
          separator,
          columns: withId(columns, idColumn),
          idColumn,
          collection,
          idPrefix: prefixFor(found[0], idColumn, collection),
        });
      },
      (reason: unknown) => isCurrent && setError(reason),
    );
    return () => void (isCurrent = false);
  }, [file]);
  if (error) {
    return (
      <>
        <Failed what="The file cannot be read" error={error} />
        <div className={styles.buttons}>
          <Button onClick={close} autoFocus>
            Close
          </Button>
        </div>
      </>
    );
  }
  if (!plan || !rows) return <Loading what="the first rows" />;

  const setKind = (place: number, kind: ColumnKind) =>
    setPlan({ ...plan, columns: plan.columns.map((column, at) => (at === place ? { ...column, kind } : column)) });
  const setIdColumn = (idColumn: number) => {
    const before = plan.columns.map((column, at) => (at === plan.idColumn && column.kind === "none" ? usual[at]! : column));
    const idPrefix = isPrefixTyped ? plan.idPrefix : prefixFor(rows[0], idColumn, plan.collection);
    setPlan({ ...plan, idColumn, idPrefix, columns: withId(before, idColumn) });
  };
  const setCollection = (collection: string) => {
    const idPrefix = isPrefixTyped ? plan.idPrefix : prefixFor(rows[0], plan.idColumn, collection);
    setPlan({ ...plan, collection, idPrefix });
  };
  const sample = rows[0] && previewOf(rows[0], plan);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        begin(plan);
      }}
    >
      <div className={styles.csvChoices}>
        <TextInput
          // Whichever is there first, this field or what gives the dialog its focus.
          autoFocus
          data-autofocus
          label="Collection"
          value={plan.collection}
          onChange={(event) => setCollection(event.currentTarget.value)}
        />
        <Select
          label="Id"
          value={String(plan.idColumn)}
          onChange={(value) => value !== null && setIdColumn(Number(value))}
          data={[
            { value: MADE, label: "Made by the server" },
            ...plan.columns.map(({ name }, at) => ({ value: String(at), label: `From ${name || `column ${at + 1}`}` })),
          ]}
        />
        <TextInput
          label="Ids begin with"
          value={plan.idPrefix}
          onChange={(event) => {
            setPrefixTyped(true);
            setPlan({ ...plan, idPrefix: event.currentTarget.value });
          }}
          error={plan.idColumn < 0 && plan.idPrefix === "" ? "Required: the server adds a number only" : undefined}
        />
      </div>
      <div className={styles.csvTable} tabIndex={0} role="region" aria-label="The first rows">
        <table>
          <thead>
            <tr>
              {plan.columns.map(({ name }, at) => (
                <th key={at} scope="col">
                  {name || `column ${at + 1}`}
                  {at === plan.idColumn && <span className={styles.tag}>id</span>}
                </th>
              ))}
            </tr>
            <tr>
              {plan.columns.map(({ name, kind }, at) => (
                <td key={at}>
                  <Select
                    aria-label={`Kind of ${name || `column ${at + 1}`}`}
                    value={kind}
                    onChange={(value) => value !== null && setKind(at, value as ColumnKind)}
                    data={KINDS}
                  />
                </td>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN_COUNT).map((row) => (
              <tr key={row.line}>
                {plan.columns.map((_, at) => (
                  <td key={at} className="cut" title={row.fields[at]}>
                    {row.fields[at]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sample && (
        <figure className={styles.csvSample}>
          <figcaption>The first row becomes</figcaption>
          <code>{sample}</code>
        </figure>
      )}
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={plan.idColumn < 0 && plan.idPrefix === ""}>
          Import
        </Button>
      </div>
    </form>
  );
}

/** What ids begin with. Those such as `products/1-A` say all there is to say. */
function prefixFor(row: Row | undefined, idColumn: number, collection: string): string {
  const isWhole = row?.fields[idColumn]?.includes("/") ?? false;
  return isWhole || collection === "" ? "" : prefixOf(collection);
}

/** The column of the ids is no field besides. */
function withId(columns: readonly Column[], idColumn: number): Column[] {
  return columns.map((column, at) => (at === idColumn ? { ...column, kind: "none" } : column));
}

/** The document of a row, or why there is none. */
function previewOf(row: Row, plan: CsvPlan): string {
  try {
    const { id, text } = csvDocument(row, plan);
    return `${id}${plan.idColumn < 0 ? "…" : ""} ${text}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
