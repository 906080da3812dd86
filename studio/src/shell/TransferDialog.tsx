// The import or export that is shown: how far it is, a way to stop it or to go on with something else, and what came of it.
import { Button } from "@mantine/core";
import { Progress, ProgressDialog } from "./ProgressDialog";
import { hide, stop, useTransfers } from "./transfers";

export function TransferDialog() {
  const { all, shown } = useTransfers();
  const transfer = all.find(({ id }) => id === shown);
  const outcome = transfer?.outcome;
  return (
    <ProgressDialog title={transfer?.title} isOver={outcome !== undefined} close={hide}>
      {transfer && (
        <Progress
          part={transfer.part}
          status={outcome && (outcome.isGood ? "Completed" : "Faulted")}
          text={outcome?.text ?? transfer.text}
        >
          {outcome ? (
            <Button onClick={hide}>Close</Button>
          ) : (
            <>
              <Button variant="default" onClick={() => stop(transfer.id)}>
                Stop
              </Button>
              <Button variant="default" onClick={hide}>
                Continue in the background
              </Button>
            </>
          )}
        </Progress>
      )}
    </ProgressDialog>
  );
}
