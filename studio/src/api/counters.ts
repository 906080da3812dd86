// Counters of documents: 64-bit numbers, which JavaScript would round, as texts of their digits.
import { digitsOf } from "../json/exact";
import { below, sendForJson } from "./http";

/** `value`: its digits, with a sign if it is negative. */
export type Counter = { name: string; value: string };

type Detail = { CounterName: string; TotalValue: number };
type Answer = { Counters: (Detail | null)[] };

/** GET `/databases/{name}/counters`: all counters of a document, by name. */
export async function counters(database: string, id: string, signal?: AbortSignal): Promise<Counter[]> {
  const answer = await sendForJson<Answer>(below(database, "/counters"), { query: { docId: id }, signal });
  const found = answer.Counters.flatMap((detail) =>
    detail === null ? [] : { name: detail.CounterName, value: digitsOf(detail, "TotalValue") ?? String(detail.TotalValue) },
  );
  return found.sort((a, b) => a.name.localeCompare(b.name));
}

/** An operation as JSON text: a number of JavaScript has too few digits for `Delta`. */
const operation = (type: "Increment" | "Delete", name: string, delta?: bigint) =>
  `{"Type":"${type}","CounterName":${JSON.stringify(name)}${delta === undefined ? "" : `,"Delta":${delta}`}}`;

async function change(database: string, id: string, operations: readonly string[]): Promise<void> {
  const body = `{"Documents":[{"DocumentId":${JSON.stringify(id)},"Operations":[${operations.join(",")}]}]}`;
  await sendForJson(below(database, "/counters"), { method: "POST", body });
}

/** POST `/databases/{name}/counters`: raises a counter, or lowers it; one that does not exist begins at 0. */
export function raise(database: string, id: string, name: string, delta: bigint): Promise<void> {
  return change(database, id, [operation("Increment", name, delta)]);
}

/** The same: gives a counter a value, whatever it has. Both operations are one transaction. */
export function set(database: string, id: string, name: string, value: bigint): Promise<void> {
  return change(database, id, [operation("Delete", name), operation("Increment", name, value)]);
}

/** The same: deletes a counter; no error if it does not exist. */
export function remove(database: string, id: string, name: string): Promise<void> {
  return change(database, id, [operation("Delete", name)]);
}
