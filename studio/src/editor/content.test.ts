import { Text } from "@codemirror/state";
import { expect, test } from "vitest";
import { isSame } from "./content";

test("strings and texts are compared by what they say", () => {
  const text = Text.of(["{", '  "a": 1', "}"]);
  const changed = text.replace(2, 3, Text.of(["x"]));
  expect(isSame(text, '{\n  "a": 1\n}')).toBe(true);
  expect(isSame('{\n  "a": 2\n}', text)).toBe(false);
  expect(isSame(text, "{}")).toBe(false);
  expect(isSame(changed, text)).toBe(false);
  expect(isSame(changed.replace(2, 3, Text.of([" "])), text)).toBe(true);
  expect([isSame("a", "a"), isSame("a", "b")]).toEqual([true, false]);
});

test("a string is not made of what is not as long", () => {
  const text = Text.of(["a"]);
  text.toString = () => {
    throw new Error("a string was made");
  };
  expect(isSame(text, "ab")).toBe(false);
  expect(isSame(text, Text.of(["a"]))).toBe(true);
});
