// Statistics.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "./studio";

test("charts are live, and what takes the space leads to its documents", async ({ page, studio }) => {
  await studio.open("/databases/Northwind/statistics");
  for (const title of [
    "Writes per second",
    "Requests per second",
    "Read latency, whole server",
    "Write latency, whole server",
    "Memory, whole server",
    "Disk per second, whole server",
  ]) {
    await expect(page.getByRole("region", { name: title }).locator("canvas")).toBeVisible();
  }
  const ofLine = (region: string, line: string) =>
    page.getByRole("region", { name: region }).getByRole("img", { name: new RegExp(`now .*${line} [0-9.,]+`) });
  await expect(ofLine("Requests per second", "server")).toBeVisible();
  // The studio itself reads.
  for (const line of ["p50", "p90", "p99"]) await expect(ofLine("Read latency, whole server", line)).toBeVisible();
  await expect(page.getByRole("region", { name: "Numbers" }).getByText("1,059").first()).toBeVisible();
  await studio.isAccessible();
  await page.getByRole("link", { name: /^Orders, / }).click();
  await expect(page.getByRole("heading", { name: "Orders", exact: true })).toBeVisible();
});

test("what takes the space is told by area, with the journal, flushes and readers", async ({ page, studio }) => {
  await studio.database("Stored", { "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } } });
  await page.request.get(`${studio.url}/databases/Stored/queries`, { params: { query: "from Users where Name = 'Ann'" } });
  const answer = await page.request.get(`${studio.url}/databases/Stored/debug/storage/report`);
  type Area = { Name: string; Report: { DataFile: { UsedSpaceInBytes: number }; Flush: { LastTransaction: number } } };
  const areas = ((await answer.json()) as { Results: Area[] }).Results;
  expect(areas.map(({ Name }) => Name)).toEqual(["Documents", "Auto/Users/ByName"]);
  await studio.open("/databases/Stored/statistics");
  const space = page.getByRole("region", { name: /What takes the space/ });
  for (const kind of ["Indexes", "Journals", "Free"])
    await expect(space.getByText(new RegExp(`^${kind} [\\d,.]+ [KM]?B$`))).toBeVisible();
  const storage = page.getByRole("region", { name: "Journal, flush and readers" });
  await expect(storage.getByText(/in \d+ files?/)).toBeVisible();
  await expect(storage.getByText("none", { exact: true })).toBeVisible();
  await expect(storage.getByRole("meter", { name: "Disk in use" })).toBeVisible();
  await studio.isAccessible();
  await space.getByRole("link", { name: /^Auto\/Users\/ByName, / }).click();
  await expect(page.getByRole("heading", { name: "Auto/Users/ByName", exact: true })).toBeVisible();
});

test("a database is compacted, and stays as it was but for its size", async ({ page, studio }) => {
  const documents = Array.from({ length: 60 }, (_, at): [string, object] => [
    `users/${at}`,
    { Name: "Ann", Text: "x".repeat(20_000), "@metadata": { "@collection": "Users" } },
  ]);
  await studio.database("Compacted", Object.fromEntries(documents));
  for (let at = 5; at < 60; at++) await page.request.delete(`${studio.url}/databases/Compacted/docs?id=users/${at}`);
  await page.request.get(`${studio.url}/databases/Compacted/queries`, { params: { query: "from Users where Name = 'Ann'" } });
  await studio.open("/databases/Compacted/statistics");
  await page.getByRole("button", { name: "Compact…" }).click();
  const dialog = page.getByRole("dialog", { name: "Compact 'Compacted'" });
  await expect(dialog.getByText(/Writes wait/)).toBeVisible();
  await studio.isAccessible();
  await dialog.getByRole("button", { name: "Compact", exact: true }).click();
  await expect(dialog.getByRole("status")).toHaveText(/Compacted the documents of Compacted/);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  const left = await page.request.get(`${studio.url}/databases/Compacted/collections/stats`);
  expect(((await left.json()) as { CountOfDocuments: number }).CountOfDocuments).toBe(5);
});

test("no area of the treemap is a sliver, and what would be one is among the others", async ({ page, studio }) => {
  const collections = ["Large", ...Array.from({ length: 12 }, (_, at) => `Small${at}`)];
  const documents = collections.map((name): [string, object] => [
    `${name}/1`,
    { Text: "x".repeat(name === "Large" ? 600_000 : 10), "@metadata": { "@collection": name } },
  ]);
  await studio.database("Slivers", Object.fromEntries(documents));
  await studio.open("/databases/Slivers/statistics");
  const space = page.getByRole("region", { name: /What takes the space/ });
  const others = space.getByTitle(/^\d+ others, /);
  await expect(others).toBeVisible();
  await expect(others).toHaveAttribute("title", /\nSmall11, \d+ B/);
  const sides = await space.getByRole("listitem").evaluateAll((items) =>
    items.map((item) => {
      const { width, height } = item.getBoundingClientRect();
      return Math.min(width, height);
    }),
  );
  // Two pixels of eight are the gap between areas.
  expect(Math.min(...sides)).toBeGreaterThanOrEqual(5.9);
  await studio.isAccessible();
});

/** A request takes as long as its body does: this one comes so many milliseconds after its head. */
async function sendSlowly(url: string, body: string, pause: number) {
  const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  const sent = request(url, { method: "POST", headers });
  sent.flushHeaders();
  await setTimeout(pause);
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
}

test("a slow query is told with its text, which leads to the editor", async ({ page, studio }) => {
  await studio.database("Slow", { "users/1": { Name: "Ann", "@metadata": { "@collection": "Users" } } });
  const query = "from Users where Name = 'Ann'";
  await sendSlowly(`${studio.url}/databases/Slow/queries`, JSON.stringify({ Query: query }), 600);
  await studio.open("/databases/Slow/statistics");
  const slow = page.getByRole("region", { name: /Slow requests and queries/ });
  await expect(slow.getByText("1 request whose answer took 500 ms or more to begin")).toBeVisible();
  await studio.isAccessible();
  await slow.getByRole("link", { name: query }).click();
  await expect(page.getByRole("textbox", { name: "Query" })).toContainText(query);
});

test("parts that cannot be read say so, and the others stay", async ({ page, studio }) => {
  studio.allow(/500 \(Internal Server Error\)/);
  let isBroken = true;
  const fail = (address: string) =>
    page.route(address, (route) => (isBroken ? route.fulfill({ status: 500, json: { Message: "It broke" } }) : route.continue()));
  await fail("**/debug/storage/report*");
  await studio.open("/databases/Northwind/statistics");
  await expect(page.getByText("The storage report cannot be read")).toBeVisible();
  await expect(page.getByRole("region", { name: "Numbers" })).toBeVisible();
  await fail("**/collections/stats/detailed*");
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("link", { name: /^Orders, / })).toBeVisible();
  isBroken = true;
  await page.reload();
  await expect(page.getByText("The storage report cannot be read")).toBeVisible();
  await page.unroute("**/debug/storage/report*");
  // It is asked for anew by itself.
  await expect(page.getByText("The collections cannot be read")).toBeVisible();
  await expect(page.getByText("Key trees and unused space")).toHaveCount(0);
});
