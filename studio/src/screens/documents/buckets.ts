// Numbers and dates in buckets of equal, round width: 10 to 20, or a month. A bucket has its lower end and not its upper one, but for the
// last, which has both if its upper end is a value.
import { literalOf } from "../query/names";

/** Buckets of a histogram. */
export const BUCKET_COUNT_MAX = 24;

/** * `from`, `to`: as they stand in a query. * `text`: for people. */
export type Bucket = { text: string; from: string; to: string; isEndIncluded: boolean; count: number };

/** A number without what computing with it adds: 0.3 and not 0.30000000000000004. */
const rounded = (value: number) => Number(value.toPrecision(12));

/** No buckets if all are the same. */
export function bucketsOfNumbers(numbers: readonly number[]): Bucket[] {
  let [least, largest] = [Infinity, -Infinity];
  for (const number of numbers) {
    if (number < least) least = number;
    if (number > largest) largest = number;
  }
  const range = largest - least;
  if (!Number.isFinite(range) || range === 0) return [];
  const isWhole = numbers.every(Number.isInteger);
  let power = Math.floor(Math.log10(range / BUCKET_COUNT_MAX));
  if (isWhole) power = Math.max(0, power);
  // 1, 2, 5, 10, 20, ... of that power, until the buckets are few.
  for (;;) {
    for (const times of [1, 2, 5]) {
      const step = rounded(times * 10 ** power);
      const first = Math.floor(least / step);
      const bucketCount = Math.floor(largest / step) - first + 1;
      // Too fine for numbers as large as these.
      if (bucketCount > BUCKET_COUNT_MAX || rounded((first + 1) * step) === rounded(first * step)) continue;
      const ends = Array.from({ length: bucketCount + 1 }, (_, at) => rounded((first + at) * step));
      const counts = countedIn(numbers, ends);
      return counts.map((count, at) => {
        const [from, end] = [ends[at]!, ends[at + 1]!];
        // Whole numbers end before the next bucket begins.
        const to = isWhole ? end - 1 : end;
        return {
          text: isWhole && from === to ? String(from) : `${from} to ${to}`,
          from: String(from),
          to: String(to),
          isEndIncluded: isWhole,
          count,
        };
      });
    }
    power++;
  }
}

/** How many of the values are in each bucket. * `ends`: rising; the first is not above any value, the last above all. */
function countedIn(values: readonly number[], ends: readonly number[]): number[] {
  const counts = Array.from({ length: ends.length - 1 }, () => 0);
  for (const value of values) {
    let [low, high] = [0, counts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (ends[middle]! <= value) low = middle;
      else high = middle - 1;
    }
    counts[low]!++;
  }
  return counts;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** The time of a text that is a date, in ms, as it is written: its zone is not heeded. */
export function timeOf(text: string): number | undefined {
  // Most texts are none, which is seen soon.
  if (text.length < 10 || text.length > 40 || text[4] !== "-") return undefined;
  const found = DATE.exec(text);
  if (!found) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return undefined;
  return at(year, month - 1, day, hour, minute, second);
}

/** `Date.UTC` takes years below 100 for those of the last century. */
function at(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date.setUTCHours(hour, minute, second);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The first Monday of the epoch, where weeks begin. */
const MONDAY_MS = 4 * DAY_MS;
/** Widths of buckets in ms, then in months, which differ in length. */
const STEPS_MS = [
  1000,
  5000,
  15_000,
  30_000,
  ...[1, 5, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 7, 14].map((days) => days * DAY_MS),
];
const STEPS_MONTHS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000];

/** No buckets if all are within a second. * `time`: what `timeOf` gives. */
export function bucketsOfDates(dates: readonly { text: string; time: number }[]): Bucket[] {
  let [least, largest] = [Infinity, -Infinity];
  for (const { time } of dates) {
    if (time < least) least = time;
    if (time > largest) largest = time;
  }
  if (largest - least < 1000) return [];
  const separator = dates[0]!.text[10] ?? "T";
  // Dates without times are not cut into hours.
  const isOfDays = dates.every(({ time }) => time % DAY_MS === 0);
  for (const step of STEPS_MS.filter((width) => !isOfDays || width >= DAY_MS)) {
    const origin = step >= 7 * DAY_MS ? MONDAY_MS : 0;
    const first = Math.floor((least - origin) / step);
    const count = Math.floor((largest - origin) / step) - first + 1;
    if (count > BUCKET_COUNT_MAX) continue;
    const ends = Array.from({ length: count + 1 }, (_, part) => origin + (first + part) * step);
    // What differs within a day has a time.
    const write = (time: number) => {
      const text = new Date(time).toISOString();
      if (step >= DAY_MS) return text.slice(0, 10);
      return `${text.slice(0, 10)}${separator}${text.slice(11, step >= MINUTE_MS ? 16 : 19)}`;
    };
    return bucketsBetween(dates, ends, write, (from, to) =>
      step === DAY_MS ? write(from) : `${write(from)} to ${write(to - (step >= DAY_MS ? DAY_MS : 0))}`,
    );
  }
  const monthOf = (time: number) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth();
  for (const step of STEPS_MONTHS) {
    const first = Math.floor(monthOf(least) / step);
    const count = Math.floor(monthOf(largest) / step) - first + 1;
    if (count > BUCKET_COUNT_MAX && step !== STEPS_MONTHS.at(-1)) continue;
    const ends = Array.from({ length: count + 1 }, (_, part) => at(0, (first + part) * step, 1));
    const write = (time: number) => new Date(time).toISOString().slice(0, 10);
    const digits = step % 12 === 0 ? 4 : 7;
    return bucketsBetween(dates, ends, write, (from, to) => {
      const [one, other] = [from, to - DAY_MS].map((time) => write(time).slice(0, digits));
      return one === other ? one! : `${one} to ${other}`;
    });
  }
  return [];
}

function bucketsBetween(
  dates: readonly { time: number }[],
  ends: readonly number[],
  write: (time: number) => string,
  name: (from: number, to: number) => string,
): Bucket[] {
  const counts = countedIn(
    dates.map(({ time }) => time),
    ends,
  );
  return counts.map((count, part) => {
    const [from, to] = [ends[part]!, ends[part + 1]!];
    return { text: name(from, to), from: literalOf(write(from)), to: literalOf(write(to)), isEndIncluded: false, count };
  });
}
