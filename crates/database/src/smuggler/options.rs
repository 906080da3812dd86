//! The options of an export or import, as clients send them.

use documents::Feature;
use json::Value;

use super::{ItemType, ItemTypes};
use crate::limits::{SMUGGLER_COLLECTIONS_MAX, TRANSFORM_STEPS_DEFAULT};
use crate::{Error, Result};

/// What is exported or imported, and how.
#[derive(Clone, Debug)]
pub struct SmugglerOptions {
    /// The types of items.
    pub types: ItemTypes,
    /// The parts of the record of a database; `None`: all that are supported.
    pub record_types: Option<Vec<String>>,
    /// Whether documents whose `@expires` is over are among them.
    pub includes_expired: bool,
    /// Whether documents are among them that an index wrote.
    pub includes_artificial: bool,
    /// Whether archived documents are among them.
    pub includes_archived: bool,
    /// Whether indexes lose the analyzers of their fields.
    pub removes_analyzers: bool,
    /// Changes each document, or throws `'skip'` to leave it out.
    pub transform_script: Option<String>,
    /// Steps of that script for each document.
    pub transform_steps_max: u64,
    /// Only documents of these collections; empty: all.
    pub collections: Vec<String>,
    /// Whether items that cannot be read are counted and passed over.
    pub skips_corrupted: bool,
    /// Documents that are imported make no revisions.
    pub skips_revisions: bool,
    /// Documents that are read in a second.
    pub per_second: Option<u64>,
    /// How an export is compressed.
    pub compression: DumpCompression,
    /// The name of the file, without its ending.
    pub file_name: Option<String>,
}

/// How a dump is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpCompression {
    /// gzip
    Gzip,
    /// zstd
    Zstd,
}

impl Default for SmugglerOptions {
    fn default() -> SmugglerOptions {
        SmugglerOptions {
            types: ItemTypes::default_types(),
            record_types: None,
            includes_expired: true,
            includes_artificial: false,
            includes_archived: true,
            removes_analyzers: false,
            transform_script: None,
            transform_steps_max: TRANSFORM_STEPS_DEFAULT,
            collections: Vec::new(),
            skips_corrupted: false,
            skips_revisions: false,
            per_second: None,
            compression: DumpCompression::Zstd,
            file_name: None,
        }
    }
}

/// The parts of the record of a database that clients may name.
const RECORD_TYPES: [&str; 42] = [
    "None",
    "ConflictSolverConfig",
    "Settings",
    "Revisions",
    "Expiration",
    "PeriodicBackups",
    "ExternalReplications",
    "RavenConnectionStrings",
    "SqlConnectionStrings",
    "RavenEtls",
    "SqlEtls",
    "Client",
    "Sorters",
    "SinkPullReplications",
    "HubPullReplications",
    "TimeSeries",
    "DocumentsCompression",
    "Analyzers",
    "LockMode",
    "OlapConnectionStrings",
    "OlapEtls",
    "ElasticSearchConnectionStrings",
    "ElasticSearchEtls",
    "PostgreSQLIntegration",
    "QueueConnectionStrings",
    "QueueEtls",
    "IndexesHistory",
    "Refresh",
    "QueueSinks",
    "DataArchival",
    "SnowflakeConnectionStrings",
    "SnowflakeEtls",
    "EmbeddingsGenerations",
    "AiConnectionStrings",
    "GenAis",
    "AiAgents",
    "RemoteAttachments",
    "SchemaValidation",
    "CdcSinks",
    "RevisionsForConflicts",
    "Studio",
    "Integrations",
];

impl SmugglerOptions {
    /// Reads the options of a request.
    ///
    /// # Errors
    ///
    /// [`Error::BadSmugglerOption`] for an option that is unknown or malformed; [`Error::NotSupported`] for a key of encryption.
    pub fn from_json(given: &Value) -> Result<SmugglerOptions> {
        let mut options = SmugglerOptions::default();
        for (name, value) in given.members().iter().filter(|(_, value)| !is_nothing(value)) {
            match name.as_str() {
                "OperateOnTypes" => {
                    let names = text(name, value)?;
                    options.types = ItemTypes::parse(&names).map_err(|unknown| {
                        let known: Vec<_> = ItemType::all().map(ItemType::name).collect();
                        bad(format!(
                            "'OperateOnTypes' has the type '{unknown}', which is none of: {}",
                            known.join(", ")
                        ))
                    })?;
                }
                "OperateOnDatabaseRecordTypes" => options.record_types = Some(record_types(&text(name, value)?)?),
                "IncludeExpired" => options.includes_expired = flag(name, value)?,
                "IncludeArtificial" => options.includes_artificial = flag(name, value)?,
                "IncludeArchived" => options.includes_archived = flag(name, value)?,
                "RemoveAnalyzers" => options.removes_analyzers = flag(name, value)?,
                "TransformScript" => options.transform_script = Some(text(name, value)?),
                "MaxStepsForTransformScript" => options.transform_steps_max = count(name, value)?,
                "Collections" => options.collections = collections(value)?,
                "SkipCorruptedData" => options.skips_corrupted = flag(name, value)?,
                "MaxReadOpsPerSecond" => options.per_second = Some(count(name, value)?),
                "CompressionAlgorithm" => {
                    options.compression = match text(name, value)?.to_ascii_lowercase().as_str() {
                        "gzip" => DumpCompression::Gzip,
                        "zstd" => DumpCompression::Zstd,
                        other => {
                            let other: String = other.chars().take(80).collect();
                            return Err(bad(format!("'CompressionAlgorithm' is Zstd or Gzip, but is '{other}'")));
                        }
                    }
                }
                "FileName" => options.file_name = Some(text(name, value)?),
                "SkipRevisionCreation" => options.skips_revisions = flag(name, value)?,
                "EncryptionKey" => return Err(Feature::Encryption.missing_for("'EncryptionKey' of a dump").into()),
                _ => {
                    let name: String = name.chars().take(80).collect();
                    return Err(bad(format!(
                        "exports and imports have no option '{name}'. Remove it, or correct its name"
                    )));
                }
            }
        }
        Ok(options)
    }

    /// Whether documents of a collection are meant.
    pub(crate) fn has_collection(&self, collection: &str) -> bool {
        self.collections.is_empty() || self.collections.iter().any(|name| name.eq_ignore_ascii_case(collection))
    }

    /// Whether a part of the record of a database is meant.
    pub fn has_record_type(&self, name: &str) -> bool {
        self.types.has(ItemType::DatabaseRecord)
            && self.record_types.as_ref().is_none_or(|names| names.iter().any(|given| given.eq_ignore_ascii_case(name)))
    }
}

/// What clients send where the application set no value.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(elements) => elements.is_empty(),
        _ => false,
    }
}

fn bad(rule: String) -> Error {
    Error::BadSmugglerOption { rule }
}

fn wrong(name: &str, kind: &str, value: &Value) -> Error {
    let found: String = String::from_utf8_lossy(&value.to_vec()).chars().take(80).collect();
    bad(format!("'{name}' must be {kind}, but is {found}"))
}

fn text(name: &str, value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| wrong(name, "text", value))
}

fn flag(name: &str, value: &Value) -> Result<bool> {
    value.as_bool().ok_or_else(|| wrong(name, "true or false", value))
}

fn count(name: &str, value: &Value) -> Result<u64> {
    let count = value.as_i64().and_then(|count| u64::try_from(count).ok()).filter(|count| *count > 0);
    count.ok_or_else(|| wrong(name, "a whole number above 0", value))
}

fn collections(value: &Value) -> Result<Vec<String>> {
    let Value::Array(elements) = value else { return Err(wrong("Collections", "an array of names", value)) };
    if elements.len() > SMUGGLER_COLLECTIONS_MAX {
        let count = elements.len();
        return Err(bad(format!("'Collections' has {count} names, over the limit of {SMUGGLER_COLLECTIONS_MAX}")));
    }
    elements.iter().map(|name| text("Collections", name)).collect()
}

fn record_types(names: &str) -> Result<Vec<String>> {
    let names: Vec<String> =
        names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    match names.iter().find(|name| !RECORD_TYPES.iter().any(|known| known.eq_ignore_ascii_case(name))) {
        None => Ok(names),
        Some(unknown) => {
            let (unknown, known): (String, _) = (unknown.chars().take(80).collect(), RECORD_TYPES.join(", "));
            Err(bad(format!("'OperateOnDatabaseRecordTypes' has the type '{unknown}', which is none of: {known}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SmugglerOptions> {
        SmugglerOptions::from_json(&Value::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn options_are_read_and_those_without_a_value_left_out() {
        let options = read(
            r#"{"OperateOnTypes":"Documents,Indexes","IncludeExpired":false,"Collections":["Users"],"TransformScript":null,
                "MaxReadOpsPerSecond":5,"CompressionAlgorithm":"Gzip","SkipCorruptedData":true,"EncryptionKey":null,"Zork":null}"#,
        )
        .unwrap();
        assert!(options.types.has(ItemType::Documents) && !options.types.has(ItemType::Identities));
        assert!(!options.includes_expired && options.includes_archived && options.skips_corrupted);
        assert!(options.has_collection("users") && !options.has_collection("Orders"));
        assert_eq!((options.per_second, options.compression), (Some(5), DumpCompression::Gzip));
        assert!(options.transform_script.is_none());
    }

    #[test]
    fn what_is_unknown_or_malformed_is_refused_by_name() {
        let check = |text: &str, expected: &str| {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        };
        check(r#"{"OperateOnTypes":"Blah"}"#, "'Blah'");
        check(r#"{"OperateOnDatabaseRecordTypes":"Blah"}"#, "'Blah'");
        check(r#"{"Zork":1}"#, "no option 'Zork'");
        check(r#"{"IncludeExpired":1}"#, "'IncludeExpired' must be true or false");
        check(r#"{"CompressionAlgorithm":"lz4"}"#, "'lz4'");
        check(r#"{"MaxReadOpsPerSecond":0}"#, "above 0");
        check(r#"{"EncryptionKey":"abc"}"#, "EncryptionKey");
        check(r#"{"Collections":[1]}"#, "'Collections' must be text");
    }
}
