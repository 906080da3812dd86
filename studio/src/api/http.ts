// One request to the server that served this page. Nothing else is ever asked.
import { parse } from "../json/exact";

/** The address of the server, without a slash at its end. A proxy may have put the studio under a prefix. */
export const SERVER_URL = new URL("..", location.href.replace(/#.*/, "")).href.replace(/\/$/, "");

/** An answer that is no success, with the words of the server. */
export class ApiError extends Error {
  constructor(
    /** 0 if there was no answer at all. */
    readonly status: number,
    /** The exception's name without its namespace, as `ConcurrencyException`. */
    readonly kind: string,
    message: string,
    /** The whole body, where it was JSON. */
    readonly body: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

export type Options = {
  method?: string;
  /** What is undefined is left out; a list is a parameter several times. */
  query?: Record<string, string | number | boolean | readonly string[] | undefined>;
  /** Sent as JSON; a string and a form as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

/** Sends a request; throws `ApiError` for any answer that is no success. 304 and 404 are for the caller to look at if `allowed`. */
export async function send(path: string, options: Options = {}, allowed: readonly number[] = []): Promise<Response> {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const query = parameters.size > 0 ? `?${parameters}` : "";
  const isSentAsItIs = options.body === undefined || typeof options.body === "string" || options.body instanceof FormData;
  const body = isSentAsItIs ? (options.body as string | FormData | undefined) : JSON.stringify(options.body);
  let response: Response;
  try {
    response = await fetch(SERVER_URL + path + query, {
      method: options.method ?? "GET",
      headers: options.headers ?? {},
      body: body ?? null,
      signal: options.signal ?? null,
    });
  } catch (error) {
    throw lost(error, "The server cannot be reached. It may have stopped, or the network is down.");
  }
  if (response.ok || allowed.includes(response.status)) return response;
  const failed = await failure(response);
  if (isOfNobody(failed)) nobodyAsked();
  throw failed;
}

/** Whether an answer says that the server does not know who asks: not, or no longer. */
export function isOfNobody({ status, kind }: ApiError): boolean {
  return kind === "InvalidAuth" && (status === 401 || status === 403);
}

let nobodyAsked = () => {};

/** Has a function called for each such answer. */
export function whenNobodyAsked(listener: () => void) {
  nobodyAsked = listener;
}

/** What is said if there is no whole answer; that a request was given up stays what it is. */
function lost(error: unknown, message: string): unknown {
  if (error instanceof DOMException && error.name === "AbortError") return error;
  return new ApiError(0, "Unreachable", message);
}

/** Reads of an answer what `read` asks for. Long ones are cut off in the middle if something fails behind their beginning. */
export async function readFrom<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw lost(error, "The answer was cut off. The server may have stopped, or the network is down.");
  }
}

export function textOf(response: Response): Promise<string> {
  return readFrom(() => response.text());
}

/** Its JSON; numbers that JavaScript rounds keep their digits (`json/exact.ts`). */
export async function jsonOf<T>(response: Response): Promise<T> {
  const text = await textOf(response);
  return parse(text) as T;
}

/** The server's words for what is no success. */
export async function failure(response: Response): Promise<ApiError> {
  const text = await textOf(response);
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const kind =
      String(body["Type"] ?? "")
        .split(/[.+]/)
        .at(-1) ?? "";
    return new ApiError(response.status, kind, String(body["Message"] ?? text), body);
  } catch {
    return new ApiError(response.status, "", text || `The server answered with ${response.status}.`);
  }
}

/** The same, with the JSON of the answer. */
export async function sendForJson<T>(path: string, options?: Options): Promise<T> {
  return jsonOf<T>(await send(path, options));
}

/** The path of a database's endpoints. */
export function below(database: string, rest: string): string {
  return `/databases/${encodeURIComponent(database)}${rest}`;
}
