// Importing files into a database. What becomes of the columns of CSV, and of documents without a collection, is asked first; then it goes
// on by itself, one file after the other.
import { Modal } from "@mantine/core";
import { useEffect, useState } from "react";
import { count, counted, size } from "../../format/format";
import { importFile, isCsv, previewDocuments, type Plan } from "../../importing/importing";
import { changedByImport } from "../../shell/changed";
import { messageOf } from "../../shell/states";
import { begin } from "../../shell/transfers";
import { ImportCsv } from "./ImportCsv";
import { ImportJson } from "./ImportJson";

/** Documents of a file of JSON that are looked at. */
const PREVIEW_COUNT = 20;

export type Importing = { database: string; files: readonly File[] };

export default function Import({ importing, close }: { importing: Importing; close: () => void }) {
  /** The first documents of the files of JSON that have to be asked for; undefined until the files were looked at. */
  const [previews, setPreviews] = useState<ReadonlyMap<File, string[]>>();
  useEffect(() => {
    let isCurrent = true;
    const files = importing.files.filter(({ name }) => !isCsv(name));
    void Promise.all(files.map(async (file) => [file, await previewDocuments(file, PREVIEW_COUNT)] as const)).then((found) => {
      if (isCurrent) setPreviews(new Map(found.flatMap(([file, texts]) => (texts ? [[file, texts] as const] : []))));
    });
    return () => void (isCurrent = false);
  }, [importing]);
  const asked = importing.files.filter((file) => isCsv(file.name) || previews?.has(file));
  const [plans, setPlans] = useState<ReadonlyMap<File, Plan>>(new Map());
  const file = previews && asked[plans.size];
  const texts = file && previews.get(file);
  const isPlanned = file !== undefined;
  const isKnown = previews !== undefined;
  useEffect(() => {
    if (isPlanned || !isKnown) return;
    start(importing, plans);
    close();
    // Once for the files.
  }, [importing, isPlanned, isKnown]);
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
      {file && texts && (
        <ImportJson
          key={plans.size}
          fileName={file.name}
          texts={texts}
          begin={(plan) => setPlans(new Map(plans).set(file, { kind: "json", ...plan }))}
          close={close}
        />
      )}
      {file && !texts && (
        <ImportCsv
          key={plans.size}
          file={file}
          begin={(plan) => setPlans(new Map(plans).set(file, { kind: "csv", ...plan }))}
          close={close}
        />
      )}
    </Modal>
  );
}

const titleOf = ({ database }: Importing) => `Import into ${database}`;

/** Imports files in the background. `plans`: of those that need one. */
export function start(importing: Importing, plans: ReadonlyMap<File, Plan>) {
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
            const { documents, replaced, notes, skipped } = await importFile(
              database,
              file,
              plans.get(file),
              ({ documents, readSize }) =>
                tell(
                  sizeOfAll > 0 ? (readBefore + (readSize ?? 0)) / sizeOfAll : 0,
                  readSize === undefined
                    ? `${file.name}: ${counted(documents, "document")}`
                    : `${file.name}: ${counted(documents, "document")}, ${size(readSize)} of ${size(file.size)}`,
                ),
              signal,
            );
            told.push(`${name}${counted(documents, "document")} imported.`);
            if (replaced > 0)
              told.push(`${counted(replaced, "document")} existed before and ${replaced === 1 ? "was" : "were"} replaced.`);
            told.push(...notes);
            if (skipped.count > 0) {
              hasFailed = true;
              const first = skipped.reasons.length < skipped.count ? `, of which the first ${count(skipped.reasons.length)}` : "";
              told.push(`${counted(skipped.count, "document")} skipped${first}:`, ...skipped.reasons);
            }
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
