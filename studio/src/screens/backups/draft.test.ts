import { expect, test } from "vitest";
import { configurationOf, draftOf, isArchived, NEW_DRAFT, otherDestinations, retentionText } from "./draft";

test("a configuration that is not changed stays", () => {
  const before = {
    Name: "nightly",
    TaskId: 9,
    Disabled: true,
    BackupType: "Snapshot" as const,
    PointInTime: true,
    SnapshotSettings: { ExcludeIndexes: true },
    FullBackupFrequency: "0 2 * * *",
    IncrementalBackupFrequency: null,
    RetentionPolicy: { Disabled: false, MinimumBackupAgeToKeep: "7.00:00:00" },
    BackupEncryptionSettings: { EncryptionMode: "UseProvidedKey", Key: "abc" },
    MaxReadOpsPerSecond: 500,
    LocalSettings: { FolderPath: "/backups", Disabled: false },
    S3Settings: { BucketName: "b" },
  };
  const draft = draftOf(before);
  expect(draft).toEqual({
    name: "nightly",
    folder: "/backups",
    kind: "Snapshot",
    isArchived: true,
    full: "0 2 * * *",
    incremental: "",
    days: "7",
    readRate: "500",
    key: "abc",
    excluded: [],
  });
  expect(configurationOf(draft, before)).toEqual(before);
  expect(otherDestinations(before)).toEqual(["Amazon S3"]);
});

test("fields that are empty are left out of the configuration", () => {
  const made = configurationOf({ ...NEW_DRAFT, name: " a ", folder: " f ", incremental: " ", days: "" }, {});
  expect(made).toMatchObject({ Name: "a", IncrementalBackupFrequency: null, RetentionPolicy: null, MaxReadOpsPerSecond: null });
  expect(made.LocalSettings).toEqual({ FolderPath: "f", Disabled: false });
  expect(made.BackupEncryptionSettings).toBeNull();
});

test("only snapshots are archived", () => {
  const draft = { ...NEW_DRAFT, name: "a", folder: "f", isArchived: true };
  const check = (kind: "Backup" | "Snapshot") => configurationOf({ ...draft, kind }, { PointInTime: true });
  expect([check("Snapshot").PointInTime, check("Backup").PointInTime]).toEqual([true, undefined]);
  expect(check("Backup").BackupType).toBe("Backup");
  expect(isArchived({ BackupType: "Backup", PointInTime: true })).toBe(false);
  // As RavenDB's clients send a task that says nothing of it.
  expect(draftOf({ BackupType: null, PointInTime: null })).toMatchObject({ kind: "Backup", isArchived: false });
});

test("an age of hours stays, and is told", () => {
  const before = { RetentionPolicy: { MinimumBackupAgeToKeep: "1.12:00:00" } };
  expect(draftOf(before).days).toBe("");
  expect(configurationOf(draftOf(before), before).RetentionPolicy).toEqual(before.RetentionPolicy);
  expect(retentionText(before.RetentionPolicy)).toBe("1.12:00:00");
  expect(retentionText({ MinimumBackupAgeToKeep: "1.00:00:00" })).toBe("1 day");
  expect(retentionText({ Disabled: true, MinimumBackupAgeToKeep: "1.00:00:00" })).toBe("for ever");
  expect(retentionText(null)).toBe("for ever");
});
