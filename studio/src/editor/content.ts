// What stands in an editor: a string, or CodeMirror's `Text`, which shares all that did not change with the one before. A document of some
// MB is not made into a string with each key; it is when it is saved.
import type { Text } from "@codemirror/state";

export type Content = string | Text;

/** Without going through what both share, or what is not as long. */
export function isSame(one: Content, other: Content): boolean {
  if (typeof one === "string") return typeof other === "string" ? one === other : isSame(other, one);
  if (typeof other !== "string") return one.eq(other);
  return one.length === other.length && one.toString() === other;
}
