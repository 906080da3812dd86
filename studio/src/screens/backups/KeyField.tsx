// The key of encrypted backups: none, the one of before, a new one that is shown once, or one that the user has.
import { Button, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { copyText } from "../../shell/clipboard";
import { download } from "../../shell/download";
import { Icon } from "../../theme/icons";
import { isKey, newKey, type KeyChoice } from "./key";
import styles from "./backups.module.css";

/** `before`: the key that the task has. `fileName`: of a download, without its ending. */
export function KeyField({
  choice,
  change,
  before,
  fileName,
}: {
  choice: KeyChoice;
  change: (choice: KeyChoice) => void;
  before: string | undefined;
  fileName: string;
}) {
  const choose = (kind: string) => {
    if (kind === "kept" && before !== undefined) change({ kind, key: before });
    else if (kind === "new") change({ kind, key: newKey(), isStored: false });
    else if (kind === "own") change({ kind, text: "" });
    else change({ kind: "none" });
  };
  return (
    <>
      <NativeSelect
        label="Encryption"
        description={
          choice.kind === "none"
            ? "Whoever reads the folder reads the documents."
            : "RavenDB cannot restore backups that Rookery encrypts."
        }
        size="xs"
        value={choice.kind}
        onChange={(event) => choose(event.currentTarget.value)}
        data={[
          { value: "none", label: "Not encrypted" },
          ...(before === undefined ? [] : [{ value: "kept", label: "With the key of this task" }]),
          { value: "new", label: "With a new key" },
          { value: "own", label: "With a key that I have" },
        ]}
      />
      {choice.kind === "new" && (
        <NewKey
          value={choice.key}
          isStored={choice.isStored}
          setStored={(isStored) => change({ ...choice, isStored })}
          fileName={fileName}
        />
      )}
      {choice.kind === "own" && <OwnKey text={choice.text} change={(text) => change({ kind: "own", text })} />}
    </>
  );
}

function NewKey({
  value,
  isStored,
  setStored,
  fileName,
}: {
  value: string;
  isStored: boolean;
  setStored: (isStored: boolean) => void;
  fileName: string;
}) {
  return (
    <div className={styles.newKey} role="group" aria-label="The new key">
      <TextInput label="Key" readOnly value={value} className={styles.key} onFocus={(event) => event.currentTarget.select()} />
      <div className={styles.row}>
        <Button variant="default" leftSection={<Icon name="copy" size={14} />} onClick={() => void copyText(value, "Key")}>
          Copy
        </Button>
        <Button
          variant="default"
          leftSection={<Icon name="download" size={14} />}
          onClick={() => download(new Blob([`${value}\n`], { type: "text/plain" }), `${fileName}.key`)}
        >
          Download
        </Button>
      </div>
      <p className={styles.warning}>
        <Icon name="warning" size={14} />
        <span>
          Whoever loses the key loses the backups. It is shown here once: keep it in another place than the backups and this server.
        </span>
      </p>
      <Checkbox label="I have stored the key" checked={isStored} onChange={(event) => setStored(event.currentTarget.checked)} />
    </div>
  );
}

/** A key that is typed or pasted. */
export function OwnKey({ text, change }: { text: string; change: (text: string) => void }) {
  // While it is typed it is not wrong yet.
  const [isLeft, setLeft] = useState(false);
  return (
    <TextInput
      label="Key"
      description="32 bytes in base64: 44 characters"
      className={styles.key}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
      onBlur={() => setLeft(true)}
      error={isLeft && text.trim() !== "" && !isKey(text) ? "This is not a key: it must be 32 bytes in base64" : undefined}
    />
  );
}
