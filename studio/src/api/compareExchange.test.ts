import { expect, test, vi } from "vitest";
import { scan } from "../json/scan";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { bodyOf, guardedBy } = await import("./compareExchange");

test("a value is written with its digits, its expiration, and the metadata that it had", () => {
  expect(bodyOf({ object: "1.500", expires: undefined, metadata: undefined })).toBe('{"Object":1.500}');
  const expires = "2030-01-01T00:00:00.000Z";
  expect(bodyOf({ object: "{}", expires, metadata: undefined })).toBe(`{"Object":{},"@metadata":{"@expires":"${expires}"}}`);
  const both = bodyOf({ object: "[1]", expires, metadata: '{\n    "by": "me"\n}' });
  scan(both);
  expect(JSON.parse(both)).toEqual({ Object: [1], "@metadata": { by: "me", "@expires": expires } });
  expect(JSON.parse(bodyOf({ object: "0", expires: undefined, metadata: '{"a":1}' }))).toEqual({
    Object: 0,
    "@metadata": { a: 1 },
  });
});

test("guards of documents are told from values of applications", () => {
  expect(guardedBy("rvn-atomic/users/1")).toBe("users/1");
  expect(guardedBy("emails/rvn-atomic/1")).toBeUndefined();
});
