// Somebody else saved the document meanwhile: both texts side by side, and a choice.
import { Button, Modal } from "@mantine/core";
import { useEffect, useRef, useState, type RefObject } from "react";
import type { Loaded } from "../../api/documents";
import { Comparison } from "../../editor/Editor";
import { dateTime } from "../../format/format";
import { scan } from "../../json/scan";
import styles from "./document.module.css";

/** * `theirs`: undefined if it was deleted; `isNew`: ours was to be the first. */
export type Clash = { id: string; mine: string; theirs: Loaded | undefined; isNew: boolean };

type Props = {
  clash: Clash | undefined;
  isSaving: boolean;
  /** * `mine`: what was changed in the dialog, which the editor is to keep. */
  close: (mine?: string) => void;
  /** * `changeVector`: that of theirs, so that a third one is noticed too; "" if it must not be there. */
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
    <Modal
      opened={clash !== undefined}
      onClose={() => close(edited.current)}
      // What one merges is too much for a click that missed.
      closeOnClickOutside={false}
      title={title}
      size={clash?.theirs ? "min(1180px, 94vw)" : "md"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {clash && <Body key={clash.theirs?.changeVector ?? ""} clash={clash} edited={edited} close={close} {...rest} />}
    </Modal>
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
        <p className={styles.leaveText}>
          <b>{clash.id}</b> was deleted while you changed it. Your text is still here.
        </p>
        <div className={styles.buttons}>
          <Button variant="default" onClick={() => close()}>
            Back to the editor
          </Button>
          <Button onClick={() => save(clash.mine, "")} loading={isSaving} data-autofocus>
            Save it again
          </Button>
        </div>
      </>
    );
  }
  return (
    <>
      <div className={styles.sides}>
        <span>
          Stored <span className="soft number">{dateTime(theirs.lastModified)}</span>
        </span>
        <span>
          Yours <span className="soft">can be changed here</span>
        </span>
      </div>
      <Comparison theirs={theirs.text} mine={clash.mine} onChange={change} />
      <div className={styles.buttons}>
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
      </div>
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
