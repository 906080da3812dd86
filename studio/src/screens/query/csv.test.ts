import { expect, test } from "vitest";
import { ID } from "../../grid/columns";
import { csvHead, csvLines } from "./csv";
import { ResultFile } from "./resultFile";

const csv = (texts: readonly string[], paths: readonly string[]) => csvHead(paths) + csvLines(texts, paths);

test("quotes and lines stay in their cell", () => {
  const texts = ['{"a":"x \\"y\\", z","b":{"c":-1.5}}', '{"a":"=1+1","b":null}', '{"a":"l\\nm"}'];
  expect(csv(texts, ["a", "b.c"])).toBe('a,b.c\r\n"x ""y"", z",-1.5\r\n\'=1+1,\r\n"l\nm",\r\n');
});

test("numbers keep their digits", () => {
  const text = '{"Id":9007199254740993,"Price":34.8000,"In":{"Deep":1e400},"List":[1.0,2],"a.b":1.50}';
  expect(csv([text], ["Id", "Price", "In.Deep", "List", "a.b", "None"])).toBe(
    'Id,Price,In.Deep,List,a.b,None\r\n9007199254740993,34.8000,1e400,"[1.0,2]",1.50,\r\n',
  );
});

test("what is no number as a whole is no formula either", () => {
  const cells = (texts: string[]) =>
    csv(
      texts.map((a) => JSON.stringify({ a })),
      ["a"],
    )
      .split("\r\n")
      .slice(1, -1);
  expect(cells(["-2+3+cmd|' /C calc'!A0", "+1", "-1", "-1.5e3", "@x", "a=1"])).toEqual([
    "'-2+3+cmd|' /C calc'!A0",
    "'+1",
    "-1",
    "-1.5e3",
    "'@x",
    "a=1",
  ]);
});

test("the id is of the metadata, and null is written", () => {
  expect(csv(['{"a":null,"@metadata":{"@id":"x/1"}}'], [ID, "a"])).toBe("Id,a\r\nx/1,null\r\n");
});

test("fields that begin as those of the metadata have their values", () => {
  const text = '{"@id":"http://x/1","@type":"P","@metadata":{"@id":"people/1"}}';
  expect(csv([text], [ID, "@id", "@type"])).toBe("Id,'@id,'@type\r\npeople/1,http://x/1,P\r\n");
});

test("a file is put together of parts, with the fields of all of them", async () => {
  const parts = [
    ['{"a":1.50,"b":{"c":1}}', '{"a":2,"@metadata":{"@id":"x/1"}}'],
    [],
    ['{"b":{"d":12345678901234567890},"e":{"f":1}}', '{"e":5}'],
  ];
  const made = async (format: ConstructorParameters<typeof ResultFile>[0]) => {
    const file = new ResultFile(format);
    for (const part of parts) file.add(part);
    expect(file.count).toBe(4);
    return (await file.content()).bytes().then((bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  };
  expect(await made({ kind: "json" })).toBe(`[\n${parts.flat().join(",\n")}\n]\n`);
  expect(await made({ kind: "csv", paths: ["a"] })).toBe("\uFEFFa\r\n1.50\r\n2\r\n\r\n\r\n");
  expect(await made({ kind: "csv", paths: undefined })).toBe(
    '\uFEFFId,a,b.c,b.d,e,e.f\r\n,1.50,1,,,\r\nx/1,2,,,,\r\n,,,12345678901234567890,"{""f"":1}",1\r\n,,,,5,\r\n',
  );
});
