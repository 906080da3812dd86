//! The record of a restored database: of the one in the backup, each part and each task that is acceptable here.
//!
//! A part that another version or RavenDB wrote and that is not acceptable here is left out alone, with a warning in the result of the
//! operation. The documents and the other settings count more.

use documents::Date;
use json::Value;

use super::PERIODIC_BACKUPS;
use super::configuration::check_task;
use crate::analyzers::{self, ANALYZERS};
use crate::smuggler::{SmugglerResult, restored_record};
use crate::{Error, record_properties};

/// Characters of the name of a task or an analyzer that a warning repeats.
const NAME_LENGTH_SHOWN: usize = 128;

/// The acceptable parts of the record in a backup.
///
/// * `result`: is given a warning for each part, task or analyzer that is left out.
pub(super) fn acceptable(dumped: &Value, result: &mut SmugglerResult) -> Value {
    let restorable = restored_record(dumped);
    let mut record = Value::object();
    for (part, value) in restorable.members() {
        let value = match part.as_str() {
            ANALYZERS => analyzers::without_unserved(value, |name, error| warn(result, "analyzer", name, error)),
            PERIODIC_BACKUPS => acceptable_tasks(value, result),
            _ => value.clone(),
        };
        match record_properties::check_property(part, &value) {
            Ok(()) => record.set(part, value),
            Err(error) => warn(result, "setting", part, &error),
        }
    }
    // Of features that are missing here. What no record has is passed over, as in each dump.
    for (part, value) in dumped.members().iter().filter(|(part, _)| restorable.get(part).is_none()) {
        if let Err(error @ Error::NotSupported(_)) = record_properties::check_property(part, value) {
            warn(result, "setting", part, &error);
        }
    }
    record
}

fn acceptable_tasks(tasks: &Value, result: &mut SmugglerResult) -> Value {
    let Value::Array(tasks) = tasks else { return tasks.clone() };
    let mut ids = Vec::new();
    let is_acceptable = |task: &&Value| match check_task(task, &mut ids) {
        Ok(()) => true,
        Err(error) => {
            let name = task.get("Name").and_then(Value::as_str).unwrap_or_default();
            warn(result, "backup task", name, &error);
            false
        }
    };
    Value::Array(tasks.iter().filter(is_acceptable).cloned().collect())
}

fn warn(result: &mut SmugglerResult, noun: &str, name: &str, error: &Error) {
    let name: String = name.chars().take(NAME_LENGTH_SHOWN).collect();
    result.warn(&format!("The {noun} '{name}' of the database in the backup was left out: {error}"));
}

/// Tasks of a database that is restored: as new ones, so that none runs at once for a time that has passed.
pub(super) fn as_new_tasks(tasks: Option<&Value>, is_disabled: bool, now: Date) -> Value {
    let Some(Value::Array(tasks)) = tasks else { return Value::Null };
    let mut tasks = tasks.clone();
    for task in &mut tasks {
        task.set("CreatedAt", Value::String(now.to_string()));
        if is_disabled {
            task.set("Disabled", true.into());
        }
    }
    Value::Array(tasks)
}
