//! Administration of databases and their records: creation, deletion, locks, settings.
//!
//! One change at a time, under the lock `changing`; each is one transaction of the node's own environment, under the next raft
//! index, with the id of the request that asked for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use documents::{Date, DueKind};
use json::Value;
use storage::WriteTransaction;

use crate::backups;
use crate::client_configuration::ClientConfiguration;
use crate::databases::Opening;
use crate::due::{self, DueSettings};
use crate::entry::{DatabaseEntry, Previous};
use crate::principals::Principal;
use crate::request_ids::Request;
use crate::revisions::RevisionsProperty;
use crate::system::System;
use crate::{Database, DatabaseRecord, Databases, Error, LockMode, Result, folders, name, record_properties};

/// What the log has in place of a folder.
const IN_MEMORY: &str = "(memory)";

/// The outcome of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The raft index of the last deletion; None if nothing was deleted.
    pub raft_index: Option<u64>,
    /// The databases that were deleted, by their names.
    pub deleted: Vec<String>,
}

impl Databases {
    /// Creates a database and gives its record.
    ///
    /// * `request_id`: a request that was applied before is not applied again, here and below; its answer has the etag of
    ///   then.
    ///
    /// # Errors
    ///
    /// [`Error::BadName`], [`Error::NotSupported`] and [`Error::BadRecord`] for what the record configures, [`Error::AlreadyExists`],
    /// [`Error::Missing`] if it was created by this request and deleted since, or storage fails.
    pub fn create(&self, name: &str, mut record: Value, request_id: Option<&str>) -> Result<Arc<DatabaseRecord>> {
        name::check(name)?;
        record_properties::check(&record)?;
        record_properties::leave_out_unknown(&mut record);
        let request = Request::new("create", &[name], request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, name)? {
            return Ok(record);
        }
        if self.names.get(name).is_some() {
            return Err(Error::AlreadyExists { name: name.to_owned() });
        }
        let node_tag = &self.options.node_tag;
        let draft = DatabaseRecord::new(record.clone(), name, node_tag, 0, Date::now());
        let is_on_disk = self.options.folder.is_some() && draft.run_in_memory() != Some(true);
        let kept = if is_on_disk { self.system.kept(name)? } else { None };
        // The environment is made, durably, before a record refers to it. In memory it is made when it is asked for.
        let (folder, made) = match (is_on_disk, kept) {
            (false, _) => (None, None),
            (true, Some(kept)) => (Some(kept), None),
            (true, None) => {
                let folder = self.choose_folder(name)?;
                let made = self.open_database(&draft, Some(&folder), Opening::New);
                (Some(folder.clone()), Some(made.inspect_err(|_| self.remove_made(&folder))?))
            }
        };
        let server_wide = self.server_wide_backups()?;
        let changed = self.system.change(&request, |system, tx, index| {
            let mut record = DatabaseRecord::new(record, name, node_tag, index, Date::now());
            if !server_wide.is_empty() {
                backups::set_server_wide_tasks(&mut record.value, &server_wide);
            }
            system.put_record(tx, &record, folder.as_deref())?;
            Ok(record)
        });
        let (record, _) = match changed {
            Ok(changed) => changed,
            Err(error) => {
                if let (Some(made), Some(folder)) = (made, &folder) {
                    drop(made);
                    self.remove_made(folder);
                }
                return Err(error);
            }
        };
        let held = folder.as_ref().and_then(|folder| self.deleted.lock().remove(folder));
        let entry = DatabaseEntry::new(record, folder.clone(), held.map_or(Previous::None, Previous::OnDisk));
        let record = entry.record();
        if let Some(made) = made.filter(|_| !record.is_disabled()) {
            entry.store(made);
        }
        self.add_entry(name, entry);
        self.configure_backups(name)?;
        tracing::info!(database = name, folder = folder.as_deref().unwrap_or(IN_MEMORY), "database created");
        Ok(record)
    }

    /// Removes the folder of a creation that failed. What is left of it goes at the next start.
    fn remove_made(&self, folder: &str) {
        if let Some(Err(error)) = self.path_of(folder).map(|path| folders::remove(&path)) {
            tracing::warn!(folder, %error, "a database could not be created, and its folder not be removed");
        }
    }

    /// What a request about one database is answered with if it was applied before.
    pub(crate) fn repeated(&self, request: &Request, name: &str) -> Result<Option<Arc<DatabaseRecord>>> {
        let Some(etag) = self.system.applied(request)? else { return Ok(None) };
        let record = DatabaseRecord::clone(&self.entry(name)?.record());
        Ok(Some(Arc::new(DatabaseRecord { etag, ..record })))
    }

    /// Replaces parts of a record: every property in `changes` except the name and the topology.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] and [`Error::BadRecord`] for what the changes configure, [`Error::Missing`], [`Error::RecordConflict`] if
    /// `expected_etag` is given and not the record's, [`Error::PlaceIsFixed`], or storage fails.
    pub fn update(
        &self,
        name: &str,
        changes: &Value,
        expected_etag: Option<u64>,
        request_id: Option<&str>,
    ) -> Result<Arc<DatabaseRecord>> {
        record_properties::check(changes)?;
        let request = Request::new("update", &[name], request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, name)? {
            return Ok(record);
        }
        let entry = self.entry(name)?;
        let now = entry.record();
        if let Some(expected) = expected_etag.filter(|expected| *expected != now.etag) {
            return Err(Error::RecordConflict { name: now.name().to_owned(), expected, actual: now.etag });
        }
        self.change_records(&request, std::slice::from_ref(&entry), |record, _| {
            for (key, value) in changes.members() {
                if key != "DatabaseName" && key != "Topology" && record_properties::is_stored(key) {
                    record.set(key, value.clone());
                }
            }
        })?;
        Ok(entry.record())
    }

    /// Changes records under the next index, all or none. The lock `changing` is held.
    pub(crate) fn change_records(
        &self,
        request: &Request,
        entries: &[Arc<DatabaseEntry>],
        change: impl Fn(&mut Value, u64) + Sync,
    ) -> Result<u64> {
        self.change_records_and(request, entries, change, |_, _| Ok(()))
    }

    /// The same, with another change of the node in the same transaction.
    pub(crate) fn change_records_and(
        &self,
        request: &Request,
        entries: &[Arc<DatabaseEntry>],
        change: impl Fn(&mut Value, u64) + Sync,
        also: impl FnOnce(&System, &mut WriteTransaction<'_>) -> Result<()> + Send,
    ) -> Result<u64> {
        let (records, index) = self.system.change(request, |system, tx, index| {
            also(system, tx)?;
            let mut records = Vec::with_capacity(entries.len());
            for entry in entries {
                let mut record = DatabaseRecord::clone(&entry.record());
                change(&mut record.value, index);
                record.etag = index;
                entry.refuse_move(&record)?;
                system.put_record(tx, &record, entry.folder())?;
                records.push(record);
            }
            Ok(records)
        })?;
        for (entry, record) in entries.iter().zip(records) {
            let is_disabled = record.is_disabled();
            entry.set_record(Arc::new(record));
            if is_disabled {
                entry.close();
            }
            entry.configure(&self.node_settings());
            self.due.configure(entry.record().name(), entry.due());
            self.configure_backups(entry.record().name())?;
        }
        Ok(index)
    }

    /// Deletes databases, all at once; those that do not exist are passed over. Whoever holds one goes on reading what it was.
    ///
    /// * `is_hard`: the files are removed too, once the last holder has closed them. Otherwise they stay, and a database created by the
    ///   same
    ///   name has them again.
    ///
    /// # Errors
    ///
    /// [`Error::DeletionLocked`], before anything is deleted; or storage fails.
    pub fn delete(&self, names: &[&str], is_hard: bool, request_id: Option<&str>) -> Result<Deletion> {
        let request = Request::new("delete", names, request_id)?;
        let (deletion, closing) = {
            let _changing = self.changing.lock();
            self.delete_records(&request, names, is_hard)?
        };
        // Without the lock: it may have a thousand indexes to close, and keys must be revoked meanwhile.
        drop(closing);
        self.remove_deleted();
        Ok(deletion)
    }

    /// Gives the databases that are not closed yet, too.
    fn delete_records(
        &self,
        request: &Request,
        names: &[&str],
        is_hard: bool,
    ) -> Result<(Deletion, Vec<Arc<Database>>)> {
        if let Some(index) = self.system.applied(request)? {
            return Ok((Deletion { raft_index: Some(index), deleted: Vec::new() }, Vec::new()));
        }
        let mut entries: Vec<Arc<DatabaseEntry>> = Vec::new();
        for entry in names.iter().filter_map(|name| self.names.get(name)) {
            match entry.record().lock_mode() {
                LockMode::PreventDeletesError => {
                    return Err(Error::DeletionLocked { name: entry.record().name().to_owned() });
                }
                LockMode::PreventDeletesIgnore => {}
                LockMode::Unlock if entries.iter().any(|other| Arc::ptr_eq(other, &entry)) => {}
                LockMode::Unlock => entries.push(entry),
            }
        }
        if entries.is_empty() {
            return Ok((Deletion { raft_index: None, deleted: Vec::new() }, Vec::new()));
        }
        let ((), index) = self.system.change(request, |system, tx, _| {
            entries.iter().try_for_each(|entry| {
                let record = entry.record();
                system.delete_record(tx, record.name())?;
                system.delete_backup_statuses(tx, record.name())?;
                match (entry.folder(), is_hard) {
                    (Some(folder), true) => system.put_deleting(tx, folder),
                    (Some(folder), false) => system.put_kept(tx, record.name(), folder),
                    (None, _) => Ok(()),
                }
            })
        })?;
        let mut deleted = Vec::with_capacity(entries.len());
        let mut closing = Vec::new();
        for entry in entries {
            let name = entry.record().name().to_owned();
            self.names.remove(&name);
            self.due.configure(&name, DueSettings::default());
            self.backups.configure(&name, Vec::new(), &[]);
            self.archiver.configure(&name, None);
            let (held, open) = entry.delete();
            closing.extend(open);
            if let (Some(held), Some(folder)) = (held, entry.folder()) {
                self.deleted.lock().insert(folder.to_owned(), held);
            }
            tracing::info!(database = name, files = if is_hard { "removed" } else { "kept" }, "database deleted");
            deleted.push(name);
        }
        Ok((Deletion { raft_index: Some(index), deleted }, closing))
    }

    /// Disables or enables databases; gives for each name whether there is such a database.
    ///
    /// # Errors
    ///
    /// Storage fails; then none is changed.
    pub fn set_disabled(&self, names: &[&str], is_disabled: bool, request_id: Option<&str>) -> Result<Vec<bool>> {
        let request = Request::new(if is_disabled { "disable" } else { "enable" }, names, request_id)?;
        let _changing = self.changing.lock();
        let found: Vec<Option<Arc<DatabaseEntry>>> = names.iter().map(|name| self.names.get(name)).collect();
        let exist = found.iter().map(Option::is_some).collect();
        let is_other = |entry: &Arc<DatabaseEntry>| entry.record().is_disabled() != is_disabled;
        let entries: Vec<Arc<DatabaseEntry>> = found.into_iter().flatten().filter(is_other).collect();
        if !entries.is_empty() && self.system.applied(&request)?.is_none() {
            self.change_records(&request, &entries, |record, _| record.set("Disabled", is_disabled.into()))?;
            for entry in &entries {
                let outcome = if is_disabled { "disabled" } else { "enabled" };
                tracing::info!(database = entry.record().name(), "database {outcome}");
            }
        }
        Ok(exist)
    }

    /// Locks databases against deletion, or unlocks them.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], or storage fails; then none is changed.
    pub fn set_lock_mode(&self, names: &[&str], mode: LockMode, request_id: Option<&str>) -> Result<()> {
        let request = Request::new(mode.wire_name(), names, request_id)?;
        let _changing = self.changing.lock();
        if self.system.applied(&request)?.is_some() {
            return Ok(());
        }
        let entries = names.iter().map(|name| self.entry(name)).collect::<Result<Vec<_>>>()?;
        self.change_records(&request, &entries, |record, _| record.set("LockMode", mode.wire_name().into())).map(drop)
    }

    /// Replaces the settings of a database. They count when it is opened next: disable and enable it.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::PlaceIsFixed`], or storage fails.
    pub fn put_settings(&self, name: &str, settings: &Value, request_id: Option<&str>) -> Result<Arc<DatabaseRecord>> {
        let request = Request::new("settings", &[name], request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, name)? {
            return Ok(record);
        }
        let entry = self.entry(name)?;
        self.change_records(&request, std::slice::from_ref(&entry), |record, _| {
            record.set("Settings", settings.clone())
        })?;
        Ok(entry.record())
    }

    /// Sets the configuration of what happens to documents at a time; gives its raft index.
    ///
    /// # Errors
    ///
    /// [`Error::BadRecord`] for a configuration that means nothing, [`Error::Missing`], or storage fails.
    pub fn put_due_configuration(
        &self,
        name: &str,
        kind: DueKind,
        value: &Value,
        request_id: Option<&str>,
    ) -> Result<u64> {
        due::check(kind, value)?;
        let (property, value) = (due::property(kind), due::completed(kind, value));
        let request = Request::new(property, &[name], request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, name)? {
            return Ok(record.etag);
        }
        self.change_records(&request, &[self.entry(name)?], |record, _| record.set(property, value.clone()))
    }

    /// Sets a configuration of revisions; gives its raft index.
    ///
    /// # Errors
    ///
    /// As [`Self::put_due_configuration`].
    pub fn put_revisions_configuration(
        &self,
        name: &str,
        property: RevisionsProperty,
        value: &Value,
        request_id: Option<&str>,
    ) -> Result<u64> {
        property.check(value)?;
        let value = property.completed(value);
        let request = Request::new(property.name(), &[name], request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, name)? {
            return Ok(record.etag);
        }
        let change = |record: &mut Value, _| record.set(property.name(), value.clone());
        self.change_records(&request, &[self.entry(name)?], change)
    }

    /// Sets the order in which clients prefer the nodes of a database; empty: none is fixed.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], or storage fails.
    pub fn put_priority_order(&self, name: &str, order: &[String], request_id: Option<&str>) -> Result<()> {
        let request = Request::new("reorder", &[name], request_id)?;
        let _changing = self.changing.lock();
        if self.repeated(&request, name)?.is_some() {
            return Ok(());
        }
        let change = |record: &mut Value, _| {
            let mut topology = record.get("Topology").cloned().unwrap_or_else(Value::object);
            topology.set("PriorityOrder", Value::Array(order.iter().map(|node| node.as_str().into()).collect()));
            record.set("Topology", topology);
        };
        self.change_records(&request, &[self.entry(name)?], change).map(drop)
    }

    /// Sets the client configuration of the node; gives its raft index, which becomes its etag.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn put_client_configuration(&self, mut value: Value, request_id: Option<&str>) -> Result<u64> {
        let request = Request::new("client-configuration", &[], request_id)?;
        let _changing = self.changing.lock();
        if let Some(index) = self.system.applied(&request)? {
            return Ok(index);
        }
        let (configuration, index) = self.system.change(&request, |system, tx, index| {
            value.set("Etag", Value::Number(index.to_string()));
            let configuration = ClientConfiguration { etag: index as i64, value: Some(value) };
            system.put_client_configuration(tx, &configuration)?;
            Ok(configuration)
        })?;
        *self.client_configuration.write() = Arc::new(configuration);
        self.configure_all();
        Ok(index)
    }

    /// The principals of a kind with their ids, in the order of these.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn principals<P: Principal>(&self) -> Result<Vec<(String, P)>> {
        self.system.principals()
    }

    /// The principal of a kind with this id.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn principal<P: Principal>(&self, id: &str) -> Result<Option<P>> {
        self.system.principal(id)
    }

    /// Registers a principal, changes what is registered, or removes it.
    ///
    /// * `operation`: its name, by which a request that is sent again is known.
    /// * `id`: of a certificate its thumbprint, SHA-1 in upper-case hexadecimal; of a key [`ApiKey::id`].
    /// * `change`: is given what is registered now, and gives what is to be; `None` removes it. No other change comes between.
    ///
    /// # Errors
    ///
    /// What `change` gives; [`Error::BadPrincipal`] if there are too many; or storage fails. Then nothing is changed.
    pub fn change_principal<P: Principal + Sync, E: From<Error>>(
        &self,
        operation: &str,
        id: &str,
        request_id: Option<&str>,
        change: impl FnOnce(Option<P>) -> std::result::Result<Option<P>, E>,
    ) -> std::result::Result<(), E> {
        let request = Request::new(operation, &[id], request_id)?;
        let _changing = self.changing.lock();
        if self.system.applied(&request)?.is_some() {
            return Ok(());
        }
        let before = self.system.principal(id)?;
        let after: Option<P> = change(before.clone())?;
        if before == after {
            return Ok(());
        }
        self.system.change(&request, |system, tx, _| match &after {
            Some(principal) => system.put_principal(tx, id, principal),
            None => system.delete_principal::<P>(tx, id),
        })?;
        Ok(())
    }

    /// Notes when API keys were used last. Keys that are there no longer are left out.
    ///
    /// * `uses`: [`ApiKey::hash`] and moment.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn note_api_key_uses(&self, uses: &HashMap<String, SystemTime>) -> Result<()> {
        let _changing = self.changing.lock();
        self.system.note_api_key_uses(uses)
    }

    /// Sets the client configuration of a database; gives its raft index, which becomes its etag.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], or storage fails.
    pub fn put_client_configuration_of(&self, name: &str, value: &Value, request_id: Option<&str>) -> Result<u64> {
        let request = Request::new("client-configuration", &[name], request_id)?;
        let _changing = self.changing.lock();
        if let Some(record) = self.repeated(&request, name)? {
            return Ok(record.etag);
        }
        self.change_records(&request, &[self.entry(name)?], |record, index| {
            let mut value = value.clone();
            value.set("Etag", Value::Number(index.to_string()));
            record.set("Client", value);
        })
    }
}
