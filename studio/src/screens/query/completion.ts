// What may stand at a place of a query: words of the language, collections, indexes, fields.
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";
import { RQL_KEYWORDS } from "../../editor/rqlWords";
import { collectionOf, quotedIfNeeded } from "./text";

/** Functions with what goes into them. */
const FUNCTIONS: Record<string, string> = {
  "search(": "field, 'words'",
  "startsWith(": "field, 'prefix'",
  "endsWith(": "field, 'suffix'",
  "regex(": "field, 'pattern'",
  "exists(": "field",
  "exact(": "condition",
  "boost(": "condition, factor",
  "lucene(": "field, 'query'",
  "fuzzy(": "condition, similarity",
  "intersect(": "condition, condition, …",
  "id()": "the document's id",
  "moreLikeThis(": "id or document",
  "spatial.within(": "point, shape",
  "spatial.circle(": "radius, latitude, longitude",
  "spatial.point(": "latitude, longitude",
  "spatial.wkt(": "'shape'",
  "facet(": "field",
  "suggest(": "field, 'word'",
  "count()": "of a group",
  "sum(": "of a group",
  "key()": "of a group",
  "score()": "how well it fits",
  "random()": "any order",
  "timings()": "in include",
  "highlight(": "in include",
  "explanations()": "in include",
};

export type Known = {
  collections: readonly string[];
  indexes: readonly string[];
  fieldsOf: (collection: string) => Promise<string[]>;
};

const option =
  (type: string, detail?: string) =>
  (label: string): Completion => ({ label, apply: label, type, ...(detail === undefined ? {} : { detail }) });

export function completion(known: Known): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/['"]?[\w@$./[\]-]*$/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    const text = context.state.doc.toString();
    const before = text.slice(0, word.from).replace(/\s+$/, "").toLowerCase();
    const named = (names: readonly string[], detail: string) =>
      names.map((name) => ({ ...option("class", detail)(name), apply: quotedIfNeeded(name) }));

    if (/\bfrom index$/.test(before)) return { from: word.from, options: named(known.indexes, "index") };
    if (/\bfrom$/.test(before)) {
      return {
        from: word.from,
        options: [...named(known.collections, "collection"), option("keyword")("index"), option("keyword")("@all_docs")],
      };
    }
    const collection = collectionOf(text);
    const fields = collection === undefined ? [] : await known.fieldsOf(collection);
    const options = [
      ...fields.map(option("property", "field")),
      ...RQL_KEYWORDS.map(option("keyword")),
      ...Object.entries(FUNCTIONS).map(([name, detail]) => option("function", detail)(name)),
    ];
    return { from: word.from, options, validFor: /^[\w@$.[\]]*$/ };
  };
}
