// Results of `facet()` and `suggest()`, as what they are.
import { aggregate, count, counted } from "../../format/format";
import type { Facet, Suggested } from "./facets";
import styles from "./facets.module.css";

export function Facets({ facets }: { facets: readonly Facet[] }) {
  return (
    <div className={styles.facets}>
      {facets.map((facet, at) => (
        <FacetTable key={`${facet.name} ${at}`} facet={facet} />
      ))}
    </div>
  );
}

function FacetTable({ facet }: { facet: Facet }) {
  const top = Math.max(1, ...facet.values.map((value) => value.count));
  const hasNumbers = facet.aggregates.length > 0;
  return (
    <section className={styles.facet} data-wide={hasNumbers || undefined}>
      <h2>{facet.name}</h2>
      <table>
        {hasNumbers && (
          <thead>
            <tr>
              <th scope="col">Value</th>
              <td />
              <th scope="col">Count</th>
              {facet.aggregates.map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {facet.values.map((value) => (
            <tr key={value.range}>
              <th scope="row" className="cut" title={value.range}>
                {value.range}
              </th>
              <td className={styles.facetBar}>
                <span style={{ width: `${(value.count / top) * 100}%` }} />
              </td>
              <td className="number">{count(value.count)}</td>
              {value.numbers.map((number, column) => (
                <td key={facet.aggregates[column]} className="number">
                  {number === undefined ? "–" : aggregate(number)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {facet.leftOutCount > 0 && <p className="soft">{`${counted(facet.leftOutCount, "more value")} left out by its options.`}</p>}
    </section>
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
