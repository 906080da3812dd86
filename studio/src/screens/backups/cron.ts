// What a cron expression means, in words. The server reads the expression; these are the common ones.

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

export type Preset = { label: string; cron: string };

export const FULL_PRESETS: readonly Preset[] = [
  { label: "Every night", cron: "0 2 * * *" },
  { label: "Every Sunday", cron: "0 2 * * SUN" },
  { label: "Every month", cron: "0 2 1 * *" },
  { label: "Never", cron: "" },
];
export const INCREMENTAL_PRESETS: readonly Preset[] = [
  { label: "Every 15 minutes", cron: "*/15 * * * *" },
  { label: "Every hour", cron: "0 * * * *" },
  { label: "Every night", cron: "0 2 * * *" },
  { label: "Never", cron: "" },
];

/** `every day at 02:00 UTC`; undefined for what is rare, or wrong: the server says which. */
export function meaningOf(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) return undefined;
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string];
  const days = daysOf(day, month, weekday);
  const times = timesOf(minute, hour);
  if (days === undefined || times === undefined) return undefined;
  return days === "every day" && !times.isOfDay ? `${times.text}` : `${days}${times.isOfDay ? " at" : ","} ${times.text}`;
}

function timesOf(minute: string, hour: string): { text: string; isOfDay: boolean } | undefined {
  const minutes = numbers(minute, 0, 59);
  const hours = numbers(hour, 0, 23);
  const everyMinutes = step(minute, 59);
  const everyHours = step(hour, 23);
  if (minutes && hours) {
    // One that has many times is not a list for people.
    if (minutes.length * hours.length > 6) return undefined;
    const times = hours.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`));
    return { text: `${listed(times)} UTC`, isOfDay: true };
  }
  if (everyMinutes !== undefined && hour === "*") {
    return { text: everyMinutes === 1 ? "every minute" : `every ${everyMinutes} minutes`, isOfDay: false };
  }
  if (minutes?.length !== 1 || everyHours === undefined) return undefined;
  const past = minutes[0] === 0 ? "on the hour" : `at minute ${minutes[0]}`;
  return { text: everyHours === 1 ? `every hour, ${past}` : `every ${everyHours} hours, ${past}`, isOfDay: false };
}

function daysOf(day: string, month: string, weekday: string): string | undefined {
  const isEveryMonth = month === "*";
  const months = isEveryMonth ? undefined : names(month, MONTHS, 1);
  if (!isEveryMonth && months === undefined) return undefined;
  const ofMonths = months === undefined ? "every month" : listed(months);
  if (day === "*" && weekday === "*") return isEveryMonth ? "every day" : `every day in ${ofMonths}`;
  // Both together mean days of the one kind or of the other, which few people expect.
  if (day !== "*" && weekday !== "*") return undefined;
  if (weekday !== "*") {
    const days = names(weekday, DAYS, 0);
    if (days === undefined) return undefined;
    return `every ${listed(days)}${isEveryMonth ? "" : ` in ${ofMonths}`}`;
  }
  if (day.toUpperCase() === "L") return `on the last day of ${ofMonths}`;
  const dates = numbers(day, 1, 31);
  return dates && `on ${dates.length === 1 ? "day" : "days"} ${listed(dates.map(String))} of ${ofMonths}`;
}

/** `1` for `*`; `15` for `*` with the step 15. A step that does not divide leaves an odd rest, so that it is no regular time. */
function step(field: string, max: number): number | undefined {
  if (field === "*") return 1;
  const found = /^\*\/(\d{1,2})$/.exec(field);
  const every = found ? Number(found[1]) : 0;
  return every > 0 && (max + 1) % every === 0 ? every : undefined;
}

/** A list of numbers. */
function numbers(field: string, min: number, max: number): number[] | undefined {
  const found = field.split(",").map((part) => (/^\d{1,2}$/.test(part) ? Number(part) : NaN));
  return found.every((number) => number >= min && number <= max) ? found : undefined;
}

/** A list or a range of names or numbers, as `MON-FRI`. `first`: the number of the first name. */
function names(field: string, all: readonly string[], first: number): string[] | undefined {
  const indexOf = (part: string) => {
    if (/^\d{1,2}$/.test(part)) {
      const number = Number(part) - first;
      // Sunday is 0 and 7.
      return all === DAYS && number === 7 ? 0 : number;
    }
    return all.findIndex((name) => name.slice(0, 3).toUpperCase() === part.toUpperCase());
  };
  const found = field.split(",").flatMap((part) => {
    const [from, to, ...rest] = part.split("-").map(indexOf);
    if (from === undefined || rest.length > 0) return [-1];
    if (to === undefined) return [from];
    return from < 0 || to < from ? [-1] : Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
  return found.every((at) => at >= 0 && at < all.length) ? found.map((at) => all[at]!) : undefined;
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

const two = (number: number) => String(number).padStart(2, "0");
