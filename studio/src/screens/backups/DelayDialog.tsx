// Puts the next backup of a task off.
import { Button, Modal, NativeSelect } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { delayTask, type BackupTask } from "../../api/backups";
import { changed } from "../../shell/changed";
import { messageOf } from "../../shell/states";
import { useTitle } from "../../shell/title";
import { told } from "../../shell/toasts";
import styles from "./backups.module.css";

const DELAYS = [
  { value: "01:00:00", label: "1 hour" },
  { value: "04:00:00", label: "4 hours" },
  { value: "12:00:00", label: "12 hours" },
  { value: "1.00:00:00", label: "1 day" },
  { value: "7.00:00:00", label: "7 days" },
];

export function DelayDialog({ database, task, close }: { database: string; task: BackupTask | undefined; close: () => void }) {
  const title = useTitle(task && `Delay '${task.TaskName}'`);
  return (
    <Modal opened={task !== undefined} onClose={close} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      {task && <Form database={database} task={task} close={close} />}
    </Modal>
  );
}

function Form({ database, task, close }: { database: string; task: BackupTask; close: () => void }) {
  const [delay, setDelay] = useState(DELAYS[0]!.value);
  const delaying = useMutation({
    mutationFn: () => delayTask(database, task.TaskId, delay),
    onSuccess: () => {
      told(`'${task.TaskName}' is delayed`);
      close();
    },
    onSettled: () => changed("backups"),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        delaying.mutate();
      }}
    >
      <NativeSelect
        data-autofocus
        label="No backup for"
        description={`Counted from now.${task.OnGoingBackup ? " The backup that runs is ended." : ""}`}
        size="xs"
        value={delay}
        onChange={(event) => setDelay(event.currentTarget.value)}
        data={DELAYS}
      />
      {delaying.error && (
        <p className={styles.error} role="alert">
          {messageOf(delaying.error)}
        </p>
      )}
      <div className={styles.buttons}>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button type="submit" loading={delaying.isPending}>
          Delay
        </Button>
      </div>
    </form>
  );
}
