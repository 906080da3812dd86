// Queries, and what they change in the background.
import { parse } from "../json/exact";
import { member, scan, type Span } from "../json/scan";
import { quoted, type Document } from "./documents";
import { below, send, sendForJson, textOf } from "./http";
import { limitOf } from "./limit";

export type Query = {
  text: string;
  /** A JSON object as text: its numbers keep their digits. */
  parameters?: string;
  start?: number;
  pageSize?: number;
  /** Whether to wait until the index has all that was written before. */
  isFresh?: boolean;
};

export type Answer = {
  /** How many it gives in all: a `limit` of its own counts. */
  total: number;
  durationMs: number;
  index: string;
  isStale: boolean;
  results: Document[];
  /** How many were asked for. */
  pageSize: number;
  /** Characters of a result, as JSON, on average. */
  resultSize: number;
  /** The text of each result, with all digits of its numbers. */
  texts: string[];
  /** A tree of times, if the query asked for it. */
  timings: Timings | undefined;
  /** `include highlight(..)`: fragments by field, then by id. */
  highlightings: Record<string, Record<string, string[]>> | undefined;
  /** What the server noticed, as a field that no document has; clients do not show it. */
  warnings: readonly string[];
  /** `include explanations()`: how the scores came about, by id. */
  explanations: Record<string, string[]> | undefined;
};

export type Timings = { DurationInMs: number; Timings: Record<string, Timings> | null };

/** A body with the parameters in it as they were written. */
function withParameters(parameters: string | undefined, body: Record<string, unknown>): string {
  return `{"QueryParameters":${parameters?.trim() || "{}"},${JSON.stringify(body).slice(1)}`;
}

/**
 * POST `/databases/{name}/queries`: a page of what a query gives, never more than its own `limit` and `offset` leave. The server would
 * apply these to each page anew; so the first page is asked with them, which also checks them, and the further ones without.
 */
export async function run(database: string, query: Query, signal?: AbortSignal): Promise<Answer> {
  const limit = limitOf(query.text, query.parameters);
  const start = query.start ?? 0;
  const pageSize = query.pageSize ?? 100;
  const isBehind = limit !== undefined && start > 0;
  const body = withParameters(query.parameters, {
    Query: isBehind ? limit.text : query.text,
    Start: isBehind ? limit.skip + start : start,
    PageSize: isBehind ? Math.max(0, Math.min(pageSize, limit.take - start)) : pageSize,
    WaitForNonStaleResults: query.isFresh ?? false,
  });
  const text = await textOf(await send(below(database, "/queries"), { method: "POST", body, signal }));
  const answer = parse(text) as {
    TotalResults: number;
    CappedMaxResults?: number;
    DurationInMs: number;
    IndexName: string;
    IsStale: boolean;
    Results: Document[];
    Timings?: Timings;
    Highlightings?: Record<string, Record<string, string[]>>;
    Explanations?: Record<string, string[]>;
    Warnings?: string[];
  };
  let texts: string[] | undefined;
  const elements = (results: Span | undefined) => (results?.kind === "array" ? results.elements : []);
  // How many came, if the text has a limit: all of them unless the page was too small for that.
  const taken = isBehind || answer.CappedMaxResults === undefined ? undefined : answer.Results.length;
  const isWhole = taken !== undefined && taken < pageSize;
  const total = isWhole ? taken : limit ? Math.max(0, Math.min(answer.TotalResults - limit.skip, limit.take)) : answer.TotalResults;
  return {
    total,
    durationMs: answer.DurationInMs,
    index: answer.IndexName,
    isStale: answer.IsStale,
    results: answer.Results,
    pageSize,
    resultSize: text.length / Math.max(1, answer.Results.length),
    // Read when it is asked for: the map and the grid have no use for it.
    get texts() {
      return (texts ??= elements(member(scan(text), "Results")).map((span) => text.slice(span.start, span.end)));
    },
    timings: answer.Timings,
    highlightings: answer.Highlightings,
    explanations: answer.Explanations,
    warnings: answer.Warnings ?? [],
  };
}

/** A page of a collection, in the order in which it was written. */
export async function ofCollection(
  database: string,
  collection: string,
  start: number,
  pageSize: number,
  signal?: AbortSignal,
): Promise<Document[]> {
  const body = { Query: `from ${quoted(collection)}`, Start: start, PageSize: pageSize };
  const answer = await sendForJson<{ Results: Document[] }>(below(database, "/queries"), { method: "POST", body, signal });
  return answer.Results;
}

export type PlanStep = {
  Operator: string;
  Field?: string | null;
  Argument?: string | null;
  Estimate?: number | null;
  Rows?: number | null;
  Microseconds?: number | null;
  Omitted?: number;
  Children: PlanStep[];
};

/** What `explain ..` answers: which index answers, and what each step gave and took. */
export type Explained = { index: string; total: number; plan: PlanStep };

export function explainedOf(answer: Answer): Explained | undefined {
  const result = answer.results[0] as unknown as { Index: string; TotalResults: number; Plan: PlanStep } | undefined;
  return result?.Plan && { index: result.Index, total: result.TotalResults, plan: result.Plan };
}

/** Runs the query with `explain` before it. */
export async function explain(database: string, query: Query, signal?: AbortSignal): Promise<Explained> {
  return explainedOf(await run(database, { ...query, text: `explain ${query.text}`, isFresh: false }, signal))!;
}

export type Started = { OperationId: number };

/** DELETE `/databases/{name}/queries`: deletes what a query finds, in the background. */
export function removeFound(database: string, text: string, parameters: string): Promise<Started> {
  const body = withParameters(parameters, { Query: text });
  return sendForJson(below(database, "/queries"), { method: "DELETE", body });
}

/** PATCH `/databases/{name}/queries`: runs `from .. update { .. }` in the background. */
export function patchFound(database: string, text: string, parameters: string): Promise<Started> {
  const body = `{"Query":${withParameters(parameters, { Query: text })}}`;
  return sendForJson(below(database, "/queries"), { method: "PATCH", body });
}

export type TestedPatch = {
  status: string;
  /** As text, with all digits of their numbers. */
  before: string;
  after: string;
  /** What it would do besides. */
  printed: string[];
  stored: string[];
  deleted: string[];
};

/**
 * PATCH `/databases/{name}/queries/test`: what a patch would do to a document; nothing is stored. Undefined if the document is not there.
 * Throws for what is no script.
 */
export async function testPatch(
  database: string,
  id: string,
  text: string,
  parameters: string,
  signal?: AbortSignal,
): Promise<TestedPatch | undefined> {
  const body = `{"Query":${withParameters(parameters, { Query: text })}}`;
  const response = await send(below(database, "/queries/test"), { method: "PATCH", query: { id }, body, signal }, [404]);
  if (response.status === 404) return undefined;
  const answer = await textOf(response);
  const root = scan(answer);
  const part = (name: string) => {
    const span = member(root, name);
    return span ? answer.slice(span.start, span.end) : "null";
  };
  const { Status, Debug } = JSON.parse(answer) as {
    Status: string;
    Debug: { Output: string[]; Actions: { PutDocument: { Id: string }[]; DeleteDocument: string[] } } | null;
  };
  return {
    status: Status,
    before: part("OriginalDocument"),
    after: part("ModifiedDocument"),
    printed: Debug?.Output ?? [],
    stored: Debug?.Actions.PutDocument.map(({ Id }) => Id) ?? [],
    deleted: Debug?.Actions.DeleteDocument ?? [],
  };
}
