//! Writing counters inside a write transaction.

use super::command::{CounterAction, CounterCommand, CounterDetail};
use super::names::{self, NameChanges};
use super::{read, value};
use crate::commands::command::CounterRead;
use crate::ids::{id, owned};
use crate::items::change::{Deletion, Parts};
use crate::items::found::{CurrentItem, Existing};
use crate::items::kinds::ItemKind;
use crate::items::record::{self, Head, RecordState};
use crate::{CommandResult, Error, Etag, Flags, Result, Snapshot, Writing};

/// Counters that the deletion of a document looks up at once.
const KEYS_AT_ONCE: usize = 1024;

/// A counter that was written.
struct Written {
    total: i64,
    etag: Etag,
    is_new: bool,
}

impl Writing<'_, '_> {
    /// Runs a command on the counters of a document; gives how many of its operations were done, which are all but merges that have no
    /// document.
    ///
    /// # Errors
    ///
    /// [`Error::MissingDocument`] if it writes and there is no such document; [`Error::CounterOverflow`]. The transaction must then be
    /// rolled back.
    pub(crate) fn run_counters(&mut self, command: &CounterCommand) -> Result<(CommandResult, u64)> {
        let document_id = &command.document_id;
        let document_key = id::lower(document_id);
        let mut changes = NameChanges::default();
        let (mut counters, mut last_etag) = (Vec::new(), None);
        let mut done_count = command.operations.len() as u64;
        for operation in &command.operations {
            let name = operation.name.as_str();
            match &operation.action {
                CounterAction::Get => counters.push(self.counter_detail(command, name)?),
                CounterAction::GetAll => {
                    let (schema, names) = (&self.store.schema, &self.store.names);
                    let all = read::all(schema, names, &*self.tx, &document_key)?;
                    counters.extend(
                        all.iter()
                            .map(|counter| Some(detail(document_id, counter.name(), counter, command.has_values))),
                    );
                }
                CounterAction::Increment(delta) => {
                    let database = self.store.names.database_bytes;
                    let written = self.change_counter(document_id, &document_key, name, |body, etag| {
                        let before = value::total(body).unwrap_or_default();
                        match value::increment(body, database, *delta, etag) {
                            Some(_) => Ok(true),
                            None => Err(Error::CounterOverflow {
                                document_id: document_id.clone(),
                                name: name.to_owned(),
                                value: before,
                                delta: *delta,
                            }),
                        }
                    })?;
                    let Some(written) = written else { continue };
                    last_etag = Some(written.etag);
                    if written.is_new {
                        changes.add(name);
                    }
                    let has_values = command.has_values;
                    let detail = match has_values {
                        true => self.counter_detail(command, name)?,
                        false => Some(CounterDetail {
                            document_id: document_id.clone(),
                            name: name.to_owned(),
                            total: written.total,
                            values: None,
                        }),
                    };
                    counters.push(detail);
                }
                CounterAction::Merge(_) if self.find_item(ItemKind::Document, &document_key)?.is_none() => {
                    done_count -= 1;
                }
                CounterAction::Merge(values) if values.is_empty() => {
                    if let Some(etag) = self.delete_counter(document_id, &document_key, name)? {
                        last_etag = Some(etag);
                        changes.remove(name);
                    }
                }
                CounterAction::Merge(values) => {
                    let written =
                        self.change_counter(document_id, &document_key, name, |body, _| value::merge(body, values))?;
                    if let Some(written) = written {
                        last_etag = Some(written.etag);
                        if written.is_new {
                            changes.add(name);
                        }
                    }
                }
                CounterAction::Delete => {
                    if let Some(etag) = self.delete_counter(document_id, &document_key, name)? {
                        last_etag = Some(etag);
                        changes.remove(name);
                    }
                }
            }
        }
        let is_imported =
            command.operations.iter().all(|operation| matches!(operation.action, CounterAction::Merge(_)));
        let document_change_vector = match changes.is_empty() {
            true => None,
            false => Some(self.change_counter_names(&document_key, &changes, is_imported)?),
        };
        let own = last_etag.map(|etag| self.store.names.vector(etag));
        let result = CommandResult::Counters {
            id: document_id.clone(),
            change_vector: document_change_vector.clone().or(own),
            counters,
            document_change_vector,
        };
        Ok((result, done_count))
    }

    fn counter_detail(&self, command: &CounterCommand, name: &str) -> Result<Option<CounterDetail>> {
        let key = id::lower(&owned::id_of(&command.document_id, name));
        let counter = read::find(&self.store.schema, &self.store.names, &*self.tx, &key)?;
        Ok(counter.map(|counter| detail(&command.document_id, name, &counter, command.has_values)))
    }

    /// The document that counters are written to.
    fn document_of_counters(&self, document_id: &str, document_key: &[u8]) -> Result<Existing> {
        let document = self.find_item(ItemKind::Document, document_key)?;
        document.ok_or_else(|| Error::MissingDocument { id: document_id.to_owned() })
    }

    /// Changes a counter, which is made if there is none.
    ///
    /// * `change`: changes its values, and gives whether it did; if not, nothing is written.
    fn change_counter(
        &mut self,
        document_id: &str,
        document_key: &[u8],
        name: &str,
        change: impl FnOnce(&mut Vec<u8>, Etag) -> Result<bool>,
    ) -> Result<Option<Written>> {
        let key = id::lower(&owned::id_of(document_id, name));
        let before = self.find_item(ItemKind::Counter, &key)?;
        let schema = self.store.schema;
        // A counter that is there has its document, and is in its collection.
        let (place, spelled, mut body) = match &before {
            Some(counter) => {
                let record = schema.records.get(&*self.tx, counter.location)?;
                let spelled = record::id(&counter.head, record)?.to_owned();
                let body = record.get(counter.head.body_at()..).unwrap_or_default().to_vec();
                (self.collection_by_number(counter.head.collection)?, spelled, body)
            }
            None => {
                let document = self.document_of_counters(document_id, document_key)?;
                let record = schema.records.get(&*self.tx, document.location)?;
                let spelled = owned::id_of(record::id(&document.head, record)?, name);
                (self.collection_by_number(document.head.collection)?, spelled, Vec::new())
            }
        };
        let collection = self.collection(place);
        let (number, tombstone_count) = (collection.number, collection.counts[ItemKind::Counter].tombstone_count);
        let tombstone = match before.is_none() && tombstone_count > 0 {
            true => self.find_tombstone(ItemKind::Counter, number, &key)?,
            false => None,
        };
        let etag = self.next_etag()?;
        if !change(&mut body, etag)? {
            return Ok(None);
        }
        let vector = self.vector_over(before.as_ref().or(tombstone.as_ref()), etag)?;
        let head = Head {
            flags: if before.is_some() { Flags::RAISED } else { Flags::NONE },
            // A value for each of a bounded number of databases.
            body_size: body.len() as u32,
            ..Head::stored(ItemKind::Counter, number, etag, self.now)
        };
        let vector = vector.as_deref().unwrap_or_default();
        let parts = Parts { id: &spelled, vector, server_metadata: &[], content: &body };
        self.store_item(place, head, parts, &key, before.as_ref(), tombstone.as_ref())?;
        Ok(Some(Written { total: value::total(&body).unwrap_or_default(), etag, is_new: before.is_none() }))
    }

    /// Deletes a counter; gives the etag of the deletion, if there was one.
    fn delete_counter(&mut self, document_id: &str, document_key: &[u8], name: &str) -> Result<Option<Etag>> {
        let key = id::lower(&owned::id_of(document_id, name));
        match self.find_item(ItemKind::Counter, &key)? {
            Some(counter) => self.remove_counter(&counter, &key).map(Some),
            None => self.document_of_counters(document_id, document_key).map(|_| None),
        }
    }

    fn remove_counter(&mut self, counter: &Existing, key: &[u8]) -> Result<Etag> {
        let etag = self.next_etag()?;
        let deletion = Deletion {
            etag,
            vector: self.vector_over(Some(counter), etag)?,
            last_modified: self.now,
            body: Vec::new(),
        };
        self.remove_item(counter, key, &deletion)?;
        Ok(etag)
    }

    /// Deletes all counters of a document that is about to be deleted.
    pub(crate) fn delete_counters_of(&mut self, document: &Existing, document_key: &[u8]) -> Result<()> {
        if !document.head.flags.has_counters() {
            return Ok(());
        }
        let schema = self.store.schema;
        loop {
            let keys = schema.keys_of_document(&*self.tx, ItemKind::Counter, document_key, KEYS_AT_ONCE)?;
            if keys.is_empty() {
                return Ok(());
            }
            for (key, location) in keys {
                let counter = Existing::at(&schema, &*self.tx, location, ItemKind::Counter, RecordState::Stored)?;
                self.remove_counter(&counter, &key)?;
            }
        }
    }

    /// Whether counters that patches read are still what they were.
    ///
    /// # Errors
    ///
    /// [`Error::ReadChanged`]
    pub(crate) fn check_counters(&self, reads: &[CounterRead]) -> Result<()> {
        for read in reads {
            let key = id::lower(&owned::id_of(&read.document_id, &read.name));
            let counter = self.find_item(ItemKind::Counter, &key)?;
            if counter.map(|counter| counter.head.etag) != read.etag {
                return Err(Error::ReadChanged { id: read.document_id.clone() });
            }
        }
        Ok(())
    }

    /// Changes the names that a document's metadata have, and its flag; gives its new change vector.
    ///
    /// * `is_imported`: the counters come from elsewhere, as the document does, which keeps its date.
    fn change_counter_names(
        &mut self,
        document_key: &[u8],
        changes: &NameChanges,
        is_imported: bool,
    ) -> Result<String> {
        let document = self.find_item(ItemKind::Document, document_key)?;
        let document = document.ok_or(Error::Corrupt { rule: "the document of a counter exists" })?;
        let record = self.store.schema.records.get(&*self.tx, document.location)?;
        let (server, has_names) = names::changed(record::server_metadata(&document.head, record), changes)?;
        let flags = match has_names {
            true => document.head.flags.with(Flags::HAS_COUNTERS),
            false => document.head.flags.without(Flags::HAS_COUNTERS),
        };
        let found = CurrentItem { key: document_key.to_vec(), document: None, tombstone: None };
        let date = if is_imported { document.head.last_modified } else { self.now };
        self.replace_server_metadata(found, &document, &server, flags, date)
    }
}

fn detail(document_id: &str, name: &str, counter: &read::Counter<'_>, has_values: bool) -> CounterDetail {
    CounterDetail {
        document_id: document_id.to_owned(),
        name: name.to_owned(),
        total: counter.total(),
        values: has_values.then(|| counter.values()),
    }
}

impl Snapshot<'_> {
    /// What a command that only reads gives, without a transaction: an element for each operation, null for a counter that is not there.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn read_counters(&self, command: &CounterCommand) -> Result<Vec<Option<CounterDetail>>> {
        let document_id = &command.document_id;
        let mut counters = Vec::new();
        for operation in &command.operations {
            match operation.action {
                CounterAction::GetAll => {
                    let all = self.counters(document_id)?;
                    counters.extend(
                        all.iter()
                            .map(|counter| Some(detail(document_id, counter.name(), counter, command.has_values))),
                    );
                }
                _ => {
                    let counter = self.counter(document_id, &operation.name)?;
                    counters.push(
                        counter.map(|counter| detail(document_id, &operation.name, &counter, command.has_values)),
                    );
                }
            }
        }
        Ok(counters)
    }
}
