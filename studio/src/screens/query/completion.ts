// What may stand at a place of a query: words of the language, collections, indexes, fields.
// Types only: the editor is loaded later than the screen.
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import { RQL_KEYWORDS } from "../../editor/rqlWords";
import FUNCTIONS from "./functions.json";
import { aliasOf, collectionOf, indexOf, isInScript, parametersOf, quotedIfNeeded } from "./text";

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

export type Known = {
  collections: readonly string[];
  indexes: readonly string[];
  fieldsOf: (collection: string) => Promise<string[]>;
  fieldsOfIndex: (index: string) => Promise<string[]>;
  /** Names of the parameters that are given, without `$`. */
  parameters: () => readonly string[];
};

const option =
  (type: string, detail?: string) =>
  (label: string): Completion => ({ label, apply: label, type, ...(detail === undefined ? {} : { detail }) });

/** A function; its bracket is closed if it needs no arguments. The list is written from the table of the query planner. */
function optionOf({ name, arguments: given, about }: (typeof FUNCTIONS)[number]): Completion {
  const isComplete = given === "" || given.startsWith("[");
  return { ...option("function", given || undefined)(`${name}${isComplete ? "()" : "("}`), info: about };
}

/** The name of a source whose quote is open: `from index 'Or`. */
const OPEN_QUOTE = /\bfrom\s+(index\s+)?(['"])([^'"]*)$/i;

/** Puts a name into an open quote, and closes it unless it is closed. */
function applyInQuote(quote: string) {
  return (view: EditorView, { label }: Completion, from: number, to: number) => {
    const end = view.state.sliceDoc(to, to + 1) === quote ? to + 1 : to;
    const name = label.replace(/\\/g, "\\\\").replaceAll(quote, `\\${quote}`);
    const insert = `${name}${quote}`;
    view.dispatch({ changes: { from, to: end, insert }, selection: { anchor: from + insert.length }, userEvent: "input.complete" });
  };
}

export function completion(known: Known): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const text = context.state.doc.toString();
    const open = OPEN_QUOTE.exec(text.slice(0, context.pos));
    if (open) {
      const [names, detail] = open[1] ? [known.indexes, "index"] : [known.collections, "collection"];
      const options = names.map((name) => ({ ...option("class", detail)(name), apply: applyInQuote(open[2]!) }));
      return { from: context.pos - open[3]!.length, options, validFor: /^[^'"]*$/ };
    }
    const word = context.matchBefore(/[\w@$./[\]-]*$/);
    const isName = context.matchBefore(/\bfrom\s+(index\s+)?$/i) !== null;
    if (!word || (word.from === word.to && !context.explicit && !isName)) return null;
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
    const validFor = /^[\w@$.[\]]*$/;
    if (word.text.startsWith("$")) {
      const used = parametersOf(text.slice(0, word.from) + text.slice(word.to));
      const names = [...new Set([...known.parameters(), ...used])].map((name) => `$${name}`);
      return { from: word.from, options: names.map(option("variable", "parameter")), validFor };
    }
    const [collection, index, alias] = [collectionOf(text), indexOf(text), aliasOf(text)];
    const fields =
      index !== undefined ? await known.fieldsOfIndex(index) : collection !== undefined ? await known.fieldsOf(collection) : [];
    const below = (name: string | undefined) => fields.map((field) => (name === undefined ? field : `${name}.${field}`));
    const functionsOfScripts = Object.entries(SCRIPT_FUNCTIONS).map(([name, detail]) => option("function", detail)(name));
    if (isInScript(text.slice(0, word.from))) {
      const named = [...below("this"), ...(alias === undefined ? [] : below(alias))];
      return { from: word.from, options: [...named.map(option("property", "field")), ...functionsOfScripts], validFor };
    }
    const options = [
      ...below(alias).map(option("property", "field")),
      ...RQL_KEYWORDS.map(option("keyword")),
      ...FUNCTIONS.map(optionOf),
    ];
    return { from: word.from, options, validFor };
  };
}
