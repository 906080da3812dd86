// Unique constraints: fields of a collection whose values no two documents have in common.
import { ApiError, below, send, sendForJson } from "./http";

export type Constraint = { Name: string; Collection: string; Fields: readonly string[]; CaseSensitive: boolean };

/** Two documents that have the same values. `values`: of each field, as JSON. */
export type Duplicate = { ids: readonly [string, string]; values: readonly string[] };

/** What keeps a constraint from being made. `count`: documents that break it, of which the first are listed. */
export type Duplicates = { count: number; listed: readonly Duplicate[] };

/** GET `/databases/{name}/admin/constraints`: by name. */
export async function constraints(database: string, signal?: AbortSignal): Promise<Constraint[]> {
  return (await sendForJson<{ Results: Constraint[] }>(below(database, "/admin/constraints"), { signal })).Results;
}

/** PUT `/databases/{name}/admin/constraints`: answers when all documents of the collection were read. Without a name the server chooses one. */
export function put(database: string, constraint: Omit<Constraint, "Name"> & { Name?: string | undefined }): Promise<Constraint> {
  return sendForJson<Constraint>(below(database, "/admin/constraints"), { method: "PUT", body: constraint });
}

/** DELETE `/databases/{name}/admin/constraints`: one that is gone is as good as deleted. */
export async function remove(database: string, name: string): Promise<void> {
  await send(below(database, "/admin/constraints"), { method: "DELETE", query: { name } }, [404]);
}

const BEGIN = /cannot be made, because (\d+) documents? breaks? it: /;
const IDS = /'(.*?)' and '(.*?)' have /y;
/** What may stand behind a value. */
const BEHIND = /, |; | and others\. |\. Change /g;

/** The documents that break a constraint, as the error of a PUT tells them; undefined for another error. */
export function duplicatesOf(error: unknown): Duplicates | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const begin = BEGIN.exec(error.message);
  return begin ? { count: Number(begin[1]), listed: listedIn(error.message, begin.index + begin[0].length) } : undefined;
}

/** `'a/1' and 'a/2' have 1, "x"; ..`: as far as the text has this form. */
function listedIn(text: string, start: number): Duplicate[] {
  const listed: Duplicate[] = [];
  for (let at = start; ; at += 2) {
    IDS.lastIndex = at;
    const ids = IDS.exec(text);
    if (!ids) return listed;
    const values: string[] = [];
    at = IDS.lastIndex - 2;
    do {
      at += 2;
      const end = endOfValue(text, at);
      if (end === undefined) return listed;
      values.push(text.slice(at, end));
      at = end;
    } while (text.startsWith(", ", at));
    listed.push({ ids: [ids[1]!, ids[2]!], values });
    if (!text.startsWith("; ", at)) return listed;
  }
}

/** Where the JSON value that begins at a place ends. */
function endOfValue(text: string, start: number): number | undefined {
  BEHIND.lastIndex = start;
  for (let found = BEHIND.exec(text); found; found = BEHIND.exec(text)) {
    if (isJson(text.slice(start, found.index))) return found.index;
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
