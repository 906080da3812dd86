import { expect, test, vi } from "vitest";

test("an answer that is cut off had no answer, and one that was given up was given up", async () => {
  vi.stubGlobal("location", { href: "http://here/studio/index.html" });
  const { ApiError, sendForJson } = await import("./http");
  const breaksWith = (error: Error) => {
    const start = (controller: ReadableStreamDefaultController) => {
      controller.enqueue(new TextEncoder().encode('{"Results":['));
      controller.error(error);
    };
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(new ReadableStream({ start }))));
  };
  breaksWith(new TypeError("network error"));
  const cutOff = await sendForJson("/x").catch((error: unknown) => error);
  expect(cutOff).toBeInstanceOf(ApiError);
  expect(cutOff).toMatchObject({ status: 0, message: expect.stringContaining("cut off") as string });
  breaksWith(new DOMException("", "AbortError"));
  await expect(sendForJson("/x")).rejects.toMatchObject({ name: "AbortError" });
  vi.unstubAllGlobals();
});
