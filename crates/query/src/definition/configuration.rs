//! The settings that an index or a database may have, as RavenDB names them, and what they are here.
//!
//! RavenDB's are listed one by one, so that a misspelt one is told from one that is known, and a value that is none of its kind is refused.
//! Those that tune how RavenDB works inside (batches, merges, memory), or a feature that is refused itself, are taken. Those that would
//! change what is indexed or answered there, and change nothing here, are refused by name, unless they have RavenDB's default.

use json::Value;

/// Whose settings they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsOf {
    /// Of an index: the names as they are written; others are unknown.
    Index,
    /// Of a database: the names in any case; others are kept, as RavenDB keeps them.
    Database,
}

/// Why a setting is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingRefused {
    /// There is none of that name.
    Unknown,
    /// Its value is none: what it has to be.
    Malformed(&'static str),
    /// Only a server has it.
    OfServer,
    /// It would have an effect that is not there.
    NotSupported,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Switch,
    Whole,
    /// A whole number of some unit; -1: no bound.
    Time,
    Number,
    Text,
    OneOf(&'static [&'static str], &'static str),
}

use Kind::{Number, Switch, Text, Time, Whole};

const FORMULA: Kind = Kind::OneOf(&["TfIdf", "Bm25"], "TfIdf or Bm25");
const ENGINE: Kind = Kind::OneOf(&["Corax", "Lucene"], "Corax or Lucene");
const ARCHIVED: Kind = Kind::OneOf(
    &["ExcludeArchived", "IncludeArchived", "ArchivedOnly"],
    "ExcludeArchived, IncludeArchived or ArchivedOnly",
);
const DEPLOYMENT: Kind = Kind::OneOf(&["Parallel", "Rolling"], "Parallel or Rolling");
const START: Kind = Kind::OneOf(&["Default", "Immediate", "Pause", "Delay"], "Default, Immediate, Pause or Delay");
const START_OF_BROKEN: Kind = Kind::OneOf(&["Default", "Start", "ResetAndStart"], "Default, Start or ResetAndStart");
const RESET: Kind = Kind::OneOf(&["InPlace", "SideBySide"], "InPlace or SideBySide");
const COMPLEX: Kind = Kind::OneOf(&["None", "Throw", "Skip"], "None, Throw or Skip");
const LEVEL: Kind = Kind::OneOf(
    &["Optimal", "Fastest", "NoCompression", "SmallestSize"],
    "Optimal, Fastest, NoCompression or SmallestSize",
);
const ALGORITHM: Kind = Kind::OneOf(&["Zstd", "Gzip"], "Zstd or Gzip");
const SNAPSHOT_ALGORITHM: Kind = Kind::OneOf(&["Zstd", "Deflate"], "Zstd or Deflate");
const INPUT: Kind = Kind::OneOf(&["Standard", "Buffered"], "Standard or Buffered");

/// Settings that are heeded, that tune what is done otherwise here, or that belong to a feature which is refused itself.
const TAKEN: [(&str, Kind); 116] = [
    ("Indexing.IndexMissingFieldsAsNull", Switch),
    ("Indexing.IndexEmptyEntries", Switch),
    ("Indexing.Static.SearchEngineType", ENGINE),
    ("Indexing.Auto.SearchEngineType", ENGINE),
    ("Indexing.Metrics.Enabled", Switch),
    ("Indexing.MaxTimeForDocumentTransactionToRemainOpenInSec", Time),
    ("Indexing.MinNumberOfMapAttemptsAfterWhichBatchWillBeCanceledIfRunningLowOnMemory", Whole),
    ("Indexing.NumberOfConcurrentStoppedBatchesIfRunningLowOnMemory", Whole),
    ("Indexing.MapBatchSize", Whole),
    ("Indexing.MapTimeoutInSec", Time),
    ("Indexing.MapTimeoutAfterEtagReachedInMin", Time),
    ("Indexing.QueryClauseCache.Disabled", Switch),
    ("Indexing.QueryClauseCache.RepeatedQueriesTimeFrameInSec", Time),
    ("Indexing.ManagedAllocationsBatchSizeLimitInMb", Whole),
    ("Indexing.Corax.UnmanagedAllocationsBatchSizeLimitInMb", Whole),
    ("Indexing.Lucene.MaximumSizePerSegmentInMb", Whole),
    ("Indexing.MaximumSizePerSegmentInMb", Whole),
    ("Indexing.Lucene.MergeFactor", Whole),
    ("Indexing.MergeFactor", Whole),
    ("Indexing.Lucene.LargeSegmentSizeToMergeInMb", Whole),
    ("Indexing.LargeSegmentSizeToMergeInMb", Whole),
    ("Indexing.Lucene.NumberOfLargeSegmentsToMergeInSingleBatch", Whole),
    ("Indexing.NumberOfLargeSegmentsToMergeInSingleBatch", Whole),
    ("Indexing.Lucene.MaxTimeForMergesToKeepRunningInSec", Time),
    ("Indexing.MaxTimeForMergesToKeepRunningInSec", Time),
    ("Indexing.Lucene.UseCompoundFileInMerging", Switch),
    ("Indexing.UseCompoundFileInMerging", Switch),
    ("Indexing.Lucene.IndexInputType", INPUT),
    ("Indexing.Lucene.ReaderTermsIndexDivisor", Whole),
    ("Indexing.TransactionSizeLimitInMb", Whole),
    ("Indexing.Encrypted.TransactionSizeLimitInMb", Whole),
    ("Indexing.ScratchSpaceLimitInMb", Whole),
    ("Indexing.Throttling.TimeIntervalInMs", Time),
    ("Indexing.SkipDatabaseIdValidationOnIndexOpening", Switch),
    ("Indexing.TimeBeforeDeletionOfSupersededAutoIndexInSec", Time),
    ("Indexing.TimeSinceLastQueryAfterWhichDeepCleanupCanBeExecutedInMin", Time),
    ("Indexing.MaxTimeToWaitAfterFlushAndSyncWhenReplacingSideBySideIndexInSec", Time),
    ("Indexing.MinimumTotalSizeOfJournalsToRunFlushAndSyncWhenReplacingSideBySideIndexInMb", Whole),
    ("Indexing.ElapsedSinceQueriedPersistIntervalInMin", Time),
    ("Indexing.Corax.DocumentsLimitForCompressionDictionaryCreation", Whole),
    ("Indexing.Corax.MaxMemoizationSizeInMb", Whole),
    ("Indexing.Corax.MaxAllocationsAtDictionaryTrainingInMb", Whole),
    ("Indexing.Corax.VectorSearch.MaximumConcurrentBatchesForHnswAcceleration", Whole),
    ("Query.RegexTimeoutInMs", Time),
    ("Databases.MaxIdleTimeInSec", Time),
    ("Databases.PulseReadTransactionLimitInMb", Whole),
    ("Databases.DeepCleanupThresholdInMin", Time),
    ("Databases.RegularCleanupThresholdInMin", Time),
    ("Security.DoNotConsiderMemoryLockFailureAsCatastrophicError", Switch),
    ("ETL.SQL.CommandTimeoutInSec", Time),
    ("ETL.ExtractAndTransformTimeoutInSec", Time),
    ("ETL.MaxNumberOfExtractedDocuments", Whole),
    ("ETL.MaxNumberOfExtractedItems", Whole),
    ("ETL.MaxFallbackTimeInSec", Time),
    ("ETL.MaxBatchSizeInMb", Whole),
    ("ETL.OLAP.MaxNumberOfExtractedDocuments", Whole),
    ("ETL.Queue.Kafka.InitTransactionsTimeoutInSec", Time),
    ("ETL.Queue.AzureQueueStorage.TimeToLiveInSec", Time),
    ("ETL.Queue.AzureQueueStorage.VisibilityTimeoutInSec", Time),
    ("Ai.Embeddings.MaxBatchSize", Whole),
    ("Ai.Embeddings.MaxFallbackTimeInSec", Time),
    ("Ai.Embeddings.MaxConcurrentBatches", Whole),
    ("Ai.Agent.Trimming.Summarization.SummarizationTaskBeginningPrompt", Text),
    ("Ai.Agent.Trimming.Summarization.SummarizationTaskEndPrompt", Text),
    ("Ai.Agent.Trimming.Summarization.SummarizationResultPrefix", Text),
    ("Ai.Agent.Tools.TokenUsageThreshold", Whole),
    ("QueueSink.MaxBatchSize", Whole),
    ("QueueSink.MaxFallbackTimeInSec", Time),
    ("Replication.ActiveConnectionTimeoutInSec", Time),
    ("Replication.ReplicationMinimalHeartbeatInSec", Time),
    ("Replication.RetryReplicateAfterInSec", Time),
    ("Replication.RetryMaxTimeoutInSec", Time),
    ("Replication.MaxItemsCount", Whole),
    ("Replication.MaxSizeToSendInMb", Whole),
    ("Replication.NumberOfEnumeratedDocumentsToCheckIfPulseLimitExceeded", Whole),
    ("Replication.MaxNumberOfAttachmentsTrackedForDeduplication", Whole),
    ("Cluster.MaxClusterTransactionBatchSize", Whole),
    ("Storage.DiscardVirtualMemory", Switch),
    ("Storage.MaxConcurrentFlushes", Whole),
    ("Storage.TimeToSyncAfterFlushInSec", Time),
    ("Storage.TimeToSyncAfterFlashInSec", Time),
    ("Storage.CompressTxAboveSizeInKb", Whole),
    ("Storage.MaxScratchBufferSizeInMb", Whole),
    ("Storage.PrefetchBatchSizeInKb", Whole),
    ("Storage.PrefetchResetThresholdInGb", Whole),
    ("Storage.FreeSpaceAlertThresholdInPercentages", Whole),
    ("Storage.FreeSpaceAlertThresholdInMb", Whole),
    ("Storage.SyncJournalsCountThreshold", Whole),
    ("Storage.IoMetricsCleanupIntervalInHrs", Time),
    ("Storage.MaxNumberOfRecyclableJournals", Whole),
    ("Backup.TempPath", Text),
    ("Backup.MaxReadOpsPerSecond", Whole),
    ("Backup.CloudStorageOperationTimeoutInMin", Time),
    ("Backup.Compression.Algorithm", ALGORITHM),
    ("Backup.Compression.Level", LEVEL),
    ("Backup.Snapshot.Compression.Algorithm", SNAPSHOT_ALGORITHM),
    ("Backup.Snapshot.Compression.Level", LEVEL),
    ("PerformanceHints.Documents.HugeDocumentSizeInMb", Whole),
    ("PerformanceHints.Documents.HugeDocumentsCollectionSize", Whole),
    ("PerformanceHints.Indexing.MaxIndexOutputsPerDocument", Whole),
    ("PerformanceHints.MaxNumberOfResults", Whole),
    ("PerformanceHints.TooLongRequestThresholdInSec", Time),
    ("PerformanceHints.Indexing.MaxNumberOfLoadsPerReference", Whole),
    ("PerformanceHints.Indexing.AlertWhenSourceDocumentIncludedInOutput", Switch),
    ("PerformanceHints.Indexing.MaxDepthOfRecursionInLinqSelect", Whole),
    ("Tombstones.CleanupIntervalInMin", Time),
    ("Tombstones.RetentionTimeWithReplicationHubInHrs", Time),
    ("Tombstones.CleanupIntervalWithReplicationHubInMin", Time),
    ("Subscriptions.MaxNumberOfConcurrentConnections", Whole),
    ("Subscriptions.ArchivedDataProcessingBehavior", ARCHIVED),
    ("TransactionMerger.MaxTimeToWaitForPreviousTxInMs", Time),
    ("TransactionMerger.MaxTimeToWaitForPreviousTxBeforeRejectingInMs", Time),
    ("TransactionMerger.MaxTxSizeInMb", Whole),
    ("Export.Compression.Algorithm", ALGORITHM),
    ("Export.Compression.Level", LEVEL),
    ("Sharding.Import.CompressionLevel", LEVEL),
];

/// Settings that change nothing here, each with RavenDB's default, which may be said: it asks for nothing.
const LACKING: [(&str, Kind, &str); 51] = [
    ("Indexing.RunInMemory", Switch, "false"),
    ("Indexing.Disable", Switch, "false"),
    ("Indexing.Static.DeploymentMode", DEPLOYMENT, "Parallel"),
    ("Indexing.Auto.DeploymentMode", DEPLOYMENT, "Parallel"),
    ("Indexing.Auto.ArchivedDataProcessingBehavior", ARCHIVED, "ExcludeArchived"),
    ("Indexing.Static.ArchivedDataProcessingBehavior", ARCHIVED, "ExcludeArchived"),
    ("Indexing.TempPath", Text, ""),
    ("Indexing.TimeToWaitBeforeMarkingAutoIndexAsIdleInMin", Time, "30"),
    ("Indexing.TimeToWaitBeforeDeletingAutoIndexMarkedAsIdleInHrs", Time, "72"),
    ("Indexing.DisableQueryOptimizerGeneratedIndexes", Switch, "false"),
    ("Indexing.MaxStepsForScript", Whole, "10000"),
    ("Indexing.AllowStringCompilation", Switch, "false"),
    ("Indexing.Lucene.Analyzers.NGram.MinGram", Whole, "2"),
    ("Indexing.Analyzers.NGram.MinGram", Whole, "2"),
    ("Indexing.Lucene.Analyzers.NGram.MaxGram", Whole, "6"),
    ("Indexing.Analyzers.NGram.MaxGram", Whole, "6"),
    ("Indexing.ErrorIndexStartupBehavior", START_OF_BROKEN, "Default"),
    ("Indexing.IndexStartupBehavior", START, "Default"),
    ("Indexing.History.NumberOfRevisions", Whole, "10"),
    ("Indexing.Analyzers.Default", Text, "LowerCaseKeywordAnalyzer"),
    ("Indexing.Analyzers.Exact.Default", Text, "KeywordAnalyzer"),
    ("Indexing.Analyzers.Search.Default", Text, "RavenStandardAnalyzer"),
    ("Indexing.Static.RequireAdminToDeployJavaScriptIndexes", Switch, "false"),
    ("Indexing.OrderByScoreAutomaticallyWhenBoostingIsInvolved", Switch, "true"),
    ("Indexing.OrderByTicksAutomaticallyWhenDatesAreInvolved", Switch, "true"),
    ("Indexing.ResetMode", RESET, "InPlace"),
    ("Indexing.Corax.IncludeDocumentScore", Switch, "false"),
    ("Indexing.Corax.IncludeSpatialDistance", Switch, "false"),
    ("Indexing.Corax.Static.ComplexFieldIndexingBehavior", COMPLEX, "Throw"),
    ("Indexing.Corax.VectorSearch.DefaultMinimumSimilarity", Number, "0"),
    ("Indexing.Corax.VectorSearch.DefaultNumberOfEdges", Whole, "12"),
    ("Indexing.Corax.VectorSearch.DefaultNumberOfCandidatesForIndexing", Whole, "16"),
    ("Indexing.Corax.VectorSearch.DefaultNumberOfCandidatesForQuerying", Whole, "16"),
    ("Indexing.Corax.VectorSearch.OrderByScoreAutomatically", Switch, "true"),
    ("Indexing.Querying.UseSearchAnalyzerForDynamicFieldsIfNotSetExplicitlyInSearchQuery", Switch, "false"),
    ("Patching.MaxStepsForScript", Whole, "10000"),
    ("Patching.AllowStringCompilation", Switch, "false"),
    ("Patching.StrictMode", Switch, "true"),
    ("Databases.QueryTimeoutInSec", Time, "300"),
    ("ThrowIfAnyIndexCannotBeOpened", Switch, "false"),
    ("Cluster.DisableAtomicDocumentWrites", Switch, "false"),
    ("Storage.TempPath", Text, ""),
    ("Storage.OnDirectoryInitialize.Exec", Text, ""),
    ("Storage.OnCreateDirectory.Exec", Text, ""),
    ("Storage.OnDirectoryInitialize.Exec.Arguments", Text, ""),
    ("Storage.OnCreateDirectory.Exec.Arguments", Text, ""),
    ("Storage.OnDirectoryInitialize.Exec.TimeoutInSec", Time, "30"),
    ("Storage.OnCreateDirectory.Exec.TimeoutInSec", Time, "30"),
    ("Databases.QueryOperationTimeoutInSec", Time, "300"),
    ("Databases.OperationTimeoutInSec", Time, "300"),
    ("Databases.CollectionOperationTimeoutInSec", Time, "300"),
];

/// `TfIdf`, as the reference scores words and the default, or `Bm25`.
pub(super) const SCORING: &str = "Indexing.FullText.Scoring";
/// [`super::Bm25::k1`].
pub(super) const BM25_K1: &str = "Indexing.FullText.Bm25.K1";
/// [`super::Bm25::b`].
pub(super) const BM25_B: &str = "Indexing.FullText.Bm25.B";

/// Settings that indexes heed and databases cannot have for them: RavenDB knows none of them.
const OF_INDEX: [(&str, Kind); 3] = [(SCORING, FORMULA), (BM25_K1, Number), (BM25_B, Number)];

/// Settings that databases heed and indexes do not have.
const OF_DATABASE: [(&str, Kind); 3] = [
    ("Indexing.DisableQueryOptimizerGeneratedIndexes", Switch),
    ("Indexing.Auto.NeverWiden", Switch),
    ("Query.FreshReads", Switch),
];

/// Settings of servers below `Indexing`.
const OF_SERVER: [&str; 16] = [
    "Indexing.QueryClauseCache.SizeInMb",
    "Indexing.QueryClauseCache.ExpirationScanFrequencyInSec",
    "Indexing.QueryClauseCache.RepeatedQueriesCount",
    "Indexing.CleanupIntervalInMin",
    "Indexing.GlobalScratchSpaceLimitInMb",
    "Indexing.MaxTimeToWaitAfterFlushAndSyncWhenExceedingScratchSpaceLimitInSec",
    "Indexing.MaxTimeToWaitAfterFlushAndSyncWhenExceedingScratchSpaceLimit",
    "Indexing.MaxNumberOfConcurrentlyRunningIndexes",
    "Indexing.NuGetPackagesPath",
    "Indexing.NuGet.PackagesPath",
    "Indexing.NuGetPackageSourceUrl",
    "Indexing.NuGet.PackageSourceUrl",
    "Indexing.NuGetAllowPreReleasePackages",
    "Indexing.NuGet.AllowPreReleasePackages",
    "Indexing.NuGet.AllowPreleasePackages",
    "Indexing.Corax.VectorSearch.MaxNumberOfThreadsForLocalEmbeddingsGeneration",
];

/// Sections, and settings without one, that only servers have.
const SECTIONS_OF_SERVER: [&str; 21] = [
    "ServerUrl",
    "PublicServerUrl",
    "ExternalIp",
    "Debug",
    "Embedded",
    "Features",
    "Http",
    "Limits",
    "Log",
    "Logs",
    "Mcp",
    "Memory",
    "Monitoring",
    "Security",
    "Server",
    "Setup",
    "Studio",
    "Testing",
    "TrafficWatch",
    "Updates",
    "Migration",
];

/// The text of a setting's value: switches and numbers of JSON are taken for theirs.
pub(super) fn setting_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) | Value::Number(text) => Some(text.trim().to_owned()),
        Value::Bool(is_on) => Some(is_on.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

impl SettingsOf {
    /// Checks a setting.
    ///
    /// # Errors
    ///
    /// [`SettingRefused`]
    pub fn check(self, name: &str, value: &Value) -> Result<(), SettingRefused> {
        let is = |known: &str| match self {
            SettingsOf::Index => known == name && known.starts_with("Indexing."),
            SettingsOf::Database => known.eq_ignore_ascii_case(name),
        };
        let is_of_server = || {
            let section = name.split_once('.').map_or(name, |(section, _)| section);
            self == SettingsOf::Database && SECTIONS_OF_SERVER.iter().any(|known| known.eq_ignore_ascii_case(section))
        };
        if OF_SERVER.into_iter().any(is) || is_of_server() {
            return Err(SettingRefused::OfServer);
        }
        if self == SettingsOf::Database && OF_INDEX.into_iter().any(|(known, _)| is(known)) {
            return Err(SettingRefused::NotSupported);
        }
        let of_index = OF_INDEX.into_iter().filter(|_| self == SettingsOf::Index);
        let of_database = OF_DATABASE.into_iter().filter(|_| self == SettingsOf::Database);
        let taken = of_index.chain(of_database).chain(TAKEN).find(|(known, _)| is(known)).map(|(_, kind)| (kind, None));
        let lacking = || LACKING.into_iter().find(|(known, ..)| is(known)).map(|(_, kind, only)| (kind, Some(only)));
        let Some((kind, only)) = taken.or_else(lacking) else {
            return if self == SettingsOf::Index { Err(SettingRefused::Unknown) } else { Ok(()) };
        };
        if self == SettingsOf::Database && *value == Value::Null {
            return Ok(());
        }
        let text = setting_text(value).filter(|text| kind.holds(text));
        let text = text.ok_or(SettingRefused::Malformed(kind.name()))?;
        match only.is_none_or(|only| text.is_empty() || text.eq_ignore_ascii_case(only)) {
            true => Ok(()),
            false => Err(SettingRefused::NotSupported),
        }
    }
}

impl Kind {
    fn holds(self, text: &str) -> bool {
        match self {
            Switch => text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false"),
            Whole => text.parse::<i32>().is_ok(),
            Time => text.parse::<i32>().is_ok_and(|time| time >= -1),
            Number => text.parse::<f64>().is_ok_and(f64::is_finite),
            Text => true,
            Kind::OneOf(names, _) => names.iter().any(|name| name.eq_ignore_ascii_case(text)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Switch => "true or false",
            Whole => "a whole number",
            Time => "a whole number from 0 on, or -1",
            Number => "a number",
            Text => "text",
            Kind::OneOf(_, names) => names,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SettingRefused::*;
    use super::*;

    #[track_caller]
    fn check(of: SettingsOf, name: &str, value: &str, expected: Result<(), SettingRefused>) {
        let value = Value::parse(value.as_bytes()).unwrap();
        assert_eq!(of.check(name, &value), expected, "{name} {value:?}");
    }

    #[test]
    fn settings_of_an_index_are_known_and_of_their_kind() {
        let check = |name: &str, value: &str, expected| check(SettingsOf::Index, name, value, expected);
        for (name, value) in [
            ("Indexing.IndexMissingFieldsAsNull", r#"" TRUE ""#),
            ("Indexing.IndexEmptyEntries", "false"),
            ("Indexing.MapBatchSize", "500"),
            ("Indexing.MapTimeoutInSec", r#""-1""#),
            ("Indexing.Static.SearchEngineType", r#""lucene""#),
            ("Indexing.Analyzers.Default", r#""""#),
            ("Indexing.MaxStepsForScript", r#""10000""#),
            ("Indexing.FullText.Scoring", r#""bm25""#),
            ("Indexing.FullText.Bm25.K1", "1.5"),
        ] {
            check(name, value, Ok(()));
        }
        for name in ["Indexing.Nonsense", "indexing.mapbatchsize", "Query.RegexTimeoutInMs", "", "ServerUrl"] {
            check(name, r#""1""#, Err(Unknown));
        }
        for (name, value, kind) in [
            ("Indexing.MapTimeoutInSec", r#""x""#, "a whole number from 0 on, or -1"),
            ("Indexing.MapTimeoutInSec", r#""-2""#, "a whole number from 0 on, or -1"),
            ("Indexing.MapBatchSize", r#""1.5""#, "a whole number"),
            ("Indexing.MapBatchSize", "null", "a whole number"),
            ("Indexing.IndexEmptyEntries", r#""1""#, "true or false"),
            ("Indexing.Static.SearchEngineType", r#""Nope""#, "Corax or Lucene"),
            ("Indexing.MaxStepsForScript", r#""x""#, "a whole number"),
            ("Indexing.FullText.Scoring", r#""Nope""#, "TfIdf or Bm25"),
            ("Indexing.FullText.Bm25.B", r#""x""#, "a number"),
        ] {
            check(name, value, Err(Malformed(kind)));
        }
        check("Indexing.CleanupIntervalInMin", r#""1""#, Err(OfServer));
        check("Indexing.DisableQueryOptimizerGeneratedIndexes", r#""true""#, Err(NotSupported));
        check("Indexing.Auto.NeverWiden", r#""true""#, Err(Unknown));
        check("Indexing.MaxStepsForScript", r#""5""#, Err(NotSupported));
        check("Indexing.Analyzers.Default", r#""StandardAnalyzer""#, Err(NotSupported));
    }

    #[test]
    fn settings_of_a_database_may_be_unknown() {
        let check = |name: &str, value: &str, expected| check(SettingsOf::Database, name, value, expected);
        check("Mine", r#""1""#, Ok(()));
        check("Query.FreshReads", "true", Ok(()));
        check("indexing.disablequeryoptimizergeneratedindexes", r#""true""#, Ok(()));
        check("Indexing.Auto.NeverWiden", r#""perhaps""#, Err(Malformed("true or false")));
        check("Indexing.Nonsense", r#""1""#, Ok(()));
        check("indexing.mapbatchsize", r#""5""#, Ok(()));
        check("Indexing.MapBatchSize", "null", Ok(()));
        check("indexing.mapbatchsize", r#""x""#, Err(Malformed("a whole number")));
        check("serverUrl", r#""http://x""#, Err(OfServer));
        check("Http.MaxRequestLineSizeInKb", r#""5""#, Err(OfServer));
        check("Patching.MaxStepsForScript", r#""5""#, Err(NotSupported));
        check("indexing.fulltext.scoring", r#""Bm25""#, Err(NotSupported));
        check("Patching.MaxStepsForScript", r#""10000""#, Ok(()));
    }
}
