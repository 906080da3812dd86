// What the studio may cost, measured and told, not asserted: `scripts/studio bench BINARY`. Figures of a quiet machine are in BENCHMARKS.md.
import { readFileSync } from "node:fs";
import { expect, test as plain } from "@playwright/test";

/** First loads, each with an empty cache; the middle one is told. */
const LOAD_COUNT = 7;
/** Answers whose cost is added up: the clock of a process ticks in 10 ms. */
const ANSWER_COUNT = 2000;
/** How often one looks what a screen asks for, in ms. */
const WATCHED_MS = 12_000;

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** CPU time of the server so far, in ms (Linux, 100 ticks a second). */
function cpuMs(): number {
  const stat = readFileSync(`/proc/${process.env["STUDIO_PID"]}/stat`, "utf8");
  // Behind the name, which may have blanks.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

plain.describe.configure({ mode: "serial" });

for (const [what, place, label] of [
  ["databases", "/databases", "Northwind"],
  ["a collection", "/databases/Northwind/documents?collection=Orders", "orders/1-A"],
] as const) {
  plain(`first load of ${what}`, async ({ browser }) => {
    plain.setTimeout(120_000);
    const [times, sizes]: [number[], number[]] = [[], []];
    for (let run = 0; run < LOAD_COUNT; run++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const answers: Promise<{ responseBodySize: number }>[] = [];
      page.on("requestfinished", (request) => answers.push(request.sizes()));
      // In the page itself: what drives the browser takes its time too.
      await page.addInitScript((text) => {
        const look = () => {
          const found = [...document.querySelectorAll("main a")].some((link) => link.textContent === text);
          if (!found) return void requestAnimationFrame(look);
          // It can be used once a key gets through: two frames on, the first of them is drawn.
          requestAnimationFrame(() => setTimeout(() => ((window as { ready?: number }).ready = performance.now())));
        };
        look();
      }, label);
      await page.goto(`${process.env["STUDIO_URL"]}/studio/index.html#${place}`);
      await page.waitForFunction(() => (window as { ready?: number }).ready !== undefined);
      times.push(await page.evaluate(() => (window as { ready?: number }).ready!));
      sizes.push((await Promise.all(answers)).reduce((sum, { responseBodySize }) => sum + responseBodySize, 0));
      await page.keyboard.press("ControlOrMeta+k");
      await expect(page.getByRole("combobox", { name: "Jump to" })).toBeFocused();
      await context.close();
    }
    console.log(`first load of ${what}: interactive after ${Math.round(median(times))} ms, ${Math.round(median(sizes) / 1024)} KB`);
  });
}

plain("live charts", async ({ page, request }) => {
  plain.setTimeout(120_000);
  const asked = new Map<string, number>();
  page.on("request", (one) => {
    const { pathname, search } = new URL(one.url());
    if (pathname.startsWith("/studio/")) return;
    const path = pathname + search;
    asked.set(path, (asked.get(path) ?? 0) + 1);
  });
  await page.goto(`${process.env["STUDIO_URL"]}/studio/index.html#/databases/Northwind/statistics`);
  await expect(page.getByText("What takes the space")).toBeVisible();
  await page.waitForTimeout(1000);
  asked.clear();
  await page.waitForTimeout(WATCHED_MS);
  const chartCount = await page.locator("main .uplot").count();
  await page.close();
  let total = 0;
  for (const [path, count] of asked) {
    const before = cpuMs();
    for (let sent = 0; sent < ANSWER_COUNT; sent++) await (await request.get(process.env["STUDIO_URL"]! + path)).dispose();
    const each = (cpuMs() - before) / ANSWER_COUNT;
    const share = (each * count) / WATCHED_MS;
    total += share;
    console.log(`${path}: ${each.toFixed(3)} ms of CPU, every ${(WATCHED_MS / count / 1000).toFixed(1)} s`);
  }
  console.log(`statistics with ${chartCount} charts: ${(total * 100).toFixed(4)}% of a core for each who looks`);
});
