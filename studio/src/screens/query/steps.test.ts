import { expect, test, vi } from "vitest";

test("fewer results are asked for at once the larger they are", async () => {
  vi.stubGlobal("location", { href: "http://here/studio/index.html" });
  const { documentSize, stepCount } = await import("./steps");
  vi.unstubAllGlobals();
  expect([200, 20_000, 1 << 20, 1 << 26].map(stepCount)).toEqual([5000, 419, 8, 1]);
  const collections = [
    { name: "Users", count: 100, size: 20_000 },
    { name: "Scans", count: 2, size: 5_000_000 },
  ];
  const sizes = ["from Users where Age > 3", "from 'scans'", "from index 'Users/ByAge'", "from @all_docs"].map((text) =>
    documentSize(text, collections),
  );
  expect(sizes).toEqual([200, 2_500_000, 2_500_000, 2_500_000]);
  expect(documentSize("from Users", [])).toBe(0);
});
