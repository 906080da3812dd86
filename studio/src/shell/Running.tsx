// An operation that was started here: how far it is, and a way to stop it. It runs on the server, whether one looks at it or not.
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { kill, state, type OperationState } from "../api/operations";
import { count } from "../format/format";
import { Progress, ProgressDialog } from "./ProgressDialog";
import { messageOf } from "./states";
import { failed, told } from "./toasts";

/** `database`: undefined for an operation of the server. */
export type RunningOperation = { database: string | undefined; id: number; title: string };

type Props = {
  operation: RunningOperation | undefined;
  /** Told when it is over, whether one looks at it or not. */
  ended: () => void;
  close: () => void;
};

const POLL_MS = 400;

export function Running({ operation, ended, close }: Props) {
  return (
    operation && <Shown key={`${operation.database ?? ""}/${operation.id}`} operation={operation} ended={ended} close={close} />
  );
}

function Shown({ operation: { database, id, title }, ended, close }: Props & { operation: RunningOperation }) {
  const [isHidden, setHidden] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["operation", database ?? null, id],
    queryFn: ({ signal }) => state(database, id, signal),
    refetchInterval: (query) => (query.state.data && query.state.data.Status !== "InProgress" ? false : POLL_MS),
    staleTime: 0,
  });
  const isOver = error !== null || (data !== undefined && data.Status !== "InProgress");
  const text = error ? `The progress cannot be read: ${messageOf(error)}` : textOf(data);
  const latest = useRef({ ended, close, isHidden, text });
  useEffect(() => {
    latest.current = { ended, close, isHidden, text };
  });
  useEffect(() => {
    if (!isOver) return;
    const now = latest.current;
    now.ended();
    if (!now.isHidden) return;
    if (data?.Status === "Completed") told(`${title}: ${now.text}`);
    else failed(title, new Error(now.text));
    now.close();
    // Once, when it ends.
  }, [isOver]);
  const total = data?.Progress?.Total ?? 0;
  return (
    <ProgressDialog title={isHidden ? undefined : title} isOver={isOver} close={close}>
      <Progress
        part={isOver ? 1 : total > 0 ? (data?.Progress?.Processed ?? 0) / total : 0}
        status={!isOver ? undefined : data?.Status === "Completed" ? "Completed" : "Faulted"}
        text={text}
      >
        {isOver ? (
          <Button onClick={close}>Close</Button>
        ) : (
          <>
            <Button
              variant="default"
              onClick={() => kill(database, id).catch((reason: unknown) => failed("The operation could not be stopped", reason))}
            >
              Stop
            </Button>
            <Button
              variant="default"
              onClick={() => {
                setHidden(true);
                told(`${title} continues in the background${database === undefined ? "" : ": see Operations"}`);
              }}
            >
              Continue in the background
            </Button>
          </>
        )}
      </Progress>
    </ProgressDialog>
  );
}

function textOf(operation: OperationState | undefined): string {
  const done = operation?.Progress?.Processed ?? 0;
  const total = operation?.Progress?.Total ?? 0;
  switch (operation?.Status) {
    case "Completed":
      return operation.Result?.Message || `Done: ${count(operation.Result?.Total ?? 0)}`;
    case "Canceled":
      return total > 0 ? `Stopped after ${count(done)} of ${count(total)} documents. These changes stay.` : "Stopped.";
    case "Faulted":
      return operation.Result?.Message ?? "It failed.";
    default:
      return total > 0 ? `${count(done)} of ${count(total)}` : (operation?.Progress?.Message ?? "Running…");
  }
}
