// The dialog of something that takes a while: how far it is, what is said of it, and buttons. While it runs, only they end it.
import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { ProgressBar } from "./ProgressBar";
import styles from "./running.module.css";
import { useTitle } from "./title";

type Props = {
  /** Undefined while there is nothing to show. */
  title: string | undefined;
  isOver: boolean;
  close: () => void;
  children: ReactNode;
};

export function ProgressDialog({ title, isOver, close, children }: Props) {
  const kept = useTitle(title);
  return (
    <Modal
      opened={title !== undefined}
      onClose={close}
      title={kept}
      closeButtonProps={{ "aria-label": "Close" }}
      // A click that missed neither hides nor stops what is under way.
      closeOnClickOutside={isOver}
      closeOnEscape={isOver}
      withCloseButton={isOver}
    >
      {children}
    </Modal>
  );
}

type ProgressProps = {
  /** From 0 to 1. */
  part: number;
  status: "Completed" | "Faulted" | undefined;
  text: string;
  /** Buttons. */
  children: ReactNode;
};

export function Progress({ part, status, text, children }: ProgressProps) {
  return (
    <>
      <ProgressBar part={part} status={status} />
      <p className={styles.text} role="status" tabIndex={-1} data-autofocus>
        {text}
      </p>
      <div className={styles.buttons}>{children}</div>
    </>
  );
}
