// RQL and C# for the highlighter: words, strings, numbers and comments; the server alone knows their grammar.
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

type State = { isInComment: boolean };

function parser(words: ReadonlySet<string>, isCaseless: boolean): StreamParser<State> {
  return {
    startState: () => ({ isInComment: false }),
    token(stream, state) {
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
