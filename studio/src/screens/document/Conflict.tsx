// Somebody else saved the document meanwhile: both texts side by side, and a choice.
import { Button } from "@mantine/core";
import { useEffect, useRef, useState, type RefObject } from "react";
import type { Loaded } from "../../api/documents";
import { Comparison } from "../../editor/Editor";
import { dateTime } from "../../format/format";
import { scan } from "../../json/scan";
import { ConflictButtons, ConflictDialog, ConflictText, Sides } from "../../shell/ConflictDialog";

/** `theirs`: undefined if it was deleted; `isNew`: ours was to be the first. */
export type Clash = { id: string; mine: string; theirs: Loaded | undefined; isNew: boolean };

type Props = {
  clash: Clash | undefined;
  isSaving: boolean;
  /** `mine`: what was changed in the dialog, which the editor is to keep. */
  close: (mine?: string) => void;
  /** `changeVector`: that of theirs, so that a third one is noticed too; "" if it must not be there. */
  save: (content: string, changeVector: string) => void;
  takeTheirs: (theirs: Loaded) => void;
};

export function Conflict({ clash, close, ...rest }: Props) {
  const edited = useRef<string>(undefined);
  useEffect(() => {
    edited.current = undefined;
  }, [clash]);
  const title =
    clash?.theirs === undefined
      ? "Somebody else deleted it"
      : clash.isNew
        ? "There is a document with this id"
        : "Somebody else saved it first";
  return (
    <ConflictDialog
      title={title}
      isOpen={clash !== undefined}
      isWide={clash?.theirs !== undefined}
      close={() => close(edited.current)}
    >
      {clash && <Body key={clash.theirs?.changeVector ?? ""} clash={clash} edited={edited} close={close} {...rest} />}
    </ConflictDialog>
  );
}

type BodyProps = Omit<Props, "clash"> & { clash: Clash; edited: RefObject<string | undefined> };

function Body({ clash, edited, isSaving, close, save, takeTheirs }: BodyProps) {
  const [mine, setMine] = useState(clash.mine);
  const { theirs } = clash;
  const change = (content: string) => {
    edited.current = content;
    setMine(content);
  };
  if (!theirs) {
    return (
      <>
        <ConflictText>
          <b>{clash.id}</b> was deleted while you changed it. Your text is still here.
        </ConflictText>
        <ConflictButtons>
          <Button variant="default" onClick={() => close()}>
            Back to the editor
          </Button>
          <Button onClick={() => save(clash.mine, "")} loading={isSaving} data-autofocus>
            Save it again
          </Button>
        </ConflictButtons>
      </>
    );
  }
  return (
    <>
      <Sides stored={dateTime(theirs.lastModified)} />
      <Comparison theirs={theirs.text} mine={clash.mine} onChange={change} />
      <ConflictButtons>
        <Button variant="default" onClick={() => close(edited.current)} data-autofocus>
          Back to the editor
        </Button>
        {!clash.isNew && (
          <Button variant="default" onClick={() => takeTheirs(theirs)}>
            Take theirs
          </Button>
        )}
        <Button onClick={() => save(mine, theirs.changeVector)} loading={isSaving} disabled={!isJson(mine)}>
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
