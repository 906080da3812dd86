import { expect, test, vi } from "vitest";

vi.stubGlobal("location", new URL("http://localhost/studio/index.html"));
const { DOCUMENT_COUNT_MAX, placesOf, SAMPLE_SIZE, sampleFields } = await import("./fieldSample");

test("a small collection is read whole, a large one at places that are spread over it", () => {
  expect(placesOf(60, 25).sort((a, b) => a - b)).toEqual([0, 25, 50]);
  const places = placesOf(1_000_000, 25);
  expect(places.length * 25).toBe(DOCUMENT_COUNT_MAX);
  // Wherever one stops: of the first four, each is in another quarter.
  expect(
    places
      .slice(0, 4)
      .map((place) => Math.floor(place / 250_000))
      .sort(),
  ).toEqual([0, 1, 2, 3]);
  expect(Math.max(...places)).toBe(1_000_000 - 25);
  const sorted = places.sort((a, b) => a - b);
  expect(sorted.slice(1).every((place, at) => place - sorted[at]! >= 25)).toBe(true);
  expect(placesOf(1, 25)).toEqual([0]);
});

/** A server whose documents have that many characters. */
function serve(documentSize: number) {
  const asked: { Start: number; PageSize: number }[] = [];
  vi.stubGlobal("fetch", (_: string, { body }: { body: string }) => {
    const query = JSON.parse(body) as { Start: number; PageSize: number };
    asked.push(query);
    const Results = Array.from({ length: query.PageSize }, () => ({ Text: "x".repeat(documentSize), "@metadata": {} }));
    return Promise.resolve(
      new Response(JSON.stringify({ Results, TotalResults: 5000, DurationInMs: 0, IndexName: "", IsStale: false })),
    );
  });
  return asked;
}

test("reading stops once there was enough, in documents or in characters", async () => {
  const signal = new AbortController().signal;
  const told: number[] = [];
  const small = serve(10);
  const sample = await sampleFields("db", "Orders", 5000, 5000 * 40, (count) => told.push(count), signal);
  expect([sample.documentCount, sample.totalCount, sample.placeCount]).toEqual([DOCUMENT_COUNT_MAX, 5000, 40]);
  expect(small.length).toBe(40);
  expect(told.at(-1)).toBe(DOCUMENT_COUNT_MAX);
  const large = serve(3 << 20);
  const few = await sampleFields("db", "Orders", 5000, 5000 * (3 << 20), () => undefined, signal);
  expect(large.every(({ PageSize }) => PageSize === 1)).toBe(true);
  expect(few.documentCount).toBe(Math.ceil(SAMPLE_SIZE / (3 << 20)));
});
