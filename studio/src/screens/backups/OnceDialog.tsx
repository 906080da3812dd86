// One backup now, without a task.
import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { backUp } from "../../api/backups";
import { counted } from "../../format/format";
import { messageOf } from "../../shell/states";
import { keyOf, type KeyChoice } from "./key";
import { KeyField } from "./KeyField";
import { Ongoing, type Outcome } from "./Ongoing";
import styles from "./backups.module.css";

export function OnceDialog({
  database,
  documents,
  isOpen,
  close,
}: {
  database: string;
  /** How many it has. */
  documents: number | undefined;
  isOpen: boolean;
  close: () => void;
}) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={`Back up '${database}' now`}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      // What was typed is not lost by a click that missed.
      closeOnClickOutside={false}
    >
      {isOpen && <Form database={database} documents={documents} close={close} />}
    </Modal>
  );
}

function Form({ database, documents, close }: { database: string; documents: number | undefined; close: () => void }) {
  const [folder, setFolder] = useState("");
  const [choice, setChoice] = useState<KeyChoice>({ kind: "none" });
  const [outcome, setOutcome] = useState<Outcome>();
  const key = keyOf(choice);
  const beginning = useMutation({
    mutationFn: () => backUp(database, folder.trim(), key === "unready" ? undefined : key),
    onMutate: () => setOutcome(undefined),
  });
  const isReady = folder.trim() !== "" && key !== "unready";
  const isRunning = beginning.data !== undefined && outcome === undefined;
  if (outcome?.kind === "done") {
    return (
      <div className={styles.form}>
        <p className={styles.note} role="status">
          The backup is complete: {counted(outcome.documents, "document")}
          {outcome.folder !== undefined && (
            <>
              {" "}
              in <code className={styles.path}>{outcome.folder}</code>
            </>
          )}
          .
        </p>
        <div className={styles.buttons}>
          <Button
            variant="default"
            renderRoot={(props: object) => (
              <Link {...props} to="/restore" search={outcome.folder === undefined ? {} : { folder: outcome.folder }} />
            )}
          >
            Verify or restore it
          </Button>
          <Button data-autofocus onClick={close}>
            Close
          </Button>
        </div>
      </div>
    );
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isRunning) beginning.mutate();
      }}
    >
      <TextInput
        data-autofocus
        label="Folder"
        description="On the machine of the server. A relative one lies below its folder for backups."
        autoComplete="off"
        spellCheck={false}
        disabled={isRunning}
        value={folder}
        onChange={(event) => setFolder(event.currentTarget.value)}
      />
      {!isRunning && <KeyField choice={choice} change={setChoice} before={undefined} fileName={database} />}
      {(beginning.error || outcome) && (
        <p className={styles.error} role="alert">
          The backup was not made: {outcome ? outcome.reason : messageOf(beginning.error)}
        </p>
      )}
      {isRunning && <Ongoing database={database} id={beginning.data} total={documents} what="Backup" ended={setOutcome} />}
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          {isRunning ? "Continue in the background" : "Cancel"}
        </Button>
        {!isRunning && (
          <Button type="submit" disabled={!isReady} loading={beginning.isPending}>
            Back up
          </Button>
        )}
      </div>
    </form>
  );
}
