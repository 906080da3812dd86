import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { codeMistakeOf } = await import("./codeMistake");
const { ApiError } = await import("../../api/http");

const definition = {
  Name: "X",
  Maps: ["from a in docs.A\r\nselect new { a.( }", "from b in docs.B select b"],
  Reduce: "from r in",
};
const refused = (message: string, body = {}) => new ApiError(400, "IndexCompilationException", message, body);

test("the text with a mistake is the one that the server names", () => {
  const body = { IndexDefinitionProperty: "Maps", ProblematicText: "from a in docs.A\nselect new { a.( }" };
  expect(codeMistakeOf(refused("Failed to compile index X\n\n2:16 Syntax error", body), definition)).toMatchObject({
    map: 0,
    mistake: { line: 2, column: 16, message: "Syntax error" },
  });
  expect(codeMistakeOf(refused("Failed\n1:1 Bad", { IndexDefinitionProperty: "Reduce" }), definition)).toMatchObject({
    map: undefined,
    text: "from r in",
  });
  expect(codeMistakeOf(refused("1:1 Bad"), definition)).toBeUndefined();
  expect(codeMistakeOf(refused("1:1 Bad"), { Name: "X", Maps: ["x"] })).toMatchObject({ map: 0 });
  expect(codeMistakeOf(refused("No place"), definition)).toBeUndefined();
  expect(codeMistakeOf(new Error("1:1 Bad"), definition)).toBeUndefined();
});
