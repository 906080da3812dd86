// What stands in the editors of the query screen, and what is sent of it.
import { JsonError, scan } from "../../json/scan";
import type { Submitted } from "./Results";

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
