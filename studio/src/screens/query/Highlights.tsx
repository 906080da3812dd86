// What a query found in texts, marked; and how the scores of its results came about.
import { Link } from "@tanstack/react-router";
import { Fragment, useMemo } from "react";
import { piecesOf } from "./fragments";
import bars from "./facets.module.css";
import styles from "./highlights.module.css";
import results from "./query.module.css";

export function Highlights({
  database,
  found,
  parameters,
}: {
  database: string;
  found: Record<string, Record<string, string[]>>;
  /** A JSON object as text. */
  parameters: string;
}) {
  const values = useMemo(() => JSON.parse(parameters) as Record<string, unknown>, [parameters]);
  const ids = [...new Set(Object.values(found).flatMap((byId) => Object.keys(byId)))];
  if (ids.length === 0) return <p className={results.note}>There is nothing to highlight in these results.</p>;
  return (
    <ul className={styles.marks}>
      {ids.map((id) => (
        <li key={id}>
          <h2>
            <Of database={database} id={id} />
          </h2>
          <dl>
            {Object.entries(found).flatMap(([field, byId]) =>
              byId[id] === undefined || byId[id].length === 0
                ? []
                : [
                    <Fragment key={field}>
                      <dt>{field}</dt>
                      {byId[id].map((fragment, at) => (
                        <dd key={at}>
                          {piecesOf(fragment, values).map((piece, place) =>
                            piece.isFound ? <mark key={place}>{piece.text}</mark> : <span key={place}>{piece.text}</span>,
                          )}
                        </dd>
                      ))}
                    </Fragment>,
                  ],
            )}
          </dl>
        </li>
      ))}
    </ul>
  );
}

/** The first line has the score; the rest is how it came about. */
export function Explanations({ database, found }: { database: string; found: Record<string, string[]> }) {
  const all = Object.entries(found);
  if (all.length === 0) return <p className={results.note}>No result has a score.</p>;
  const scores = all.map(([, texts]) => Number.parseFloat(texts[0] ?? ""));
  const top = Math.max(...scores.filter((score) => !Number.isNaN(score)), Number.MIN_VALUE);
  return (
    <ul className={styles.marks}>
      {all.map(([id, texts], at) => (
        <li key={id}>
          <h2 className={styles.score}>
            <Of database={database} id={id} />
            {!Number.isNaN(scores[at]!) && (
              <>
                <span className={bars.facetBar}>
                  <span style={{ width: `${(scores[at]! / top) * 100}%` }} />
                </span>
                <b className="number">{scores[at]!.toPrecision(4)}</b>
              </>
            )}
          </h2>
          <details open={at === 0}>
            <summary>Explanation</summary>
            {texts.map((text, place) => (
              <pre key={place}>{text.trimEnd()}</pre>
            ))}
          </details>
        </li>
      ))}
    </ul>
  );
}

function Of({ database, id }: { database: string; id: string }) {
  return (
    <Link to="/databases/$database/document" params={{ database }} search={{ id }}>
      {id}
    </Link>
  );
}
