// A backup or a restore that runs: how far it is, a button that ends it, and its end.
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { kill, state, type OperationState } from "../../api/operations";
import { count, counted } from "../../format/format";
import { ProgressBar } from "../../shell/ProgressBar";
import { messageOf } from "../../shell/states";
import { failed } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { restoredTo, type RestoredTo } from "./archived";
import styles from "./backups.module.css";

const POLL_MS = 400;

/** How an operation ended. `ended`: somebody did so before it was complete. `state`: of an archive, which was restored. */
export type Outcome =
  | { kind: "done"; documents: number; folder: string | undefined; state: RestoredTo | undefined }
  | { kind: "failed" | "ended"; reason: string };

/** `database`: whose operation it is, undefined for the server's. `total`: documents, where it is known. */
export function Ongoing({
  database,
  id,
  total,
  what,
  canEnd = true,
  ended,
}: {
  database: string | undefined;
  id: number;
  total: number | undefined;
  /** As `Full backup`. */
  what: string;
  /** The user may end it. */
  canEnd?: boolean;
  ended: (outcome: Outcome) => void;
}) {
  const { data, error } = useQuery({
    queryKey: ["operation", database ?? null, id],
    queryFn: ({ signal }) => state(database, id, signal),
    refetchInterval: (query) => (query.state.data && query.state.data.Status !== "InProgress" ? false : POLL_MS),
    staleTime: 0,
  });
  const outcome = error ? { kind: "failed" as const, reason: messageOf(error) } : outcomeOf(data);
  const latest = useRef({ ended, outcome });
  useEffect(() => {
    latest.current = { ended, outcome };
  });
  const isOver = outcome !== undefined;
  useEffect(() => {
    const now = latest.current;
    if (isOver && now.outcome) now.ended(now.outcome);
    // Once, when it ends.
  }, [isOver]);
  const done = data?.Progress?.Documents?.ReadCount;
  const text =
    done === undefined
      ? `${what} begins…`
      : total !== undefined && total >= done
        ? `${what}: ${count(done)} of ${counted(total, "document")}`
        : `${what}: ${counted(done, "document")} so far`;
  return (
    <div className={styles.ongoing}>
      <div className={styles.ongoingText}>
        {total !== undefined && total > 0 && <ProgressBar part={Math.min(1, (done ?? 0) / total)} status={undefined} />}
        <p className="number" role="status">
          {text}
        </p>
      </div>
      {canEnd && (
        <Button
          variant="default"
          leftSection={<Icon name="stop" size={12} />}
          onClick={() => kill(database, id).catch((reason: unknown) => failed("It could not be ended", reason))}
        >
          End
        </Button>
      )}{" "}
    </div>
  );
}

function outcomeOf(state: OperationState | undefined): Outcome | undefined {
  switch (state?.Status) {
    case "Completed": {
      const { Documents, LocalBackup, Messages } = state.Result ?? {};
      return {
        kind: "done",
        documents: Documents?.ReadCount ?? 0,
        folder: LocalBackup?.BackupDirectory ?? undefined,
        state: restoredTo(Messages ?? []),
      };
    }
    case "Faulted":
      return { kind: "failed", reason: state.Result?.Message ?? "The server gives no reason; its log may have one." };
    case "Canceled":
      return { kind: "ended", reason: "It was ended before it was complete." };
    default:
      return undefined;
  }
}
