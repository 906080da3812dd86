//! The features that clients of RavenDB know and this version lacks: one closed table.
//!
//! Routes, commands, records, settings, index definitions and scripts that need a missing feature are refused with 501 and its name. A
//! feature that is added loses its row here; the compiler then names each place that refused it. The page
//! `docs/missing-features.md` has a section for each row.

use std::borrow::Cow;
use std::fmt;

macro_rules! features {
    ($($feature:ident, $name:literal, $section:literal, $sentence:literal;)*) => {
        /// A feature that is missing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature {
            $(#[doc = $sentence] $feature,)*
        }

        impl Feature {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Feature] = &[$(Feature::$feature),*];

            /// Its name in messages: what "Rookery does not support".
            pub const fn name(self) -> &'static str {
                match self {
                    $(Feature::$feature => $name,)*
                }
            }

            /// What it is, or what its lack means, in one sentence.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Feature::$feature => $sentence,)*
                }
            }

            /// Its section of the documentation: a path in the repository, with an anchor.
            pub const fn link(self) -> &'static str {
                match self {
                    $(Feature::$feature => concat!("docs/missing-features.md#", $section),)*
                }
            }
        }
    };
}

features! {
    Attachments, "contents of attachments in scripts", "contents-of-attachments-in-scripts",
        "Indexes read the contents of attachments; patches and projections do not.";
    RemoteAttachments, "remote attachments", "remote-attachments",
        "RavenDB can move attachments to an object store, and read them from there.";
    TimeSeries, "time series", "time-series",
        "A time series is a sequence of values with times that belongs to a document.";
    Revisions, "revisions", "revisions",
        "A revision is a former state of a document, kept when the document changes.";
    BackupForms, "some forms of backup", "some-forms-of-backup",
        "Backups go to no FTP server and no Glacier, are not uploaded without a file in between, and run no script for their settings.";
    SchemaValidation, "schema validation", "schema-validation",
        "Schema validation refuses documents that do not fit a JSON schema.";
    Cluster, "clusters of several nodes", "clusters-of-several-nodes",
        "A server is a cluster of one node; no node can be added.";
    Sharding, "sharding", "sharding",
        "A sharded database is divided among several nodes.";
    Replication, "replication", "replication",
        "Replication copies documents from one database to others, and resolves the conflicts that come from it.";
    Etl, "ETL and connection strings", "etl-and-connection-strings",
        "ETL tasks and sinks copy documents to other systems and from them; connection strings say where these are.";
    Encryption, "encrypted databases", "encrypted-databases",
        "An encrypted database is stored under a key.";
    DocumentsCompression, "document compression settings", "document-compression-settings",
        "RavenDB can compress the documents of chosen collections.";
    CustomSorters, "custom sorters", "custom-sorters",
        "A custom sorter is a class in C# that compares the values of a field; no form of it is served.";
    CustomAnalyzers, "some custom analyzers", "some-custom-analyzers",
        "A custom analyzer is a class in C# that cuts a text into terms; the server reads the class and never runs it.";
    IndexesInRecord, "indexes in the record of a database", "indexes-in-the-record-of-a-database",
        "Index definitions are put by their own endpoint, not as a part of a database's record.";
    IndexSources, "indexes over time series", "indexes-over-time-series",
        "RavenDB also indexes time series.";
    IndexDeployment, "rolling deployment of indexes", "rolling-deployment-of-indexes",
        "A rolling deployment fills a new index on one node after the other.";
    CsharpSources, "added sources and assemblies in C#", "added-sources-and-assemblies-in-c",
        "RavenDB compiles C# and loads the assemblies of a definition.";
    CompoundFields, "compound fields", "compound-fields",
        "A compound field is an index field over several fields, for conditions on one and an order by the other.";
    ScriptFunctions, "some functions of scripts", "some-functions-of-scripts",
        "Some functions that RavenDB offers to scripts and JavaScript indexes do not exist.";
    TextEmbeddings, "embeddings of texts", "embeddings-of-texts",
        "An embedding of a text is a vector that a model makes from it.";
    AiAgents, "AI agents", "ai-agents",
        "AI agents and AI tasks send documents to language models.";
    Integrations, "integrations", "integrations",
        "Integrations let clients of PostgreSQL query a database.";
    LogConfiguration, "log configuration over HTTP", "log-configuration-over-http",
        "The level of the log can be changed while the server runs, until it ends; other settings of logs are made at the start.";
    AdminConsole, "the admin console", "the-admin-console",
        "The admin console runs JavaScript inside the server.";
    TransactionRecording, "transaction recording", "transaction-recording",
        "RavenDB can record its write transactions, to run them again.";
    TrafficWatch, "traffic watch", "traffic-watch",
        "A traffic watch reports each request while it happens.";
    DataDirectories, "a folder for one database", "a-folder-for-one-database",
        "All databases of a server are below its data directory.";
    EngineSettings, "settings of RavenDB's engine", "settings-of-ravendbs-engine",
        "Settings that change how RavenDB works, and change nothing here, are accepted with RavenDB's default only.";
}

/// A request that needs a feature that is missing.
///
/// Its text says what is not supported: the feature, or the part of the request that needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingFeature {
    feature: Feature,
    /// What was asked for, where that is not the feature as a whole.
    subject: Option<Cow<'static, str>>,
}

impl MissingFeature {
    /// The feature.
    pub fn feature(&self) -> Feature {
        self.feature
    }
}

impl fmt::Display for MissingFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (version, feature) = (env!("CARGO_PKG_VERSION"), self.feature.name());
        match &self.subject {
            None => write!(f, "Rookery {version} does not support {feature} yet"),
            Some(subject) => write!(f, "Rookery {version} does not support {subject} yet (missing feature: {feature})"),
        }
    }
}

impl std::error::Error for MissingFeature {}

impl Feature {
    /// A request for the feature itself.
    pub fn missing(self) -> MissingFeature {
        MissingFeature { feature: self, subject: None }
    }

    /// A request for something that needs the feature.
    ///
    /// * `subject`: what was asked for, as a noun: `'AttachmentsFor' in an index`.
    pub fn missing_for(self, subject: impl Into<Cow<'static, str>>) -> MissingFeature {
        MissingFeature { feature: self, subject: Some(subject.into()) }
    }

    /// The feature that a function of scripts and of JavaScript indexes needs, where the function does not exist here.
    pub fn of_script_function(name: &str) -> Feature {
        match name {
            "timeseries" | "timeSeriesNamesFor" => Feature::TimeSeries,
            "loadAttachment" | "loadAttachments" => Feature::Attachments,
            "embeddings" | "loadVector" => Feature::TextEmbeddings,
            _ => Feature::ScriptFunctions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const PAGE: &str = include_str!("../../../docs/missing-features.md");

    /// The anchor of a heading, as GitHub makes it.
    fn anchor(heading: &str) -> String {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    }

    #[test]
    fn each_feature_has_its_section_in_the_documentation_and_each_section_a_feature() {
        let sections: BTreeMap<String, &str> = PAGE
            .split("\n## ")
            .skip(1)
            .map(|section| section.split_once('\n').unwrap_or((section, "")))
            .map(|(heading, text)| (anchor(heading), text.trim_start()))
            .collect();
        for feature in Feature::ALL {
            let section = feature.link().strip_prefix("docs/missing-features.md#").unwrap();
            let text = sections.get(section).unwrap_or_else(|| panic!("there is no section for {}", feature.link()));
            let text = text.replace('\n', " ");
            assert!(text.starts_with(feature.sentence()), "{section} does not begin with: {}", feature.sentence());
        }
        assert_eq!(sections.len(), Feature::ALL.len(), "two features share a section, or a section has no feature");
    }

    #[test]
    fn names_and_sentences_can_stand_in_a_message() {
        let mut names: Vec<&str> = Feature::ALL.iter().map(|feature| feature.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Feature::ALL.len(), "two features have one name");
        for feature in Feature::ALL {
            assert!(feature.sentence().ends_with('.') && !feature.name().ends_with('.'), "{feature:?}");
        }
    }

    #[test]
    fn a_message_has_the_subject_and_the_feature() {
        let version = env!("CARGO_PKG_VERSION");
        let whole = Feature::TimeSeries.missing();
        assert_eq!(whole.to_string(), format!("Rookery {version} does not support time series yet"));
        let part = Feature::TimeSeries.missing_for("the command 'TimeSeries'");
        let expected = "does not support the command 'TimeSeries' yet (missing feature: time series)";
        assert_eq!(part.to_string(), format!("Rookery {version} {expected}"));
    }
}
