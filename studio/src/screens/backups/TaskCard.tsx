// One task of a database: its times, its places, what runs and what failed.
import { ActionIcon, Button, Menu } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import {
  deleteTask,
  runTask,
  setTaskEnabled,
  type BackupConfiguration,
  type BackupStatus,
  type BackupTask,
} from "../../api/backups";
import { ago, counted, dateTime, duration, serverNow } from "../../format/format";
import { changed } from "../../shell/changed";
import type { Question } from "../../shell/Confirm";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { meaningOf } from "./cron";
import { otherDestinations, retentionText } from "./draft";
import { Ongoing, type Outcome } from "./Ongoing";
import styles from "./backups.module.css";

/** What the names of tasks begin with that belong to a backup of all databases. */
const SERVER_WIDE = "Server Wide Backup, ";

export function TaskCard({
  database,
  task,
  status,
  configuration,
  documents,
  ask,
  edit,
  delay,
}: {
  database: string;
  task: BackupTask;
  status: BackupStatus | null;
  /** Undefined if it cannot be read: users without the right do not see folders. */
  configuration: BackupConfiguration | undefined;
  /** How many the database has. */
  documents: number | undefined;
  ask: (question: Question) => void;
  edit: (configuration: BackupConfiguration) => void;
  delay: () => void;
}) {
  const { TaskId: id, TaskName: name, OnGoingBackup: running, NextBackup: next } = task;
  const [begun, setBegun] = useState<{ operation: number; isFull: boolean }>();
  const isServerWide = name.startsWith(SERVER_WIDE);
  const isEnabled = task.TaskState === "Enabled";
  const refresh = () => changed("backups");
  const begin = useMutation({
    mutationFn: async (isFull: boolean) => ({ operation: await runTask(database, id, isFull), isFull }),
    onSuccess: (now) => (setBegun(now), refresh()),
    onError: (error) => failed(`'${name}' was not run`, error),
  });
  const act = (what: string, action: () => Promise<unknown>) =>
    action().then(
      () => (told(`'${name}' is ${what}`), refresh()),
      (error: unknown) => failed(`'${name}' is not ${what}`, error),
    );
  const ongoing = running ? { operation: running.RunningBackupTaskId, isFull: running.IsFull } : begun;
  const ended = (outcome: Outcome) => {
    // What the clock began, and what failed, is seen in the card.
    if (begun && outcome.kind === "done") told(`'${name}': the backup is complete, ${counted(outcome.documents, "document")}`);
    if (outcome.kind === "ended") told(`'${name}': the backup was ended before it was complete`);
    setBegun(undefined);
    void refresh();
  };
  const folder = configuration?.LocalSettings?.FolderPath;
  const restoredFrom = folder ?? status?.LocalBackup.BackupDirectory;
  return (
    <section className={styles.card} aria-label={name}>
      <div className={styles.cardHead}>
        <h2 className={styles.title}>{isServerWide ? name.slice(SERVER_WIDE.length) : name}</h2>
        {ongoing ? (
          <Badge tone="busy">Running</Badge>
        ) : !isEnabled ? (
          <Badge>Disabled</Badge>
        ) : task.Error !== null ? (
          <Badge tone="bad">Failed</Badge>
        ) : (
          <Badge tone="good">Enabled</Badge>
        )}
        {isServerWide && <Badge>of all databases</Badge>}
        {task.IsEncrypted && <Badge>Encrypted</Badge>}
        <div className={styles.cardActions}>
          <Button variant="default" disabled={ongoing !== undefined} onClick={() => begin.mutate(true)}>
            Run full backup
          </Button>
          <Button
            variant="default"
            disabled={ongoing !== undefined || task.LastFullBackup === null}
            onClick={() => begin.mutate(false)}
          >
            Run incremental
          </Button>
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
              {isEnabled && (
                <Menu.Item leftSection={<Icon name="clock" size={14} />} onClick={delay}>
                  Delay…
                </Menu.Item>
              )}
              {restoredFrom && (
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
        </div>
      </div>
      {ongoing && (
        <Ongoing
          key={ongoing.operation}
          database={database}
          id={ongoing.operation}
          total={documents}
          what={ongoing.isFull ? "Full backup" : "Incremental backup"}
          ended={ended}
        />
      )}
      {task.Error !== null && !ongoing && (
        <div className={styles.failure}>
          <p>
            <Icon name="warning" size={14} />{" "}
            <b>The last backup failed{status?.Error ? ` at ${dateTime(status.Error.At)}` : ""}.</b> {task.Error}
          </p>
          <p>
            {task.BackupDestinations.includes("Local") &&
              "Check that the user that runs the server may write to the folder, and that its disk has space. "}
            {next
              ? `The server tries again at ${dateTime(next.DateTime)}; run the backup to try at once.`
              : "The task is disabled, so the server does not try again: enable it, or run the backup by hand."}
          </p>
        </div>
      )}
      <dl className={styles.facts}>
        <Fact name="Full">{timesOf(task.FullBackupFrequency)}</Fact>
        <Fact name="Incremental">{timesOf(task.IncrementalBackupFrequency)}</Fact>
        <Fact name="Kept">{retentionText(task.RetentionPolicy)}</Fact>
        <Fact name="To">
          {folder ? (
            <>
              <code className={styles.path}>{folder}</code>
              {configuration && otherDestinations(configuration).map((place) => `, ${place}`)}
            </>
          ) : (
            task.BackupDestinations.map((place) => (place === "Local" ? "a folder" : place)).join(", ")
          )}
        </Fact>
        <Fact name="Last full backup">{lastOf(task.LastFullBackup)}</Fact>
        <Fact name="Last incremental backup">{lastOf(task.LastIncrementalBackup)}</Fact>
        <Fact name="Next backup">
          {next ? (
            <>
              {dateTime(next.DateTime)}, {next.IsFull ? "full" : "incremental"}
              <span className="soft">
                {" "}
                in {duration(Math.max(0, Date.parse(next.DateTime) - serverNow()))}
                {next.OriginalBackupTime && `, delayed from ${dateTime(next.OriginalBackupTime)}`}
              </span>
            </>
          ) : ongoing ? (
            "when this one is complete"
          ) : (
            "none, the task is disabled"
          )}
        </Fact>
      </dl>
    </section>
  );
}

export function Badge({ tone, children }: { tone?: "good" | "bad" | "busy" | "warn"; children: string }) {
  return (
    <span className={tables.badge} data-tone={tone}>
      {children}
    </span>
  );
}

export function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="number">{children}</dd>
    </div>
  );
}

/** When backups are made, for people. */
export function timesOf(cron: string | null | undefined) {
  if (!cron) return "never by the clock";
  return meaningOf(cron) ?? <code className={styles.path}>{cron}</code>;
}

function lastOf(at: string | null) {
  if (at === null) return "none yet";
  return (
    <>
      {dateTime(at)} <span className="soft">{ago(at)}</span>
    </>
  );
}
