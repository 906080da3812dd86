// The question before one leaves what was written and is not saved yet.
import { Button, Modal } from "@mantine/core";
import { useBlocker } from "@tanstack/react-router";
import styles from "./confirm.module.css";

type Props = {
  isDirty: boolean;
  /** As `this document`. */
  what: string;
  /** Whether two addresses show the same thing, such as parts of one index: then nothing is left. */
  isSame?: (one: Place, other: Place) => boolean;
};

export type Place = { pathname: string; search: object };

export function Leaving({ isDirty, what, isSame }: Props) {
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
        <Button color="red.8" onClick={() => blocker.proceed?.()}>
          Leave
        </Button>
      </div>
    </Modal>
  );
}
