// The question before one leaves what was written and is not saved yet.
import { Button, Modal } from "@mantine/core";
import { useBlocker, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import styles from "./confirm.module.css";

type Props = {
  isDirty: boolean;
  /** As `this document`. */
  what: string;
  /** Whether two addresses show the same thing, such as parts of one index: then nothing is left. */
  isSame?: (one: Place, other: Place) => boolean;
};

export type Place = { pathname: string; search: object };

/** What was written at an address and is not saved yet. */
type Unsaved = { href: string; what: string; text: () => string };

// It outlives the effects of its screen, which end when the screen is hidden since its database is gone. The address says whether it is
// that of what one sees.
let unsaved: Unsaved | undefined;

/** What is written at this address and not saved yet, if anything. */
export function unsavedAt(href: string): Omit<Unsaved, "href"> | undefined {
  return unsaved?.href === href ? unsaved : undefined;
}

/** `text`: what would be lost. */
export function Leaving({ text, ...props }: Props & { text: () => string }) {
  const href = useLocation({ select: (location) => location.href });
  const { isDirty, what } = props;
  const latest = useRef(text);
  useEffect(() => {
    latest.current = text;
  });
  /** Nobody wants it back. */
  const isLeft = useRef(false);
  useEffect(() => {
    if (!isDirty) isLeft.current = false;
    unsaved = isDirty && !isLeft.current ? { href, what, text: () => latest.current() } : undefined;
  }, [isDirty, href, what]);
  return <Blocker {...props} left={() => (isLeft.current = true)} />;
}

export function Blocker({ isDirty, what, isSame, left }: Props & { left?: () => void }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !isSame?.(current, next),
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <Modal
      opened={blocker.status === "blocked"}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <div className={styles.text}>{`What you changed in ${what} is not saved yet.`}</div>
      <div className={styles.buttons}>
        <Button variant="default" onClick={() => blocker.reset?.()} data-autofocus>
          Stay
        </Button>
        <Button
          color="red.8"
          onClick={() => {
            unsaved = undefined;
            left?.();
            blocker.proceed?.();
          }}
        >
          Leave
        </Button>
      </div>
    </Modal>
  );
}
