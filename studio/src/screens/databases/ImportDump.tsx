// An import of a dump, with a choice of what is taken from it.
import { Button, Checkbox, FileInput, Modal } from "@mantine/core";
import { useState } from "react";
import type { ImportOptions } from "../../api/databases";
import { DumpFields } from "./DumpFields";
import { ALL } from "./dumpOptions";
import { start } from "./Import";
import styles from "./databases.module.css";

export default function ImportDump({ database, close }: { database: string; close: () => void }) {
  return (
    <Modal
      opened
      onClose={close}
      title={`Import a dump into ${database}`}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      closeOnClickOutside={false}
    >
      <Form database={database} close={close} />
    </Modal>
  );
}

function Form({ database, close }: { database: string; close: () => void }) {
  const [options, setOptions] = useState<ImportOptions>({ ...ALL, skipsCorrupted: false });
  const [file, setFile] = useState<File | null>(null);
  const isReady = file !== null && options.types.length > 0;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isReady) return;
        close();
        start({ database, files: [file] }, new Map([[file, { kind: "dump", options }]]));
      }}
    >
      <FileInput
        data-autofocus
        label="File"
        description="A dump of Rookery or RavenDB, plain or compressed"
        placeholder="Choose a file"
        accept=".ravendbdump,.gz,.zst"
        value={file}
        onChange={setFile}
      />
      <DumpFields options={options} change={setOptions} collections={[]} />
      <Checkbox
        label="Skip what cannot be read or stored"
        description="Otherwise the import ends there"
        checked={options.skipsCorrupted}
        onChange={(event) => setOptions({ ...options, skipsCorrupted: event.currentTarget.checked })}
      />
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={!isReady}>
          Import
        </Button>
      </div>
    </form>
  );
}
