// Something that this page does in many steps: how far it is, and a way to stop it between two of them.
import { Button } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { count } from "../format/format";
import { Progress, ProgressDialog } from "./ProgressDialog";
import { messageOf } from "./states";

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
    <ProgressDialog title={task?.title} isOver={isOver} close={close}>
      {task && <Body task={task} over={setOver} close={close} />}
    </ProgressDialog>
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
    // It begins again where the database was disabled meanwhile.
    setEnded(undefined);
    over(false);
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
    <Progress
      part={task.total > 0 ? done / task.total : 0}
      status={ended === undefined ? undefined : "Faulted"}
      text={ended ?? `${count(done)} of ${count(task.total)}`}
    >
      {ended === undefined ? (
        <Button variant="default" onClick={() => stop?.abort()}>
          Stop
        </Button>
      ) : (
        <Button onClick={close}>Close</Button>
      )}
    </Progress>
  );
}
