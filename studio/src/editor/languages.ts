// RQL, C# and the languages of clients for the highlighter: words, strings, numbers and comments; the server alone knows the grammar of RQL.
import { StreamLanguage, type StreamParser } from "@codemirror/language";
import { RQL_KEYWORDS } from "./rqlWords";

const RQL_WORDS = new Set([
  ...RQL_KEYWORDS.flatMap((keyword) => keyword.split(" ")),
  "function",
  "return",
  "string",
  "long",
  "double",
  "alphanumeric",
  "filter_limit",
]);

/** `quote`: what ends the string of several lines that has begun. */
type State = { isInComment: boolean; quote: string };

/** `quotes`: those of strings that may have several lines. */
function parser(words: ReadonlySet<string>, isCaseless: boolean, quotes: readonly string[] = []): StreamParser<State> {
  return {
    startState: () => ({ isInComment: false, quote: "" }),
    token(stream, state) {
      const quote = state.quote || quotes.find((one) => stream.match(one));
      if (quote) {
        const isOver = stream.skipTo(quote) === true;
        if (isOver) stream.match(quote);
        else stream.skipToEnd();
        state.quote = isOver ? "" : quote;
        return "string";
      }
      if (state.isInComment) {
        if (stream.skipTo("*/")) {
          stream.match("*/");
          state.isInComment = false;
        } else stream.skipToEnd();
        return "comment";
      }
      if (stream.eatSpace()) return null;
      if (stream.match("//")) {
        stream.skipToEnd();
        return "comment";
      }
      if (stream.match("/*")) {
        state.isInComment = true;
        return "comment";
      }
      if (stream.match(/^\$?(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/)) return "string";
      if (stream.match(/^\$[A-Za-z_]\w*/)) return "variableName.special";
      if (stream.match(/^-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?m?/)) return "number";
      const word = stream.match(/^[@\p{L}_][\p{L}\p{N}_@-]*/u) as RegExpMatchArray | null;
      if (word) {
        const name = isCaseless ? word[0].toLowerCase() : word[0];
        if (words.has(name)) return "keyword";
        return stream.match(/^\s*\(/, false) ? "variableName.function" : "variableName";
      }
      stream.next();
      return null;
    },
    languageData: {
      commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
      closeBrackets: { brackets: ["(", "[", "{", "'", '"'] },
    },
  };
}

export const rql = () => StreamLanguage.define(parser(RQL_WORDS, true));

const CSHARP_WORDS = new Set(
  (
    "from in let where select group by into orderby new null true false as is var int long double decimal string bool object " +
    "this return if else for foreach while ascending descending join on equals"
  ).split(" "),
);

export const csharp = () => StreamLanguage.define(parser(CSHARP_WORDS, false));

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const JAVA_WORDS = words("import public class static void new try final null true false return for if else extends implements");
const GO_WORDS = words("package import func type struct interface map var return if else for range defer nil true false");
const PYTHON_WORDS = words("from import with as for in if else def class return None True False and or not try except");
const SHELL_WORDS = words("curl");

export const java = () => StreamLanguage.define(parser(JAVA_WORDS, false));
export const go = () => StreamLanguage.define(parser(GO_WORDS, false, ["`"]));
export const python = () => StreamLanguage.define(parser(PYTHON_WORDS, false, ['"""']));
export const shell = () => StreamLanguage.define(parser(SHELL_WORDS, false, ["'"]));
