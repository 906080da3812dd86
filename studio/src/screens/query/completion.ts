// What may stand at a place of a query: fields and values where they are expected, functions of the clause, the words that may follow.
// Types only: the editor is loaded later than the screen.
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import FUNCTIONS from "./functions.json";
import { literalOf } from "./names";
import { CLAUSES, loadsOf, placeAt, type Clause } from "./place";
import { aliasOf, collectionOf, indexOf, parametersOf, quotedIfNeeded } from "./text";
import { NO_VALUES, type Values } from "./values";

/** Functions of scripts that patch. */
const SCRIPT_FUNCTIONS: Record<string, string> = {
  "load(": "id",
  "put(": "id, document",
  "del(": "id",
  "id(": "document",
  "getMetadata(": "document",
  "lastModified(": "document",
  "output(": "what is shown in the preview",
};

/** What is asked: a collection, or an index by its name. */
export type Source = { collection: string | undefined; index: string | undefined };

export type Known = {
  collections: readonly string[];
  indexes: readonly string[];
  fieldsOf: (source: Source) => Promise<string[]>;
  /** Values that a field has, the most frequent first, as far as known; of many, those that begin with `prefix`. */
  valuesOf: (source: Source, field: string, prefix: string, signal: AbortSignal) => Promise<Values>;
  /** Fields of the documents whose ids stand at a path of a collection. */
  fieldsBehind: (collection: string, path: string) => Promise<string[]>;
  /** Names of the parameters that are given, without `$`. */
  parameters: () => readonly string[];
};

/** Where options stand in the list: fields and values before functions, these before words. */
const BOOST = { expected: 20, function: 0, word: -10, clause: -20 } as const;

const option =
  (type: string, detail?: string, boost = 0) =>
  (label: string): Completion => ({ label, apply: label, type, boost, ...(detail === undefined ? {} : { detail }) });

const word = option("keyword", undefined, BOOST.word);

/** A function; its bracket is closed if it needs no arguments. The list is written from the table of the query planner. */
function optionOf({ name, arguments: given, about }: (typeof FUNCTIONS)[number]): Completion {
  const isComplete = given === "" || given.startsWith("[");
  return { ...option("function", given || undefined, BOOST.function)(`${name}${isComplete ? "()" : "("}`), info: about };
}

/** Functions that stand in a place. The table names the arguments of some functions as places of their own. */
function functionsOf(clause: Clause, call: string | undefined, isGrouped: boolean): Completion[] {
  const places = [
    call === "facet"
      ? "facet()"
      : call === "vector.search"
        ? "vector.search()"
        : call?.startsWith("spatial.")
          ? "functions about places"
          : clause,
    ...(isGrouped && call === undefined ? ["results of group by"] : []),
  ];
  return FUNCTIONS.filter(({ clauses }) => places.some((place) => (clauses as string[]).includes(place))).map(optionOf);
}

/** Puts a text into an open quote, and closes it unless it is closed. */
function applyInQuote(quote: string) {
  return (view: EditorView, { label }: Completion, from: number, to: number) => {
    const end = view.state.sliceDoc(to, to + 1) === quote ? to + 1 : to;
    const name = label.replace(/\\/g, "\\\\").replaceAll(quote, `\\${quote}`);
    const insert = `${name}${quote}`;
    view.dispatch({ changes: { from, to: end, insert }, selection: { anchor: from + insert.length }, userEvent: "input.complete" });
  };
}

const inQuote = (labels: readonly string[], detail: string | undefined, quote: string) =>
  labels.map((label) => ({ ...option("class", detail)(label), apply: applyInQuote(quote) }));

/** The clauses that may stand behind one. */
function clausesBehind(clause: Clause): Completion[] {
  const first = CLAUSES.indexOf(clause) + 1;
  return CLAUSES.slice(first)
    .filter((next) => next !== "filter_limit" || clause === "filter")
    .map(option("keyword", undefined, BOOST.clause));
}

/** Words that may stand behind something complete in a clause. */
const WORDS_BEHIND: Partial<Record<Clause, readonly string[]>> = {
  from: ["as"],
  where: ["and", "or"],
  filter: ["and", "or"],
  "group by": ["as"],
  "order by": ["asc", "desc", "as"],
  load: ["as"],
  select: ["as"],
};

const OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "in (", "all in (", "between"];
const SORTINGS = ["string", "long", "double", "alphaNumeric"];
const WORD = /[\w@$./[\]-]*$/;
const VALID = /^[\w@$.[\]]*$/;

export function completion(known: Known): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const text = context.state.doc.toString();
    const quoted = placeAt(text.slice(0, context.pos));
    const source: Source = { collection: collectionOf(text), index: indexOf(text) };
    const alias = aliasOf(text);
    const bare = (field: string) => (alias !== undefined && field.startsWith(`${alias}.`) ? field.slice(alias.length + 1) : field);

    const valuesOf = async (field: string | undefined, prefix: string): Promise<Values> => {
      if (field === undefined) return NO_VALUES;
      const waiting = new AbortController();
      // Another character asks for other values.
      context.addEventListener("abort", () => waiting.abort(), { onDocChange: true });
      return known.valuesOf(source, bare(field), prefix, waiting.signal);
    };

    if (quoted.kind === "value" && quoted.quote !== undefined && quoted.from !== undefined) {
      const { values, isComplete } = await valuesOf(quoted.field, text.slice(quoted.from, context.pos));
      const texts = values.filter((value) => typeof value === "string");
      const found = { from: quoted.from, options: inQuote(texts, undefined, quoted.quote) };
      return isComplete ? { ...found, validFor: /^[^'"]*$/ } : found;
    }
    const open = /(['"])([^'"]*)$/.exec(text.slice(0, context.pos));
    if (quoted.kind === "source" && open) {
      const options = inQuote(
        quoted.isIndex ? known.indexes : known.collections,
        quoted.isIndex ? "index" : "collection",
        open[1]!,
      );
      return { from: context.pos - open[2]!.length, options, validFor: /^[^'"]*$/ };
    }
    const typed = context.matchBefore(WORD);
    if (!typed) return null;
    const place = placeAt(text.slice(0, typed.from));
    const isEmpty = typed.from === typed.to;
    // By itself the list opens where a name or a value of a field is expected; elsewhere Enter would choose from it.
    const isExpected =
      (place.kind === "source" || place.kind === "operand" || (place.kind === "value" && place.field !== undefined)) &&
      /[\s(,]$/.test(text.slice(0, typed.from));
    if (isEmpty && !context.explicit && !isExpected) return null;
    const loads = loadsOf(text);
    const loadedIn = (word: string) => loads.find((load) => word.startsWith(`${load.alias}.`));
    const loaded = loadedIn(typed.text);
    // The point behind a loaded document asks for its fields, also while the names before it are still on their way.
    const validFor = (word: string) => VALID.test(word) && loadedIn(word) === loaded;
    const result = (options: Completion[]): CompletionResult => ({ from: typed.from, options, validFor });
    const parameters = () => {
      const used = parametersOf(text.slice(0, typed.from) + text.slice(typed.to));
      return [...new Set([...known.parameters(), ...used])].map((name) =>
        option("variable", "parameter", BOOST.expected)(`$${name}`),
      );
    };
    if (typed.text.startsWith("$")) return result(parameters());

    const isGrouped = /\bgroup\s+by\b/i.test(text);
    if (loaded && source.collection !== undefined && (place.kind === "operand" || place.kind === "script")) {
      const names = await known.fieldsBehind(source.collection, bare(loaded.path));
      return result(names.map((name) => option("property", "field", BOOST.expected)(`${loaded.alias}.${name}`)));
    }
    const fieldsBelow = async (name: string | undefined) =>
      (await known.fieldsOf(source)).map((field) =>
        option("property", "field", BOOST.expected)(name === undefined ? field : `${name}.${field}`),
      );

    switch (place.kind) {
      case "start":
        return result(["from", "from index", "declare function", "explain"].map(word));
      case "source": {
        const [names, detail] = place.isIndex ? [known.indexes, "index"] : [known.collections, "collection"];
        const options = names.map((name) => ({ ...option("class", detail)(name), apply: quotedIfNeeded(name) }));
        return result(place.isIndex ? options : [...options, word("index"), word("@all_docs")]);
      }
      case "script": {
        const names = place.isUpdate ? ["this", ...(alias === undefined ? [] : [alias])] : alias === undefined ? [] : [alias];
        const fields = (await Promise.all(names.map(fieldsBelow))).flat();
        const functions = place.isUpdate ? Object.entries(SCRIPT_FUNCTIONS) : [];
        return result([
          ...fields,
          ...loads.map((load) => option("variable", "loaded document")(`${load.alias}.`)),
          ...functions.map(([name, detail]) => option("function", detail)(name)),
        ]);
      }
      case "operand": {
        const words =
          place.clause === "where" || place.clause === "filter" ? ["not"] : place.clause === "select" ? ["distinct"] : [];
        return result([
          ...(await fieldsBelow(alias)),
          ...loads.map((load) => option("variable", "loaded document")(`${load.alias}.`)),
          ...functionsOf(place.clause, place.call, isGrouped),
          ...words.map(word),
        ]);
      }
      case "operator":
        return result([
          ...OPERATORS.map((operator) => ({
            ...option("keyword")(operator),
            apply: `${operator}${operator.endsWith("(") ? "" : " "}`,
          })),
          ...(WORDS_BEHIND[place.clause] ?? []).map(word),
          ...clausesBehind(place.clause),
        ]);
      case "value": {
        const { values, isComplete } = await valuesOf(place.field, typed.text);
        const literals = values.map((value) => literalOf(value));
        const found = result([
          ...parameters(),
          ...literals.map(option("text", undefined, BOOST.expected)),
          ...(/^(spatial|vector)\./.test(place.call ?? "") ? functionsOf(place.clause, place.call, false) : []),
          ...["true", "false", "null"].filter((name) => !literals.includes(name)).map(word),
        ]);
        // Without `validFor` the editor asks again at the next character.
        return isComplete ? found : { from: found.from, options: found.options };
      }
      case "end":
        if (place.isOpen) return null;
        return result([...(WORDS_BEHIND[place.clause] ?? []).map(word), ...clausesBehind(place.clause)]);
      case "sorting":
        return result(SORTINGS.map(word));
      case "none":
        return null;
    }
  };
}
