//! Changes of the custom analyzers of databases and of the node.

use std::sync::Arc;

use documents::id;
use json::Value;
use query::analysis::{CustomAnalyzer, CustomAnalyzers};

use super::{ANALYZERS, of, read, with, without};
use crate::request_ids::Request;
use crate::{Databases, Result};

impl Databases {
    /// Adds analyzers to a database, or replaces those of their names; gives the raft index.
    ///
    /// * `given`: `{"Name","Code"}` each.
    ///
    /// # Errors
    ///
    /// [`crate::Error::BadRecord`] for a definition without its parts, or for too many, [`crate::Error::Analyzer`] for code that is wrong,
    /// [`crate::Error::NotSupported`] for code that is not served, [`crate::Error::Missing`], or storage fails. Then none is changed.
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
    /// [`crate::Error::Missing`], or storage fails.
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
