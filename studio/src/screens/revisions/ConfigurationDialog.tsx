// Of which collections revisions are kept, and how many.
import { Button, Modal, NativeSelect, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { collectionsQuery } from "../../api/documents";
import { configuration, configure, type Configuration } from "../../api/revisions";
import { wholeNumber } from "../../format/number";
import { changed } from "../../shell/changed";
import { Failed, Loading, messageOf } from "../../shell/states";
import { told } from "../../shell/toasts";
import { changedBy, configured, draftOf, type Draft } from "./draft";
import styles from "./revisions.module.css";

export function ConfigurationDialog({ database, isOpen, close }: { database: string; isOpen: boolean; close: () => void }) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title="Which revisions are kept"
      closeButtonProps={{ "aria-label": "Close" }}
      // What was typed is not lost by a click that missed.
      closeOnClickOutside={false}
    >
      {isOpen && <Body database={database} />}
    </Modal>
  );
}

/** What stands for the default in a list of collections: no collection has this name. */
const DEFAULT = "";

function Body({ database }: { database: string }) {
  const [chosen, setChosen] = useState(DEFAULT);
  const { data, error, refetch } = useQuery({
    queryKey: ["revisions-configuration", database],
    queryFn: ({ signal }) => configuration(database, signal),
    retry: false,
  });
  const { data: known } = useQuery(collectionsQuery(database));
  if (data === undefined) {
    return error ? (
      <Failed what="The configuration cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="the configuration" />
    );
  }
  const names = new Map(
    [...Object.keys(data.Collections), ...(known?.collections ?? []).map(({ name }) => name)].map((name) => [
      name.toLowerCase(),
      name,
    ]),
  );
  const collections = [...names.values()].filter((name) => !name.startsWith("@")).sort((a, b) => a.localeCompare(b));
  return (
    <div className={styles.form}>
      <NativeSelect
        label="Collection"
        size="xs"
        value={chosen}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={[
          { value: DEFAULT, label: "All without a setting of their own" },
          ...collections.map((name) => ({
            value: name,
            label: configured(data, name) === undefined ? name : `${name} (own setting)`,
          })),
        ]}
      />
      <Form
        // What was typed belongs to the configuration that it began from.
        key={`${chosen} ${JSON.stringify(data)}`}
        database={database}
        all={data}
        collection={chosen === DEFAULT ? undefined : chosen}
      />
    </div>
  );
}

function Form({ database, all, collection }: { database: string; all: Configuration; collection: string | undefined }) {
  const begun = draftOf(configured(all, collection));
  const [draft, setDraft] = useState<Draft>(begun);
  const set = (part: Partial<Draft>) => setDraft((draft) => ({ ...draft, ...part }));
  const [count, days] = [wholeNumber(draft.count), wholeNumber(draft.days)];
  const isReady = count !== "wrong" && days !== "wrong" && JSON.stringify(draft) !== JSON.stringify(begun);
  const saving = useMutation({
    mutationFn: (wanted: Configuration) => configure(database, wanted),
    onSuccess: () => told(`Revisions of ${collection ?? "other collections"} are configured`),
    onSettled: () => changed("revisions"),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (count === "wrong" || days === "wrong" || !isReady) return;
        saving.mutate(changedBy(all, collection, draft, count, days));
      }}
    >
      <NativeSelect
        label="Revisions"
        size="xs"
        value={draft.state}
        onChange={(event) => set({ state: event.currentTarget.value as Draft["state"] })}
        data={[
          { value: "default", label: collection === undefined ? "Not kept" : "As for all without a setting of their own" },
          { value: "kept", label: "Kept with each change" },
          { value: "disabled", label: "No new ones; those that exist stay" },
        ]}
      />
      {draft.state !== "default" && (
        <>
          <TextInput
            label="Revisions of a document that stay"
            placeholder="all"
            inputMode="numeric"
            autoComplete="off"
            value={draft.count}
            onChange={(event) => set({ count: event.currentTarget.value })}
            error={count === "wrong" && "A whole number from 1 on"}
          />
          <TextInput
            label="Days in which they stay whatever their number is"
            placeholder="none"
            inputMode="numeric"
            autoComplete="off"
            value={draft.days}
            onChange={(event) => set({ days: event.currentTarget.value })}
            error={days === "wrong" && "A whole number from 1 on"}
          />
          <Switch
            label="Deleting a document deletes its revisions"
            checked={draft.purges}
            onChange={(event) => set({ purges: event.currentTarget.checked })}
          />
        </>
      )}
      {saving.error && (
        <p className={styles.error} role="alert">
          {messageOf(saving.error)}
        </p>
      )}
      <div className={styles.buttons}>
        <Button type="submit" disabled={!isReady} loading={saving.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
