// What the new database is called, and how it is restored; or the backup is only verified.
import { Button, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { restore, type RestorePoint } from "../../api/backups";
import { names } from "../../api/databases";
import { messageOf } from "../../shell/states";
import { isKey } from "../backups/key";
import { OwnKey } from "../backups/KeyField";
import { databaseOf } from "./database";
import styles from "./restore.module.css";

export function RestoreForm({
  point,
  isRunning,
  begun,
}: {
  point: RestorePoint;
  /** A restore that was begun here is not over. */
  isRunning: boolean;
  /** * `name`: the new database; undefined: the backup is verified. */
  begun: (operation: number, name: string | undefined) => void;
}) {
  const { data: known } = useQuery({ queryKey: ["databases"], queryFn: ({ signal }) => names(signal) });
  const [typed, setTyped] = useState<string>();
  const [key, setKey] = useState("");
  const [skipsIndexes, setSkipsIndexes] = useState(false);
  const [disablesTasks, setDisablesTasks] = useState(true);
  const isTaken = (name: string) => known?.some((other) => other.toLowerCase() === name.toLowerCase()) ?? false;
  const own = databaseOf(point) ?? "";
  // The name of before, if it is free.
  const name = typed ?? (isTaken(own) ? `${own}-restored` : own);
  const beginning = useMutation({
    mutationFn: async (isTrial: boolean) => {
      const request = {
        folder: point.Location,
        lastFile: point.FileName,
        database: name.trim(),
        skipsIndexes,
        disablesTasks,
        key: point.IsEncrypted ? key.trim() : undefined,
      };
      return { id: await restore(request, isTrial), isTrial };
    },
    onSuccess: ({ id, isTrial }) => begun(id, isTrial ? undefined : name.trim()),
  });
  const hasKey = !point.IsEncrypted || isKey(key);
  const isReady = hasKey && !isRunning && !beginning.isPending;
  const canRestore = isReady && name.trim() !== "" && !isTaken(name.trim());
  return (
    <form
      className={styles.form}
      aria-label="Restore"
      onSubmit={(event) => {
        event.preventDefault();
        if (canRestore) beginning.mutate(false);
      }}
    >
      <TextInput
        label="Name of the new database"
        autoComplete="off"
        spellCheck={false}
        value={name}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={!isRunning && isTaken(name.trim()) ? `There is a database '${name.trim()}': choose another name` : undefined}
      />
      {point.IsEncrypted && <OwnKey text={key} change={setKey} />}
      <Switch
        label="Disable its tasks"
        description="A copy whose tasks run writes backups into the folder of the original."
        checked={disablesTasks}
        onChange={(event) => setDisablesTasks(event.currentTarget.checked)}
      />
      <Switch
        label="Leave out its indexes"
        description="With them, indexes are built again from the documents."
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
        <Button variant="default" disabled={!isReady} onClick={() => beginning.mutate(true)}>
          Only verify
        </Button>
      </div>
    </form>
  );
}
