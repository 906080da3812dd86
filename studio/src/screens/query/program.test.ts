import { execFileSync } from "node:child_process";
import { expect, test, vi } from "vitest";
import type { Client } from "./program";

vi.stubGlobal("location", { href: "http://localhost/studio/index.html" });
const { CLIENTS, forShell, programFor, withValues } = await import("./program");

const NASTY = [
  `from 'It''s' where a = "b\\c" and d = '\${x} $(rm) \`y\` !'`,
  "from Orders\nwhere Name = 'a\\'b'\n  and Path = 'c:\\\\d'\n",
  "lines\r\nof \u2028 another \u0000 system \t tab \u202e \ud83d\ude00 Æ \"\"\" ''' ` \\u0041",
];
const source = (text: string, parameters = "") => ({ server: "http://127.0.0.1:8080", database: 'A "b" \\ c', text, parameters });
const program = (client: Client, text: string, parameters = "") => programFor(client, source(text, parameters)).text;

test("texts of JavaScript give the query back", () => {
  for (const text of NASTY) {
    const written = /\.rawQuery\(([^]*)\)\n {4}\.all/.exec(program("node", text))![1]!;
    expect(new Function(`return ${written}`)()).toBe(text);
  }
});

test("a shell hands over the query and the parameters as they are", () => {
  for (const text of NASTY) {
    const command = program("curl", text, `{"a":"it's $HOME","n":12345678901234567890}`);
    const handed = execFileSync("sh", ["-c", command.replace(/^curl/, "printf '%s\\0'")]).toString();
    const body = handed.split("\0").at(-2)!;
    expect((JSON.parse(body) as { Query: string }).Query).toBe(text);
    expect(body).toContain(`"QueryParameters":{"a":"it's $HOME","n":12345678901234567890}`);
  }
  expect(forShell("a'b")).toBe("'a'\\''b'");
});

test("texts of Java, C#, Python and Go have no line breaks, no open quotes and no invisible characters", () => {
  for (const client of ["java", "csharp", "python", "go"] as const) {
    const written = program(client, NASTY[2]!);
    expect(written, client).toContain('\\"\\"\\"');
    expect(written, client).toContain("\\\\u0041");
    for (const escape of ["\\r\\n", "\\u2028", "\\u0000", "\\u202e"]) expect(written, client).toContain(escape);
    expect(written, client).not.toMatch(/[\u2028\u0000\u202e\r]/);
    expect(written, client).toContain("\u{1f600} Æ");
    expect(written, client).toContain('"A \\"b\\" \\\\ c"');
  }
});

test("several lines stay lines where the language has a way to write them", () => {
  const text = "from Orders\nwhere Freight > 5";
  expect(program("node", text)).toContain("`from Orders\nwhere Freight > 5`");
  expect(program("python", text)).toContain('"""from Orders\nwhere Freight > 5"""');
  expect(program("go", text)).toContain("`from Orders\nwhere Freight > 5`");
  expect(program("java", text)).toMatch(/"from Orders\\n" \+\n +"where Freight > 5"/);
  expect(program("csharp", text)).toMatch(/"from Orders\\n" \+\n +"where Freight > 5"/);
  expect(program("go", "a\n`b`")).toMatch(/"a\\n" \+\n\t\t"`b`"/);
});

test("parameters are values of the language, with their digits", () => {
  const parameters =
    '{"s":"a\\"b","n":1.50,"big":9007199254740993,"huge":12345678901234567890,"t":true,"z":null,"l":["x",2],"o":{"k":false}}';
  const all = Object.fromEntries(CLIENTS.map(({ value }) => [value, program(value, "from A", parameters)])) as Record<
    Client,
    string
  >;
  expect(all.node).toContain('.addParameter("o", { "k": false })');
  expect(all.python).toContain('query.add_parameter("t", True)');
  expect(all.python).toContain('query.add_parameter("z", None)');
  expect(all.python).toContain('query.add_parameter("o", {"k": False})');
  expect(all.java).toContain('.addParameter("big", 9007199254740993L)');
  expect(all.java).toContain('new java.math.BigInteger("12345678901234567890")');
  expect(all.java).toContain('java.util.Arrays.asList("x", 2)');
  expect(all.go).toContain('query.AddParameter("z", nil)');
  expect(all.go).toContain('query.AddParameter("huge", json.Number("12345678901234567890"))');
  expect(all.go).toContain('"encoding/json"');
  expect(all.csharp).toContain('.AddParameter("n", 1.50m)');
  expect(all.csharp).toContain('.AddParameter("l", new object[] { "x", 2 })');
  for (const text of Object.values(all)) expect(text).toMatch(/"a\\+"b"/);
});

test("a patch is sent as an operation", () => {
  const patch = "from Orders where Freight > $min update { this.Note = $note; }";
  const parameters = '{"min":5,"note":"it\'s"}';
  for (const { value } of CLIENTS) {
    const text = program(value, patch, parameters);
    expect(text, value).toContain(value === "curl" ? "-X PATCH" : "PatchByQueryOperation");
    expect(text, value).not.toMatch(/raw_?query/i);
  }
  expect(program("python", patch, parameters)).toContain(`query.query_parameters = {"min": 5, "note": "it's"}`);
  expect(program("java", patch, parameters)).toContain('parameters.put("min", 5);');
  expect(program("csharp", patch, parameters)).toContain('["min"] = 5,');
  expect(program("go", patch, parameters)).toContain('where Freight > 5 update { this.Note = \\"it\'s\\"; }');
});

test("values take the place of parameters, but not in texts", () => {
  const text = "from A where b in ($list) and c = '$n' and d = $n and e = $other";
  expect(withValues(text, '{"list":["x","y"],"n":1}')).toBe(`from A where b in ("x","y") and c = '$n' and d = 1 and e = $other`);
});
