// How far an import or export is, a way to stop it, and what came of it.
import { Button } from "@mantine/core";
import { ProgressBar } from "../../shell/ProgressBar";
import bars from "../../shell/running.module.css";

export type Outcome = { isGood: boolean; text: string };

export function Transfer({
  part,
  text,
  outcome,
  stop,
  close,
}: {
  /** From 0 to 1. */
  part: number;
  /** What is said while it runs. */
  text: string;
  outcome: Outcome | undefined;
  stop: AbortController | undefined;
  close: () => void;
}) {
  return (
    <>
      <ProgressBar part={part} status={outcome && (outcome.isGood ? "Completed" : "Faulted")} />
      <p className={bars.text} role="status" tabIndex={-1} data-autofocus>
        {outcome?.text ?? text}
      </p>
      <div className={bars.buttons}>
        {outcome ? (
          <Button onClick={close}>Close</Button>
        ) : (
          <Button variant="default" onClick={() => stop?.abort()}>
            Stop
          </Button>
        )}
      </div>
    </>
  );
}
