// Backups: the tasks of a database, those of all databases, one by hand, and restoring.
import { encryptedWith, type EncryptionSettings } from "./encryption";
import { below, send, sendForJson } from "./http";

/** A dump of the documents, or an image of the storage. */
export type BackupType = "Backup" | "Snapshot";

/** A task as the server describes it now. Times are UTC. */
export type BackupTask = {
  TaskId: number;
  TaskType: string;
  TaskName: string;
  TaskState: "Enabled" | "Disabled";
  BackupType: BackupType;
  /** Why the last backup failed; null after one that did not. */
  Error: string | null;
  /** Kinds of places, as `Local` or `S3`. */
  BackupDestinations: string[];
  LastFullBackup: string | null;
  LastIncrementalBackup: string | null;
  OnGoingBackup: { StartTime: string; IsFull: boolean; RunningBackupTaskId: number } | null;
  NextBackup: { DateTime: string; IsFull: boolean; OriginalBackupTime: string | null } | null;
  RetentionPolicy: { Disabled?: boolean; MinimumBackupAgeToKeep?: string | null } | null;
  IsEncrypted: boolean;
  FullBackupFrequency: string | null;
  IncrementalBackupFrequency: string | null;
};

/** The configuration of a task. What the studio does not know stays in it as it is. */
export type BackupConfiguration = {
  Name?: string | null;
  TaskId?: number;
  Disabled?: boolean;
  FullBackupFrequency?: string | null;
  IncrementalBackupFrequency?: string | null;
  RetentionPolicy?: { Disabled?: boolean; MinimumBackupAgeToKeep?: string | null } | null;
  BackupEncryptionSettings?: EncryptionSettings | null;
  MaxReadOpsPerSecond?: number | null;
  BackupType?: BackupType | null;
  /** The journal is archived too. */
  PointInTime?: boolean | null | undefined;
  LocalSettings?: { FolderPath?: string | null; Disabled?: boolean } | null;
  ExcludedDatabases?: string[];
  [other: string]: unknown;
};

/** What is known of the last backup of a task. */
export type BackupStatus = {
  LocalBackup: { BackupDirectory: string | null };
  DurationInMs: number | null;
  Error: { Exception: string; At: string } | null;
};

/** How far the archive of a task with `PointInTime` has come. */
export type ArchiveStatus = {
  /** The last transaction that is in all places; 0 before the first snapshot. */
  LastTransaction: number;
  /** When that one was the last, in UTC; null before the first snapshot. */
  LastTime: string | null;
  /** Something was written that is not in all places yet. */
  IsBehind: boolean;
  /** Why the last attempt failed; null after one that did not. */
  Error: string | null;
  ErrorAt: string | null;
};

/** A state of a database that can be restored. */
export type RestorePoint = {
  /** UTC, without `Z`. */
  DateTime: string;
  Location: string;
  FileName: string;
  IsEncrypted: boolean;
  IsIncremental: boolean;
  /** The full backup that it begins with is an image of the storage. */
  IsSnapshotRestore: boolean;
  FilesToRestore: number;
  SizeInBytes: number;
  DatabaseName: string | null;
};

/** A run of states that can be restored, all from one to another. Times are UTC. */
export type Archive = {
  DatabaseName: string;
  NodeTag: string;
  Location: string;
  From: string;
  Until: string;
  FirstTransaction: number;
  LastTransaction: number;
  IsEncrypted: boolean;
  /** Without the snapshots that it begins with. */
  SizeInBytes: number;
};

/** What a folder has. */
export type Restorable = { points: RestorePoint[]; archives: Archive[] };

/** The state that is restored. */
export type RestoredState =
  /** That of a backup. `lastFile`: the last one that is read. */
  | { lastFile: string }
  /** The last one at a time, in UTC, of the archive of a database. */
  | { archiveOf: string; time: string }
  /** That of a transaction. */
  | { archiveOf: string; transaction: number };

export type RestoreRequest = {
  folder: string;
  state: RestoredState;
  /** Of the new database. */
  database: string;
  skipsIndexes: boolean;
  disablesTasks: boolean;
  /** 32 bytes in base64, of an encrypted backup. */
  key: string | undefined;
};

/** GET `/databases/{name}/tasks`: those that make backups. */
export async function tasks(database: string, signal?: AbortSignal): Promise<BackupTask[]> {
  const answer = await sendForJson<{ OngoingTasks: BackupTask[] }>(below(database, "/tasks"), { signal });
  return answer.OngoingTasks.filter(({ TaskType }) => TaskType === "Backup");
}

/** `Status`: null before the first backup. `Archive`: null of a task without `PointInTime`, and of one that is disabled. */
export type TaskStatus = { Status: BackupStatus | null; Archive: ArchiveStatus | null };

/** GET `/periodic-backup/status` */
export function status(database: string, taskId: number, signal?: AbortSignal): Promise<TaskStatus> {
  return sendForJson("/periodic-backup/status", { query: { name: database, taskId }, signal });
}

/** GET `/databases/{name}/admin/record`: the configurations of its tasks. */
export async function configurations(database: string, signal?: AbortSignal): Promise<BackupConfiguration[]> {
  type Record = { PeriodicBackups?: BackupConfiguration[] | null };
  const record = await sendForJson<Record>(below(database, "/admin/record"), { signal });
  return record.PeriodicBackups ?? [];
}

/** POST `/databases/{name}/admin/periodic-backup`: adds a task, or replaces the one of its `TaskId`. */
export async function putTask(database: string, body: BackupConfiguration): Promise<void> {
  await send(below(database, "/admin/periodic-backup"), { method: "POST", body });
}

/** POST `/databases/{name}/admin/tasks/state` */
export async function setTaskEnabled(database: string, taskId: number, isEnabled: boolean): Promise<void> {
  const query = { type: "Backup", key: taskId, disable: !isEnabled };
  await send(below(database, "/admin/tasks/state"), { method: "POST", query });
}

/** DELETE `/databases/{name}/admin/tasks`. Its backups stay. */
export async function deleteTask(database: string, taskId: number): Promise<void> {
  await send(below(database, "/admin/tasks"), { method: "DELETE", query: { type: "Backup", id: taskId } });
}

/** POST `/admin/backup-task/delay`. `duration`: a time span, as `02:00:00`. */
export async function delayTask(database: string, taskId: number, duration: string): Promise<void> {
  await send("/admin/backup-task/delay", { method: "POST", query: { database, taskId, duration } });
}

/** POST `/databases/{name}/admin/backup/database`: runs a task now; gives the number of the operation. */
export async function runTask(database: string, taskId: number, isFull: boolean): Promise<number> {
  const options = { method: "POST", query: { taskId, isFullBackup: isFull } };
  return (await sendForJson<{ OperationId: number }>(below(database, "/admin/backup/database"), options)).OperationId;
}

/** POST `/databases/{name}/admin/backup`: one full backup into a folder; gives the number of the operation. */
export async function backUp(database: string, folder: string, key: string | undefined): Promise<number> {
  const body = {
    BackupType: "Backup",
    LocalSettings: { FolderPath: folder },
    BackupEncryptionSettings: encryptedWith(key),
  };
  const options = { method: "POST", body };
  return (await sendForJson<{ OperationId: number }>(below(database, "/admin/backup"), options)).OperationId;
}

/** GET `/admin/configuration/server-wide/tasks` */
export async function serverWide(signal?: AbortSignal): Promise<BackupConfiguration[]> {
  const options = { query: { type: "Backup" }, signal };
  return (await sendForJson<{ Results: BackupConfiguration[] }>("/admin/configuration/server-wide/tasks", options)).Results;
}

/** PUT `/admin/configuration/server-wide/backup`: adds one, or replaces the one of its name. */
export async function putServerWide(body: BackupConfiguration): Promise<void> {
  await send("/admin/configuration/server-wide/backup", { method: "PUT", body });
}

/** POST `/admin/configuration/server-wide/state` */
export async function setServerWideEnabled(name: string, isEnabled: boolean): Promise<void> {
  const query = { type: "Backup", name, disable: !isEnabled };
  await send("/admin/configuration/server-wide/state", { method: "POST", query });
}

/** DELETE `/admin/configuration/server-wide/task`, with its task in each database. */
export async function deleteServerWide(name: string): Promise<void> {
  await send("/admin/configuration/server-wide/task", { method: "DELETE", query: { type: "Backup", name } });
}

/** POST `/admin/restore/points`: what a folder of the server's machine has, the newest first. */
export async function restorable(folder: string, signal?: AbortSignal): Promise<Restorable> {
  const options = { method: "POST", query: { type: "Local" }, body: { FolderPath: folder }, signal };
  const { List, Archives } = await sendForJson<{ List: RestorePoint[]; Archives: Archive[] }>("/admin/restore/points", options);
  return { points: List, archives: Archives };
}

function onWire(state: RestoredState) {
  if ("lastFile" in state) return { LastFileNameToRestore: state.lastFile };
  if ("time" in state) return { SourceDatabaseName: state.archiveOf, RestoreUntil: state.time };
  return { SourceDatabaseName: state.archiveOf, RestoreUntilTransaction: state.transaction };
}

/** POST `/admin/restore/database`, or `/admin/restore/verify`: the same for a database that is thrown away. Gives the number of the operation. */
export async function restore(request: RestoreRequest, isTrial: boolean): Promise<number> {
  const body = {
    Type: "Local",
    BackupLocation: request.folder,
    ...onWire(request.state),
    DatabaseName: isTrial ? undefined : request.database,
    SkipIndexes: request.skipsIndexes,
    DisableOngoingTasks: request.disablesTasks,
    BackupEncryptionSettings: encryptedWith(request.key),
  };
  const path = isTrial ? "/admin/restore/verify" : "/admin/restore/database";
  return (await sendForJson<{ OperationId: number }>(path, { method: "POST", body })).OperationId;
}
