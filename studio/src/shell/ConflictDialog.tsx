// The frame of a conflict: what somebody else stored beside what was changed here, and the choices below.
import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./conflict.module.css";

type Props = {
  title: string | undefined;
  isOpen: boolean;
  /** Whether two texts stand side by side, and not a question alone. */
  isWide: boolean;
  close: () => void;
  children: ReactNode;
};

export function ConflictDialog({ title, isOpen, isWide, close, children }: Props) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      // What one merges is too much for a click that missed.
      closeOnClickOutside={false}
      title={title}
      size={isWide ? "min(1180px, 94vw)" : "md"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {children}
    </Modal>
  );
}

/** What stands over the two texts. * `stored`: when that was, if it is known. */
export function Sides({ stored }: { stored?: string }) {
  return (
    <div className={styles.sides}>
      <span>Stored {stored !== undefined && <span className="soft number">{stored}</span>}</span>
      <span>
        Yours <span className="soft">can be changed here</span>
      </span>
    </div>
  );
}

export function ConflictText({ children }: { children: ReactNode }) {
  return <p className={styles.text}>{children}</p>;
}

export function ConflictButtons({ children }: { children: ReactNode }) {
  return <div className={styles.buttons}>{children}</div>;
}
