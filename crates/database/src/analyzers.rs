//! Custom analyzers: those of a database, in its record, and those of the node, which all its databases have.
//!
//! An index keeps those that its fields name, as they were when it was defined or last reset: a change of an analyzer changes no index
//! before that (`indexes/stored.rs`).

use std::sync::Arc;

use documents::id;
use json::Value;
use query::analysis::{CustomAnalyzer, CustomAnalyzers};

use crate::limits::ANALYZERS_MAX;
use crate::request_ids::Request;
use crate::{Databases, Error, Result};

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

/// Leaves out of a record the analyzers that are not served.
pub(crate) fn leave_out_unserved(record: &mut Value) {
    let Some(Value::Object(members)) = record.get(ANALYZERS).cloned() else { return };
    let mut kept = Value::object();
    for (name, given) in members {
        match read(&given) {
            Ok(_) => kept.set(&name, given),
            Err(error) => tracing::warn!(analyzer = name, %error, "an analyzer of the backup is left out"),
        }
    }
    record.set(ANALYZERS, kept);
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

impl Databases {
    /// Adds analyzers to a database, or replaces those of their names; gives the raft index.
    ///
    /// * `given`: `{"Name","Code"}` each.
    ///
    /// # Errors
    ///
    /// [`Error::BadRecord`] for a definition without its parts, or for too many, [`Error::Analyzer`] for code that is wrong,
    /// [`Error::NotSupported`] for code that is not served, [`Error::Missing`], or storage fails. Then none is changed.
    pub fn put_analyzers(&self, database: &str, given: &[Value], request_id: Option<&str>) -> Result<u64> {
        let put = given.iter().map(read).collect::<Result<Vec<_>>>()?;
        let request = self.request("put-analyzers", database, put.iter().map(CustomAnalyzer::name), request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, database)? {
            return Ok(record.etag);
        }
        let entry = self.entry(database)?;
        let all = with(entry.record().value.get(ANALYZERS), &put)?;
        self.change_records(&request, &[entry], |record, _| record.set(ANALYZERS, all.clone()))
    }

    /// Removes the analyzer of a name from a database, if there is one; gives the raft index.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], or storage fails.
    pub fn delete_analyzer(&self, database: &str, name: &str, request_id: Option<&str>) -> Result<u64> {
        let request = self.request("delete-analyzer", database, [name], request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, database)? {
            return Ok(record.etag);
        }
        self.change_records(&request, &[self.entry(database)?], |record, _| {
            let all = without(record.get(ANALYZERS), |known| id::is_same(known, name));
            record.set(ANALYZERS, all);
        })
    }

    /// The analyzers of the node.
    pub fn server_wide_analyzers(&self) -> Arc<CustomAnalyzers> {
        self.analyzers.read().clone()
    }

    /// Adds analyzers to the node, or replaces those of their names; gives the raft index.
    ///
    /// # Errors
    ///
    /// As [`Self::put_analyzers`].
    pub fn put_server_wide_analyzers(&self, given: &[Value], request_id: Option<&str>) -> Result<u64> {
        let put = given.iter().map(read).collect::<Result<Vec<_>>>()?;
        let request = self.request("put-analyzers", "", put.iter().map(CustomAnalyzer::name), request_id)?;
        self.change_server_wide_analyzers(&request, |known| with(Some(known), &put))
    }

    /// Removes the analyzer of a name from the node, if there is one; gives the raft index.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn delete_server_wide_analyzer(&self, name: &str, request_id: Option<&str>) -> Result<u64> {
        let request = self.request("delete-analyzer", "", [name], request_id)?;
        self.change_server_wide_analyzers(&request, |known| Ok(without(Some(known), |known| id::is_same(known, name))))
    }

    fn change_server_wide_analyzers(
        &self,
        request: &Request,
        change: impl FnOnce(&Value) -> Result<Value>,
    ) -> Result<u64> {
        let _changing = self.changing.lock();
        if let Some(index) = self.system.applied(request)? {
            return Ok(index);
        }
        let all = change(&self.system.server_wide_analyzers()?)?;
        let ((), index) = self.system.change(request, |system, tx, _| system.put_server_wide_analyzers(tx, &all))?;
        *self.analyzers.write() = Arc::new(of(Some(&all), ""));
        self.configure_all();
        Ok(index)
    }

    fn request<'n>(
        &self,
        operation: &str,
        database: &'n str,
        names: impl IntoIterator<Item = &'n str>,
        id: Option<&str>,
    ) -> Result<Request> {
        let names: Vec<&str> = std::iter::once(database).chain(names).collect();
        Request::new(operation, &names, id)
    }
}
