// Numbers, sizes and times for people. The locale is fixed: screenshots, tests and bug reports then read the same.
import { stringify } from "../json/exact";

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const ONE_DIGIT = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** `69,472` */
export function count(value: number): string {
  return WHOLE.format(value);
}

/** The same of digits, as many as there are. */
export function countOf(digits: string): string {
  return WHOLE.format(BigInt(digits));
}

/** `1 document`, `2 documents` */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Bytes: `839 B`, `2.6 MB`, in powers of 1,024. */
export function size(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit + 1 < units.length) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? WHOLE.format(value) : ONE_DIGIT.format(value)} ${units[unit]}`;
}

/** A rate: `0`, `0.4`, `12`, `3,400` */
export function rate(perSecond: number): string {
  return perSecond < 10 ? ONE_DIGIT.format(perSecond) : WHOLE.format(perSecond);
}

const AGGREGATE = new Intl.NumberFormat("en-US", {
  maximumFractionDigits: 2,
  maximumSignificantDigits: 3,
  roundingPriority: "morePrecision",
});

/** A sum or an average: `1,265,793.04`, `6.25`, `0.00313` */
export function aggregate(value: number): string {
  return AGGREGATE.format(value);
}

/** Milliseconds: `3 ms`, `1.2 s`, `4 min`, `2 h`, `3 d` */
export function duration(ms: number): string {
  if (ms < 10) return `${ONE_DIGIT.format(ms)} ms`;
  if (ms < 1000) return `${WHOLE.format(ms)} ms`;
  if (ms < 60_000) return `${ONE_DIGIT.format(ms / 1000)} s`;
  if (ms < 3_600_000) return `${WHOLE.format(Math.floor(ms / 60_000))} min`;
  if (ms < 86_400_000) return `${ONE_DIGIT.format(ms / 3_600_000)} h`;
  return `${WHOLE.format(Math.floor(ms / 86_400_000))} d`;
}

/** How long something has run, in whole seconds while it is short: `44 s`, `4 min`. */
export function uptime(ms: number): string {
  return ms < 1000 ? "0 s" : duration(ms < 60_000 ? Math.floor(ms / 1000) * 1000 : ms);
}

/** A date of the server (UTC, seven digits) in local time: `2026-11-22 12:43:10` */
export function dateTime(wire: string): string {
  const date = new Date(wire);
  if (Number.isNaN(date.getTime())) return wire;
  const two = (part: number) => String(part).padStart(2, "0");
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

/** By how many ms the server's clock is before that of the browser. */
let ahead = 0;

/** `now`: what the server's clock shows. */
export function setServerClock(now: number) {
  ahead = now - Date.now();
}

/** What the server's clock shows, by which its dates are, in ms. */
export function serverNow(): number {
  return Date.now() + ahead;
}

/** How long ago: `just now`, `5 min ago`. `0001-…` is how the server writes that it never was. */
export function ago(wire: string | null, now = serverNow()): string {
  if (!wire || wire.startsWith("0001-")) return "never";
  const ms = now - new Date(wire).getTime();
  return ms < 5000 ? "just now" : `${uptime(ms)} ago`;
}

/** One value of a document on one line of a grid. */
export function cell(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) return stringify(value);
  return String(value);
}

/** The same where there is little room: a date of a client without what says nothing. A time zone is never left out. */
export function glimpse(value: unknown): string {
  const text = cell(value);
  const date = typeof value === "string" ? /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,7}))?(Z?)$/.exec(value) : null;
  if (!date) return text;
  const [, day, time, fraction = "", zone] = date;
  const rest = fraction.replace(/0+$/, "");
  if (time === "00:00:00" && rest === "" && zone === "") return day!;
  return `${day} ${time}${rest && `.${rest}`}${zone}`;
}
