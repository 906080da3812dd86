// A file as text, part by part: plain, or compressed with gzip or zstd, which its first bytes tell.

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** Something is wrong with the file itself. What was sent before stays; who imports says so. */
export class FileError extends Error {}

/** A file that is no text. */
export class TextError extends FileError {}

/** Compressed data that stop before their end. All that came before was given. RavenDB writes its dumps so. */
export class CutOffError extends FileError {}

/** The parts of a file's text; tells how many of its bytes were read. */
export async function* textOf(file: Blob, tellRead: (size: number) => void): AsyncGenerator<string> {
  const head = new Uint8Array(await file.slice(0, ZSTD.length).arrayBuffer());
  const begins = (bytes: readonly number[]) => bytes.every((byte, at) => head[at] === byte);
  let readSize = 0;
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(part, out) {
      readSize += part.length;
      tellRead(readSize);
      out.enqueue(part);
    },
  });
  const bytes = file.stream().pipeThrough(counting);
  let isCutOff = false;
  const plain = begins(GZIP)
    ? bytes.pipeThrough(new DecompressionStream("gzip"))
    : begins(ZSTD)
      ? bytes.pipeThrough(await zstd(() => (isCutOff = true)))
      : bytes;
  const reader = plain.getReader();
  let decoder: TextDecoder | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      decoder ??= new TextDecoder(encodingOf(value), { fatal: true });
      yield decoded(decoder, value);
    }
    if (decoder) yield decoded(decoder, undefined);
    if (isCutOff) throw new CutOffError("The compressed data in the file is cut off.");
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Spreadsheets write UTF-16 too, which its first bytes tell. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

function decoded(decoder: TextDecoder, part: Uint8Array | undefined): string {
  try {
    return decoder.decode(part, { stream: part !== undefined });
  } catch {
    // No text has a zero byte, whatever its encoding, but for UTF-16.
    throw new TextError(
      part?.includes(0)
        ? "The file contains binary data and is not text."
        : "The file is not encoded as UTF-8. Save it as UTF-8 (in Excel: 'CSV UTF-8') and import it again.",
    );
  }
}

/** Browsers do not know zstd yet, in which RavenDB writes its dumps. `cutOff` is called if the data have no end. */
async function zstd(cutOff: () => void): Promise<TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>> {
  const { Decompress } = await import("fzstd");
  let out: TransformStreamDefaultController<Uint8Array<ArrayBuffer>>;
  const decompress = new Decompress((part) => {
    if (part.length > 0) out.enqueue(part as Uint8Array<ArrayBuffer>);
  });
  return new TransformStream({
    start: (controller) => void (out = controller),
    transform: (part) => decompress.push(part),
    flush: () => {
      try {
        decompress.push(new Uint8Array(), true);
      } catch {
        cutOff();
      }
    },
  });
}
