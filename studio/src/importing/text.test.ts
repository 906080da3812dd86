import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { textOf } from "./text";

const TEXT = "Ärger\n".repeat(3);
/** `TEXT` as the program `zstd` writes it. */
const ZSTD = "KLUv/QRYbQAAOMOEcmdlcgoBAJKLERAshP8=";

async function read(bytes: Uint8Array<ArrayBuffer>) {
  let readSize = 0;
  let text = "";
  for await (const part of textOf(new Blob([bytes]), (size) => (readSize = size))) text += part;
  return { text, isAllRead: readSize === bytes.length };
}

test.each([
  ["plain", new TextEncoder().encode(TEXT)],
  ["gzip", new Uint8Array(gzipSync(TEXT))],
  ["zstd", new Uint8Array(Buffer.from(ZSTD, "base64"))],
])("%s is read as text", async (_, bytes) => {
  expect(await read(bytes)).toEqual({ text: TEXT, isAllRead: true });
});

test("compressed data without an end are told, behind all that they gave", async () => {
  const cut = new Uint8Array(Buffer.from(ZSTD, "base64")).slice(0, -7);
  await expect(read(cut)).rejects.toThrow("is cut off");
  const parts: string[] = [];
  const whole = readFileSync("tests/users.ravendbdump");
  await expect(async () => {
    for await (const part of textOf(new Blob([whole]), () => undefined)) parts.push(part);
  }).rejects.toThrow("is cut off");
  expect(parts.join("")).toMatch(/^\{"BuildVersion":.*\]\}$/s);
});

test("what is no text is refused", async () => {
  await expect(read(new Uint8Array([0x41, 0xff, 0xfe]))).rejects.toThrow("not encoded as UTF-8");
});
