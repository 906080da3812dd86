//! The names of settings, RavenDB's and ours, and what each of them means here.
//!
//! RavenDB's are listed one by one, so that a misspelt one is told from one that is known. Only of features that are
//! not there at all the whole section is named: under it nothing can mean anything.

use server::{LimitSetting, Limits, QuerySwitch};

use crate::similar::similar;

/// What a name means.
#[derive(Debug)]
pub(super) enum Name {
    ServerUrl,
    PublicServerUrl,
    ServerUrlTcp,
    PublicServerUrlTcp,
    DataDir,
    RunInMemory,
    UnsecuredAccess,
    AllowedHosts,
    AllowedOrigins,
    CertificatePfx,
    CertificatePassword,
    CertificatePem,
    CertificateKey,
    Operators,
    AuditFolder,
    AuditRetention,
    BackupRoot,
    BackupDestinations,
    McpWrites,
    SetupMode,
    ParentProcess,
    LogLevel,
    LogMode,
    LogFormat,
    LogAccess,
    TracesEndpoint,
    TracesRatio,
    TracesService,
    ResponseCompression,
    Limit(LimitSetting),
    Query(QuerySwitch),
    /// Protection that is not there, or a name of `Security` that nobody knows: the server must not start.
    Protection,
    /// RavenDB does something about it that is not done here: worth a warning.
    NotDone,
    /// RavenDB has it; here it changes nothing.
    NoMeaning,
}

impl Name {
    /// Whether its values may be passwords, which no output repeats.
    pub(super) fn is_secret(&self) -> bool {
        matches!(self, Name::CertificatePassword | Name::Protection)
    }

    /// What `name` means; `None` if it means nothing to RavenDB either.
    pub(super) fn find(name: &str) -> Option<Name> {
        let plain = plain(name);
        let is = |known: &str| self::plain(known) == plain;
        if let Some((_, meaning)) = NAMES.into_iter().find(|(known, _)| is(known)) {
            return Some(meaning);
        }
        let limit =
            LIMITS_OF_RAVENDB.iter().find(|(known, _)| is(known)).map_or(plain.clone(), |(_, ours)| self::plain(ours));
        if let Some(limit) = Limits::SETTINGS.into_iter().find(|setting| self::plain(setting.name) == limit) {
            return Some(Name::Limit(limit));
        }
        if let Some(switch) = QuerySwitch::ALL.into_iter().find(|switch| self::plain(switch.name) == plain) {
            return Some(Name::Query(switch));
        }
        let is_in = |sections: &[(&str, &str)]| {
            sections.iter().any(|(section, keys)| {
                let rest = plain.strip_prefix(&self::plain(section));
                rest.is_some_and(|rest| keys.split_ascii_whitespace().any(|key| self::plain(key) == rest))
            })
        };
        if is_in(&NOT_DONE) {
            return Some(Name::NotDone);
        }
        if is_in(&WITHOUT_MEANING) || ABSENT.iter().any(|section| is_below(name, section)) {
            return Some(Name::NoMeaning);
        }
        plain.starts_with("security").then_some(Name::Protection)
    }
}

/// What is called `name` here, if it means something.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    let plain = plain(name);
    let is = |known: &str| self::plain(known) == plain;
    let ours = LIMITS_OF_RAVENDB.into_iter().find(|(known, _)| is(known)).map(|(_, ours)| ours);
    let limit = || Limits::SETTINGS.iter().map(|limit| limit.name).find(|known| is(known));
    let switch = || QuerySwitch::ALL.iter().map(|switch| switch.name).find(|known| is(known));
    let named = || NAMES.iter().map(|(known, _)| *known).find(|known| is(known));
    // The names by which docs/settings.md calls what has two.
    let same = |known| match known {
        "Logs.MinLevel" => "Log.Level",
        "Embedded.ParentProcessId" => "Testing.ParentProcessId",
        "Security.AuditLog.RetentionTimeInHrs" => "Security.AuditLog.RetentionTimeInHours",
        known => known,
    };
    ours.or_else(limit).or_else(switch).or_else(named).map(same)
}

/// The settings that mean something here and are no limits, each once, as docs/settings.md calls them.
#[cfg(test)]
pub(super) fn meaningful() -> Vec<&'static str> {
    let mut names: Vec<_> = NAMES.iter().filter_map(|(name, _)| canonical(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The name of a setting, RavenDB's or ours, that resembles an unknown one.
pub(super) fn similar_setting(name: &str) -> Option<String> {
    let listed = NOT_DONE.iter().chain(&WITHOUT_MEANING).flat_map(|(section, keys)| {
        keys.split_ascii_whitespace().map(move |key| match *section {
            "" => key.to_owned(),
            section => format!("{section}.{key}"),
        })
    });
    let named = NAMES.iter().map(|(known, _)| (*known).to_owned());
    let limits = Limits::SETTINGS.iter().map(|limit| limit.name.to_owned());
    let known: Vec<String> = named.chain(limits).chain(listed).collect();
    similar(name, known.iter().map(String::as_str)).map(str::to_owned)
}

/// A hint behind the report of an unknown setting: `; did you mean ..?`, or nothing.
///
/// * `source`: where it was given. Variables of the environment may stand for flags of ours.
pub(super) fn did_you_mean(name: &str, source: &str) -> String {
    let flags = || OWN_FLAGS.iter().map(|(flag, _)| *flag);
    let flag = source.starts_with("the variable ROOKERY_").then(|| similar(&name.replace('.', "-"), flags())).flatten();
    let known = match flag {
        Some(flag) => Some(format!("ROOKERY_{}", flag.to_uppercase().replace('-', "_"))),
        None => similar_setting(name),
    };
    known.map_or_else(String::new, |known| format!("; did you mean {known}?"))
}

/// A name without what is written differently in different places: `Server.Url`, `SERVER_URL`, `ServerUrl`.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a name is `section.something`.
fn is_below(name: &str, section: &str) -> bool {
    name.split_once('.').is_some_and(|(first, _)| first.eq_ignore_ascii_case(section))
}

/// Our flags: the environment has them too, as `ROOKERY_LOG_LEVEL`.
pub(super) const OWN_FLAGS: [(&str, &str); 5] = [
    ("url", "ServerUrl"),
    ("data", "DataDir"),
    ("in-memory", "RunInMemory"),
    ("log-level", "Log.Level"),
    ("log-format", "Log.Format"),
];

const NAMES: [(&str, Name); 32] = [
    ("ServerUrl", Name::ServerUrl),
    ("PublicServerUrl", Name::PublicServerUrl),
    ("ServerUrl.Tcp", Name::ServerUrlTcp),
    ("PublicServerUrl.Tcp", Name::PublicServerUrlTcp),
    ("DataDir", Name::DataDir),
    ("RunInMemory", Name::RunInMemory),
    ("Security.UnsecuredAccessAllowed", Name::UnsecuredAccess),
    ("Security.AllowedHosts", Name::AllowedHosts),
    ("Security.AllowedOrigins", Name::AllowedOrigins),
    ("Security.Certificate.Path", Name::CertificatePfx),
    ("Security.Certificate.Password", Name::CertificatePassword),
    ("Security.Certificate.PemPath", Name::CertificatePem),
    ("Security.Certificate.KeyPath", Name::CertificateKey),
    ("Security.WellKnownCertificates.Admin", Name::Operators),
    ("Security.AuditLog.FolderPath", Name::AuditFolder),
    ("Security.AuditLog.RetentionTimeInHours", Name::AuditRetention),
    ("Security.AuditLog.RetentionTimeInHrs", Name::AuditRetention),
    ("Backup.LocalRootPath", Name::BackupRoot),
    ("Backup.AllowedDestinations", Name::BackupDestinations),
    ("Mcp.WritesAllowed", Name::McpWrites),
    ("Setup.Mode", Name::SetupMode),
    ("Testing.ParentProcessId", Name::ParentProcess),
    ("Embedded.ParentProcessId", Name::ParentProcess),
    ("Logs.MinLevel", Name::LogLevel),
    ("Log.Level", Name::LogLevel),
    ("Logs.Mode", Name::LogMode),
    ("Log.Format", Name::LogFormat),
    ("Log.Access", Name::LogAccess),
    ("Traces.Endpoint", Name::TracesEndpoint),
    ("Traces.Ratio", Name::TracesRatio),
    ("Traces.ServiceName", Name::TracesService),
    ("Http.UseResponseCompression", Name::ResponseCompression),
];

/// RavenDB's names of limits that are ours too, in the same unit.
const LIMITS_OF_RAVENDB: [(&str, &str); 3] = [
    ("Http.MaxRequestLineSizeInKb", "Limits.RequestLineInKb"),
    ("Http.MinDataRateBytesPerSec", "Limits.BodyRateInBytesPerSec"),
    ("Databases.QueryTimeoutInSec", "Limits.QueryRunTimeInSec"),
];

/// Who sets these waits for something to happen that does not.
const NOT_DONE: [(&str, &str); 6] = [
    ("DataDir", "EnforcePath"),
    ("Databases", "CollectionOperationTimeoutInSec OperationTimeoutInSec QueryOperationTimeoutInSec"),
    ("Http", "MinDataRateGracePeriodInSec Protocols"),
    ("Logs", "Path"),
    (
        "Security.AuditLog",
        "ArchiveAboveSizeInMb Compress EnableArchiveFileCompression MaxArchiveDays MaxArchiveFiles RetentionSizeInMb",
    ),
    (
        "Storage",
        "OnCreateDirectory.Exec OnCreateDirectory.Exec.Arguments OnCreateDirectory.Exec.TimeoutInSec \
         OnDirectoryInitialize.Exec OnDirectoryInitialize.Exec.Arguments OnDirectoryInitialize.Exec.TimeoutInSec \
         TempPath",
    ),
];

/// What these tune or switch does not exist here, or is as it is.
const WITHOUT_MEANING: [(&str, &str); 19] = [
    ("", "AcmeUrl ExternalIp License ThrowIfAnyIndexCannotBeOpened"),
    (
        "Cluster",
        "CompareExchangeExpiredDeleteFrequencyInSec CompareExchangeTombstonesCleanupIntervalInMin \
         DisableAtomicDocumentWrites ElectionTimeoutInMs HardDeleteOnReplacement LogHistoryMaxEntries \
         MaxChangeVectorDistance MaximalAllowedClusterVersion OnErrorDelayTimeInMs OperationTimeoutInSec \
         ReceiveFromWorkerTimeoutInMs StatsStabilizationTimeInSec SupervisorSamplePeriodInMs \
         TcpReceiveBufferSizeInBytes TcpSendBufferSizeInBytes TcpTimeoutInMs TimeBeforeAddingReplicaInSec \
         TimeBeforeMovingToRehabInSec TimeBeforeRotatingPreferredNodeInSec WorkerSamplePeriodInMs",
    ),
    (
        "Databases",
        "ConcurrentLoadTimeoutInSec FrequencyToCheckForIdleInSec MaxConcurrentLoads MaxIdleTimeInSec \
         PulseReadTransactionLimitInMb",
    ),
    ("Features", "Availability"),
    (
        "Http",
        "AllowResponseCompressionOverHttps DeflateResponseCompressionLevel GzipResponseCompressionLevel \
         MaxRequestBufferSizeInKb StaticFilesResponseCompressionLevel UseLibuv ZstdResponseCompressionLevel",
    ),
    (
        "License",
        "CanActivate CanForceUpdate CanRenew CanRenewLicense DisableAutoUpdate DisableAutoUpdateFromApi \
         DisableLicenseSupportCheck Eula.Accepted Path SkipLeasingErrorsLogging ThrowOnInvalidOrMissingLicense",
    ),
    (
        "Logs",
        "ArchiveAboveSizeInMb Compress ConfigPath EnableArchiveFileCompression MaxArchiveDays MaxArchiveFiles \
         MaxFileSizeInMb RetentionSizeInMb RetentionTimeInHrs UseUtcTime",
    ),
    (
        "Memory",
        "EnableHighTemporaryDirtyMemoryUse LowMemoryCommitLimitInMb LowMemoryLimitInMb MaxContextSizeToKeepInMb \
         MaxFreeCommittedMemoryToKeepInMb MinimumFreeCommittedMemoryPercentage TemporaryDirtyMemoryAllowedPercentage \
         TemporaryDirtyMemoryChecksPeriodInSec UseTotalDirtyMemInsteadOfMemUsage",
    ),
    (
        "PerformanceHints",
        "Documents.HugeDocumentSizeInMb Documents.HugeDocumentsCollectionSize Indexing.MaxIndexOutputsPerDocument \
         MaxNumberOfResults Memory.MinSwapSizeInMb TooLongRequestThresholdInSec",
    ),
    ("PublicServerUrl", "Cluster"),
    ("Query", "MaxClauseCount RegexTimeoutInMs"),
    // These ask for less protection, not for more.
    ("Security", "DisableHsts DisableHttpsRedirection DoNotConsiderMemoryLockFailureAsCatastrophicError"),
    (
        "Server",
        "CpuCredits.Base CpuCredits.Exec CpuCredits.Exec.Arguments CpuCredits.Exec.SyncIntervalInMin \
         CpuCredits.Exec.TimeoutInSec CpuCredits.ExhaustionBackgroundTasksThreshold \
         CpuCredits.ExhaustionBackupDelayInMin CpuCredits.ExhaustionFailoverThreshold CpuCredits.Max \
         IndexingAffinityMask MaxTimeForTaskToWaitForDatabaseToLoadInSec Name NumberOfUnusedCoresByIndexes \
         ProcessAffinityMask ThreadPool.MaxThreads ThreadPool.MinThreads",
    ),
    ("ServerUrl", "Cluster"),
    (
        "Storage",
        "CompressTxAboveSizeInKb Dangerous.IgnoreInvalidJournalErrors \
         Dangerous.SkipChecksumValidationOnDatabaseLoading EnablePrefetching ForceUsing32BitsPager \
         FreeSpaceAlertThresholdInMb FreeSpaceAlertThresholdInPercentages \
         IgnoreDataIntegrityErrorsOfAlreadySyncedTransactions IO.Metrics.Enabled IoMetricsCleanupIntervalInHrs \
         MaxConcurrentFlushes MaxScratchBufferSizeInMb NumberOfConcurrentSyncsPerPhysicalDrive \
         PrefetchBatchSizeInKb PrefetchResetThresholdInGb SyncJournalsCountThreshold TimeToSyncAfterFlashInSec \
         TimeToSyncAfterFlushInSec TransactionsModeDurationInMin",
    ),
    ("Studio", "Notifications.FilterOut Path"),
    ("Tombstones", "CleanupIntervalInMin CleanupIntervalWithReplicationHubInHrs RetentionTimeWithReplicationHubInDays"),
    ("TransactionMerger", "MaxTimeToWaitForPreviousTxBeforeRejectingInMs MaxTimeToWaitForPreviousTxInMs MaxTxSizeInMb"),
    ("Updates", "BackwardCompatibility Channel"),
];

/// Features that are not there.
const ABSENT: [&str; 15] = [
    "AI",
    "Backup",
    "CdcSink",
    "ETL",
    "ExportImport",
    "Indexing",
    "Integrations",
    "Migration",
    "Monitoring",
    "Patching",
    "QueueSink",
    "Replication",
    "Sharding",
    "Subscriptions",
    "TrafficWatch",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(Name::find(name).map_or("unknown".to_owned(), |name| format!("{name:?}")), expected, "{name}");
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        check("serverurl", "ServerUrl");
        check("SERVER.URL", "ServerUrl");
        check("License.Eula.Accepted", "NoMeaning");
        check("LICENSE.EULA.ACCEPTED", "NoMeaning");
        check("Indexing.Whatever", "NoMeaning");
        check("Indexing", "unknown");
        check("Storage.Foo", "unknown");
        check("Query.Foo", "unknown");
        check("QueryX", "unknown");
    }

    #[test]
    fn nothing_of_security_goes_unnoticed() {
        check("Security.UnsecuredAccessAllowed", "UnsecuredAccess");
        check("Security.DisableHsts", "NoMeaning");
        check("Security.AuditLog.FolderPath", "AuditFolder");
        check("Security.AuditLog.Compress", "NotDone");
        for name in ["Certificate.Exec", "Certificate.Paht", "UnsecuredAccess", "AuditLog.Folder", "X"] {
            check(&format!("Security.{name}"), "Protection");
        }
        check("SECURITY.CERTIFICATE.PATH", "CertificatePfx");
        check("SECURITY_CERTIFICATE_PASSWORD", "CertificatePassword");
    }

    #[test]
    fn limits_of_ravendb_that_are_ours_too_set_ours() {
        for (theirs, ours) in LIMITS_OF_RAVENDB {
            assert!(matches!(Name::find(theirs), Some(Name::Limit(limit)) if limit.name == ours), "{theirs}");
        }
    }
}
