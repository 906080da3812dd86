import { expect, test } from "vitest";
import { ID } from "../../grid/columns";
import { csv } from "./csv";

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
