// One task of a database: its times, its places, what runs and what failed.
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { runTask, type ArchiveStatus, type BackupConfiguration, type BackupStatus, type BackupTask } from "../../api/backups";
import { ago, counted, dateTime, duration, serverNow } from "../../format/format";
import { changed } from "../../shell/changed";
import type { Question } from "../../shell/Confirm";
import { failed, told } from "../../shell/toasts";
import { Icon } from "../../theme/icons";
import tables from "../../shell/table.module.css";
import { archivedUntil } from "./archived";
import { ArchiveStopped } from "./ArchiveStopped";
import { meaningOf } from "./cron";
import { isArchived, otherDestinations, retentionText } from "./draft";
import { Ongoing, type Outcome } from "./Ongoing";
import { isOfAllDatabases, SERVER_WIDE_PREFIX } from "./serverWideTask";
import { TaskMenu } from "./TaskMenu";
import styles from "./backups.module.css";

export function TaskCard({
  database,
  task,
  status,
  archive,
  configuration,
  documents,
  isAdmin,
  isOperator,
  ask,
  edit,
  delay,
}: {
  database: string;
  task: BackupTask;
  status: BackupStatus | null;
  /** Null without one, and while the task is disabled. */
  archive: ArchiveStatus | null;
  /** Undefined if it cannot be read: users without the right do not see folders. */
  configuration: BackupConfiguration | undefined;
  /** How many the database has. */
  documents: number | undefined;
  /** The user may run and change tasks. */
  isAdmin: boolean;
  /** The user may delay tasks and restore backups. */
  isOperator: boolean;
  ask: (question: Question) => void;
  edit: (configuration: BackupConfiguration) => void;
  delay: () => void;
}) {
  const { TaskId: id, TaskName: name, OnGoingBackup: running, NextBackup: next } = task;
  const [begun, setBegun] = useState<{ operation: number; isFull: boolean }>();
  const isServerWide = isOfAllDatabases(task);
  const isEnabled = task.TaskState === "Enabled";
  const refresh = () => changed("backups");
  const begin = useMutation({
    mutationFn: async (isFull: boolean) => ({ operation: await runTask(database, id, isFull), isFull }),
    onSuccess: (now) => (setBegun(now), refresh()),
    onError: (error) => failed(`'${name}' was not run`, error),
  });
  const ongoing = running ? { operation: running.RunningBackupTaskId, isFull: running.IsFull } : begun;
  const ended = (outcome: Outcome) => {
    // What the clock began, and what failed, is seen in the card.
    if (begun && outcome.kind === "done") told(`'${name}': the backup is complete, ${counted(outcome.documents, "document")}`);
    if (outcome.kind === "ended") told(`'${name}': the backup was ended before it was complete`);
    setBegun(undefined);
    void refresh();
  };
  const hasArchive = archive !== null || (configuration !== undefined && isArchived(configuration));
  const isStopped = archive !== null && archive.IsBehind && archive.Error !== null;
  const folder = configuration?.LocalSettings?.FolderPath;
  const restoredFrom = folder ?? status?.LocalBackup.BackupDirectory ?? undefined;
  return (
    <section className={styles.card} aria-label={name}>
      <div className={styles.cardHead}>
        <h2 className={styles.title}>{isServerWide ? name.slice(SERVER_WIDE_PREFIX.length) : name}</h2>
        {ongoing ? (
          <Badge tone="busy">Running</Badge>
        ) : !isEnabled ? (
          <Badge>Disabled</Badge>
        ) : task.Error !== null ? (
          <Badge tone="bad">Failed</Badge>
        ) : isStopped ? (
          <Badge tone="bad">Archive stopped</Badge>
        ) : (
          <Badge tone="good">Enabled</Badge>
        )}
        {isServerWide && <Badge>of all databases</Badge>}
        {task.BackupType === "Snapshot" && <Badge>Snapshots</Badge>}
        {hasArchive && <Badge>Any second</Badge>}
        {task.IsEncrypted && <Badge>Encrypted</Badge>}
        <div className={styles.cardActions}>
          {isAdmin && (
            <>
              <Button variant="default" disabled={ongoing !== undefined} onClick={() => begin.mutate(true)}>
                Run full
              </Button>
              <Button
                variant="default"
                disabled={ongoing !== undefined || task.LastFullBackup === null}
                onClick={() => begin.mutate(false)}
              >
                Run incremental
              </Button>
              <TaskMenu
                database={database}
                task={task}
                configuration={configuration}
                restoredFrom={isOperator ? restoredFrom : undefined}
                ask={ask}
                edit={edit}
                delay={isOperator ? delay : undefined}
              />
            </>
          )}
        </div>
      </div>
      {ongoing && (
        <Ongoing
          key={ongoing.operation}
          database={database}
          id={ongoing.operation}
          total={documents}
          canEnd={isAdmin}
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
      {archive && isStopped && <ArchiveStopped archive={archive} />}
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
        {hasArchive && (
          <Fact name="Restores to">
            {archive === null ? (
              "its backups alone, while the task is disabled"
            ) : archive.LastTime === null ? (
              "any second, once the first snapshot is made"
            ) : (
              <>
                any second up to {archivedUntil(archive)}
                <span className="soft">, last change {dateTime(archive.LastTime)}</span>
              </>
            )}
          </Fact>
        )}
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

export function Fact({ name, children }: { name: string; children: ReactNode }) {
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
