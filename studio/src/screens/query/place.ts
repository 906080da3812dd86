// What the language of queries expects at the end of a text: a field, an operator, a value, the next clause. It helps typing; the server
// has the grammar.

/** The clauses in the order in which they stand. */
export const CLAUSES = [
  "from",
  "group by",
  "where",
  "order by",
  "load",
  "filter",
  "select",
  "update",
  "include",
  "limit",
  "offset",
  "filter_limit",
] as const;
export type Clause = (typeof CLAUSES)[number];

export type Place =
  | { kind: "start" }
  /** The name of a collection or an index. */
  | { kind: "source"; isIndex: boolean }
  /** A field or a function. * `call`: the function whose argument it is. */
  | { kind: "operand"; clause: Clause; call?: string | undefined }
  /** Behind a field of a condition. */
  | { kind: "operator"; clause: Clause }
  /** Behind an operator, or as an argument. * `field`: what it is compared with. * `quote`: set inside of a string, which began at `from`. */
  | { kind: "value"; clause: Clause; field: string | undefined; call?: string | undefined; quote?: string; from?: number }
  /** Behind something complete. * `isOpen`: whether a bracket has to be closed first. */
  | { kind: "end"; clause: Clause; isOpen: boolean }
  /** Behind `as` in `order by`. */
  | { kind: "sorting" }
  /** JavaScript. * `isUpdate`: of `update { .. }`. */
  | { kind: "script"; isUpdate: boolean }
  /** A new name or a number, and what is open otherwise. */
  | { kind: "none" };

/** * `quote`: of a string that is not closed. */
type Token = { kind: "name" | "string" | "number" | "sign"; text: string; at: number; quote?: string };

const TOKEN =
  /\/\/[^\n]*|\/\*(?:[^]*?\*\/|[^]*)|'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?|\d[\w.]*|[@$\p{L}_](?:[\p{L}\p{N}_@$.-]|\[\])*|[<>!=]=|<>|[^\s]/gu;

export function tokensOf(text: string): Token[] {
  return [...text.matchAll(TOKEN)].flatMap(({ 0: found, index: at }): Token[] => {
    const first = found[0]!;
    if (found.startsWith("//") || found.startsWith("/*")) return [];
    if (first === "'" || first === '"') {
      // One that ends with an escaped quote is open: the quote belongs to it.
      const isClosed = found.length > 1 && found.endsWith(first) && !/(?<!\\)(?:\\\\)*\\.$/.test(found);
      return [
        isClosed ? { kind: "string", text: found.slice(1, -1), at } : { kind: "string", text: found.slice(1), at, quote: first },
      ];
    }
    const kind = /\d/.test(first) ? "number" : /[@$\p{L}_]/u.test(first) ? "name" : "sign";
    return [{ kind, text: found, at }];
  });
}

const OPERATORS = new Set(["=", "==", "!=", "<>", "<", ">", "<=", ">="]);

/** Where the end of `text` is in a query. */
export function placeAt(text: string): Place {
  const tokens = tokensOf(text);
  if (endsInComment(text)) return { kind: "none" };
  let clause: Clause | undefined;
  let inside: Token[] = [];
  let braces: { isUpdate: boolean }[] = [];
  let depth = 0;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token.text === "{" && token.kind === "sign") braces = [...braces, { isUpdate: clause === "update" }];
    else if (token.text === "}" && token.kind === "sign") braces = braces.slice(0, -1);
    else if (braces.length === 0) {
      if (token.kind === "sign" && token.text === "(") depth++;
      if (token.kind === "sign" && token.text === ")") depth = Math.max(0, depth - 1);
      const found = depth === 0 && token.kind === "name" ? clauseAt(tokens, at) : undefined;
      if (found) {
        clause = found.clause;
        inside = [];
        at += found.length - 1;
      } else inside.push(token);
    }
  }
  if (braces.length > 0) return { kind: "script", isUpdate: braces[0]!.isUpdate };
  if (clause === undefined) return inside.length === 0 ? { kind: "start" } : { kind: "none" };
  if (clause === "from") return sourceAt(inside);
  if (clause === "where" || clause === "filter") return conditionAt(inside, clause);
  return listAt(inside, clause);
}

function endsInComment(text: string): boolean {
  let isOpen = false;
  for (const { 0: found, index } of text.matchAll(TOKEN)) {
    isOpen = index + found.length === text.length && (found.startsWith("//") || (found.startsWith("/*") && !found.endsWith("*/")));
  }
  return isOpen;
}

function clauseAt(tokens: readonly Token[], at: number): { clause: Clause; length: number } | undefined {
  const word = tokens[at]!.text.toLowerCase();
  const next = tokens[at + 1];
  if (word === "group" || word === "order") {
    return next?.text.toLowerCase() === "by" ? { clause: `${word} by` as Clause, length: 2 } : undefined;
  }
  return CLAUSES.includes(word as Clause) ? { clause: word as Clause, length: 1 } : undefined;
}

function sourceAt(tokens: readonly Token[]): Place {
  const isIndex = tokens[0]?.text.toLowerCase() === "index" && tokens[0].kind === "name";
  const rest = isIndex ? tokens.slice(1) : tokens;
  if (rest.length === 0) return { kind: "source", isIndex };
  const last = rest.at(-1)!;
  if (last.quote !== undefined) return rest.length === 1 ? { kind: "source", isIndex } : { kind: "none" };
  return last.text.toLowerCase() === "as" && rest.length === 2 ? { kind: "none" } : { kind: "end", clause: "from", isOpen: false };
}

/** A bracket: the list behind `in`, the arguments of a function, or a part of a condition. */
type Bracket = { kind: "in" | "call" | "group"; field: string | undefined; name: string | undefined };

function conditionAt(tokens: readonly Token[], clause: Clause): Place {
  let expected: "operand" | "operator" | "value" | "end" = "operand";
  let field: string | undefined;
  let isBetween = false;
  let before: Token | undefined;
  const open: Bracket[] = [];
  for (const token of tokens) {
    const word = token.kind === "name" ? token.text.toLowerCase() : "";
    if (token.quote !== undefined) {
      const name = expected === "value" ? (open.at(-1)?.field ?? field) : undefined;
      return { kind: "value", clause, field: name, quote: token.quote, from: token.at + 1 };
    }
    if (token.kind === "sign") {
      if (token.text === "(") {
        const isCall = before?.kind === "name" && expected === "operator";
        const isList = before?.text.toLowerCase() === "in";
        open.push({
          kind: isList ? "in" : isCall ? "call" : "group",
          field: isList ? field : undefined,
          name: isCall ? before?.text.toLowerCase() : undefined,
        });
        expected = isList ? "value" : "operand";
      } else if (token.text === ")") {
        const closed = open.pop();
        // `id()` and `count()` are compared; other functions are conditions by themselves.
        expected = closed?.kind === "call" ? "operator" : "end";
      } else if (token.text === ",") {
        const bracket = open.at(-1);
        if (bracket?.kind === "call") bracket.field ??= field;
        field = bracket?.field ?? field;
        expected = bracket === undefined || bracket.kind === "group" ? "operand" : "value";
      } else if (OPERATORS.has(token.text)) expected = "value";
    } else if (word === "and" && isBetween) {
      isBetween = false;
      expected = "value";
    } else if (word === "and" || word === "or" || word === "not") expected = "operand";
    else if (word === "between") {
      isBetween = true;
      expected = "value";
    } else if (word === "in") expected = "value";
    else if (word === "all" && expected === "operator") expected = "operator";
    else if (expected === "operand" && token.kind !== "number") {
      field = token.text;
      expected = "operator";
    } else expected = "end";
    before = token;
  }
  const bracket = open.at(-1);
  if (expected === "value") return { kind: "value", clause, field: bracket?.field ?? field, call: bracket?.name };
  if (expected === "end") return { kind: "end", clause, isOpen: open.length > 0 };
  if (expected === "operator" && bracket?.kind === "call") return { kind: "end", clause, isOpen: true };
  return expected === "operand" ? { kind: expected, clause, call: bracket?.name } : { kind: expected, clause };
}

/** Clauses that list fields or functions, with commas between them. */
function listAt(tokens: readonly Token[], clause: Clause): Place {
  const last = tokens.at(-1);
  if (last?.quote !== undefined) return { kind: "none" };
  const calls: (string | undefined)[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== "sign") continue;
    if (text === "(") calls.push(tokens[at - 1]?.text.toLowerCase());
    else if (text === ")") calls.pop();
  }
  const word = last?.kind === "name" ? last.text.toLowerCase() : last?.text;
  const isNumber = clause === "limit" || clause === "offset" || clause === "filter_limit" || clause === "update";
  if (last === undefined || word === "," || word === "(" || (clause === "select" && word === "distinct")) {
    return isNumber ? { kind: "none" } : { kind: "operand", clause, call: calls.at(-1) };
  }
  if (word === "as") return clause === "order by" ? { kind: "sorting" } : { kind: "none" };
  return { kind: "end", clause, isOpen: calls.length > 0 };
}

/** The clauses of a query with where they stand: the word at `start`, what belongs to it from `bodyStart` to `end`. */
export function clausesOf(text: string): { clause: Clause; start: number; bodyStart: number; end: number }[] {
  const tokens = tokensOf(text);
  const found: { clause: Clause; start: number; bodyStart: number; end: number }[] = [];
  let depth = 0;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token.kind === "sign" && /[({]/.test(token.text)) depth++;
    if (token.kind === "sign" && /[)}]/.test(token.text)) depth = Math.max(0, depth - 1);
    const clause = depth === 0 && token.kind === "name" ? clauseAt(tokens, at) : undefined;
    if (!clause) continue;
    const last = found.at(-1);
    if (last) last.end = token.at;
    at += clause.length - 1;
    const word = tokens[at]!;
    found.push({ clause: clause.clause, start: token.at, bodyStart: word.at + word.text.length, end: text.length });
  }
  return found;
}

/** What `load` calls the documents that it reads: their alias, and the path of their id. */
export function loadsOf(text: string): { alias: string; path: string }[] {
  const tokens = tokensOf(text);
  const start = tokens.findIndex(({ kind, text }) => kind === "name" && text.toLowerCase() === "load");
  if (start < 0) return [];
  const found: { alias: string; path: string }[] = [];
  for (let at = start + 1; at + 2 < tokens.length; at += 4) {
    const [path, as, alias, comma] = tokens.slice(at, at + 4);
    if (path!.kind !== "name" || as!.text.toLowerCase() !== "as" || alias!.kind !== "name") break;
    found.push({ alias: alias!.text.replace(/\[\]$/, ""), path: path!.text });
    if (comma?.text !== ",") break;
  }
  return found;
}
