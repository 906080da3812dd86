import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { withOwnMetadata } = await import("./documents");
const { SERVER_URL } = await import("./http");
const { quoted } = await import("./documents");

test("what the server computes is not in the text that is edited", () => {
  const body =
    '{"Price":34.8000,"@metadata":{"@collection":"Products","@change-vector":"A:1","@id":"p/1","Raven-Clr-Type":"P","@last-modified":"x"}}';
  expect(withOwnMetadata(body)).toBe(
    '{\n    "Price": 34.8000,\n    "@metadata": {\n        "@collection": "Products",\n        "Raven-Clr-Type": "P"\n    }\n}',
  );
});

test("an empty document has metadata all the same, a text without is left", () => {
  expect(JSON.parse(withOwnMetadata('{"@metadata":{"@id":"x","@collection":"C"}}'))).toEqual({
    "@metadata": { "@collection": "C" },
  });
  expect(withOwnMetadata('{"a":1}')).toBe('{\n    "a": 1\n}');
});

test("the server is where the studio's folder is", () => {
  expect(SERVER_URL).toBe("http://localhost");
});

test("a collection cannot end its quotes", () => {
  expect(quoted("It's \\ mine")).toBe("'It\\'s \\\\ mine'");
});
