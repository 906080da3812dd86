// The import or export that is shown: how far it is, a way to stop it or to go on with something else, and what came of it.
import { Button, Modal } from "@mantine/core";
import { ProgressBar } from "./ProgressBar";
import { hide, stop, useTransfers } from "./transfers";
import bars from "./running.module.css";

export function TransferDialog() {
  const { all, shown } = useTransfers();
  const transfer = all.find(({ id }) => id === shown);
  const outcome = transfer?.outcome;
  const isOver = outcome !== undefined;
  return (
    <Modal
      opened={transfer !== undefined}
      onClose={hide}
      title={transfer?.title}
      closeButtonProps={{ "aria-label": "Close" }}
      // While it runs a click that missed does not hide it.
      closeOnClickOutside={isOver}
      closeOnEscape={isOver}
      withCloseButton={isOver}
    >
      {transfer && (
        <>
          <ProgressBar part={transfer.part} status={outcome && (outcome.isGood ? "Completed" : "Faulted")} />
          <p className={bars.text} role="status" tabIndex={-1} data-autofocus>
            {outcome?.text ?? transfer.text}
          </p>
          <div className={bars.buttons}>
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
          </div>
        </>
      )}
    </Modal>
  );
}
