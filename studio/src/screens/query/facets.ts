// Results of `facet()` and `suggest()`, found in what a query gave.

type Row = Record<string, unknown>;

/** What is computed of a field for each value of a facet, in the order in which it is shown. */
const AGGREGATES = ["Sum", "Average", "Min", "Max"] as const;

export type FacetValue = {
  range: string;
  count: number;
  /** One for each of the facet's `aggregates`; undefined where there is none. */
  numbers: (number | undefined)[];
};

export type Facet = {
  name: string;
  values: FacetValue[];
  /** As `Sum of Total`. */
  aggregates: string[];
  /** Values that its options leave out. */
  leftOutCount: number;
};

export type Suggested = { name: string; words: string[] };

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);
const isValue = (value: unknown): value is Row & { Range: string; Count: number } =>
  isRow(value) && typeof value["Range"] === "string" && typeof value["Count"] === "number";

/** The results as facets, if that is what all of them are. */
export function facetsOf(rows: readonly Row[]): Facet[] | undefined {
  const facets = rows.flatMap((row) => {
    const values = row["Values"];
    return typeof row["Name"] === "string" && Array.isArray(values) && values.every(isValue)
      ? [facetOf(row["Name"], values, row["RemainingTermsCount"])]
      : [];
  });
  return rows.length > 0 && facets.length === rows.length ? facets : undefined;
}

/** The server has a value several times if several fields are added up. */
function facetOf(name: string, values: readonly (Row & { Range: string; Count: number })[], remaining: unknown): Facet {
  const aggregates: string[] = [];
  const byRange = new Map<string, { count: number; found: Map<string, number> }>();
  for (const value of values) {
    const at = byRange.get(value.Range) ?? { count: value.Count, found: new Map<string, number>() };
    byRange.set(value.Range, at);
    for (const aggregate of AGGREGATES) {
      const number = value[aggregate];
      if (typeof number !== "number") continue;
      const title = typeof value["Name"] === "string" ? `${aggregate} of ${value["Name"]}` : aggregate;
      if (!aggregates.includes(title)) aggregates.push(title);
      at.found.set(title, number);
    }
  }
  return {
    name,
    aggregates,
    values: arranged([...byRange]).map(([range, { count, found }]) => ({
      range,
      count,
      numbers: aggregates.map((title) => found.get(title)),
    })),
    leftOutCount: typeof remaining === "number" ? remaining : 0,
  };
}

/** Numbers that the server has in the order of texts (1, 10, 2), in their own order. An order that somebody asked for stays. */
function arranged<T>(values: [range: string, T][]): [range: string, T][] {
  const isNumber = ([range]: [string, T]) => range.trim() !== "" && Number.isFinite(Number(range));
  const isByText = values.every(([range], at) => at === 0 || values[at - 1]![0] <= range);
  return isByText && values.every(isNumber) ? values.sort(([one], [other]) => Number(one) - Number(other)) : values;
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
