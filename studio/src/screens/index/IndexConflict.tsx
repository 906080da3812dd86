// Somebody else changed or deleted the index meanwhile: what differs side by side, and a choice.
import { Button } from "@mantine/core";
import { useEffect, useMemo, useRef, useState, type RefObject } from "react";
import type { Definition } from "../../api/indexes";
import { Comparison } from "../../editor/Editor";
import { ConflictButtons, ConflictDialog, ConflictText, Sides } from "../../shell/ConflictDialog";
import { useTitle } from "../../shell/title";
import { differences, merged } from "./definition";
import styles from "./index.module.css";

/** `theirs`: undefined if it was deleted. */
export type IndexClash = { mine: Definition; theirs: Definition | undefined };

type Props = {
  clash: IndexClash | undefined;
  isSaving: boolean;
  /** `mine`: what was changed in the dialog, which the editor is to keep. */
  close: (mine?: Definition) => void;
  /** `over`: what it is to take the place of, so that a third one is noticed too. */
  save: (definition: Definition, over: Definition | undefined) => void;
  takeTheirs: (theirs: Definition) => void;
};

export function IndexConflict({ clash, close, ...rest }: Props) {
  const edited = useRef<Definition>(undefined);
  useEffect(() => {
    edited.current = undefined;
  }, [clash]);
  const title = useTitle(clash && (clash.theirs ? "Somebody else saved it first" : "Somebody else deleted it"));
  return (
    <ConflictDialog
      title={title}
      isOpen={clash !== undefined}
      isWide={clash?.theirs !== undefined}
      close={() => close(edited.current)}
    >
      {clash && <Body key={JSON.stringify(clash.theirs)} clash={clash} edited={edited} close={close} {...rest} />}
    </ConflictDialog>
  );
}

type BodyProps = Omit<Props, "clash"> & { clash: IndexClash; edited: RefObject<Definition | undefined> };

function Body({ clash, edited, isSaving, close, save, takeTheirs }: BodyProps) {
  const { mine, theirs } = clash;
  const parts = useMemo(() => (theirs ? differences(theirs, mine) : []), [theirs, mine]);
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map());
  const result = useMemo(() => {
    try {
      return merged(mine, texts);
    } catch {
      return undefined;
    }
  }, [mine, texts]);
  useEffect(() => {
    if (texts.size > 0 && result) edited.current = result;
  }, [texts, result, edited]);
  if (!theirs) {
    return (
      <>
        <ConflictText>
          The index <b>{mine.Name}</b> was deleted while you changed it. Your definition is still here.
        </ConflictText>
        <ConflictButtons>
          <Button variant="default" onClick={() => close()}>
            Back to the editor
          </Button>
          <Button onClick={() => save(mine, undefined)} loading={isSaving} data-autofocus>
            Create it again
          </Button>
        </ConflictButtons>
      </>
    );
  }
  return (
    <>
      <Sides />
      {parts.map((part) => (
        <section key={part.key} aria-label={part.title} className={styles.conflictPart}>
          <h3>{part.title}</h3>
          <Comparison
            theirs={part.theirs}
            mine={part.mine}
            language={part.language}
            onChange={(text) => setTexts((before) => new Map(before).set(part.key, text))}
          />
        </section>
      ))}
      <ConflictButtons>
        <Button variant="default" onClick={() => close(edited.current)} data-autofocus>
          Back to the editor
        </Button>
        <Button variant="default" onClick={() => takeTheirs(theirs)}>
          Take theirs
        </Button>
        <Button onClick={() => result && save(result, theirs)} loading={isSaving} disabled={!result || result.Maps.length === 0}>
          Save the right side
        </Button>
      </ConflictButtons>
    </>
  );
}
