// A unique constraint: a new one, or a change of one, and the documents that keep it from being made.
import { Autocomplete, Button, Modal, Switch, TagsInput, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { duplicatesOf, put, remove, type Constraint, type Duplicates } from "../../api/constraints";
import { collectionsQuery } from "../../api/documents";
import { count, counted } from "../../format/format";
import { pathsOf } from "../../grid/columns";
import { changed } from "../../shell/changed";
import { messageOf } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { told } from "../../shell/toasts";
import { sampleQuery } from "../query/samples";
import { cleaned, constraintOf, draftOf, FIELDS_MAX, nameOf, type Draft } from "./draft";
import styles from "./constraints.module.css";

/** Without `before` it is a new one. */
export type Edited = { before: Constraint | undefined };

export function ConstraintDialog({ database, edited, close }: { database: string; edited: Edited | undefined; close: () => void }) {
  const title = useTitle(edited && (edited.before ? `Change '${edited.before.Name}'` : "New unique constraint"));
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
      {edited && <Form database={database} before={edited.before} close={close} />}
    </Modal>
  );
}

function Form({ database, before, close }: { database: string; before: Constraint | undefined; close: () => void }) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(before));
  const set = (part: Partial<Draft>) => setDraft((draft) => ({ ...draft, ...part }));
  const { data: found } = useQuery(collectionsQuery(database));
  const collections = (found?.collections ?? []).filter(({ name }) => !name.startsWith("@"));
  const known = collections.find(({ name }) => name.toLowerCase() === draft.collection.trim().toLowerCase());
  const { data: sample } = useQuery({
    ...sampleQuery(database, known?.name ?? "", collections),
    enabled: known !== undefined,
  });
  const constraint = constraintOf(draft);
  const saving = useMutation({
    mutationFn: async (constraint: Parameters<typeof put>[1]) => {
      const made = await put(database, constraint);
      // Under another name it was made beside the one that it replaces.
      if (before && before.Name.toLowerCase() !== made.Name.toLowerCase()) await remove(database, before.Name);
      return made;
    },
    onSuccess: ({ Name }) => {
      told(`'${Name}' is in force`);
      close();
    },
    onSettled: () => changed("constraints"),
  });
  const duplicates = duplicatesOf(saving.error);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (constraint && !saving.isPending) saving.mutate(constraint);
      }}
    >
      <Autocomplete
        data-autofocus
        label="Collection"
        description="No two of its documents may have the same values."
        data={collections.map(({ name }) => name)}
        autoComplete="off"
        spellCheck={false}
        value={draft.collection}
        onChange={(collection) => set({ collection })}
      />
      <TagsInput
        label="Fields"
        description="Paths such as Email or Address.Street. With several, their values are unique together."
        data={pathsOf(sample ?? [])}
        maxTags={FIELDS_MAX}
        acceptValueOnBlur
        value={[...draft.fields]}
        onChange={(fields) => set({ fields: cleaned(fields) })}
      />
      <Switch
        label="Texts that differ in upper and lower case alone are different"
        checked={draft.isCaseSensitive}
        onChange={(event) => set({ isCaseSensitive: event.currentTarget.checked })}
      />
      <TextInput
        label="Name"
        placeholder={constraint ? nameOf(draft) : undefined}
        description="Clients see it in the error of a write that is refused. Empty: collection and fields."
        autoComplete="off"
        spellCheck={false}
        value={draft.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {saving.isPending ? (
        <p className={styles.note} role="status">
          {known
            ? `Reading ${counted(known.count, "document")} of ${known.name}. Other writes of the database wait meanwhile.`
            : "Making the constraint."}
        </p>
      ) : duplicates ? (
        <Broken database={database} duplicates={duplicates} close={close} />
      ) : (
        saving.error && (
          <p className={styles.error} role="alert">
            {messageOf(saving.error)}
          </p>
        )
      )}
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={!constraint} loading={saving.isPending}>
          {duplicates ? "Try again" : before ? "Save" : "Create"}
        </Button>
      </div>
    </form>
  );
}

/** The documents that have the same values, two by two. */
function Broken({ database, duplicates, close }: { database: string; duplicates: Duplicates; close: () => void }) {
  const { count: number, listed } = duplicates;
  return (
    <section className={styles.duplicates} role="alert" aria-label="Duplicates">
      <p className={styles.error}>
        {number === 1 ? "1 document has" : `${count(number)} documents have`} values that another one has, so that nothing was made.
        Change them first.
        {listed.length > 0 && listed.length < number && ` The first ${listed.length}:`}
      </p>
      {listed.length > 0 && (
        <ul className={styles.list} aria-label="Documents with the same values" tabIndex={0}>
          {listed.map(({ ids, values }) => (
            <li key={ids.join("\n")}>
              {ids.map((id) => (
                <Link key={id} to="/databases/$database/document" params={{ database }} search={{ id }} onClick={close}>
                  {id}
                </Link>
              ))}
              <code>{values.join(", ")}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
