// Tasks that belong to a backup of all databases are changed with that alone.
import type { BackupTask } from "../../api/backups";

/** What their names begin with in each database. */
export const SERVER_WIDE_PREFIX = "Server Wide Backup, ";

export function isOfAllDatabases({ TaskName }: BackupTask): boolean {
  return TaskName.startsWith(SERVER_WIDE_PREFIX);
}
