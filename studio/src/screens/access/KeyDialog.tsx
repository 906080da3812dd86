// A new API key, which is shown once, or the rights of one that there is.
import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { createKey, editKey, type ApiKey } from "../../api/access";
import { serverNow } from "../../format/format";
import { changed } from "../../shell/changed";
import { copyText } from "../../shell/clipboard";
import { messageOf } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { dayAfter, dayOf, endOf } from "./day";
import { draftOf, isSomething, NEW_DRAFT, rightsOf } from "./draft";
import { RightsFields } from "./Rights";
import styles from "./access.module.css";

export type KeyTask = { kind: "create" } | { kind: "edit"; key: ApiKey };

/** Days until a new key expires, unless it is told otherwise. */
const VALID_DAYS = 365;

export function KeyDialog({ task, close }: { task: KeyTask | undefined; close: () => void }) {
  const [made, setMade] = useState<{ name: string; key: string }>();
  const leave = () => {
    setMade(undefined);
    close();
  };
  const ofNew = made ? `The API key '${made.name}'` : "New API key";
  const title = useTitle(task && (task.kind === "edit" ? `Rights of '${task.key.name}'` : ofNew));
  return (
    <Modal
      opened={task !== undefined}
      onClose={leave}
      title={title}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      // What is shown once, or was typed, is not lost by a click that missed.
      closeOnClickOutside={false}
      closeOnEscape={made === undefined}
    >
      {made ? <Made made={made} close={leave} /> : task && <Form task={task} close={leave} made={setMade} />}
    </Modal>
  );
}

function Form({ task, close, made }: { task: KeyTask; close: () => void; made: (key: { name: string; key: string }) => void }) {
  const edited = task.kind === "edit" ? task.key : undefined;
  const [name, setName] = useState(edited?.name ?? "");
  const [draft, setDraft] = useState(edited ? draftOf(edited) : NEW_DRAFT);
  const [day, setDay] = useState(edited ? dayOf(edited.expires) : dayAfter(serverNow(), VALID_DAYS));
  const rights = rightsOf(draft);
  // A day that was not touched is the moment that it was.
  const expires = edited && day === dayOf(edited.expires) ? edited.expires : endOf(day);
  const saving = useMutation({
    mutationFn: async () => {
      const definition = { name: name.trim(), expires, ...rights };
      if (edited) await editKey(definition);
      else made({ name: definition.name, key: await createKey(definition) });
    },
    onSuccess: () => {
      if (!edited) return;
      told(`'${edited.name}' has its new rights`);
      close();
    },
    onSettled: () => changed("access"),
  });
  const isReady = name.trim() !== "" && isSomething(rights);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) saving.mutate();
      }}
    >
      {!edited && (
        <TextInput
          data-autofocus
          label="Name"
          description="The application or person that will use it"
          value={name}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      )}
      <RightsFields draft={draft} change={setDraft} />
      <TextInput
        type="date"
        label="Expires"
        description="At the end of this day (UTC). Empty: never"
        value={day}
        onChange={(event) => setDay(event.currentTarget.value)}
      />
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
          {edited ? "Save" : "Create"}
        </Button>
      </div>
    </form>
  );
}

function Made({ made: { key }, close }: { made: { key: string }; close: () => void }) {
  return (
    <div className={styles.form}>
      <p className={styles.warning}>
        <Icon name="warning" size={16} />
        Copy it now: the server does not keep it, and it is never shown again.
      </p>
      <div className={styles.key}>
        <TextInput
          label="API key"
          readOnly
          value={key}
          classNames={{ input: "mono" }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <Button
          data-autofocus
          variant="default"
          leftSection={<Icon name="copy" size={14} />}
          onClick={() => void copyText(key, "The API key was")}
        >
          Copy
        </Button>
      </div>
      <p className="soft">
        Programs send it with each request: <code>Authorization: Bearer KEY</code>. Commands take it from{" "}
        <code>ROOKERY_API_KEY</code>.
      </p>
      <div className={styles.buttons}>
        <Button onClick={close}>Done</Button>
      </div>
    </div>
  );
}
