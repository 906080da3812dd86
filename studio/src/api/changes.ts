// What changes in a database, as the server tells it over a WebSocket.
import { below, SERVER_URL } from "./http";

type Frame = { Type: string; Value?: { Id?: string } };

const COMMAND_ID = 1;

/** How long one waits before one connects again, in ms. */
const AGAIN_MS = 3000;

/**
 * GET `/databases/{name}/changes`, `watch-doc`: tells of each change of a document, until what is returned is called. `standing`: whether it
 * is being told now; while it is not, changes may be missed, so whoever wants to know looks when it is.
 */
export function watchDocument(
  database: string,
  id: string,
  told: { changed: () => void; standing: (isStanding: boolean) => void },
): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const connect = () => {
    const made = new WebSocket(`${SERVER_URL.replace(/^http/, "ws")}${below(database, "/changes")}`);
    socket = made;
    made.onopen = () => made.send(JSON.stringify({ CommandId: COMMAND_ID, Command: "watch-doc", Param: id }));
    made.onmessage = ({ data }: MessageEvent<string>) => {
      const parsed = JSON.parse(data) as Frame | Frame[];
      const frames = Array.isArray(parsed) ? parsed : [parsed];
      if (frames.some((frame) => frame.Type === "Confirm")) told.standing(true);
      if (frames.some((frame) => frame.Type === "DocumentChange")) told.changed();
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
