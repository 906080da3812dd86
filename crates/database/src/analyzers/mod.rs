//! Custom analyzers: those of a database, in its record, and those of the node, which all its databases have.
//!
//! An index keeps those that its fields name, as they were when it was defined or last reset: a change of an analyzer changes no index
//! before that (`indexes/stored.rs`).

mod administration;

use documents::id;
use json::Value;
use query::analysis::{CustomAnalyzer, CustomAnalyzers};

use crate::limits::ANALYZERS_MAX;
use crate::{Error, Result};

/// The property of records: an object of definitions by name.
pub(crate) const ANALYZERS: &str = "Analyzers";

/// A definition as clients send it: `{"Name","Code"}`.
fn read(given: &Value) -> Result<CustomAnalyzer> {
    let text = |key: &str| given.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let lacks = |key| bad(format!("Analyzer must have a '{key}' field."));
    let name = text("Name").ok_or_else(|| lacks("Name"))?;
    Ok(CustomAnalyzer::compile(name, text("Code").ok_or_else(|| lacks("Code"))?)?)
}

fn bad(rule: String) -> Error {
    Error::BadRecord { rule }
}

/// Refuses the analyzers of a record that are not what they must be.
///
/// # Errors
///
/// [`Error::BadRecord`], [`Error::Analyzer`], [`Error::NotSupported`]
pub(crate) fn check(analyzers: &Value) -> Result<()> {
    let Value::Object(members) = analyzers else {
        return Err(bad(format!("'{ANALYZERS}' of the record of a database must be an object of analyzers by name")));
    };
    check_count(members.len())?;
    members.iter().try_for_each(|(name, given)| match read(given)?.name() == name {
        true => Ok(()),
        false => Err(bad(format!("'{ANALYZERS}' of the record of a database has '{name}' under another name"))),
    })
}

/// The analyzers of a record without those that are not served.
///
/// * `left_out`: is given the name of each of these, and the reason.
pub(crate) fn without_unserved(analyzers: &Value, mut left_out: impl FnMut(&str, &Error)) -> Value {
    let Value::Object(members) = analyzers else { return analyzers.clone() };
    let is_served = |(name, given): &&(String, Value)| read(given).inspect_err(|error| left_out(name, error)).is_ok();
    Value::Object(members.iter().filter(is_served).cloned().collect())
}

fn check_count(count: usize) -> Result<()> {
    match count > ANALYZERS_MAX {
        true => Err(bad(format!("{count} analyzers exceed the limit ANALYZERS_MAX = {ANALYZERS_MAX}"))),
        false => Ok(()),
    }
}

/// The analyzers of a record, or of the node. One that cannot be read any more is logged, and left out.
pub(crate) fn of(analyzers: Option<&Value>, database: &str) -> CustomAnalyzers {
    CustomAnalyzers::from_json(analyzers, |analyzer, reason| {
        tracing::error!(database, analyzer, %reason, "a custom analyzer cannot be used; indexes that name it cannot be made");
    })
}

/// Definitions by name, with those that are put in place of others of their names.
fn with(known: Option<&Value>, put: &[CustomAnalyzer]) -> Result<Value> {
    let mut all = without(known, |name| put.iter().any(|analyzer| id::is_same(analyzer.name(), name)));
    put.iter().for_each(|analyzer| all.set(analyzer.name(), analyzer.to_json()));
    check_count(all.members().len())?;
    Ok(all)
}

fn without(known: Option<&Value>, is_removed: impl Fn(&str) -> bool) -> Value {
    let known = known.map(Value::members).unwrap_or_default();
    Value::Object(known.iter().filter(|(name, _)| !is_removed(name)).cloned().collect())
}
