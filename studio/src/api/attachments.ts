// Attachments: files that belong to a document.
import { metadataOf } from "./documents";
import { ApiError, below, failure, send, SERVER_URL } from "./http";

export type Attachment = {
  name: string;
  /** "" if it is unknown. */
  contentType: string;
  /** In bytes. */
  size: number;
  /** Of the content. */
  hash: string;
};

type Listed = { Name: string; ContentType: string; Size: number; Hash: string };

/** The attachments of a document, which its metadata list by name; none if it was deleted. */
export async function attachments(database: string, id: string, signal?: AbortSignal): Promise<Attachment[]> {
  const [document] = await metadataOf(database, [id], signal);
  const listed = (document?.["@metadata"]["@attachments"] ?? []) as Listed[];
  return listed.map(({ Name, ContentType, Size, Hash }) => ({ name: Name, contentType: ContentType, size: Size, hash: Hash }));
}

const path = (database: string) => below(database, "/attachments");

/** GET `/databases/{name}/attachments`: where a browser reads the content. */
export function addressOf(database: string, id: string, { name, hash }: Attachment): string {
  // The hash is ignored by the server; the address of another content is another one for the browser.
  return `${SERVER_URL}${path(database)}?${new URLSearchParams({ id, name, hash })}`;
}

/** The same: the beginning of a text, up to `sizeMax` bytes. */
export async function beginningOf(
  database: string,
  id: string,
  { name, size }: Attachment,
  sizeMax: number,
  signal?: AbortSignal,
): Promise<string> {
  // A range of nothing is an error.
  if (size === 0) return "";
  const headers: Record<string, string> = size > sizeMax ? { Range: `bytes=0-${sizeMax - 1}` } : {};
  const response = await send(path(database), { query: { id, name }, headers, signal });
  return new TextDecoder().decode(await response.arrayBuffer());
}

/** How an upload tells its progress, and is stopped. */
export type Uploading = { tell?: (sent: number) => void; signal?: AbortSignal };

/** PUT `/databases/{name}/attachments`: stores a file under a name, in place of one that has it. */
export function upload(database: string, id: string, name: string, file: Blob, { tell, signal }: Uploading = {}): Promise<void> {
  const query = new URLSearchParams({ id, name, contentType: file.type });
  return new Promise((resolve, reject) => {
    // `fetch` does not tell how much it has sent.
    const request = new XMLHttpRequest();
    const end = () => signal?.removeEventListener("abort", stop);
    const stop = () => request.abort();
    request.open("PUT", `${SERVER_URL}${path(database)}?${query}`);
    request.upload.onprogress = ({ loaded }) => tell?.(loaded);
    request.onload = () => {
      end();
      if (request.status < 300) return resolve();
      failure(new Response(request.responseText, { status: request.status })).then(reject, reject);
    };
    request.onerror = () => {
      end();
      reject(new ApiError(0, "Unreachable", "The server cannot be reached. It may have stopped, or the network is down."));
    };
    request.onabort = () => {
      end();
      reject(new DOMException("The upload was stopped.", "AbortError"));
    };
    signal?.addEventListener("abort", stop);
    request.send(file);
  });
}

/** DELETE `/databases/{name}/attachments` */
export async function remove(database: string, id: string, name: string): Promise<void> {
  await send(path(database), { method: "DELETE", query: { id, name } });
}
