// Importing a file into a database. What becomes of the columns of CSV is asked first; then it goes on by itself.
import { Modal } from "@mantine/core";
import { useEffect } from "react";
import { count, counted, size } from "../../format/format";
import type { CsvPlan } from "../../importing/csv";
import { importFile, isCsv } from "../../importing/importing";
import { requests } from "../../requests";
import { begin } from "../../shell/transfers";
import { ImportCsv } from "./ImportCsv";

export type Importing = { database: string; file: File };

export default function Import({ importing, close }: { importing: Importing; close: () => void }) {
  const isPlanned = isCsv(importing.file.name);
  const title = `Import into ${importing.database}`;
  useEffect(() => {
    if (isPlanned) return;
    start(importing, undefined);
    close();
    // Once for a file.
  }, [importing]);
  return (
    <Modal
      opened={isPlanned}
      onClose={close}
      size="min(860px, 94vw)"
      title={title}
      closeButtonProps={{ "aria-label": "Close" }}
      // A click that missed does not take back what was chosen.
      closeOnClickOutside={false}
    >
      <ImportCsv
        file={importing.file}
        begin={(plan) => {
          close();
          start(importing, plan);
        }}
        close={close}
      />
    </Modal>
  );
}

function start({ database, file }: Importing, plan: CsvPlan | undefined) {
  begin(
    `Import into ${database}`,
    async (tell, signal) => {
      try {
        const { documents, replaced, notes } = await importFile(
          database,
          file,
          plan,
          ({ documents, readSize }) =>
            tell(
              file.size > 0 ? readSize / file.size : 0,
              `${file.name}: ${count(documents)} documents, ${size(readSize)} of ${size(file.size)}`,
            ),
          signal,
        );
        const already =
          replaced > 0 ? [`${counted(replaced, "document")} existed before and ${replaced === 1 ? "was" : "were"} replaced.`] : [];
        return [`${counted(documents, "document")} imported.`, ...already, ...notes].join("\n");
      } finally {
        void requests.invalidateQueries();
      }
    },
    "Stopped. What was imported before stays.",
  );
}
