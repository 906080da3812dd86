// Importing files into a database. What becomes of the columns of CSV is asked first; then it goes on by itself, one file after the other.
import { Modal } from "@mantine/core";
import { useEffect, useState } from "react";
import { count, counted, size } from "../../format/format";
import type { CsvPlan } from "../../importing/csv";
import { importFile, isCsv } from "../../importing/importing";
import { changedByImport } from "../../shell/changed";
import { messageOf } from "../../shell/states";
import { begin } from "../../shell/transfers";
import { ImportCsv } from "./ImportCsv";

export type Importing = { database: string; files: readonly File[] };

export default function Import({ importing, close }: { importing: Importing; close: () => void }) {
  const asked = importing.files.filter(({ name }) => isCsv(name));
  const [plans, setPlans] = useState<ReadonlyMap<File, CsvPlan>>(new Map());
  const file = asked[plans.size];
  const isPlanned = file !== undefined;
  useEffect(() => {
    if (isPlanned) return;
    start(importing, plans);
    close();
    // Once for the files.
  }, [importing, isPlanned]);
  const place = asked.length > 1 ? ` (${plans.size + 1} of ${asked.length})` : "";
  return (
    <Modal
      opened={isPlanned}
      onClose={close}
      size="min(860px, 94vw)"
      title={
        isPlanned && importing.files.length > 1 ? `Import ${file.name} into ${importing.database}${place}` : titleOf(importing)
      }
      closeButtonProps={{ "aria-label": "Close" }}
      // A click that missed does not take back what was chosen.
      closeOnClickOutside={false}
    >
      {file && <ImportCsv key={plans.size} file={file} begin={(plan) => setPlans(new Map(plans).set(file, plan))} close={close} />}
    </Modal>
  );
}

const titleOf = ({ database }: Importing) => `Import into ${database}`;

function start(importing: Importing, plans: ReadonlyMap<File, CsvPlan>) {
  const { database, files } = importing;
  const sizeOfAll = files.reduce((sum, file) => sum + file.size, 0);
  begin(
    titleOf(importing),
    async (tell, signal) => {
      const told: string[] = [];
      let [readBefore, hasFailed] = [0, false];
      try {
        for (const file of files) {
          const name = files.length > 1 ? `${file.name}: ` : "";
          try {
            const { documents, replaced, notes } = await importFile(
              database,
              file,
              plans.get(file),
              ({ documents, readSize }) =>
                tell(
                  sizeOfAll > 0 ? (readBefore + readSize) / sizeOfAll : 0,
                  `${file.name}: ${count(documents)} documents, ${size(readSize)} of ${size(file.size)}`,
                ),
              signal,
            );
            told.push(`${name}${counted(documents, "document")} imported.`);
            if (replaced > 0)
              told.push(`${counted(replaced, "document")} existed before and ${replaced === 1 ? "was" : "were"} replaced.`);
            told.push(...notes);
          } catch (error) {
            // The others are imported for all that.
            if (signal.aborted) throw error;
            hasFailed = true;
            told.push(`${name}${messageOf(error)}`);
          }
          readBefore += file.size;
        }
      } finally {
        void changedByImport();
      }
      if (hasFailed) throw new Error(told.join("\n"));
      return told.join("\n");
    },
    () => "Stopped. What was imported before stays.",
  );
}
