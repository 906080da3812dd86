// One compare-exchange value: what it is, and a change of it, which is refused if another client changed it first.
import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, type RefObject } from "react";
import { guardedBy, put, value, type StoredValue } from "../../api/compareExchange";
import { Comparison, Editor } from "../../editor/Editor";
import { count } from "../../format/format";
import { JsonError, scan } from "../../json/scan";
import { changed } from "../../shell/changed";
import { ConflictButtons, ConflictDialog, ConflictText, Sides } from "../../shell/ConflictDialog";
import { Blocker } from "../../shell/Leaving";
import { Changeable, Needs, useRefusal } from "../../shell/rights";
import { Failed, Loading, messageOf } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { told } from "../../shell/toasts";
import { fieldOf } from "../restore/moment";
import styles from "./compareExchange.module.css";

/** `opened`: the key that is shown; undefined for none. `isNew`: there is none yet. */
type Props = { database: string; opened: string | undefined; isNew: boolean; close: () => void };

export function ValueDialog({ database, opened, isNew, close }: Props) {
  const title = useTitle(opened === undefined ? undefined : isNew ? "New value" : opened);
  return (
    <Modal
      opened={opened !== undefined}
      onClose={close}
      title={title}
      size="lg"
      closeButtonProps={{ "aria-label": "Close" }}
      // What was typed is not lost by a click that missed, nor by a key that is for the editor.
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {opened === undefined ? null : isNew ? (
        <Form database={database} stored={undefined} close={close} />
      ) : (
        <Stored key={opened} database={database} opened={opened} close={close} />
      )}
    </Modal>
  );
}

function Stored({ database, opened, close }: { database: string; opened: string; close: () => void }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["compare-exchange-value", database, opened],
    queryFn: async ({ signal }) => (await value(database, opened, signal)) ?? null,
    // What is being edited is not pulled away; saving finds out what others did.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (data === undefined) {
    return error ? (
      <Failed what="The value cannot be read" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="the value" />
    );
  }
  if (data === null)
    return <ConflictText>There is no value with this key. It may have been deleted, or it has expired.</ConflictText>;
  return <Form database={database} stored={data} close={close} />;
}

/** `theirs`: undefined if it was deleted. */
type Clash = { mine: string; theirs: StoredValue | undefined };

function Form({ database, stored, close }: { database: string; stored: StoredValue | undefined; close: () => void }) {
  const refusal = useRefusal("ReadWrite");
  const isNew = stored === undefined;
  /** What a change goes on from. */
  const [base, setBase] = useState(stored);
  const [key, setKey] = useState(stored?.key ?? "");
  const [text, setText] = useState(stored?.object ?? "");
  const [time, setTime] = useState(timeOf(stored));
  const [problem, setProblem] = useState<string>();
  const [clash, setClash] = useState<Clash>();
  const isTimeChanged = time !== timeOf(base);
  const isDirty = text !== (base?.object ?? "") || isTimeChanged || (isNew && key !== "");
  const isReady = refusal === undefined && key.trim() !== "" && text.trim() !== "" && isDirty;
  const saving = useMutation({
    mutationFn: ({ object, over }: { object: string; over: StoredValue | undefined }) => {
      scan(object);
      // What was not changed here stays as it is stored.
      const expires = isTimeChanged ? (time === "" ? undefined : new Date(time).toISOString()) : over?.expires;
      return put(database, key.trim(), { object, expires, metadata: over?.metadata }, over?.index ?? 0);
    },
    onSuccess: (answer, { object }) => {
      setProblem(undefined);
      if (!answer.isDone) return setClash({ mine: object, theirs: answer.theirs });
      setClash(undefined);
      told(`${key.trim()} saved`);
      close();
    },
    onError: (error) => {
      setClash(undefined);
      setProblem(error instanceof JsonError ? `Not saved. ${error.message}.` : `Not saved. ${messageOf(error)}`);
    },
    onSettled: (answer) => answer?.isDone && changed("compareExchange"),
  });
  const save = () => {
    if (isReady) saving.mutate({ object: text, over: base });
  };
  const guarded = guardedBy(key);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <Changeable right="ReadWrite">
        {guarded !== undefined && (
          <p className={styles.warning}>
            {`This value guards the document '${guarded}' in cluster-wide transactions. A change makes those fail that have read it.`}
          </p>
        )}
        {isNew && (
          <TextInput
            data-autofocus
            label="Key"
            description="Found without regard to case."
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
          />
        )}
        <div>
          <span className={styles.label}>Value</span>
          <div className={styles.editor}>
            <Editor
              label="Value as JSON"
              language="json"
              value={text}
              onChange={setText}
              onSave={save}
              isReadOnly={refusal !== undefined}
              isFocused={!isNew && refusal === undefined}
              placeholder={'"a text", 1 or { "an": "object" }'}
            />
          </div>
        </div>
        <TextInput
          type="datetime-local"
          step={1}
          label="Expires"
          description="In the time zone of this browser. The value is deleted within a minute after it. Empty: never."
          value={time}
          onChange={(event) => setTime(event.currentTarget.value)}
        />
      </Changeable>
      {base?.metadata !== undefined && (
        <p className={styles.note}>
          Its metadata have more, which is kept: <code>{base.metadata.replace(/\s+/g, " ")}</code>
        </p>
      )}
      {problem !== undefined && (
        <p className={styles.error} role="alert">
          {problem}
        </p>
      )}
      <div className={styles.buttons}>
        {base && <span className="soft number">Index {count(base.index)}</span>}
        <Button variant="default" onClick={close}>
          {refusal === undefined ? "Cancel" : "Close"}
        </Button>
        <Needs right="ReadWrite">
          <Button type="submit" disabled={!isReady} loading={saving.isPending}>
            {isNew ? "Create" : "Save"}
          </Button>
        </Needs>
      </div>
      <Blocker isDirty={isDirty && !saving.isPending} what="this value" />
      <Conflict
        isNew={isNew}
        read={base}
        clash={clash}
        isSaving={saving.isPending}
        close={(mine) => {
          setClash(undefined);
          if (mine !== undefined) setText(mine);
        }}
        save={(object) => saving.mutate({ object, over: clash?.theirs })}
        takeTheirs={(theirs) => {
          setClash(undefined);
          setBase(theirs);
          setText(theirs.object);
          setTime(timeOf(theirs));
        }}
      />
    </form>
  );
}

/** When a value expires, as the field has it; "" for never. */
function timeOf(value: StoredValue | undefined): string {
  const ms = Date.parse(value?.expires ?? "");
  return Number.isNaN(ms) ? "" : fieldOf(ms);
}

type ConflictProps = {
  isNew: boolean;
  /** What the change began from. */
  read: StoredValue | undefined;
  clash: Clash | undefined;
  isSaving: boolean;
  /** `mine`: what was changed in the dialog. */
  close: (mine?: string) => void;
  save: (object: string) => void;
  takeTheirs: (theirs: StoredValue) => void;
};

function Conflict({ clash, ...rest }: ConflictProps) {
  const edited = useRef<string>(undefined);
  useEffect(() => {
    edited.current = undefined;
  }, [clash]);
  const changed = rest.isNew ? "There is a value with this key" : "Somebody else changed it first";
  const title = useTitle(clash && (clash.theirs ? changed : "Somebody else deleted it"));
  return (
    <ConflictDialog
      title={title}
      isOpen={clash !== undefined}
      isWide={clash?.theirs !== undefined}
      close={() => rest.close(edited.current)}
    >
      {clash && <Body key={clash.theirs?.index ?? 0} clash={clash} edited={edited} {...rest} />}
    </ConflictDialog>
  );
}

type BodyProps = Omit<ConflictProps, "clash"> & { clash: Clash; edited: RefObject<string | undefined> };

function Body({ clash: { mine: given, theirs }, edited, isNew, read, isSaving, close, save, takeTheirs }: BodyProps) {
  const [mine, setMine] = useState(given);
  if (!theirs) {
    return (
      <>
        <ConflictText>
          Nothing was saved: the value with index {count(read?.index ?? 0)} is gone. Your text is still here.
        </ConflictText>
        <ConflictButtons>
          <Button variant="default" onClick={() => close()} data-autofocus>
            Back to the editor
          </Button>
          <Button onClick={() => save(given)} loading={isSaving}>
            Save it again
          </Button>
        </ConflictButtons>
      </>
    );
  }
  return (
    <>
      <ConflictText>
        Nothing was saved.{" "}
        {isNew
          ? `The stored value has the index ${count(theirs.index)}.`
          : `You changed the value with index ${count(read?.index ?? 0)}; the stored one has index ${count(theirs.index)}.`}
      </ConflictText>
      <Sides />
      <Comparison
        theirs={theirs.object}
        mine={given}
        onChange={(text) => {
          edited.current = text;
          setMine(text);
        }}
      />
      <ConflictButtons>
        <Button variant="default" onClick={() => close(edited.current)} data-autofocus>
          Back to the editor
        </Button>
        {!isNew && (
          <Button variant="default" onClick={() => takeTheirs(theirs)}>
            Take theirs
          </Button>
        )}
        <Button onClick={() => save(mine)} loading={isSaving} disabled={!isJson(mine)}>
          Save the right side
        </Button>
      </ConflictButtons>
    </>
  );
}

function isJson(text: string): boolean {
  try {
    scan(text);
    return true;
  } catch {
    return false;
  }
}
