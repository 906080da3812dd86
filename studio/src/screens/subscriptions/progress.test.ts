import { expect, test } from "vitest";
import { writeOf } from "./progress";

test("a change vector names a write", () => {
  expect(writeOf("A:12-oTklznfqLi3lwt2abBYq5A")).toBe(12);
  expect(writeOf("A:7-oTklznfqLi3lwt2abBYq5A, TRXN:6-XsbaMYgV0dIaPSJlk+nVGw")).toBe(7);
  expect([writeOf(null), writeOf(""), writeOf("something else")]).toEqual([undefined, undefined, undefined]);
});
