// Something that this page does in many steps: how far it is, and a way to stop it between two of them.
import { Button, Modal } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { count } from "../format/format";
import { ProgressBar } from "./ProgressBar";
import { messageOf } from "./states";
import styles from "./running.module.css";

export type Task = {
  title: string;
  /** What it counts, as `documents`. */
  total: number;
  /** Does all of it, telling how much is done; throws if the signal is aborted. */
  run: (tell: (done: number) => void, signal: AbortSignal) => Promise<void>;
  /** What is said of what was done before it was stopped or failed. */
  partly: (done: number) => string;
};

/** It closes by itself when all is done. */
export function TaskDialog({ task, close }: { task: Task | undefined; close: () => void }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => setOver(false), [task]);
  return (
    <Modal
      opened={task !== undefined}
      onClose={close}
      title={task?.title}
      closeButtonProps={{ "aria-label": "Close" }}
      // Only its button stops what is under way.
      closeOnClickOutside={isOver}
      closeOnEscape={isOver}
      withCloseButton={isOver}
    >
      {task && <Body task={task} over={setOver} close={close} />}
    </Modal>
  );
}

function Body({ task, over, close }: { task: Task; over: (isOver: boolean) => void; close: () => void }) {
  const [done, setDone] = useState(0);
  const [ended, setEnded] = useState<string>();
  const [stop, setStop] = useState<AbortController>();
  const leave = useRef(close);
  useEffect(() => {
    leave.current = close;
  });
  useEffect(() => {
    const controller = new AbortController();
    setStop(controller);
    let sofar = 0;
    const tell = (now: number) => setDone((sofar = now));
    task.run(tell, controller.signal).then(
      () => leave.current(),
      (error: unknown) => {
        const why = controller.signal.aborted ? "Stopped." : `${messageOf(error)}`;
        setEnded(`${why} ${task.partly(sofar)}`);
        over(true);
      },
    );
    return () => controller.abort();
  }, [task, over]);
  return (
    <>
      <ProgressBar part={task.total > 0 ? done / task.total : 0} status={ended === undefined ? undefined : "Faulted"} />
      <p className={styles.text} role="status" tabIndex={-1} data-autofocus>
        {ended ?? `${count(done)} of ${count(task.total)}`}
      </p>
      <div className={styles.buttons}>
        {ended === undefined ? (
          <Button variant="default" onClick={() => stop?.abort()}>
            Stop
          </Button>
        ) : (
          <Button onClick={close}>Close</Button>
        )}
      </div>
    </>
  );
}
