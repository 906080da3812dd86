// What stands in the editors of the query screen, and what is sent of it.
import { JsonError, scan } from "../../json/scan";
import { remembered } from "../../shell/remembered";
import type { KeptQuery } from "./Kept";
import type { Submitted } from "./Results";

/** What stands in the editors, and the address for which it was written. */
type Draft = { text: string; parameters: string; q?: string | undefined; p?: string | undefined };

/** Said of parameters that cannot be sent. */
export function noObject(error: unknown): Error {
  return new Error(`The parameters are no JSON object: ${error instanceof Error ? error.message : String(error)}`);
}

/** The names of parameters as far as they are JSON yet. */
export function namesOf(parameters: string): string[] {
  try {
    return Object.keys(JSON.parse(parameters) as object);
  } catch {
    return [];
  }
}

/** What is being written, of this tab. */
export function draftOf(database: string) {
  return remembered<Draft>(`draft.${database}`, { text: "", parameters: "" }, "tab");
}

/** What was being written for this address, or what it says itself; without one what was written last. */
export function firstDraft(database: string, q: string | undefined, p: string | undefined, recent: KeptQuery | undefined): Draft {
  const draft = draftOf(database).get();
  if (q !== undefined && (draft.q !== q || draft.p !== p)) return { text: q, parameters: p ?? "" };
  if (draft.text.trim() !== "" || q !== undefined) return draft;
  return { text: recent?.text ?? "", parameters: recent?.parameters ?? "" };
}

export function submit(text: string, parameters: string, run: number): Submitted | { error: unknown } {
  try {
    return { text, parameters: checked(parameters), run };
  } catch (error) {
    return { error };
  }
}

/** The parameters as they were typed: a number that goes through JavaScript loses digits, and then others are found, or deleted. */
export function checked(parameters: string): string {
  if (parameters.trim() === "") return "{}";
  const root = scan(parameters);
  if (root.kind !== "object") throw new JsonError("expected an object in braces", 0, 1, 1);
  return parameters;
}
