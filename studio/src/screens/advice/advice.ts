// What the index adviser of the server says, in the words and the order of the studio.
import type { Advice, AdviceProblem } from "../../api/indexes";
import { dateTime, size } from "../../format/format";
import type { Tone } from "../indexes/state";

/** The gravest problem first. */
export const PROBLEMS: Record<AdviceProblem, { label: string; tone: Tone }> = {
  Failed: { label: "Failed", tone: "bad" },
  HasErrors: { label: "Has errors", tone: "bad" },
  Slow: { label: "Slow", tone: "warn" },
  FanOut: { label: "Many entries per document", tone: "warn" },
  Covered: { label: "Covered by another index", tone: "busy" },
  Mergeable: { label: "Can be merged", tone: "busy" },
  Unused: { label: "Unused", tone: "quiet" },
  FieldsWithoutValues: { label: "Fields without values", tone: "quiet" },
};

const ORDER = Object.keys(PROBLEMS);

/** By gravity, then by the name of the index. */
export function byGravity(advice: readonly Advice[]): Advice[] {
  return [...advice].sort((a, b) => ORDER.indexOf(a.Problem) - ORDER.indexOf(b.Problem) || a.Index.localeCompare(b.Index));
}

/** A sentence of the server with its bytes and dates (UTC) as the studio writes them. */
export function readable(sentence: string): string {
  return sentence
    .replace(/\b(\d+) bytes\b/g, (_, bytes: string) => size(Number(bytes)))
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, dateTime);
}

/** How long no query must have used an index before the adviser reports it as unused: the address's word, and the server's time span. */
export const UNUSED_AFTER = [
  { value: "hour", label: "an hour", span: "01:00:00" },
  { value: "day", label: "a day", span: "1.00:00:00" },
  { value: "week", label: "a week", span: "7.00:00:00" },
  { value: "month", label: "30 days", span: "30.00:00:00" },
] as const;

/** The choice that an address names; a day if it names none. */
export function unusedAfter(word: string | undefined): (typeof UNUSED_AFTER)[number] {
  return UNUSED_AFTER.find(({ value }) => value === word) ?? UNUSED_AFTER[1];
}
