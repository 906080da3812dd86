// What the server says of archives, for people.
import type { ArchiveStatus } from "../../api/backups";
import { ago, serverNow } from "../../format/format";

/** While documents are written an archive is behind the writer by so many ms, which is no news. */
const USUAL_MS = 10_000;

/** Up to when a restore reaches: `now` if all that was written is archived, else `12 s ago`. `now`: in ms. */
export function archivedUntil({ IsBehind, LastTime }: Pick<ArchiveStatus, "IsBehind" | "LastTime">, now = serverNow()): string {
  if (!IsBehind) return "now";
  return LastTime !== null && now - Date.parse(LastTime) < USUAL_MS ? "a few seconds ago" : ago(LastTime, now);
}

/** The state of an archive that was restored. */
export type RestoredTo = { transaction: number; time: string };

/** The same, by the lines that a restore notes; undefined if it was a backup that was restored. */
export function restoredTo(lines: readonly string[]): RestoredTo | undefined {
  for (const line of lines) {
    const found = / INFO\] The state is that of transaction (\d+), of (\S+)\.$/.exec(line);
    if (found) return { transaction: Number(found[1]), time: found[2]! };
  }
  return undefined;
}
