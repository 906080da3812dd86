import { expect, test } from "vitest";
import { FULL_PRESETS, INCREMENTAL_PRESETS, meaningOf } from "./cron";

test("common expressions are read", () => {
  const check = (cron: string, meaning: string) => expect(meaningOf(cron), cron).toBe(meaning);
  check("0 2 * * *", "every day at 02:00 UTC");
  check(" 30  1 * *  SUN ", "every Sunday at 01:30 UTC");
  check("0 3 * * mon-fri", "every Monday, Tuesday, Wednesday, Thursday and Friday at 03:00 UTC");
  check("0 3 * * 7", "every Sunday at 03:00 UTC");
  check("0 0,12 * * *", "every day at 00:00 and 12:00 UTC");
  check("*/15 * * * *", "every 15 minutes");
  check("* * * * *", "every minute");
  check("0 * * * *", "every hour, on the hour");
  check("20 */6 * * *", "every 6 hours, at minute 20");
  check("0 * * * SAT", "every Saturday, every hour, on the hour");
  check("0 2 1 * *", "on day 1 of every month at 02:00 UTC");
  check("30 4 1,15 * *", "on days 1 and 15 of every month at 04:30 UTC");
  check("0 0 L * *", "on the last day of every month at 00:00 UTC");
  check("0 0 1 JAN *", "on day 1 of January at 00:00 UTC");
});

test("what is rare or wrong has no reading", () => {
  for (const cron of [
    "",
    "zork",
    "* * * *",
    "60 * * * *",
    "0 24 * * *",
    "*/7 * * * *",
    "0 0 1 * MON",
    "0 0 * * ZOR",
    "0 0 * 13 *",
  ]) {
    expect(meaningOf(cron), cron).toBeUndefined();
  }
});

test("presets are read", () => {
  for (const { cron } of [...FULL_PRESETS, ...INCREMENTAL_PRESETS]) {
    if (cron !== "") expect(meaningOf(cron), cron).toBeDefined();
  }
});
