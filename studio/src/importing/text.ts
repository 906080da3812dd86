// A file as text, part by part: plain, or compressed with gzip or zstd, which its first bytes tell.

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** A file that is no text in UTF-8: its name says what it is taken for. */
export class TextError extends Error {}

/** Compressed data that stop before their end. All that came before was given. RavenDB writes its dumps so. */
export class CutOffError extends Error {}

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
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield decoded(decoder, value);
    }
    yield decoded(decoder, undefined);
    if (isCutOff) throw new CutOffError("The compressed data of the file stop before their end. What came before was imported.");
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function decoded(decoder: TextDecoder, part: Uint8Array | undefined): string {
  try {
    return decoder.decode(part, { stream: part !== undefined });
  } catch {
    throw new TextError("The file has bytes that are no text in UTF-8: attachments, perhaps, which cannot be imported here");
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
