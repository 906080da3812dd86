//! The configurations `Revisions`, `RevisionsForConflicts` and `RevisionsBin` of a record.
//!
//! ```text
//! Revisions              {"Default":limits|null,"Collections":{"Users":limits}}
//! RevisionsForConflicts  limits
//! RevisionsBin           {"Disabled":false,"MinimumEntriesAgeToKeepInMin":43200,"CleanerFrequencyInSec":300}
//! limits                 {"Disabled":false,"MinimumRevisionsToKeep":5,"MinimumRevisionAgeToKeep":"14.00:00:00","PurgeOnDelete":false,
//!                         "MaximumRevisionsToDeleteUponDocumentUpdate":100}
//! ```
//!
//! Conflicts come from replication. A single node has none, so that their configuration is kept for the members of a group.

use std::sync::Arc;
use std::time::Duration;

use documents::{CollectionRevisions, RevisionsConfiguration};
use json::Value;

use super::BinCleaner;
use crate::time_span::{self, TIME_SPAN};
use crate::{Error, Result};

const DISABLED: &str = "Disabled";
const COUNT: &str = "MinimumRevisionsToKeep";
const AGE: &str = "MinimumRevisionAgeToKeep";
const PURGE: &str = "PurgeOnDelete";
const DELETE_COUNT: &str = "MaximumRevisionsToDeleteUponDocumentUpdate";
const BIN_AGE: &str = "MinimumEntriesAgeToKeepInMin";
const BIN_FREQUENCY: &str = "CleanerFrequencyInSec";

/// Of a cleaner that does not say so, as RavenDB has them: 30 days, every five minutes.
const BIN_AGE_DEFAULT: Duration = Duration::from_secs(30 * 86_400);
const BIN_FREQUENCY_DEFAULT: Duration = Duration::from_secs(300);

/// The longest time that can be set: a hundred years, in minutes and in seconds.
const MINUTES_MAX: i64 = 100 * 366 * 1440;
const SECONDS_MAX: i64 = 60 * MINUTES_MAX;

/// Characters of a wrong name that an error repeats.
const NAME_LENGTH_SHOWN: usize = 128;

/// A property of a record that configures revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionsProperty {
    /// Of collections.
    Collections,
    /// Of documents with conflicts.
    Conflicts,
    /// The cleaner of the bin.
    Bin,
}

impl RevisionsProperty {
    /// All of them.
    pub const ALL: [RevisionsProperty; 3] =
        [RevisionsProperty::Collections, RevisionsProperty::Conflicts, RevisionsProperty::Bin];

    /// Its name in the record.
    pub fn name(self) -> &'static str {
        match self {
            RevisionsProperty::Collections => "Revisions",
            RevisionsProperty::Conflicts => "RevisionsForConflicts",
            RevisionsProperty::Bin => "RevisionsBin",
        }
    }

    pub(crate) fn named(name: &str) -> Option<RevisionsProperty> {
        RevisionsProperty::ALL.into_iter().find(|property| property.name() == name)
    }

    /// Refuses a configuration that means nothing. `null` removes one.
    ///
    /// # Errors
    ///
    /// [`Error::BadRecord`]
    pub(crate) fn check(self, value: &Value) -> Result<()> {
        match self {
            RevisionsProperty::Collections => read_collections(value).map(drop),
            RevisionsProperty::Conflicts => read_limits("'RevisionsForConflicts' of a database", value).map(drop),
            RevisionsProperty::Bin => read_bin(value).map(drop),
        }
    }

    /// A configuration with all its properties, as clients read it.
    pub(crate) fn completed(self, given: &Value) -> Value {
        if *given == Value::Null {
            return Value::Null;
        }
        let mut completed = Value::object();
        match self {
            RevisionsProperty::Collections => {
                let default = given.get("Default").filter(|default| **default != Value::Null);
                completed.set("Default", default.map_or(Value::Null, completed_limits));
                let mut collections = Value::object();
                for (name, limits) in given.get("Collections").map_or(&[][..], Value::members) {
                    collections.set(name, completed_limits(limits));
                }
                completed.set("Collections", collections);
                completed
            }
            RevisionsProperty::Conflicts => completed_limits(given),
            RevisionsProperty::Bin => {
                completed.set(DISABLED, or(given, DISABLED, false.into()));
                let minutes = (BIN_AGE_DEFAULT.as_secs() / 60).to_string();
                completed.set(BIN_AGE, or(given, BIN_AGE, Value::Number(minutes)));
                let seconds = BIN_FREQUENCY_DEFAULT.as_secs().to_string();
                completed.set(BIN_FREQUENCY, or(given, BIN_FREQUENCY, Value::Number(seconds)));
                completed
            }
        }
    }
}

fn or(given: &Value, name: &str, default: Value) -> Value {
    given.get(name).filter(|value| **value != Value::Null).cloned().unwrap_or(default)
}

fn completed_limits(given: &Value) -> Value {
    let mut completed = Value::object();
    completed.set(DISABLED, or(given, DISABLED, false.into()));
    completed.set(COUNT, or(given, COUNT, Value::Null));
    completed.set(AGE, or(given, AGE, Value::Null));
    completed.set(PURGE, or(given, PURGE, false.into()));
    completed.set(DELETE_COUNT, or(given, DELETE_COUNT, Value::Null));
    completed
}

/// The configuration of collections in a record. It was checked before the record was stored.
pub(crate) fn configuration(record: &Value) -> Arc<RevisionsConfiguration> {
    match record.get("Revisions") {
        Some(value) if !value.members().is_empty() => Arc::new(read_collections(value).unwrap_or_default()),
        _ => Arc::default(),
    }
}

/// The cleaner of the bin that a record enables.
pub(crate) fn bin_cleaner(record: &Value) -> Option<BinCleaner> {
    let value = record.get("RevisionsBin").filter(|value| !value.members().is_empty())?;
    read_bin(value).ok().flatten()
}

fn bad(rule: String) -> Error {
    Error::BadRecord { rule }
}

fn shown(name: &str) -> String {
    name.chars().take(NAME_LENGTH_SHOWN).collect()
}

fn read_collections(value: &Value) -> Result<RevisionsConfiguration> {
    let mut configuration = RevisionsConfiguration::default();
    let members = match value {
        Value::Null => return Ok(configuration),
        Value::Object(members) => members,
        _ => return Err(bad("'Revisions' of a database must be an object".to_owned())),
    };
    for (name, value) in members {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            ("Default", value) => configuration.default = Some(read_limits("'Default' of revisions", value)?),
            ("Collections", Value::Object(collections)) => {
                for (collection, limits) in collections {
                    if collection.is_empty() {
                        return Err(bad("A collection of a configuration of revisions has no name".to_owned()));
                    }
                    let is_same =
                        |(other, _): &(String, CollectionRevisions)| documents::id::is_same(other, collection);
                    if configuration.collections.iter().any(is_same) {
                        let name = shown(collection);
                        return Err(bad(format!(
                            "Cannot have two different revision configurations on the same collection. Collection name : '{name}'"
                        )));
                    }
                    let limits = read_limits(&format!("the revisions of '{}'", shown(collection)), limits)?;
                    configuration.collections.push((collection.clone(), limits));
                }
            }
            ("Collections", _) => return Err(bad("'Collections' of revisions must be an object".to_owned())),
            (name, _) => {
                let name = shown(name);
                return Err(bad(format!("A configuration of revisions has no '{name}', only Default and Collections")));
            }
        }
    }
    Ok(configuration)
}

/// * `what`: whose limits they are, for errors.
fn read_limits(what: &str, value: &Value) -> Result<CollectionRevisions> {
    let mut limits = CollectionRevisions::default();
    let members = match value {
        Value::Null => return Ok(limits),
        Value::Object(members) => members,
        _ => return Err(bad(format!("{what} must be an object"))),
    };
    let flag = |name: &str, value: &Value| match value {
        Value::Bool(value) => Ok(*value),
        _ => Err(bad(format!("'{name}' in {what} must be true or false"))),
    };
    let count = |name: &str, value: &Value, min: i64| match value.as_i64() {
        Some(count) if count >= min => Ok(Some(count.unsigned_abs())),
        _ => Err(bad(format!("'{name}' in {what} must be a whole number of at least {min}, or null"))),
    };
    for (name, value) in members {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            (DISABLED, value) => limits.is_disabled = flag(DISABLED, value)?,
            (PURGE, value) => limits.purges_on_delete = flag(PURGE, value)?,
            (COUNT, value) => limits.count_min = count(COUNT, value, 0)?,
            (DELETE_COUNT, value) => limits.delete_count_max = count(DELETE_COUNT, value, 1)?,
            (AGE, value) => {
                let span = if let Value::String(text) = value { time_span::parse(text) } else { None };
                let span = span.ok_or_else(|| bad(format!("'{AGE}' in {what} must be {TIME_SPAN}, or null")))?;
                limits.age_min = Some(u64::try_from(span.as_nanos() / 100).unwrap_or(u64::MAX));
            }
            (name, _) => {
                let (name, known) = (shown(name), [DISABLED, COUNT, AGE, PURGE, DELETE_COUNT].join(", "));
                return Err(bad(format!("There is no '{name}' in {what}, only {known}")));
            }
        }
    }
    Ok(limits)
}

/// The cleaner; `None` if it is disabled.
fn read_bin(value: &Value) -> Result<Option<BinCleaner>> {
    let members = match value {
        Value::Null => return Ok(None),
        Value::Object(members) => members,
        _ => return Err(bad("'RevisionsBin' of a database must be an object".to_owned())),
    };
    let mut is_disabled = false;
    let mut cleaner = BinCleaner { age_min: BIN_AGE_DEFAULT, frequency: BIN_FREQUENCY_DEFAULT };
    let number = |name: &str, value: &Value, (min, max): (i64, i64)| match value.as_i64() {
        Some(number) if (min..=max).contains(&number) => Ok(number.unsigned_abs()),
        _ => Err(bad(format!("'{name}' of the revisions bin must be a whole number from {min} to {max}"))),
    };
    for (name, value) in members {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            (DISABLED, Value::Bool(value)) => is_disabled = *value,
            (DISABLED, _) => return Err(bad(format!("'{DISABLED}' of the revisions bin must be true or false"))),
            (BIN_AGE, value) => {
                cleaner.age_min = Duration::from_secs(60 * number(BIN_AGE, value, (0, MINUTES_MAX))?);
            }
            (BIN_FREQUENCY, value) => {
                cleaner.frequency = Duration::from_secs(number(BIN_FREQUENCY, value, (1, SECONDS_MAX))?);
            }
            (name, _) => {
                let known = [DISABLED, BIN_AGE, BIN_FREQUENCY].join(", ");
                return Err(bad(format!("The revisions bin has no '{}', only {known}", shown(name))));
            }
        }
    }
    Ok((!is_disabled).then_some(cleaner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value {
        Value::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_configuration_is_read_and_completed() {
        let given = r#"{"Collections":{"Users":{"MinimumRevisionsToKeep":3,"MinimumRevisionAgeToKeep":"1.00:00:00"}}}"#;
        let record = parse(&format!(r#"{{"Revisions":{given}}}"#));
        let limits = *configuration(&record).of("users").unwrap();
        assert_eq!((limits.count_min, limits.age_min, limits.is_disabled), (Some(3), Some(864_000_000_000), false));
        let mut completed = Vec::new();
        RevisionsProperty::Collections.completed(&parse(given)).write(&mut json::Writer::new(&mut completed));
        let expected = r#"{"Default":null,"Collections":{"Users":{"Disabled":false,"MinimumRevisionsToKeep":3,"MinimumRevisionAgeToKeep":"1.00:00:00","PurgeOnDelete":false,"MaximumRevisionsToDeleteUponDocumentUpdate":null}}}"#;
        assert_eq!(String::from_utf8_lossy(&completed), expected);
        assert!(configuration(&parse(r#"{"Revisions":{}}"#)).is_empty());
        assert!(!configuration(&parse(r#"{"Revisions":{"Default":{}}}"#)).is_empty());
        let bin = bin_cleaner(&parse(r#"{"RevisionsBin":{"MinimumEntriesAgeToKeepInMin":5}}"#)).unwrap();
        assert_eq!((bin.age_min.as_secs(), bin.frequency.as_secs()), (300, 300));
        assert_eq!(bin_cleaner(&parse(r#"{"RevisionsBin":{"Disabled":true}}"#)), None);
        assert_eq!(bin_cleaner(&parse("{}")), None);
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let refused = |property: RevisionsProperty, text: &str, message: &str| {
            let error = property.check(&parse(text)).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        };
        let collections = RevisionsProperty::Collections;
        refused(collections, r#"{"Collections":{"A":{},"a":{}}}"#, "Collection name : 'a'");
        refused(collections, r#"{"Default":{"MinimumRevisionsToKeep":-1}}"#, "at least 0");
        refused(collections, r#"{"Default":{"MinimumRevisionAgeToKeep":"x"}}"#, "a time span");
        refused(collections, r#"{"Default":{"Zork":1}}"#, "There is no 'Zork'");
        refused(collections, r#"{"Zork":1}"#, "has no 'Zork'");
        refused(collections, "[]", "must be an object");
        refused(RevisionsProperty::Conflicts, r#"{"PurgeOnDelete":1}"#, "true or false");
        refused(RevisionsProperty::Bin, r#"{"CleanerFrequencyInSec":0}"#, "from 1 to");
        refused(RevisionsProperty::Bin, r#"{"MinimumEntriesAgeToKeepInMin":-5}"#, "from 0 to");
    }
}
