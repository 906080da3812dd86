// An operation that was started here: how far it is, and a way to stop it.
import { Button, Modal } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { kill, state } from "../api/operations";
import { count } from "../format/format";
import { ProgressBar } from "./ProgressBar";
import { Failed } from "./states";
import { failed } from "./toasts";
import styles from "./running.module.css";

export type RunningOperation = { database: string; id: number; title: string };

const POLL_MS = 400;

export function Running({ operation, close }: { operation: RunningOperation | undefined; close: () => void }) {
  return (
    <Modal opened={operation !== undefined} onClose={close} title={operation?.title} closeButtonProps={{ "aria-label": "Close" }}>
      {operation && <Body key={operation.id} operation={operation} close={close} />}
    </Modal>
  );
}

function Body({ operation: { database, id }, close }: { operation: RunningOperation; close: () => void }) {
  const { data, error } = useQuery({
    queryKey: ["operation", database, id],
    queryFn: ({ signal }) => state(database, id, signal),
    refetchInterval: (query) => (query.state.data && query.state.data.Status !== "InProgress" ? false : POLL_MS),
    staleTime: 0,
  });
  if (error) return <Failed what="Its state is not known" error={error} />;
  const isRunning = data === undefined || data.Status === "InProgress";
  const done = data?.Progress?.Processed ?? 0;
  const total = data?.Progress?.Total ?? 0;
  const part = !isRunning ? 1 : total > 0 ? done / total : 0;
  return (
    <>
      <ProgressBar part={part} status={data?.Status ?? "InProgress"} />
      <p className={styles.text} role="status">
        {isRunning && (total > 0 ? `${count(done)} of ${count(total)}` : "Under way…")}
        {data?.Status === "Completed" && (data.Result?.Message || `Done: ${count(data.Result?.Total ?? 0)}`)}
        {data?.Status === "Canceled" &&
          (data.Progress ? `Stopped after ${count(done)} of ${count(total)} documents. These changes stay.` : "Stopped.")}
        {data?.Status === "Faulted" && (data.Result?.Message ?? "It failed.")}
      </p>
      <div className={styles.buttons}>
        {isRunning ? (
          <Button
            variant="default"
            onClick={() => kill(database, id).catch((reason: unknown) => failed("It was not stopped", reason))}
          >
            Stop
          </Button>
        ) : (
          <Button onClick={close} data-autofocus>
            Close
          </Button>
        )}
      </div>
    </>
  );
}
