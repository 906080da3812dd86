// Results of `facet()` and `suggest()`, as what they are.
import { count } from "../../format/format";
import styles from "./query.module.css";

type Row = Record<string, unknown>;
type Value = { Range: string; Count: number };
export type Facet = { name: string; values: Value[] };
export type Suggested = { name: string; words: string[] };

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);

/** The results as facets, if that is what all of them are. */
export function facetsOf(rows: readonly Row[]): Facet[] | undefined {
  const facets = rows.flatMap((row) => {
    const values = row["Values"];
    const isFacet =
      typeof row["Name"] === "string" &&
      Array.isArray(values) &&
      values.every((value) => isRow(value) && typeof value["Range"] === "string" && typeof value["Count"] === "number");
    return isFacet ? [{ name: row["Name"] as string, values: values as Value[] }] : [];
  });
  return rows.length > 0 && facets.length === rows.length ? facets : undefined;
}

/** The results as suggestions, if that is what all of them are. */
export function suggestionsOf(rows: readonly Row[]): Suggested[] | undefined {
  const found = rows.flatMap((row) => {
    const words = row["Suggestions"];
    const isSuggestion = typeof row["Name"] === "string" && Array.isArray(words) && words.every((word) => typeof word === "string");
    return isSuggestion ? [{ name: row["Name"] as string, words: words as string[] }] : [];
  });
  return rows.length > 0 && found.length === rows.length ? found : undefined;
}

export function Facets({ facets }: { facets: readonly Facet[] }) {
  return (
    <div className={styles.facets}>
      {facets.map((facet) => {
        const top = Math.max(1, ...facet.values.map((value) => value.Count));
        return (
          <section key={facet.name} className={styles.facet}>
            <h2>{facet.name}</h2>
            <table>
              <tbody>
                {facet.values.map((value) => (
                  <tr key={value.Range}>
                    <th scope="row" className="cut" title={value.Range}>
                      {value.Range}
                    </th>
                    <td className={styles.facetBar}>
                      <span style={{ width: `${(value.Count / top) * 100}%` }} />
                    </td>
                    <td className="number">{count(value.Count)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        );
      })}
    </div>
  );
}

export function Suggestions({ suggestions }: { suggestions: readonly Suggested[] }) {
  return (
    <div className={styles.facets}>
      {suggestions.map((suggested) => (
        <section key={suggested.name} className={styles.facet}>
          <h2>{suggested.name}</h2>
          {suggested.words.length === 0 && <p className="soft">Nothing similar.</p>}
          <ul className={styles.words}>
            {suggested.words.map((word) => (
              <li key={word}>{word}</li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
