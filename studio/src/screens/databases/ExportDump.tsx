// An export as a dump, with a choice of what is in it.
import { Button, Modal, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ExportOptions } from "../../api/databases";
import { collectionsQuery } from "../../api/documents";
import { DumpFields } from "./DumpFields";
import { ALL } from "./dumpOptions";
import { exportDatabase } from "./export";
import styles from "./databases.module.css";

export default function ExportDump({ database, close }: { database: string; close: () => void }) {
  return (
    <Modal
      opened
      onClose={close}
      title={`Export ${database}`}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      // A click that missed does not take back what was chosen.
      closeOnClickOutside={false}
    >
      <Form database={database} close={close} />
    </Modal>
  );
}

function Form({ database, close }: { database: string; close: () => void }) {
  const [options, setOptions] = useState<ExportOptions>({ ...ALL, compression: "Zstd" });
  const { data } = useQuery(collectionsQuery(database));
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (options.types.length === 0) return;
        close();
        exportDatabase(database, "dump", options);
      }}
    >
      <DumpFields options={options} change={setOptions} collections={data?.collections.map(({ name }) => name) ?? []} />
      <Select
        label="Compression"
        description="zstd is smaller and faster; every tool reads gzip"
        data={[
          { value: "Zstd", label: "zstd" },
          { value: "Gzip", label: "gzip" },
        ]}
        value={options.compression}
        onChange={(value) => value !== null && setOptions({ ...options, compression: value as ExportOptions["compression"] })}
      />
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={options.types.length === 0}>
          Export
        </Button>
      </div>
    </form>
  );
}
