import { expect, test } from "vitest";
import { previewOf } from "./preview";

test("images and texts are shown, by their type, or by their name if that is unknown", () => {
  const of = (name: string, contentType: string) => previewOf({ name, contentType });
  expect([of("a", "image/png"), of("a", "image/svg+xml"), of("a", "image/tiff")]).toEqual(["image", "image", undefined]);
  expect([of("a", "text/plain; charset=utf-8"), of("a", "application/json"), of("a", "application/atom+xml")]).toEqual([
    "text",
    "text",
    "text",
  ]);
  expect([of("notes.MD", ""), of("a.csv", "application/octet-stream"), of("a.txt", "application/pdf"), of("a", "")]).toEqual([
    "text",
    "text",
    undefined,
    undefined,
  ]);
});
