import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { mistakeOf } = await import("./mistake");
const { ApiError } = await import("../../api/http");

test("the place at the end of a refusal is taken out of its message", () => {
  const message = "the property 'Freight' occurs twice in one object (line 4, column 5)";
  expect(mistakeOf(new ApiError(400, "InvalidDataException", message))).toEqual({
    line: 4,
    column: 5,
    message: "the property 'Freight' occurs twice in one object",
  });
  expect(mistakeOf(new ApiError(400, "InvalidDataException", "the document (line 4) is bad"))).toBeUndefined();
  expect(mistakeOf(new Error(message))).toBeUndefined();
});
