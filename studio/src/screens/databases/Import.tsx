// Importing a file into a database: what becomes of its columns, how far it is, a way to stop, and what came of it.
import { Modal } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { count, counted, size } from "../../format/format";
import type { CsvPlan } from "../../importing/csv";
import { importFile, isCsv, type Progress } from "../../importing/importing";
import { messageOf } from "../../shell/states";
import { told } from "../../shell/toasts";
import { ImportCsv } from "./ImportCsv";
import { type Outcome, Transfer } from "./Transfer";

export type Importing = { database: string; file: File };

export default function Import({ importing, close }: { importing: Importing; close: () => void }) {
  const [plan, setPlan] = useState<CsvPlan>();
  const [isOver, setOver] = useState(false);
  const isPlanning = plan === undefined && isCsv(importing.file.name);
  return (
    <Modal
      opened
      onClose={close}
      size={isPlanning ? "min(860px, 94vw)" : "md"}
      title={`Import into ${importing.database}`}
      closeButtonProps={{ "aria-label": "Close" }}
      // Only its button stops what is under way, and a click that missed does not take back what was chosen.
      closeOnClickOutside={isOver}
      closeOnEscape={isPlanning || isOver}
      withCloseButton={isPlanning || isOver}
    >
      {isPlanning ? (
        <ImportCsv file={importing.file} begin={setPlan} close={close} />
      ) : (
        <Running importing={importing} plan={plan} over={setOver} close={close} />
      )}
    </Modal>
  );
}

function Running({
  importing: { database, file },
  plan,
  over,
  close,
}: {
  importing: Importing;
  plan: CsvPlan | undefined;
  /** Tells that nothing is under way any more. */
  over: (isOver: boolean) => void;
  close: () => void;
}) {
  const requests = useQueryClient();
  const [progress, setProgress] = useState<Progress>({ documents: 0, readSize: 0 });
  const [outcome, setOutcome] = useState<Outcome>();
  const [stop, setStop] = useState<AbortController>();
  useEffect(() => {
    const controller = new AbortController();
    setStop(controller);
    let [documents, isRunning] = [0, true];
    const tell = (now: Progress) => {
      documents = now.documents;
      setProgress(now);
    };
    importFile(database, file, plan, tell, controller.signal)
      .then(({ documents, notes }) =>
        setOutcome({ isGood: true, text: [`${counted(documents, "document")} imported.`, ...notes].join("\n") }),
      )
      .catch((error: unknown) => {
        const isStopped = controller.signal.aborted;
        setOutcome({ isGood: false, text: isStopped ? "Stopped. What was imported before stays." : messageOf(error) });
      })
      .finally(() => {
        isRunning = false;
        over(true);
        void requests.invalidateQueries();
      });
    // Going to another screen stops it too, and says so.
    return () => {
      if (isRunning && documents > 0) told(`The import into ${database} stopped after ${counted(documents, "document")}`);
      controller.abort();
    };
  }, [database, file, plan, over, requests]);
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: () => outcome === undefined });
  const part = outcome?.isGood ? 1 : file.size > 0 ? progress.readSize / file.size : 0;
  const text = `${file.name}: ${count(progress.documents)} documents, ${size(progress.readSize)} of ${size(file.size)}`;
  return <Transfer part={part} text={text} outcome={outcome} stop={stop} close={close} />;
}
