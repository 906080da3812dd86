//! The properties that the record of a database may have: one closed table.
//!
//! A record that configures a missing feature is refused by its name, and so is one with a property that no record has. The published
//! clients send all the properties that they know when they create a database, with `null`, `{}`, `[]`, `false` or `0` where the
//! application set no value. Such a value configures nothing, and is accepted for any property.

use documents::{DueKind, Feature};
use json::Value;

use crate::analyzers::{self, ANALYZERS};
use crate::backups::{self, PERIODIC_BACKUPS};
use crate::revisions::RevisionsProperty;
use crate::{Error, Result, due};

/// A property of records.
#[derive(Debug)]
pub struct RecordProperty {
    /// Its name.
    pub name: &'static str,
    /// What clients are given where it is not set, as JSON; `None`: the property is left out.
    pub default: Option<&'static str>,
    /// The feature that it configures, where that is missing.
    missing: Option<Feature>,
}

/// A property that is stored and given back.
const fn kept(name: &'static str, default: &'static str) -> RecordProperty {
    RecordProperty { name, default: Some(default), missing: None }
}

/// A property that configures a missing feature, and is expected in each record.
const fn missing(name: &'static str, default: &'static str, feature: Feature) -> RecordProperty {
    RecordProperty { name, default: Some(default), missing: Some(feature) }
}

/// A property that configures a missing feature, and that only some clients know.
const fn unwritten(name: &'static str, feature: Feature) -> RecordProperty {
    RecordProperty { name, default: None, missing: Some(feature) }
}

/// All properties, in the order in which RavenDB writes them.
pub static RECORD_PROPERTIES: [RecordProperty; 57] = [
    kept("DatabaseName", "null"),
    kept("Disabled", "false"),
    missing("Encrypted", "false", Feature::Encryption),
    kept("EtagForBackup", "0"),
    kept("DeletionInProgress", "{}"),
    kept("RollingIndexes", "{}"),
    kept("DatabaseState", "\"Normal\""),
    kept("LockMode", "\"Unlock\""),
    kept("Topology", "{}"),
    missing("Sharding", "null", Feature::Sharding),
    missing("ConflictSolverConfig", "null", Feature::Replication),
    missing("DocumentsCompression", "null", Feature::DocumentsCompression),
    missing("Sorters", "{}", Feature::CustomSorters),
    kept(ANALYZERS, "{}"),
    missing("Indexes", "{}", Feature::IndexesInRecord),
    kept("IndexesHistory", "{}"),
    missing("AutoIndexes", "{}", Feature::IndexesInRecord),
    kept("Settings", "{}"),
    kept("Revisions", "null"),
    kept("RevisionsBin", "null"),
    missing("TimeSeries", "null", Feature::TimeSeries),
    kept("RevisionsForConflicts", "null"),
    kept("Expiration", "null"),
    kept("Refresh", "null"),
    kept("DataArchival", "null"),
    missing("Integrations", "null", Feature::Integrations),
    kept("PeriodicBackups", "[]"),
    missing("ExternalReplications", "[]", Feature::Replication),
    missing("SinkPullReplications", "[]", Feature::Replication),
    missing("HubPullReplications", "[]", Feature::Replication),
    missing("RavenConnectionStrings", "{}", Feature::Etl),
    missing("SqlConnectionStrings", "{}", Feature::Etl),
    missing("OlapConnectionStrings", "{}", Feature::Etl),
    missing("ElasticSearchConnectionStrings", "{}", Feature::Etl),
    missing("QueueConnectionStrings", "{}", Feature::Etl),
    missing("SnowflakeConnectionStrings", "{}", Feature::Etl),
    missing("AiConnectionStrings", "{}", Feature::AiAgents),
    missing("AiAgents", "[]", Feature::AiAgents),
    missing("RavenEtls", "[]", Feature::Etl),
    missing("SqlEtls", "[]", Feature::Etl),
    missing("ElasticSearchEtls", "[]", Feature::Etl),
    missing("OlapEtls", "[]", Feature::Etl),
    missing("QueueEtls", "[]", Feature::Etl),
    missing("QueueSinks", "[]", Feature::Etl),
    missing("SnowflakeEtls", "[]", Feature::Etl),
    missing("EmbeddingsGenerations", "[]", Feature::AiAgents),
    missing("GenAis", "[]", Feature::AiAgents),
    kept("Client", "null"),
    kept("Studio", "null"),
    kept("TruncatedClusterTransactionCommandsCount", "0"),
    kept("UnusedDatabaseIds", "[]"),
    kept("SupportedFeatures", "[]"),
    unwritten("SchemaValidation", Feature::SchemaValidation),
    unwritten("RemoteAttachments", Feature::RemoteAttachments),
    unwritten("CdcSinks", Feature::Etl),
    // As the client for Python spells it.
    unwritten("DocumentCompression", Feature::DocumentsCompression),
    // Of the client for Go.
    unwritten("DataDirectory", Feature::DataDirectories),
];

/// The etag of a record, which clients send back in it. It is not stored.
const ETAG: &str = "Etag";

/// Whether a property of this name is stored: one that each record has.
pub(crate) fn is_stored(name: &str) -> bool {
    RECORD_PROPERTIES.iter().any(|property| property.name == name && property.default.is_some())
}

/// Leaves out what cannot be stored; [`check`] accepted it because it configures nothing.
pub(crate) fn leave_out_unknown(record: &mut Value) {
    if let Value::Object(members) = record {
        members.retain(|(name, _)| is_stored(name));
    }
}

/// Refuses a record, or a change of one, that configures what is not supported.
///
/// # Errors
///
/// [`Error::NotSupported`] for a missing feature, [`Error::BadRecord`] for a property that no record has.
pub(crate) fn check(record: &Value) -> Result<()> {
    record.members().iter().try_for_each(|(name, value)| check_property(name, value))
}

/// Refuses one property of a record, as [`check`].
pub(crate) fn check_property(name: &str, value: &Value) -> Result<()> {
    if name == ETAG || configures_nothing(name, value) {
        return Ok(());
    }
    match RECORD_PROPERTIES.iter().find(|property| property.name == name).map(|property| property.missing) {
        Some(None) => {
            if let Some(kind) = DueKind::OF_DOCUMENTS.into_iter().find(|kind| due::property(*kind) == name) {
                due::check(kind, value)?;
            }
            if let Some(property) = RevisionsProperty::named(name) {
                property.check(value)?;
            }
            if name == ANALYZERS {
                analyzers::check(value)?;
            }
            if name == PERIODIC_BACKUPS {
                backups::check_tasks(value)?;
            }
            Ok(())
        }
        Some(Some(feature)) => Err(feature.missing_for(format!("'{name}' in the record of a database")).into()),
        None => {
            let name: String = name.chars().take(NAME_LENGTH_SHOWN).collect();
            let rule = format!("The record of a database has no property '{name}'. Remove it, or correct its name");
            Err(Error::BadRecord { rule })
        }
    }
}

/// Characters of a wrong name that an error repeats.
const NAME_LENGTH_SHOWN: usize = 128;

/// True for the values that clients send for a property that the application did not set.
fn configures_nothing(name: &str, value: &Value) -> bool {
    match value {
        // In these, as in no other, an object whose members are all empty switches nothing on.
        Value::Object(members)
            if ["ConflictSolverConfig", "DocumentsCompression", "DocumentCompression"].contains(&name) =>
        {
            members.iter().all(|(_, value)| is_empty(value))
        }
        value => is_empty(value),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.parse::<f64>().is_ok_and(|number| number == 0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(record: &str) -> Option<String> {
        check(&Value::parse(record.as_bytes()).unwrap()).err().map(|error| error.to_string())
    }

    #[track_caller]
    fn check_missing(record: &str, feature: Feature) {
        match check(&Value::parse(record.as_bytes()).unwrap()) {
            Err(Error::NotSupported(missing)) => assert_eq!(missing.feature(), feature, "{record}"),
            other => panic!("{record}: {other:?}"),
        }
    }

    /// What each client sends for `new DatabaseRecord("X")`, by its sources.
    #[test]
    fn what_clients_send_for_a_new_database_is_accepted() {
        let node = r#"{"DatabaseName":"X"}"#;
        let go =
            r#"{"DatabaseName":"X","Disabled":false,"DataDirectory":null,"Settings":{},"ConflictSolverConfig":null}"#;
        let python = r#"{"DatabaseName":"X","Disabled":false,"Encrypted":false,"EtagForBackup":0,"DeletionInProgress":null,
            "RollingIndexes":null,"DatabaseState":null,"LockMode":null,"Topology":null,"ConflictSolverConfig":null,
            "DocumentCompression":null,"Sorters":{},"Analyzers":{},"Indexes":{},"IndexesHistory":null,"AutoIndexes":null,"Settings":{},
            "Revisions":null,"TimeSeries":null,"RevisionsForConflicts":null,"Expiration":null,"Refresh":null,"PeriodicBackups":[],
            "ExternalReplications":[],"SinkPullReplications":[],"HubPullReplications":[],"RavenConnectionStrings":{},
            "SqlConnectionStrings":{},"OlapConnectionStrings":{},"RavenEtls":[],"SqlEtls":[],"OlapEtls":[],"Client":null,"Studio":null,
            "TruncatedClusterTransactionCommand":0}"#;
        let java = r#"{"DatabaseName":"X","Disabled":false,"Encrypted":false,"EtagForBackup":0,"DeletionInProgress":null,
            "RollingIndexes":null,"DatabaseState":null,"LockMode":null,"Topology":null,"ConflictSolverConfig":null,
            "DocumentsCompression":null,"Sorters":{},"Analyzers":{},"Indexes":null,"IndexesHistory":null,"AutoIndexes":null,"Settings":{},
            "Revisions":null,"TimeSeries":null,"RevisionsForConflicts":null,"Expiration":null,"Refresh":null,"Integrations":null,
            "PeriodicBackups":[],"ExternalReplications":[],"SinkPullReplications":[],"HubPullReplications":[],"RavenConnectionStrings":{},
            "SqlConnectionStrings":{},"OlapConnectionStrings":{},"ElasticSearchConnectionStrings":{},"QueueConnectionStrings":{},
            "RavenEtls":[],"SqlEtls":[],"ElasticSearchEtls":[],"OlapEtls":[],"QueueEtls":[],"Client":null,"Studio":null,
            "TruncatedClusterTransactionCommandsCount":0,"UnusedDatabaseIds":[]}"#;
        let csharp = r#"{"DatabaseName":"X","Disabled":false,"Encrypted":false,"EtagForBackup":0,"DeletionInProgress":null,
            "RollingIndexes":null,"DatabaseState":"Normal","LockMode":"Unlock","Topology":null,"Sharding":null,"ConflictSolverConfig":null,
            "DocumentsCompression":null,"Sorters":{},"Analyzers":{},"Indexes":null,"IndexesHistory":null,"AutoIndexes":null,"Settings":{},
            "Revisions":null,"RevisionsBin":null,"TimeSeries":null,"RevisionsForConflicts":null,"Expiration":null,"Refresh":null,
            "DataArchival":null,"SchemaValidation":null,"RemoteAttachments":null,"Integrations":null,"PeriodicBackups":[],
            "ExternalReplications":[],"SinkPullReplications":[],"HubPullReplications":[],"RavenConnectionStrings":{},
            "SqlConnectionStrings":{},"OlapConnectionStrings":{},"ElasticSearchConnectionStrings":{},"QueueConnectionStrings":{},
            "SnowflakeConnectionStrings":{},"AiConnectionStrings":{},"AiAgents":[],"RavenEtls":[],"SqlEtls":[],"ElasticSearchEtls":[],
            "OlapEtls":[],"QueueEtls":[],"QueueSinks":[],"CdcSinks":[],"SnowflakeEtls":[],"EmbeddingsGenerations":[],"GenAis":[],
            "Client":null,"Studio":null,"TruncatedClusterTransactionCommandsCount":0,"UnusedDatabaseIds":[],"SupportedFeatures":null,
            "Shards":null,"ShardBucketRanges":[],"MigrationCutOffIndex":0,"ShardedDatabaseId":null}"#;
        for record in [node, go, python, java, csharp] {
            assert_eq!(refusal(record), None, "{record}");
        }
        assert_eq!(
            refusal(r#"{"Etag":5,"ConflictSolverConfig":{"ResolveByCollection":{},"ResolveToLatest":false}}"#),
            None
        );
    }

    #[test]
    fn what_is_configured_and_missing_is_refused_by_name() {
        check_missing(r#"{"ConflictSolverConfig":{"ResolveToLatest":true}}"#, Feature::Replication);
        check_missing(r#"{"ConflictSolverConfig":{"ResolveByCollection":{"Users":{}}}}"#, Feature::Replication);
        check_missing(r#"{"TimeSeries":{"Collections":{"Users":{}}}}"#, Feature::TimeSeries);
        check_missing(r#"{"DocumentCompression":{"Collections":["Users"]}}"#, Feature::DocumentsCompression);
        check_missing(r#"{"DataDirectory":"/x"}"#, Feature::DataDirectories);
        check_missing(r#"{"Encrypted":true}"#, Feature::Encryption);
        let message = refusal(r#"{"TimeSeries":{"Collections":{"Users":{}}}}"#).unwrap();
        assert!(message.contains("'TimeSeries' in the record of a database"), "{message}");
    }

    #[test]
    fn what_no_record_has_is_refused_unless_it_configures_nothing() {
        for value in ["1", "true", r#""x""#, "[0]", r#"{"A":null}"#] {
            let message = refusal(&format!(r#"{{"DatabaseName":"X","Revsions":{value}}}"#)).unwrap();
            assert!(message.starts_with("The record of a database has no property 'Revsions'."), "{message}");
        }
        for value in ["0", "0.0", "null", "false", r#""""#, "[]", "{}"] {
            assert_eq!(refusal(&format!(r#"{{"Revsions":{value}}}"#)), None, "{value}");
        }
    }

    #[test]
    fn defaults_are_json_and_configure_nothing_that_is_missing() {
        let mut names = std::collections::BTreeSet::new();
        for property in &RECORD_PROPERTIES {
            assert!(names.insert(property.name), "{} is there twice", property.name);
            let Some(default) = property.default else { continue };
            let value = Value::parse(default.as_bytes()).unwrap();
            assert!(property.missing.is_none() || configures_nothing(property.name, &value), "{}", property.name);
        }
    }
}
