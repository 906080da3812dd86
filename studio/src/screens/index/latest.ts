// What the server has of an index now.
import * as api from "../../api/indexes";
import { REPLACEMENT } from "../indexes/state";

/**
 * The latest definition of an index, that of what is being built to replace it if there is such; undefined if there is no index of this
 * name, in whatever case. It is looked for among all of them: one that is not there is no error.
 */
export async function latestDefinition(database: string, name: string, signal?: AbortSignal): Promise<api.Definition | undefined> {
  const all = await api.definitions(database, signal);
  const named = (wanted: string) => all.find((one) => one.Name.toLowerCase() === wanted.toLowerCase());
  const found = named(name);
  const replacement = found && named(REPLACEMENT + name);
  return found && { ...(replacement ?? found), Name: found.Name };
}
