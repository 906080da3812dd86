// A program that runs a query with its parameters, for each client. Every text is escaped for the language in which it stands.
import { bare } from "../../api/limit";
import type { Language } from "../../editor/CodeEditor";
import { scan, type Span } from "../../json/scan";
import { isPatch } from "./text";

export type Client = "node" | "python" | "java" | "go" | "csharp" | "curl";

/** `install`: how the client is installed, empty if nothing is needed. `language`: for the highlighter. */
export type Program = { install: string; language: Language; text: string };

export const CLIENTS: readonly { value: Client; label: string }[] = [
  { value: "node", label: "Node.js" },
  { value: "python", label: "Python" },
  { value: "java", label: "Java" },
  { value: "go", label: "Go" },
  { value: "csharp", label: "C#" },
  { value: "curl", label: "curl" },
];

/** `parameters`: a JSON object as text, or nothing but spaces. */
type Source = { server: string; database: string; text: string; parameters: string };

/** How a language writes values. */
type Writer = {
  string: (text: string) => string;
  number: (digits: string) => string;
  word: Readonly<Record<"true" | "false" | "null", string>>;
  array: (items: readonly string[]) => string;
  object: (members: readonly (readonly [name: string, value: string])[]) => string;
};

/** Throws `JsonError` if the parameters are not JSON. */
export function programFor(client: Client, source: Source): Program {
  return PROGRAMS[client](source);
}

/**
 * A text in double quotes with backslash escapes. Everything but printable ASCII is escaped as `unicode` writes it, which keeps invisible
 * characters and line separators out of the program; letters of all languages stay readable.
 */
function escaped(text: string, unicode: (codePoint: number) => string): string {
  let out = "";
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (SHORT[character] !== undefined) out += SHORT[character];
    else if (code < 0x20 || code === 0x7f || UNSAFE.test(character)) out += unicode(code);
    else out += character;
  }
  return `"${out}"`;
}

const SHORT: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
/** Control and format characters, line separators, unpaired surrogates. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

const hex = (code: number, length: number) => code.toString(16).padStart(length, "0");
/** UTF-16 code units, as Java, C# and JavaScript write them. */
const units = (code: number) =>
  codeUnits(code)
    .map((unit) => `\\u${hex(unit, 4)}`)
    .join("");
function codeUnits(code: number): number[] {
  return code > 0xffff ? [0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff)] : [code];
}

const withUnits = (text: string) => escaped(text, units);
/** Python and Go. A Go string has no unpaired surrogates: U+FFFD stands for them. */
const withCodePoints = (text: string) => escaped(text, (code) => (code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`));
const forGo = (text: string) => withCodePoints(text.replace(/\p{Cs}/gu, "\ufffd"));

/** A long text in lines, joined by `+` as Java, Go and C# write it. */
function inLines(text: string, write: (text: string) => string, indent: string): string {
  const lines = text.split(/(?<=\n)/);
  return lines.map(write).join(` +\n${indent}`);
}

/** In JavaScript: a template literal if the text has several lines. */
function forNode(text: string): string {
  if (!text.includes("\n") || text.includes("\r")) return withUnits(text);
  const plain = [...text]
    .map((character) =>
      character !== "\n" && character !== "\t" && UNSAFE.test(character)
        ? units(character.codePointAt(0)!)
        : escapedInTemplate(character),
    )
    .join("");
  return `\`${plain.replaceAll("${", "\\${")}\``;
}
const escapedInTemplate = (character: string) => (character === "`" || character === "\\" ? `\\${character}` : character);

/** In Python: three quotes if the text has several lines. */
function forPython(text: string): string {
  if (!text.includes("\n") || text.includes("\r")) return withCodePoints(text);
  const inner = withCodePoints(text.replaceAll("\n", "\u0000")).slice(1, -1);
  return `"""${inner.replaceAll("\\u0000", "\n")}"""`;
}

/** In Go: a raw string where the text allows it. */
function rawForGo(text: string, indent: string): string {
  const isRaw =
    text.includes("\n") && !/[`\r\ufeff]/.test(text) && ![...text].some((one) => !/[\n\t]/.test(one) && UNSAFE.test(one));
  return isRaw ? `\`${text}\`` : inLines(text, forGo, indent);
}

/** In a POSIX shell: single quotes, in which nothing has a meaning. */
export function forShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function literal(text: string, span: Span, writer: Writer): string {
  const source = text.slice(span.start, span.end);
  switch (span.kind) {
    case "object":
      return writer.object(span.members.map(({ name, value }) => [writer.string(name), literal(text, value, writer)] as const));
    case "array":
      return writer.array(span.elements.map((element) => literal(text, element, writer)));
    case "string":
      return writer.string(JSON.parse(source) as string);
    case "number":
      return writer.number(source);
    case "word":
      return writer.word[source as "true" | "false" | "null"];
  }
}

/** The parameters, each with its value as the language writes it. */
function parametersFor(parameters: string, writer: Writer): { name: string; value: string }[] {
  if (parameters.trim() === "") return [];
  const root = scan(parameters);
  if (root.kind !== "object") return [];
  return root.members.map(({ name, value }) => ({ name, value: literal(parameters, value, writer) }));
}

const plainWords = { true: "true", false: "false", null: "null" } as const;
const isInteger = (digits: string) => /^-?\d+$/.test(digits);
const fits = (digits: string, bits: 32 | 64) => {
  const value = BigInt(digits);
  const limit = 1n << BigInt(bits - 1);
  return value >= -limit && value < limit;
};

const NODE: Writer = {
  string: withUnits,
  number: (digits) => digits,
  word: plainWords,
  array: (items) => `[${items.join(", ")}]`,
  object: (members) =>
    `{ ${members.map(([name, value]) => `${name === '"__proto__"' ? `[${name}]` : name}: ${value}`).join(", ")} }`,
};
const PYTHON: Writer = {
  string: withCodePoints,
  number: (digits) => digits,
  word: { true: "True", false: "False", null: "None" },
  array: (items) => `[${items.join(", ")}]`,
  object: (members) => `{${members.map(([name, value]) => `${name}: ${value}`).join(", ")}}`,
};
const JAVA: Writer = {
  string: withUnits,
  number: (digits) => {
    if (!isInteger(digits)) return digits;
    if (fits(digits, 32)) return digits;
    return fits(digits, 64) ? `${digits}L` : `new java.math.BigInteger("${digits}")`;
  },
  word: plainWords,
  array: (items) => `java.util.Arrays.asList(${items.join(", ")})`,
  object: (members) =>
    `new java.util.HashMap<String, Object>() {{ ${members.map(([name, value]) => `put(${name}, ${value});`).join(" ")} }}`,
};
const GO: Writer = {
  string: forGo,
  number: (digits) => (isInteger(digits) && !fits(digits, 64) ? `json.Number("${digits}")` : digits),
  word: { true: "true", false: "false", null: "nil" },
  array: (items) => `[]interface{}{${items.join(", ")}}`,
  object: (members) => `map[string]interface{}{${members.map(([name, value]) => `${name}: ${value}`).join(", ")}}`,
};
const CSHARP: Writer = {
  string: withUnits,
  number: (digits) => {
    if (!isInteger(digits)) return /[eE]/.test(digits) ? digits : `${digits}m`;
    if (fits(digits, 32)) return digits;
    return fits(digits, 64) ? `${digits}L` : `${digits}m`;
  },
  word: plainWords,
  array: (items) => `new object[] { ${items.join(", ")} }`,
  object: (members) => `new Dictionary<string, object> { ${members.map(([name, value]) => `[${name}] = ${value}`).join(", ")} }`,
};

const PROGRAMS: Readonly<Record<Client, (source: Source) => Program>> = {
  node({ server, database, text, parameters }) {
    const all = parametersFor(parameters, NODE);
    const patches = isPatch(text);
    const object = NODE.object(all.map(({ name, value }) => [withUnits(name), value]));
    const body = patches
      ? `const query = new IndexQuery(${forNode(text)});
${all.length > 0 ? `query.queryParameters = ${object};\n` : ""}const operation = await store.operations.send(new PatchByQueryOperation(query));
await operation.waitForCompletion();
`
      : `const session = store.openSession();
const results = await session.advanced
    .rawQuery(${forNode(text)})
${all.map(({ name, value }) => `    .addParameter(${withUnits(name)}, ${value})\n`).join("")}    .all();
console.log(results);
`;
    return {
      install: "npm install ravendb",
      language: "javascript",
      text: `import { DocumentStore${patches ? ", IndexQuery, PatchByQueryOperation" : ""} } from "ravendb";

const store = new DocumentStore(${withUnits(server)}, ${withUnits(database)});
store.initialize();

${body}store.dispose();
`,
    };
  },

  python({ server, database, text, parameters }) {
    const all = parametersFor(parameters, PYTHON);
    const patches = isPatch(text);
    const object = PYTHON.object(all.map(({ name, value }) => [withCodePoints(name), value]));
    const body = patches
      ? `query = IndexQuery(${forPython(text)})
${all.length > 0 ? `query.query_parameters = ${object}\n` : ""}operation = store.operations.send_async(PatchByQueryOperation(query))
operation.wait_for_completion()
`
      : `with store.open_session() as session:
    query = session.advanced.raw_query(${forPython(text)}, dict)
${all.map(({ name, value }) => `    query.add_parameter(${withCodePoints(name)}, ${value})\n`).join("")}    for result in query:
        print(result)
`;
    return {
      install: "pip install ravendb",
      language: "python",
      text: `from ravendb import DocumentStore${patches ? ", IndexQuery, PatchByQueryOperation" : ""}

store = DocumentStore(${withCodePoints(server)}, ${withCodePoints(database)})
store.initialize()

${body}store.close()
`,
    };
  },

  java({ server, database, text, parameters }) {
    const all = parametersFor(parameters, JAVA);
    const patches = isPatch(text);
    const indent = " ".repeat(patches ? 16 : 20);
    const query = inLines(text, withUnits, indent);
    const puts = all.map(({ name, value }) => `            parameters.put(${withUnits(name)}, ${value});\n`).join("");
    const body = patches
      ? `            IndexQuery query = new IndexQuery(
                ${query});
${all.length > 0 ? `            Parameters parameters = new Parameters();\n${puts}            query.setQueryParameters(parameters);\n` : ""}            Operation operation = store.operations().sendAsync(new PatchByQueryOperation(query));
            operation.waitForCompletion();
`
      : `            try (IDocumentSession session = store.openSession()) {
                List<ObjectNode> results = session.advanced()
                    .rawQuery(ObjectNode.class, ${query})
${all.map(({ name, value }) => `                    .addParameter(${withUnits(name)}, ${value})\n`).join("")}                    .toList();
                results.forEach(System.out::println);
            }
`;
    const imports = patches
      ? [
          ...(all.length > 0 ? ["net.ravendb.client.Parameters"] : []),
          "net.ravendb.client.documents.DocumentStore",
          "net.ravendb.client.documents.operations.Operation",
          "net.ravendb.client.documents.operations.PatchByQueryOperation",
          "net.ravendb.client.documents.queries.IndexQuery",
        ]
      : [
          "com.fasterxml.jackson.databind.node.ObjectNode",
          "java.util.List",
          "net.ravendb.client.documents.DocumentStore",
          "net.ravendb.client.documents.session.IDocumentSession",
        ];
    return {
      install: "net.ravendb:ravendb",
      language: "java",
      text: `${imports.map((name) => `import ${name};`).join("\n")}

public class Query {
    public static void main(String[] args) {
        try (DocumentStore store = new DocumentStore(${withUnits(server)}, ${withUnits(database)})) {
            store.initialize();

${body}        }
    }
}
`,
    };
  },

  go({ server, database, text, parameters }) {
    const all = parametersFor(parameters, GO);
    const patches = isPatch(text);
    // The operation of this client takes a text alone.
    const patch = patches ? withValues(text, parameters) : text;
    const needsJson = !patches && all.some(({ value }) => value.includes('json.Number("'));
    const body = patches
      ? `${all.length > 0 ? "	// PatchByQueryOperation of this client takes no parameters: the query contains their values.\n" : ""}	operation, err := store.Operations().SendAsync(ravendb.NewPatchByQueryOperation(${rawForGo(patch, "\t\t")}), nil)
	check(err)
	check(operation.WaitForCompletion())
`
      : `	session, err := store.OpenSession("")
	check(err)
	defer session.Close()

	query := session.Advanced().RawQuery(${rawForGo(text, "\t\t")})
${all.map(({ name, value }) => `	query.AddParameter(${forGo(name)}, ${value})\n`).join("")}	var results []*Result
	check(query.GetResults(&results))
	for _, result := range results {
		fmt.Printf("%+v\\n", *result)
	}
`;
    return {
      install: "go get github.com/ravendb/ravendb-go-client",
      language: "go",
      text: `package main

import (
${needsJson ? '	"encoding/json"\n' : ""}${patches ? "" : '	"fmt"\n'}	"log"

	ravendb "github.com/ravendb/ravendb-go-client"
)
${
  patches
    ? ""
    : `
type Result struct {
	ID string
	// Add the fields of your results.
}
`
}
func main() {
	store := ravendb.NewDocumentStore([]string{${forGo(server)}}, ${forGo(database)})
	check(store.Initialize())
	defer store.Close()

${body}}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
`,
    };
  },

  csharp({ server, database, text, parameters }) {
    const all = parametersFor(parameters, CSHARP);
    const patches = isPatch(text);
    const query = inLines(text, withUnits, "        ");
    const body = patches
      ? `var query = new IndexQuery
{
    Query = ${query},
${
  all.length > 0
    ? `    QueryParameters = new Parameters
    {
${all.map(({ name, value }) => `        [${withUnits(name)}] = ${value},\n`).join("")}    },
`
    : ""
}};
var operation = await store.Operations.SendAsync(new PatchByQueryOperation(query));
await operation.WaitForCompletionAsync();
`
      : `using var session = store.OpenAsyncSession();
var results = await session.Advanced
    .AsyncRawQuery<JObject>(${query})
${all.map(({ name, value }) => `    .AddParameter(${withUnits(name)}, ${value})\n`).join("")}    .ToListAsync();
foreach (var result in results)
    Console.WriteLine(result);
`;
    const names = patches
      ? ["Raven.Client", "Raven.Client.Documents", "Raven.Client.Documents.Operations", "Raven.Client.Documents.Queries"]
      : ["Newtonsoft.Json.Linq", "Raven.Client.Documents"];
    return {
      install: "dotnet add package RavenDB.Client",
      language: "csharp",
      text: `${names.map((name) => `using ${name};`).join("\n")}

using var store = new DocumentStore { Urls = [${withUnits(server)}], Database = ${withUnits(database)} }.Initialize();

${body}`,
    };
  },

  curl({ server, database, text, parameters }) {
    const patches = isPatch(text);
    const values = parametersFor(parameters, NODE).length === 0 ? "" : `,"QueryParameters":${parameters.trim()}`;
    const query = `{"Query":${JSON.stringify(text)}${values}}`;
    const address = `${server}/databases/${encodeURIComponent(database)}/queries`;
    return {
      install: "",
      language: "shell",
      text: `curl ${patches ? "-X PATCH " : ""}${forShell(address)} \\
  -H 'Content-Type: application/json' \\
  -d ${forShell(patches ? `{"Query":${query}}` : query)}
`,
    };
  },
};

/** The query with the values of its parameters in it. A list stands without brackets within `in ( )`. */
export function withValues(text: string, parameters: string): string {
  if (parameters.trim() === "") return text;
  const root = scan(parameters);
  if (root.kind !== "object") return text;
  const values = new Map(root.members.map(({ name, value }) => [name, value]));
  const code = bare(text);
  let [out, end] = ["", 0];
  for (const found of code.matchAll(/\$(\w+)/g)) {
    const value = values.get(found[1]!);
    if (value === undefined) continue;
    let written = parameters.slice(value.start, value.end);
    const behind = found.index + found[0].length;
    const isList = /\bin\s*\(\s*$/i.test(code.slice(0, found.index)) && /^\s*\)/.test(code.slice(behind));
    if (isList && value.kind === "array") written = written.slice(1, -1);
    out += text.slice(end, found.index) + written;
    end = behind;
  }
  return out + text.slice(end);
}
