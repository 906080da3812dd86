// Where the server found a mistake in a definition.
import { ApiError } from "../../api/http";
import type { Definition } from "../../api/indexes";
import type { Mistake } from "../../editor/CodeEditor";
import { lines } from "./definition";

/** A mistake in one of the texts of a definition. * `map`: its place among the maps; undefined: in the reduce. */
export type CodeMistake = { map: number | undefined; text: string; mistake: Mistake };

/** Where the server found a mistake in a definition: it names the text, and its message has `line:column`. */
export function codeMistakeOf(error: unknown, written: Definition): CodeMistake | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = /(?:^|\n)(\d+):(\d+) ([^\n]*)/.exec(error.message);
  if (!found) return undefined;
  const mistake = { line: Number(found[1]), column: Number(found[2]), message: found[3]! };
  const [property, problematic] = [error.body["IndexDefinitionProperty"], error.body["ProblematicText"]];
  if (property === "Reduce") return { map: undefined, text: written.Reduce ?? "", mistake };
  const at = written.Maps.findIndex((map) => typeof problematic === "string" && lines(map).trim() === lines(problematic).trim());
  // Of a single map it is known anyway.
  const map = at >= 0 ? at : written.Maps.length === 1 && !written.Reduce ? 0 : -1;
  return map < 0 ? undefined : { map, text: written.Maps[map]!, mistake };
}
