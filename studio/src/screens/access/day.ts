// Days of the calendar, as fields have them, and moments of the server. All of them are of UTC.

const DAY_MS = 24 * 60 * 60 * 1000;

/** `2027-01-31`, `count` days after `now` in ms. */
export function dayAfter(now: number, count: number): string {
  return new Date(now + count * DAY_MS).toISOString().slice(0, 10);
}

/** The day of a moment of the server; an empty text for none. */
export function dayOf(moment: string | null): string {
  return moment?.slice(0, 10) ?? "";
}

/** The last second of a day, as the server writes moments; an empty field is none. */
export function endOf(day: string): string | null {
  return day === "" ? null : `${day}T23:59:59.0000000Z`;
}

export type Nearness = "over" | "soon" | "far";

/** From so many days on before its end, somebody should do something. */
const SOON_DAYS = 30;

/** How far the end of something is. */
export function nearness(end: string, now: number): Nearness {
  const left = Date.parse(end) - now;
  return left <= 0 ? "over" : left < SOON_DAYS * DAY_MS ? "soon" : "far";
}
