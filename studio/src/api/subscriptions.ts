// Subscriptions: what sends documents that match a query to workers, and remembers what they have acknowledged.
import { member, pretty, scan, type Span } from "../json/scan";
import { below, send, sendForJson, textOf } from "./http";

/** A connected worker. */
export type Worker = {
  /** Where it connects from. */
  ClientUri: string;
  Strategy: "OpenIfFree" | "TakeOver" | "WaitForFree" | "Concurrent";
  WorkerId: string | null;
  ConnectedAt: string;
};

export type Archived = "ExcludeArchived" | "IncludeArchived" | "ArchivedOnly";

export type Subscription = {
  SubscriptionId: number;
  SubscriptionName: string;
  Query: string;
  Disabled: boolean;
  /** That of the last acknowledged document; null if it begins with the oldest one. */
  ChangeVectorForNextBatchStartingPoint: string | null;
  LastBatchAckTime: string | null;
  LastClientConnectionTime: string | null;
  ArchivedDataProcessingBehavior: Archived;
  MentorNode: string | null;
  PinToMentorNode: boolean;
  Connections: Worker[];
};

/** GET `/databases/{name}/subscriptions`, by name. */
export async function subscriptions(database: string, pageSize: number, signal?: AbortSignal): Promise<Subscription[]> {
  const query = { start: 0, pageSize };
  return (await sendForJson<{ Results: Subscription[] }>(below(database, "/subscriptions"), { query, signal })).Results;
}

/** What a subscription is to be. */
export type Wanted = {
  Name: string;
  Query: string;
  /** `BeginningOfTime`, `LastDocument`, `DoNotChange` (of one that is changed), or a change vector. */
  ChangeVector: string;
  ArchivedDataProcessingBehavior: Archived;
  Disabled: boolean;
};

/** PUT `/databases/{name}/subscriptions`. `before`: the one that is changed; undefined for a new one. Returns its name. */
export async function save(database: string, before: Subscription | undefined, wanted: Wanted): Promise<string> {
  // What the studio has no field for stays as it is.
  const kept = before && { MentorNode: before.MentorNode, PinToMentorNode: before.PinToMentorNode };
  const query = { id: before?.SubscriptionId };
  const body = { ...wanted, Name: wanted.Name === "" ? undefined : wanted.Name, ...kept };
  return (await sendForJson<{ Name: string }>(below(database, "/subscriptions"), { method: "PUT", query, body })).Name;
}

/** POST `/databases/{name}/subscriptions/{enable,disable}` */
export async function setDisabled(database: string, name: string, isDisabled: boolean): Promise<void> {
  await send(below(database, `/subscriptions/${isDisabled ? "disable" : "enable"}`), { method: "POST", query: { name } });
}

/** POST `/databases/{name}/subscriptions/drop`: sends a worker away; without one all of them. */
export async function drop(database: string, name: string, workerId?: string): Promise<void> {
  await send(below(database, "/subscriptions/drop"), { method: "POST", query: { name, workerId } });
}

/** DELETE `/databases/{name}/subscriptions` */
export async function remove(database: string, name: string): Promise<void> {
  await send(below(database, "/subscriptions"), { method: "DELETE", query: { taskName: name } });
}

/** What a subscription would send: a document, or why its script failed for it. */
export type Sent = { id: string | undefined; text: string; error: string | undefined };

/** Whether a script failed for a document: of such a one there is nothing but its metadata and the error. */
function isFailed(document: Span): boolean {
  return document.kind === "object" && document.members.map(({ name }) => name).join() === "@metadata,Exception";
}

/** POST `/databases/{name}/subscriptions/try`: what would be sent first, from `changeVector` on. */
export async function tryQuery(
  database: string,
  query: string,
  changeVector: string | null,
  pageSize: number,
  signal?: AbortSignal,
): Promise<Sent[]> {
  const text = await textOf(
    await send(below(database, "/subscriptions/try"), {
      method: "POST",
      query: { pageSize },
      body: { Query: query, ChangeVector: changeVector },
      signal,
    }),
  );
  const results = member(scan(text), "Results");
  if (results?.kind !== "array") return [];
  return results.elements.map((document) => {
    const failed = isFailed(document);
    const of = (span: ReturnType<typeof member>) =>
      span?.kind === "string" ? (JSON.parse(text.slice(span.start, span.end)) as string) : undefined;
    return {
      id: of(member(member(document, "@metadata"), "@id")),
      text: pretty(text, document, failed ? ["@metadata", "Exception"] : ["@metadata"]),
      error: failed ? of(member(document, "Exception")) : undefined,
    };
  });
}
