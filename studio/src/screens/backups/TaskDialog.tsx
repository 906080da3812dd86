// A task that makes backups, of one database or of all: a new one, or a change of one.
import { Button, Modal, NativeSelect, Switch, TagsInput, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { putServerWide, putTask, type BackupConfiguration } from "../../api/backups";
import { names } from "../../api/databases";
import { wholeNumber } from "../../format/number";
import { changed } from "../../shell/changed";
import { messageOf } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { told } from "../../shell/toasts";
import { FULL_PRESETS, INCREMENTAL_PRESETS } from "./cron";
import { CronField } from "./CronField";
import { configurationOf, draftOf, NEW_DRAFT, otherDestinations, type Draft } from "./draft";
import { keyOf, type KeyChoice } from "./key";
import { KeyField } from "./KeyField";
import styles from "./backups.module.css";

/** Without a database it is a task of all. Without a configuration it is a new one. */
export type Edited = { database: string | undefined; before: BackupConfiguration | undefined };

export function TaskDialog({ edited, close }: { edited: Edited | undefined; close: () => void }) {
  const ofNew = edited?.database === undefined ? "New backup of all databases" : "New backup task";
  const title = useTitle(edited && (edited.before ? `Change '${edited.before.Name}'` : ofNew));
  return (
    <Modal
      opened={edited !== undefined}
      onClose={close}
      title={title}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      // What was typed is not lost by a click that missed.
      closeOnClickOutside={false}
    >
      {edited && <Form edited={edited} close={close} />}
    </Modal>
  );
}

function Form({ edited: { database, before }, close }: { edited: Edited; close: () => void }) {
  const [draft, setDraft] = useState<Draft>(() => (before ? draftOf(before) : NEW_DRAFT));
  const keyBefore = before && draftOf(before).key;
  const [choice, setChoice] = useState<KeyChoice>(keyBefore === undefined ? { kind: "none" } : { kind: "kept", key: keyBefore });
  const set = (part: Partial<Draft>) => setDraft((draft) => ({ ...draft, ...part }));
  const others = before ? otherDestinations(before) : [];
  const key = keyOf(choice);
  const [days, readRate] = [wholeNumber(draft.days), wholeNumber(draft.readRate)];
  const isReady =
    draft.name.trim() !== "" &&
    (draft.folder.trim() !== "" || others.length > 0) &&
    draft.full.trim() + draft.incremental.trim() !== "" &&
    days !== "wrong" &&
    readRate !== "wrong" &&
    key !== "unready";
  const saving = useMutation({
    mutationFn: async () => {
      if (key === "unready") return;
      const configuration = configurationOf({ ...draft, key }, before ?? {});
      if (database !== undefined) await putTask(database, configuration);
      else await putServerWide({ ...configuration, ExcludedDatabases: [...draft.excluded] });
    },
    onSuccess: () => {
      told(`'${draft.name.trim()}' is saved`);
      close();
    },
    onSettled: () => changed("backups"),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) saving.mutate();
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        // A backup of all databases is known by its name: another name would be another backup.
        readOnly={database === undefined && before !== undefined}
        autoComplete="off"
        spellCheck={false}
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Folder"
        description={
          "On the machine of the server. A relative one lies below its folder for backups; another disk is better." +
          (database === undefined ? " The name of each database is appended to it." : "")
        }
        autoComplete="off"
        spellCheck={false}
        value={draft.folder}
        onChange={(event) => set({ folder: event.currentTarget.value })}
      />
      {others.length > 0 && (
        <p className={styles.note}>
          It also writes to {others.join(" and ")}. The studio keeps these settings as they are; change them with a client or over
          HTTP.
        </p>
      )}
      {database === undefined && <Excluded excluded={draft.excluded} change={(excluded) => set({ excluded })} />}
      <KindFields draft={draft} set={set} />
      <CronField
        label="Full backup"
        presets={FULL_PRESETS}
        value={draft.full}
        change={(full) => set({ full })}
        never="Only the first one, and when you run it by hand."
      />
      <CronField
        label="Incremental backup"
        presets={INCREMENTAL_PRESETS}
        value={draft.incremental}
        change={(incremental) => set({ incremental })}
        never="Every backup is a full one."
      />
      <div className={styles.pair}>
        <TextInput
          label="Days that backups are kept"
          placeholder="for ever"
          inputMode="numeric"
          autoComplete="off"
          value={draft.days}
          onChange={(event) => set({ days: event.currentTarget.value })}
          error={days === "wrong" ? "A whole number from 1 on" : undefined}
        />
        <TextInput
          label="Documents read in a second, at most"
          placeholder="no limit"
          inputMode="numeric"
          autoComplete="off"
          value={draft.readRate}
          onChange={(event) => set({ readRate: event.currentTarget.value })}
          error={readRate === "wrong" ? "A whole number from 1 on" : undefined}
        />
      </div>
      <KeyField choice={choice} change={setChoice} before={keyBefore} fileName={draft.name.trim() || "backup"} />
      {saving.error && (
        <p className={styles.error} role="alert">
          {messageOf(saving.error)}
        </p>
      )}
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={!isReady} loading={saving.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

function KindFields({ draft: { kind, isArchived }, set }: { draft: Draft; set: (part: Partial<Draft>) => void }) {
  return (
    <>
      <NativeSelect
        label="Kind"
        description={
          kind === "Backup"
            ? "RavenDB and other versions of this server restore it, too. A restore builds the indexes again."
            : "A restore takes as long as a copy, and indexes are up to date. Only this server restores it. Its incremental backups are dumps."
        }
        size="xs"
        value={kind}
        onChange={(event) => set({ kind: event.currentTarget.value === "Snapshot" ? "Snapshot" : "Backup" })}
        data={[
          { value: "Backup", label: "Dump: the documents as JSON" },
          { value: "Snapshot", label: "Snapshot: an image of the storage, with indexes" },
        ]}
      />
      {kind === "Snapshot" && (
        <Switch
          label="Restore to any second"
          description="The journal is archived beside the snapshots while the server runs, so that a restore can go to any second since the first one, and to any transaction."
          checked={isArchived}
          onChange={(event) => set({ isArchived: event.currentTarget.checked })}
        />
      )}
    </>
  );
}

function Excluded({ excluded, change }: { excluded: readonly string[]; change: (excluded: string[]) => void }) {
  const { data } = useQuery({ queryKey: ["databases"], queryFn: ({ signal }) => names(signal) });
  return (
    <TagsInput
      label="Excluded databases"
      description="All others are backed up, also those that are created later."
      data={data ?? []}
      value={[...excluded]}
      onChange={change}
      acceptValueOnBlur
    />
  );
}
