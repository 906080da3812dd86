// Importing a file into a database: how far it is, a way to stop, and what came of it.
import { Button, Modal } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { count, counted, size } from "../../format/format";
import { ProgressBar } from "../../shell/ProgressBar";
import { messageOf } from "../../shell/states";
import { importFile, type Progress } from "./importing";
import bars from "../../shell/running.module.css";

export type Importing = { database: string; file: File };

export function Import({ importing, close }: { importing: Importing | undefined; close: () => void }) {
  return (
    <Modal
      opened={importing !== undefined}
      onClose={close}
      title={importing && `Import into ${importing.database}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {importing && <Body importing={importing} close={close} />}
    </Modal>
  );
}

function Body({ importing: { database, file }, close }: { importing: Importing; close: () => void }) {
  const requests = useQueryClient();
  const [progress, setProgress] = useState<Progress>({ documents: 0, readSize: 0 });
  const [outcome, setOutcome] = useState<{ isGood: boolean; text: string }>();
  const [stop, setStop] = useState<AbortController>();
  useEffect(() => {
    const controller = new AbortController();
    setStop(controller);
    importFile(database, file, setProgress, controller.signal)
      .then((documents) => setOutcome({ isGood: true, text: `${counted(documents, "document")} imported.` }))
      .catch((error: unknown) => {
        const isStopped = controller.signal.aborted;
        setOutcome({ isGood: false, text: isStopped ? "Stopped. What was imported before stays." : messageOf(error) });
      })
      .finally(() => requests.invalidateQueries());
    // Closing stops it too.
    return () => controller.abort();
  }, [database, file, requests]);
  const part = outcome?.isGood ? 1 : file.size > 0 ? progress.readSize / file.size : 0;
  return (
    <>
      <ProgressBar part={part} status={outcome && (outcome.isGood ? "Completed" : "Faulted")} />
      <p className={bars.text} role="status">
        {outcome?.text ?? `${file.name}: ${count(progress.documents)} documents, ${size(progress.readSize)} of ${size(file.size)}`}
      </p>
      <div className={bars.buttons}>
        {outcome ? (
          <Button onClick={close}>Close</Button>
        ) : (
          <Button variant="default" onClick={() => stop?.abort()}>
            Stop
          </Button>
        )}
      </div>
    </>
  );
}
