// A subscription: a new one, or a change of one, with a trial of its query.
import { Button, Modal, NativeSelect, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { collectionsQuery } from "../../api/documents";
import { save, tryQuery, type Archived, type Subscription } from "../../api/subscriptions";
import { Editor } from "../../editor/Editor";
import { changed } from "../../shell/changed";
import { messageOf } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { told } from "../../shell/toasts";
import { completion } from "../query/completion";
import { knownOf } from "../query/samples";
import { beginOf, draftOf, type Draft } from "./draft";
import { Sent, TRIED_COUNT } from "./Sent";
import styles from "./subscriptions.module.css";

/** Without `before` it is a new one. */
export type Edited = { before: Subscription | undefined };

export function SubscriptionDialog({
  database,
  edited,
  close,
}: {
  database: string;
  edited: Edited | undefined;
  close: () => void;
}) {
  const title = useTitle(edited && (edited.before ? `Change '${edited.before.SubscriptionName}'` : "New subscription"));
  return (
    <Modal
      opened={edited !== undefined}
      onClose={close}
      title={title}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      // What was typed is not lost by a click that missed, nor by a key that is for the editor.
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {edited && <Form database={database} before={edited.before} close={close} />}
    </Modal>
  );
}

const ARCHIVED: { value: Archived; label: string }[] = [
  { value: "ExcludeArchived", label: "Not sent" },
  { value: "IncludeArchived", label: "Sent like the others" },
  { value: "ArchivedOnly", label: "Only archived documents are sent" },
];

function Form({ database, before, close }: { database: string; before: Subscription | undefined; close: () => void }) {
  const requests = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => draftOf(before));
  const set = (part: Partial<Draft>) => setDraft((draft) => ({ ...draft, ...part }));
  const { data: found } = useQuery(collectionsQuery(database));
  const complete = useMemo(() => {
    const collections = found?.collections ?? [];
    return completion({
      collections: collections.map(({ name }) => name),
      indexes: [],
      ...knownOf(requests, database, collections, []),
      parameters: () => [],
    });
  }, [found, database, requests]);
  const begin = beginOf(draft);
  const isReady = draft.query.trim() !== "" && begin !== undefined;
  const trial = useMutation({
    mutationFn: () => {
      // From where it is, if it is not moved.
      const from = begin === "DoNotChange" ? (before?.ChangeVectorForNextBatchStartingPoint ?? null) : begin!;
      return tryQuery(database, draft.query, from, TRIED_COUNT);
    },
  });
  const saving = useMutation({
    mutationFn: () =>
      save(database, before, {
        Name: draft.name.trim(),
        Query: draft.query,
        ChangeVector: begin!,
        ArchivedDataProcessingBehavior: draft.archived,
        Disabled: draft.isDisabled,
      }),
    onSuccess: (name) => {
      told(`'${name}' is saved`);
      close();
    },
    onSettled: () => changed("subscriptions"),
  });
  const tryNow = () => {
    if (!isReady) return;
    saving.reset();
    trial.mutate();
  };
  const problem = saving.error ?? trial.error;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isReady) return;
        if (trial.error) trial.reset();
        saving.mutate();
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        description={before ? undefined : "Workers name it. Leave empty to let the server choose a number."}
        autoComplete="off"
        spellCheck={false}
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <div>
        <span className={styles.label}>Query</span>
        <div className={styles.editor}>
          <Editor
            label="Query of the subscription"
            language="rql"
            value={draft.query}
            onChange={(query) => set({ query })}
            onRun={tryNow}
            complete={complete}
            placeholder="from Orders where Freight > 100"
          />
        </div>
      </div>
      <div className={styles.pair}>
        <NativeSelect
          label="Begins"
          size="xs"
          value={draft.begin}
          onChange={(event) => set({ begin: event.currentTarget.value as Draft["begin"] })}
          data={[
            ...(before ? [{ value: "DoNotChange", label: "Stays where it is" }] : []),
            { value: "BeginningOfTime", label: "With the oldest document" },
            { value: "LastDocument", label: "With what is written from now on" },
            { value: "behind", label: "Behind a change vector" },
          ]}
        />
        <NativeSelect
          label="Archived documents"
          size="xs"
          value={draft.archived}
          onChange={(event) => set({ archived: event.currentTarget.value as Archived })}
          data={ARCHIVED}
        />
      </div>
      {draft.begin === "behind" && (
        <TextInput
          label="Change vector"
          description="Of the last document that is not to be sent. A document shows its own in its properties."
          className={styles.mono!}
          autoComplete="off"
          spellCheck={false}
          value={draft.changeVector}
          onChange={(event) => set({ changeVector: event.currentTarget.value })}
        />
      )}
      <Switch label="Enabled" checked={!draft.isDisabled} onChange={(event) => set({ isDisabled: !event.currentTarget.checked })} />
      {before && before.Connections.length > 0 && (
        <p className={styles.note}>Its workers are disconnected when you save. They connect again by themselves.</p>
      )}
      {problem && (
        <p className={styles.error} role="alert">
          {messageOf(problem)}
        </p>
      )}
      {trial.data && !trial.error && (
        <section className={styles.trial} aria-label="Trial">
          <p className={styles.note} role="status">
            {trial.data.length === 0
              ? "Nothing would be sent now."
              : trial.data.length === TRIED_COUNT
                ? `The first ${TRIED_COUNT} that would be sent:`
                : "These would be sent:"}
          </p>
          {trial.data.length > 0 && <Sent database={database} sent={trial.data} />}
        </section>
      )}
      <div className={styles.buttons}>
        <Button
          variant="default"
          className={styles.try!}
          onClick={tryNow}
          disabled={!isReady || draft.begin === "LastDocument"}
          loading={trial.isPending}
        >
          Try
        </Button>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={!isReady} loading={saving.isPending}>
          {before ? "Save" : "Create"}
        </Button>
      </div>
    </form>
  );
}
