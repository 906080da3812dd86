// The configuration of a task while it is typed in.
import type { BackupConfiguration, BackupType } from "../../api/backups";
import { encryptedWith } from "../../api/encryption";
import { wholeNumber } from "../../format/number";

/** Without a `key`, backups are not encrypted. */
export type Draft = {
  name: string;
  folder: string;
  kind: BackupType;
  /** The journal is archived too; of snapshots alone. */
  isArchived: boolean;
  full: string;
  incremental: string;
  /** Days that backups are kept; an empty text: for ever. */
  days: string;
  /** Documents that are read in a second; an empty text: as fast as it goes. */
  readRate: string;
  key: string | undefined;
  excluded: readonly string[];
};

export const NEW_DRAFT: Draft = {
  name: "",
  folder: "",
  kind: "Backup",
  isArchived: false,
  full: "0 2 * * *",
  incremental: "0 * * * *",
  days: "14",
  readRate: "",
  key: undefined,
  excluded: [],
};

/** The kinds of destinations that the studio shows and keeps, by the property that has their settings. */
const OTHERS = { S3Settings: "Amazon S3", AzureSettings: "Azure", GoogleCloudSettings: "Google Cloud" } as const;

export function draftOf(of: BackupConfiguration): Draft {
  const encryption = of.BackupEncryptionSettings;
  return {
    name: of.Name ?? "",
    folder: isInForce(of.LocalSettings) ? (of.LocalSettings?.FolderPath ?? "") : "",
    kind: of.BackupType ?? "Backup",
    isArchived: isArchived(of),
    full: of.FullBackupFrequency ?? "",
    incremental: of.IncrementalBackupFrequency ?? "",
    days: daysOf(of.RetentionPolicy),
    readRate: of.MaxReadOpsPerSecond ? String(of.MaxReadOpsPerSecond) : "",
    key: encryption?.EncryptionMode === "UseProvidedKey" ? (encryption.Key ?? undefined) : undefined,
    excluded: of.ExcludedDatabases ?? [],
  };
}

/** What a configuration is once the draft is saved. Settings that the draft does not show stay, such as those of other destinations. */
export function configurationOf(draft: Draft, before: BackupConfiguration): BackupConfiguration {
  const folder = draft.folder.trim();
  const days = draft.days.trim();
  const isSameRetention = days === daysOf(before.RetentionPolicy);
  const retention = days === "" ? null : { Disabled: false, MinimumBackupAgeToKeep: `${days}.00:00:00` };
  const readRate = wholeNumber(draft.readRate);
  return {
    ...before,
    Name: draft.name.trim(),
    BackupType: draft.kind,
    PointInTime: (draft.kind === "Snapshot" && draft.isArchived) || undefined,
    FullBackupFrequency: draft.full.trim() || null,
    IncrementalBackupFrequency: draft.incremental.trim() || null,
    // An age of hours, which the field does not show, stays too.
    RetentionPolicy: isSameRetention ? (before.RetentionPolicy ?? null) : retention,
    MaxReadOpsPerSecond: typeof readRate === "number" ? readRate : null,
    BackupEncryptionSettings: encryptedWith(draft.key) ?? null,
    LocalSettings: folder === "" ? null : { ...before.LocalSettings, FolderPath: folder, Disabled: false },
  };
}

/** Each second can be restored. */
export function isArchived({ BackupType, PointInTime }: BackupConfiguration): boolean {
  return BackupType === "Snapshot" && PointInTime === true;
}

/** Destinations of a configuration that are no folder. */
export function otherDestinations(of: BackupConfiguration): string[] {
  const settings = Object.entries(OTHERS).filter(([property]) =>
    isInForce(of[property] as { Disabled?: boolean } | null | undefined),
  );
  return settings.map(([, name]) => name);
}

function isInForce(settings: { Disabled?: boolean } | null | undefined): boolean {
  return settings != null && settings.Disabled !== true && Object.keys(settings).length > 0;
}

/** Whole days of a time span, `14.00:00:00`; an empty text if backups are kept for ever, or their age is no number of days. */
function daysOf(policy: BackupConfiguration["RetentionPolicy"]): string {
  if (!policy || policy.Disabled === true) return "";
  return /^(\d+)(?:\.00:00:00(?:\.0+)?)?$/.exec(policy.MinimumBackupAgeToKeep ?? "")?.[1] ?? "";
}

/** How long backups are kept, for people. */
export function retentionText(policy: BackupConfiguration["RetentionPolicy"]): string {
  const age = policy && policy.Disabled !== true ? policy.MinimumBackupAgeToKeep : undefined;
  if (!age) return "for ever";
  const days = daysOf(policy);
  return days === "" ? age : days === "1" ? "1 day" : `${days} days`;
}
