//! Counters as the patches of a batch see them: those of a snapshot, and what the commands before do to them.

use std::collections::{BTreeMap, HashSet};

use super::command::{CounterAction, CounterCommand};
use crate::commands::command::CounterRead;
use crate::ids::{id, owned};
use crate::{Result, Snapshot};

/// What the commands so far do to counters.
#[derive(Debug, Default)]
pub(crate) struct PendingCounters {
    /// By the key of the counter.
    changes: BTreeMap<Vec<u8>, Change>,
    /// Keys of documents that were deleted.
    deleted: HashSet<Vec<u8>>,
    /// What was read from the snapshot and not taken yet.
    reads: Vec<CounterRead>,
}

#[derive(Debug, Default)]
struct Change {
    /// What the snapshot has does not count.
    is_deleted: bool,
    /// The sum of the increments since.
    delta: Option<i64>,
}

impl PendingCounters {
    /// Notes what a command does.
    pub fn note(&mut self, command: &CounterCommand) {
        for operation in &command.operations {
            let key = || id::lower(&owned::id_of(&command.document_id, &operation.name));
            match &operation.action {
                CounterAction::Increment(delta) => {
                    let change = self.changes.entry(key()).or_default();
                    // What is no 64-bit number is refused when it is written.
                    change.delta = Some(change.delta.unwrap_or_default().saturating_add(*delta));
                }
                CounterAction::Delete => {
                    self.changes.insert(key(), Change { is_deleted: true, delta: None });
                }
                CounterAction::Get | CounterAction::GetAll | CounterAction::Merge(_) => {}
            }
        }
    }

    /// A document is deleted, and its counters with it.
    pub fn delete_document(&mut self, document_key: &[u8]) {
        let prefix = owned::prefix_of(document_key);
        self.changes.retain(|key, _| !key.starts_with(&prefix));
        self.deleted.insert(document_key.to_vec());
    }

    /// Documents are deleted whose keys begin so.
    pub fn delete_prefixed(&mut self, prefix: &[u8]) {
        self.changes.retain(|key, _| !key.starts_with(prefix));
    }

    /// The values of a counter.
    ///
    /// * `is_deleted`: its document was deleted by prefix.
    pub fn read(
        &mut self,
        snapshot: &Snapshot<'_>,
        (document_id, name): (&str, &str),
        is_deleted: bool,
    ) -> Result<Option<Vec<(String, i64)>>> {
        let change = self.changes.get(&id::lower(&owned::id_of(document_id, name)));
        let is_gone = is_deleted || self.deleted.contains(&id::lower(document_id));
        let mut values = None;
        if !is_gone && !change.is_some_and(|change| change.is_deleted) {
            let stored = snapshot.counter(document_id, name)?;
            let etag = stored.as_ref().map(|counter| counter.etag());
            self.reads.push(CounterRead { document_id: document_id.to_owned(), name: name.to_owned(), etag });
            values = stored.map(|counter| counter.values());
        }
        let Some(delta) = change.and_then(|change| change.delta) else { return Ok(values) };
        let (own, mut values) = (snapshot.counter_database(), values.unwrap_or_default());
        match values.iter_mut().find(|(database, _)| *database == own) {
            Some((_, value)) => *value = value.saturating_add(delta),
            None => values.push((own, delta)),
        }
        Ok(Some(values))
    }

    /// What was read since the last time.
    pub fn take_reads(&mut self) -> Vec<CounterRead> {
        std::mem::take(&mut self.reads)
    }
}
