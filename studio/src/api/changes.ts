// What changes in a database, as the server tells it over a WebSocket.
import { parse } from "../json/exact";
import { below, SERVER_URL } from "./http";

export type DocumentChange = { Type: "Put" | "Delete"; Id: string; CollectionName: string | null; ChangeVector: string };

/** `Value`: beyond 2^53 its digits are kept (`json/exact.ts`). */
export type CounterChange = {
  Type: "Put" | "Increment" | "Delete";
  Name: string;
  Value: number;
  DocumentId: string;
  CollectionName: string | null;
};

export type IndexChange = {
  Type:
    | "IndexAdded"
    | "IndexRemoved"
    | "BatchCompleted"
    | "SideBySideReplace"
    | "IndexMarkedAsErrored"
    | "IndexPaused"
    | "IndexDemotedToDisabled"
    | "LockModeChanged"
    | "PriorityChanged";
  Name: string;
};

/** A message of the server that tells of a change. */
export type Change =
  | { Type: "DocumentChange"; Value: DocumentChange }
  | { Type: "CounterChange"; Value: CounterChange }
  | { Type: "IndexChange"; Value: IndexChange };

type Frame = Change | { Type: "Confirm" };

/** What a client wants to be told of. */
export type Watched =
  | { command: "watch-docs" | "watch-counters" | "watch-indexes" }
  | { command: "watch-doc" | "watch-document-counters" | "watch-collection" | "watch-prefix"; of: string };

/** How long one waits before one connects again, in ms. */
const AGAIN_MS = 3000;

/**
 * GET `/databases/{name}/changes`: tells of changes until the returned function is called.
 *
 * * `changed`: gets the changes of one frame, in their order.
 * * `standing`: whether the server tells all that is watched now. While it does not, changes may be missed, so read again
 *   once it does.
 */
export function watch(
  database: string,
  watched: readonly Watched[],
  told: { changed: (changes: Change[]) => void; standing: (isStanding: boolean) => void },
): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const connect = () => {
    const made = new WebSocket(`${SERVER_URL.replace(/^http/, "ws")}${below(database, "/changes")}`);
    let unconfirmed = watched.length;
    socket = made;
    made.onopen = () =>
      watched.forEach((one, at) =>
        made.send(JSON.stringify({ CommandId: at + 1, Command: one.command, ...("of" in one && { Param: one.of }) })),
      );
    made.onmessage = ({ data }: MessageEvent<string>) => {
      const parsed = parse(data) as Frame | Frame[];
      const frames = Array.isArray(parsed) ? parsed : [parsed];
      const confirmed = frames.filter(({ Type }) => Type === "Confirm").length;
      unconfirmed -= confirmed;
      if (confirmed > 0 && unconfirmed === 0) told.standing(true);
      const changes = frames.filter((frame) => /^(Document|Counter|Index)Change$/.test(frame.Type)) as Change[];
      if (changes.length > 0) told.changed(changes);
    };
    made.onclose = () => {
      if (isOver) return;
      told.standing(false);
      timer = setTimeout(connect, AGAIN_MS);
    };
  };
  connect();
  return () => {
    isOver = true;
    clearTimeout(timer);
    if (!socket) return;
    // Closing one that is not open yet is put down as an error by the browser.
    if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket?.close();
    else socket.close();
    socket.onmessage = null;
  };
}
