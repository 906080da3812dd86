import { expect, test } from "vitest";
import { piecesOf } from "./fragments";

test("fragments are cut at their tags", () => {
  expect(piecesOf('a <b style="background:yellow">fox</b> & <b style="background:lawngreen">dog</b>', {})).toEqual([
    { text: "a ", isFound: false },
    { text: "fox", isFound: true },
    { text: " & ", isFound: false },
    { text: "dog", isFound: true },
  ]);
});

test("tags of a query's own are known from its parameters", () => {
  const parameters = { name: "x", o: { PreTags: ["[*"], PostTags: ["*]"] }, nothing: null };
  expect(piecesOf("[*fox*] <i></b>", parameters)).toEqual([
    { text: "fox", isFound: true },
    { text: " <i></b>", isFound: false },
  ]);
});
