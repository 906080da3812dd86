// A number for a counter: its first value, how much it is raised by, or the value that it gets.
import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { raise, set, type Counter } from "../../api/counters";
import { countOf } from "../../format/format";
import { int64 } from "../../format/number";
import { changed } from "../../shell/changed";
import { messageOf } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { told } from "../../shell/toasts";
import styles from "./document.module.css";

/** `others`: the counters that the document has. */
export type CounterTask = { kind: "new"; others: readonly Counter[] } | { kind: "raise" | "set"; counter: Counter };

type Props = { database: string; id: string; task: CounterTask | undefined; close: () => void };

export function CounterDialog({ task, close, ...rest }: Props) {
  const title = useTitle(
    task && (task.kind === "new" ? "New counter" : `${task.kind === "raise" ? "Raise" : "Set"} '${task.counter.name}'`),
  );
  return (
    <Modal
      opened={task !== undefined}
      onClose={close}
      title={title}
      closeButtonProps={{ "aria-label": "Close" }}
      // What was typed is not lost by a click that missed.
      closeOnClickOutside={false}
    >
      {task && <Form task={task} close={close} {...rest} />}
    </Modal>
  );
}

function Form({ database, id, task, close }: Props & { task: CounterTask }) {
  const counter = task.kind === "new" ? undefined : task.counter;
  const [name, setName] = useState(counter?.name ?? "");
  const [typed, setTyped] = useState(task.kind === "new" ? "0" : task.kind === "raise" ? "1" : task.counter.value);
  const wanted = name.trim();
  // Names are the same in any case.
  const known = task.kind === "new" ? task.others.find((other) => other.name.toLowerCase() === wanted.toLowerCase()) : undefined;
  const number = int64(typed);
  const isReady = wanted !== "" && known === undefined && typeof number === "bigint";
  const saving = useMutation({
    mutationFn: (number: bigint) => (task.kind === "set" ? set(database, id, wanted, number) : raise(database, id, wanted, number)),
    onSuccess: () => {
      told(`The counter '${wanted}' is ${task.kind === "raise" ? "changed" : "set"}`);
      close();
    },
    onSettled: () => changed("counters"),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) saving.mutate(number);
      }}
    >
      {task.kind === "new" && (
        <TextInput
          data-autofocus
          label="Name"
          autoComplete="off"
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={known && `The document has a counter '${known.name}': raise it or set it.`}
        />
      )}
      <TextInput
        data-autofocus={task.kind !== "new" || undefined}
        label={task.kind === "raise" ? "Raise by" : "Value"}
        description={
          counter &&
          (task.kind === "raise"
            ? `It is ${countOf(counter.value)} now. A negative number lowers it.`
            : `It is ${countOf(counter.value)} now. What others raise it by before you save is lost.`)
        }
        inputMode="numeric"
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={number === "wrong" && "A whole number of 64 bits"}
      />
      {saving.error && (
        <p className={styles.error} role="alert">
          {messageOf(saving.error)}
        </p>
      )}
      <div className={styles.rawButtons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={!isReady} loading={saving.isPending}>
          {task.kind === "new" ? "Create" : task.kind === "raise" ? "Raise" : "Set"}
        </Button>
      </div>
    </form>
  );
}
