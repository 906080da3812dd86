// What is rarely done with a task.
import { ActionIcon, Menu } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { deleteTask, setTaskEnabled, type BackupConfiguration, type BackupTask } from "../../api/backups";
import { changed } from "../../shell/changed";
import type { Question } from "../../shell/Confirm";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import { isOfAllDatabases } from "./serverWideTask";

export function TaskMenu({
  database,
  task,
  configuration,
  restoredFrom,
  ask,
  edit,
  delay,
}: {
  database: string;
  task: BackupTask;
  configuration: BackupConfiguration | undefined;
  /** The folder of its backups; undefined if there is none, or the user may not restore. */
  restoredFrom: string | undefined;
  ask: (question: Question) => void;
  edit: (configuration: BackupConfiguration) => void;
  /** Undefined if the user may not delay it. */
  delay: (() => void) | undefined;
}) {
  const { TaskId: id, TaskName: name } = task;
  const isServerWide = isOfAllDatabases(task);
  const isEnabled = task.TaskState === "Enabled";
  const act = (what: string, action: () => Promise<unknown>) =>
    action().then(
      () => (told(`'${name}' is ${what}`), changed("backups")),
      (error: unknown) => failed(`'${name}' is not ${what}`, error),
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${name}`}>
          <Icon name="dots" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {!isServerWide && (
          <>
            <Menu.Item
              leftSection={<Icon name="edit" size={14} />}
              disabled={configuration === undefined}
              onClick={() => configuration && edit(configuration)}
            >
              Change…
            </Menu.Item>
            <Menu.Item
              leftSection={<Icon name="power" size={14} />}
              onClick={() => void act(isEnabled ? "disabled" : "enabled", () => setTaskEnabled(database, id, !isEnabled))}
            >
              {isEnabled ? "Disable" : "Enable"}
            </Menu.Item>
          </>
        )}
        {isEnabled && delay && (
          <Menu.Item leftSection={<Icon name="clock" size={14} />} onClick={delay}>
            Delay…
          </Menu.Item>
        )}
        {restoredFrom !== undefined && (
          <Menu.Item
            leftSection={<Icon name="upload" size={14} />}
            renderRoot={(props: object) => <Link {...props} to="/restore" search={{ folder: restoredFrom }} />}
          >
            Verify or restore…
          </Menu.Item>
        )}
        {isServerWide ? (
          <Menu.Item
            leftSection={<Icon name="server" size={14} />}
            renderRoot={(props: object) => <Link {...props} to="/server" search={{ tab: "backups" }} />}
          >
            Change on the server screen
          </Menu.Item>
        ) : (
          <>
            <Menu.Divider />
            <Menu.Item
              color="red"
              leftSection={<Icon name="trash" size={14} />}
              onClick={() =>
                ask({
                  title: `Delete the task '${name}'?`,
                  text: "No more backups are made by it. The files that it has made stay in their folder.",
                  action: "Delete task",
                  run: () => act("deleted", () => deleteTask(database, id)),
                })
              }
            >
              Delete…
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
