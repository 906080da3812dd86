// Exporting a database as a file of the browser: how far it is, and a way to stop.
import { Modal } from "@mantine/core";
import { useEffect, useState } from "react";
import { exported } from "../../api/databases";
import { count, counted, size } from "../../format/format";
import { download } from "../../shell/download";
import { messageOf } from "../../shell/states";
import { type Outcome, Transfer } from "./Transfer";

export type Exporting = { database: string; documentCount: number };

/** Bytes after which what came is handed to the browser, which may keep it on disk. */
const PART_SIZE = 8 << 20;
const LINE_END = 10;

export function Export({ exporting, close }: { exporting: Exporting | undefined; close: () => void }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => setOver(false), [exporting]);
  return (
    <Modal
      opened={exporting !== undefined}
      onClose={close}
      title={exporting && `Export ${exporting.database}`}
      closeButtonProps={{ "aria-label": "Close" }}
      // Only its button stops what is under way.
      closeOnClickOutside={isOver}
      closeOnEscape={isOver}
      withCloseButton={isOver}
    >
      {exporting && <Running exporting={exporting} over={setOver} close={close} />}
    </Modal>
  );
}

type RunningProps = { exporting: Exporting; over: (isOver: boolean) => void; close: () => void };

function Running({ exporting: { database, documentCount }, over, close }: RunningProps) {
  const [progress, setProgress] = useState({ documents: 0, bytes: 0 });
  const [outcome, setOutcome] = useState<Outcome>();
  const [stop, setStop] = useState<AbortController>();
  useEffect(() => {
    const controller = new AbortController();
    setStop(controller);
    save(database, setProgress, controller.signal)
      .then((documents) => setOutcome({ isGood: true, text: `${counted(documents, "document")} exported.` }))
      .catch((error: unknown) =>
        setOutcome({ isGood: false, text: controller.signal.aborted ? "Stopped. Nothing was saved." : messageOf(error) }),
      )
      .finally(() => over(true));
    return () => controller.abort();
  }, [database, over]);
  const part = outcome?.isGood ? 1 : Math.min(1, progress.documents / Math.max(1, documentCount));
  const text = `${count(progress.documents)} of ${counted(documentCount, "document")}, ${size(progress.bytes)}`;
  return <Transfer part={part} text={text} outcome={outcome} stop={stop} close={close} />;
}

/** Fetches all documents and has the browser save them; returns how many there were. */
async function save(
  database: string,
  tell: (progress: { documents: number; bytes: number }) => void,
  signal: AbortSignal,
): Promise<number> {
  const reader = (await exported(database, signal)).getReader();
  const parts: Blob[] = [];
  let [held, heldSize, documents, bytes] = [[] as Uint8Array<ArrayBuffer>[], 0, 0, 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (value) {
      held.push(value);
      heldSize += value.length;
      bytes += value.length;
      for (let at = value.indexOf(LINE_END); at >= 0; at = value.indexOf(LINE_END, at + 1)) documents++;
    }
    if (done || heldSize >= PART_SIZE) {
      parts.push(new Blob(held));
      [held, heldSize] = [[], 0];
      tell({ documents, bytes });
    }
    if (done) break;
  }
  download(new Blob(parts, { type: "application/jsonl" }), `${database}.jsonl`);
  return documents;
}
