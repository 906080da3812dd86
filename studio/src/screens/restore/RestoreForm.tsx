// What the new database is called, and how it is restored; or the backup is only verified.
import { Button, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { restore, type Archive, type RestoredState, type RestorePoint } from "../../api/backups";
import { names } from "../../api/databases";
import { messageOf } from "../../shell/states";
import { isKey } from "../backups/key";
import { OwnKey } from "../backups/KeyField";
import { databaseOf } from "./database";
import { momentOf, stateOf } from "./moment";
import { MomentField } from "./MomentField";
import styles from "./restore.module.css";

type Beginning = {
  /** A restore that was begun here is not over. */
  isRunning: boolean;
  /** * `name`: the new database; undefined: the backup is verified. */
  begun: (operation: number, name: string | undefined) => void;
};

/** The state of a backup. */
export function RestoreBackup({ point, ...rest }: Beginning & { point: RestorePoint }) {
  return (
    <RestoreForm
      folder={point.Location}
      state={{ lastFile: point.FileName }}
      own={databaseOf(point)}
      isEncrypted={point.IsEncrypted}
      withIndexes={
        point.IsSnapshotRestore
          ? "With them, indexes go on from where they were in the snapshot."
          : "With them, indexes are built again from the documents."
      }
      {...rest}
    />
  );
}

/** Any state of an archive. */
export function RestoreArchive({ archive, ...rest }: Beginning & { archive: Archive }) {
  const [moment, setMoment] = useState(() => momentOf(archive));
  const chosen = stateOf(moment, archive);
  return (
    <RestoreForm
      folder={archive.Location}
      state={"state" in chosen ? chosen.state : undefined}
      own={archive.DatabaseName}
      isEncrypted={archive.IsEncrypted}
      withIndexes="With them, indexes go on from where they were in the snapshot before."
      {...rest}
    >
      <MomentField archive={archive} moment={moment} change={setMoment} />
    </RestoreForm>
  );
}

function RestoreForm({
  folder,
  state,
  own = "",
  isEncrypted,
  withIndexes,
  isRunning,
  begun,
  children,
}: Beginning & {
  folder: string;
  /** Undefined as long as none is chosen. */
  state: RestoredState | undefined;
  /** The name of the database that it is of. */
  own: string | undefined;
  isEncrypted: boolean;
  /** What happens to indexes that are not left out. */
  withIndexes: string;
  /** Fields that choose the state. */
  children?: ReactNode;
}) {
  const { data: known } = useQuery({ queryKey: ["databases"], queryFn: ({ signal }) => names(signal) });
  const [typed, setTyped] = useState<string>();
  const [key, setKey] = useState("");
  const [skipsIndexes, setSkipsIndexes] = useState(false);
  const [disablesTasks, setDisablesTasks] = useState(true);
  const isTaken = (name: string) => known?.some((other) => other.toLowerCase() === name.toLowerCase()) ?? false;
  // The name of before, if it is free.
  const name = typed ?? (isTaken(own) ? `${own}-restored` : own);
  const beginning = useMutation({
    mutationFn: async ({ state, isTrial }: { state: RestoredState; isTrial: boolean }) => {
      const request = {
        folder,
        state,
        database: name.trim(),
        skipsIndexes,
        disablesTasks,
        key: isEncrypted ? key.trim() : undefined,
      };
      return { id: await restore(request, isTrial), isTrial };
    },
    onSuccess: ({ id, isTrial }) => begun(id, isTrial ? undefined : name.trim()),
  });
  const hasKey = !isEncrypted || isKey(key);
  const isReady = state !== undefined && hasKey && !isRunning && !beginning.isPending;
  const canRestore = isReady && name.trim() !== "" && !isTaken(name.trim());
  return (
    <form
      className={styles.form}
      aria-label="Restore"
      onSubmit={(event) => {
        event.preventDefault();
        if (canRestore) beginning.mutate({ state, isTrial: false });
      }}
    >
      {children}
      <TextInput
        label="Name of the new database"
        autoComplete="off"
        spellCheck={false}
        value={name}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={!isRunning && isTaken(name.trim()) ? `There is a database '${name.trim()}': choose another name` : undefined}
      />
      {isEncrypted && <OwnKey text={key} change={setKey} />}
      <Switch
        label="Disable its tasks"
        description="A copy whose tasks run writes backups into the folder of the original."
        checked={disablesTasks}
        onChange={(event) => setDisablesTasks(event.currentTarget.checked)}
      />
      <Switch
        label="Leave out its indexes"
        description={withIndexes}
        checked={skipsIndexes}
        onChange={(event) => setSkipsIndexes(event.currentTarget.checked)}
      />
      {beginning.error && (
        <p className={styles.error} role="alert">
          {messageOf(beginning.error)}
        </p>
      )}
      <div className={styles.buttons}>
        <Button type="submit" disabled={!canRestore} loading={beginning.isPending}>
          Restore
        </Button>
        <Button variant="default" disabled={!isReady} onClick={() => isReady && beginning.mutate({ state, isTrial: true })}>
          Only verify
        </Button>
      </div>
    </form>
  );
}
