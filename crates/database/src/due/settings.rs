//! The configurations `Expiration`, `Refresh` and `DataArchival` of a record.
//!
//! ```text
//! {"Disabled":false,"DeleteFrequencyInSec":60,"MaxItemsToProcess":1000}
//! ```
//!
//! The frequency has another name for each kind. Without one a task runs every [`FREQUENCY_DEFAULT`]; without a maximum it handles all that
//! is due.

use std::time::Duration;

use documents::DueKind;
use json::Value;

use crate::{Error, Result};

/// How often a task runs that does not say so.
const FREQUENCY_DEFAULT: Duration = Duration::from_secs(60);

const VALUE_EXPIRATION: DueTask = DueTask { frequency: FREQUENCY_DEFAULT, count_max: u64::MAX };

/// The longest time between two runs that can be set: a hundred years.
const FREQUENCY_SECONDS_MAX: i64 = 100 * 366 * 86_400;

const DISABLED: &str = "Disabled";
const COUNT_MAX: &str = "MaxItemsToProcess";

/// A configured task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueTask {
    /// The time between two runs.
    pub frequency: Duration,
    /// The maximum number of documents that a run handles.
    pub count_max: u64,
}

/// The enabled tasks of a database, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DueSettings([Option<DueTask>; DueKind::ALL.len()]);

/// The property of a record that configures a kind.
pub(crate) const fn property(kind: DueKind) -> &'static str {
    match kind {
        DueKind::Expiration => "Expiration",
        DueKind::Refresh => "Refresh",
        DueKind::Archival => "DataArchival",
        // No record configures it: it is always enabled.
        DueKind::ValueExpiration => "CompareExchangeExpiration",
    }
}

const fn frequency(kind: DueKind) -> &'static str {
    match kind {
        DueKind::Expiration | DueKind::ValueExpiration => "DeleteFrequencyInSec",
        DueKind::Refresh => "RefreshFrequencyInSec",
        DueKind::Archival => "ArchiveFrequencyInSec",
    }
}

impl DueSettings {
    /// The tasks that a record enables, and the expiration of compare-exchange values. The configurations were checked before the
    /// record was stored.
    pub fn of(record: &Value) -> DueSettings {
        let task = |kind| match record.get(property(kind)) {
            _ if kind == DueKind::ValueExpiration => Some(VALUE_EXPIRATION),
            // Of a client that sends all properties it knows.
            Some(value) if value.members().is_empty() => None,
            Some(value) => read(kind, value).ok().flatten(),
            None => None,
        };
        DueSettings(DueKind::ALL.map(task))
    }

    /// The task of a kind, if it is enabled.
    pub fn get(&self, kind: DueKind) -> Option<DueTask> {
        self.0[kind as usize]
    }
}

/// A configuration with all its properties, as clients read it in the record.
pub(crate) fn completed(kind: DueKind, given: &Value) -> Value {
    let mut completed = Value::object();
    completed
        .set(DISABLED, given.get(DISABLED).filter(|value| **value != Value::Null).cloned().unwrap_or(false.into()));
    for name in [frequency(kind), COUNT_MAX] {
        completed.set(name, given.get(name).cloned().unwrap_or(Value::Null));
    }
    completed
}

/// Refuses a configuration that means nothing, such as a frequency of 0. `null` removes one.
///
/// # Errors
///
/// [`Error::BadRecord`]
pub(crate) fn check(kind: DueKind, value: &Value) -> Result<()> {
    read(kind, value).map(drop)
}

/// The task; `None` if it is disabled.
fn read(kind: DueKind, value: &Value) -> Result<Option<DueTask>> {
    let bad = |rule: String| Error::BadRecord { rule: format!("{rule} in '{}' of a database", property(kind)) };
    let members = match value {
        Value::Null => return Ok(None),
        Value::Object(members) => members,
        _ => return Err(Error::BadRecord { rule: format!("'{}' of a database must be an object", property(kind)) }),
    };
    let (mut is_disabled, mut task) = (false, DueTask { frequency: FREQUENCY_DEFAULT, count_max: u64::MAX });
    for (name, value) in members {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            (DISABLED, Value::Bool(value)) => is_disabled = *value,
            (DISABLED, _) => return Err(bad(format!("'{DISABLED}' must be true or false"))),
            (name, value) if name == frequency(kind) => match value.as_i64() {
                Some(seconds @ 1..=FREQUENCY_SECONDS_MAX) => {
                    task.frequency = Duration::from_secs(seconds.unsigned_abs())
                }
                _ => {
                    let range = format!("a whole number of seconds from 1 to {FREQUENCY_SECONDS_MAX}");
                    return Err(bad(format!("'{name}' must be {range}")));
                }
            },
            (COUNT_MAX, value) => match value.as_i64() {
                Some(count @ 1..) => task.count_max = count.unsigned_abs(),
                _ => return Err(bad(format!("'{COUNT_MAX}' must be a whole number of at least 1"))),
            },
            (name, _) => {
                let name: String = name.chars().take(NAME_LENGTH_SHOWN).collect();
                let known = format!("{DISABLED}, {} and {COUNT_MAX}", frequency(kind));
                return Err(bad(format!("there is no '{name}', only {known},")));
            }
        }
    }
    Ok((!is_disabled).then_some(task))
}

/// Characters of a wrong name that an error repeats.
const NAME_LENGTH_SHOWN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(kind: DueKind, text: &str) -> Result<Option<DueTask>> {
        read(kind, &Value::parse(text.as_bytes()).unwrap())
    }

    #[track_caller]
    fn check_task(kind: DueKind, text: &str, expected: Option<(u64, u64)>) {
        let task = read_text(kind, text).unwrap();
        assert_eq!(task.map(|task| (task.frequency.as_secs(), task.count_max)), expected, "{text}");
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        check_task(DueKind::Expiration, "null", None);
        check_task(DueKind::Expiration, "{}", Some((60, u64::MAX)));
        check_task(DueKind::Expiration, r#"{"Disabled":true,"DeleteFrequencyInSec":5}"#, None);
        check_task(DueKind::Expiration, r#"{"Disabled":false,"DeleteFrequencyInSec":5}"#, Some((5, u64::MAX)));
        check_task(DueKind::Refresh, r#"{"RefreshFrequencyInSec":null,"MaxItemsToProcess":7}"#, Some((60, 7)));
        check_task(DueKind::Archival, r#"{"ArchiveFrequencyInSec":1,"MaxItemsToProcess":null}"#, Some((1, u64::MAX)));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let refused = |text: &str, message: &str| {
            let error = read_text(DueKind::Expiration, text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        };
        for value in ["0", "-1", "1.5", "\"60\"", "true", "3162240001"] {
            refused(
                &format!(r#"{{"Disabled":true,"DeleteFrequencyInSec":{value}}}"#),
                "'DeleteFrequencyInSec' must be",
            );
        }
        for value in ["0", "-1", "1.5", "\"60\""] {
            refused(&format!(r#"{{"MaxItemsToProcess":{value}}}"#), "'MaxItemsToProcess' must be");
        }
        refused(r#"{"Disabled":"no"}"#, "'Disabled' must be true or false");
        refused(r#"{"RefreshFrequencyInSec":60}"#, "there is no 'RefreshFrequencyInSec'");
        refused("[]", "'Expiration' of a database must be an object");
    }
}
