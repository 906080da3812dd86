// The database that a backup is of, by the name of its folder.
import type { RestorePoint } from "../../api/backups";

/** `2026-11-27-02-00-00.ravendb-Shop-A-backup` */
const FOLDER = /(?:^|[\\/])\d{4}(?:-\d\d){5}\.ravendb-(.+)-[A-Z]{1,4}-backup$/;

/** The server knows it for the folders below the one that it lists. */
export function databaseOf({ DatabaseName, Location }: Pick<RestorePoint, "DatabaseName" | "Location">): string | undefined {
  return DatabaseName ?? FOLDER.exec(Location)?.[1];
}
