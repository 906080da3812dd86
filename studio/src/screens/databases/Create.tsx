// A new database: its name, where it lives, what is in it at first.
import { Button, Modal, Switch, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { create, createSampleData } from "../../api/databases";
import { changed } from "../../shell/changed";
import { useIsHere } from "../../shell/here";
import { forget } from "../../shell/remembered";
import { messageOf } from "../../shell/states";
import { failed, told } from "../../shell/toasts";
import styles from "./databases.module.css";

export function Create({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  return (
    <Modal opened={isOpen} onClose={close} title="New database" closeButtonProps={{ "aria-label": "Close" }}>
      {isOpen && <Form close={close} />}
    </Modal>
  );
}

function Form({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [isInMemory, setInMemory] = useState(false);
  const [hasSample, setSample] = useState(false);
  const navigate = useNavigate();
  const isHere = useIsHere();
  const creating = useMutation({
    mutationFn: async () => {
      await create({ name: name.trim(), isInMemory });
      // One of this name that was deleted elsewhere has left its columns and queries.
      forget(name.trim());
      if (!hasSample) return undefined;
      // The database is there without it, and offers to load it.
      return createSampleData(name.trim()).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
    },
    onSuccess: (withoutSample) => {
      if (withoutSample) failed(`'${name.trim()}' was created, but the sample was not loaded`, withoutSample.error);
      else told(`'${name.trim()}' was created`);
      if (!isHere()) return;
      close();
      void navigate({ to: "/databases/$database/documents", params: { database: name.trim() } });
    },
    onSettled: () => changed("databases"),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== "") creating.mutate();
      }}
    >
      <TextInput
        data-autofocus
        label="Name"
        description="Letters, digits, and . - _"
        value={name}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setName(event.currentTarget.value)}
        error={creating.error ? messageOf(creating.error) : undefined}
      />
      <Switch
        label="Begin with sample data"
        description="Northwind: 1,059 orders, products, companies and employees"
        checked={hasSample}
        onChange={(event) => setSample(event.currentTarget.checked)}
      />
      <Switch
        label="Keep it in memory"
        description="Its data is lost when the server stops. This cannot be changed later."
        checked={isInMemory}
        onChange={(event) => setInMemory(event.currentTarget.checked)}
      />
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" disabled={name.trim() === ""} loading={creating.isPending}>
          Create
        </Button>
      </div>
    </form>
  );
}
