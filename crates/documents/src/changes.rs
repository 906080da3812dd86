//! The change reader (change data capture): items stored and deleted after an etag, of any kinds, in the order of etags.
//!
//! Everything that is derived from documents pulls from it: indexes, the changes socket, dumps. An item that was written several times
//! comes once, with its latest state and etag. An item that was deleted comes as its tombstone, until that is cleaned.

use std::borrow::Cow;

use storage::{FixedCursor, FixedTree, Location, ReadTransaction};

use crate::items::collections::Collection;
use crate::items::kinds::ItemKind;
use crate::items::record::RecordState;
use crate::{Error, Etag, Item, Result, Snapshot};

/// Changes by rising etag, see [`Snapshot::changes`].
pub struct Changes<'t> {
    snapshot: &'t Snapshot<'t>,
    sources: Vec<Source<'t>>,
}

/// A document that was stored or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentChange {
    /// The etag of the write.
    pub etag: Etag,
    /// The id as it is spelled.
    pub id: String,
    /// The collection that it is in, or was in; `None`: a stored document without one.
    pub collection: Option<String>,
    /// The change vector of the document or of its tombstone.
    pub change_vector: String,
    /// True if it was deleted.
    pub is_deletion: bool,
    /// The counter of the document that this is a change of; `None`: of the document itself.
    pub counter: Option<ChangedCounter>,
}

/// A counter that was written or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedCounter {
    /// Its name.
    pub name: String,
    /// Its value; 0 if it was deleted.
    pub value: i64,
    /// True if it was not changed since it was made.
    pub is_new: bool,
}

/// One tree of etags.
struct Source<'t> {
    kind: ItemKind,
    state: RecordState,
    cursor: FixedCursor<'t, ReadTransaction<'t>>,
    /// What comes next of it; None at its end.
    next: Option<(Etag, Location)>,
}

impl<'s> Snapshot<'s> {
    /// Items stored or deleted after an etag, in the order of etags: the pull interface.
    ///
    /// * `kinds`: whose items. `collection`: None for all; an unknown one has none.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn changes(&self, kinds: &[ItemKind], collection: Option<&str>, after: Etag) -> Result<Changes<'_>> {
        self.changes_of(kinds, &[RecordState::Stored, RecordState::Tombstone], collection, after)
    }

    /// Documents stored or deleted after an etag, `count_max` at most, in the order of etags; and the etag up to which these are all. The
    /// next call begins after that.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn document_changes(&self, after: Etag, count_max: usize) -> Result<(Vec<DocumentChange>, Etag)> {
        self.changes_of_documents(&[ItemKind::Document], after, count_max)
    }

    /// The same with the changes of their counters.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn document_and_counter_changes(&self, after: Etag, count_max: usize) -> Result<(Vec<DocumentChange>, Etag)> {
        self.changes_of_documents(&[ItemKind::Document, ItemKind::Counter], after, count_max)
    }

    fn changes_of_documents(
        &self,
        kinds: &[ItemKind],
        after: Etag,
        count_max: usize,
    ) -> Result<(Vec<DocumentChange>, Etag)> {
        let last = self.last_etag()?;
        let mut changes = Vec::new();
        if last == after {
            return Ok((changes, last));
        }
        for item in self.changes(kinds, None, after)?.take(count_max) {
            let item = item?;
            let document = item.document();
            let collection = match &document {
                Some(document) => document.collection().map(Cow::into_owned),
                None => Some(self.collection_of(&item)?),
            };
            changes.push(DocumentChange {
                etag: item.etag(),
                id: item.document_id().to_owned(),
                collection,
                change_vector: item.change_vector(),
                is_deletion: item.is_deleted(),
                counter: item.counter_name().map(|name| {
                    let counter = item.counter();
                    ChangedCounter {
                        name: name.to_owned(),
                        value: counter.map_or(0, |counter| counter.total()),
                        is_new: counter.is_some_and(|counter| counter.is_new()),
                    }
                }),
            });
        }
        let until = if changes.len() < count_max { last } else { changes.last().map_or(after, |change| change.etag) };
        Ok((changes, until))
    }

    /// The items alone, without tombstones.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn items(&self, kinds: &[ItemKind], collection: Option<&str>, after: Etag) -> Result<Changes<'_>> {
        self.changes_of(kinds, &[RecordState::Stored], collection, after)
    }

    /// The tombstones alone.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn deletions(&self, kinds: &[ItemKind], collection: Option<&str>, after: Etag) -> Result<Changes<'_>> {
        self.changes_of(kinds, &[RecordState::Tombstone], collection, after)
    }

    fn changes_of(
        &self,
        kinds: &[ItemKind],
        states: &[RecordState],
        collection: Option<&str>,
        after: Etag,
    ) -> Result<Changes<'_>> {
        let mut sources = Vec::new();
        for kind in kinds {
            for state in states {
                let Some(tree) = self.etag_tree(*kind, *state, collection)? else { continue };
                let mut cursor = tree.cursor(self.transaction_ref());
                let next = cursor.seek(after.saturating_add(1))?.map(|(etag, at)| (etag, Location(at)));
                if next.is_some() {
                    sources.push(Source { kind: *kind, state: *state, cursor, next });
                }
            }
        }
        Ok(Changes { snapshot: self, sources })
    }

    /// The tree of etags of a kind: that of a collection, or of all. None if nothing was ever in it.
    pub(crate) fn etag_tree(
        &self,
        kind: ItemKind,
        state: RecordState,
        collection: Option<&str>,
    ) -> Result<Option<FixedTree>> {
        let (schema, _, tx) = self.parts();
        let Some(name) = collection else {
            let trees = &schema.kinds[kind];
            return Ok(Some(if state == RecordState::Stored { trees.by_etag } else { trees.tombstones_by_etag }));
        };
        match (Collection::by_name(schema, tx, name)?, state) {
            (Some(found), RecordState::Stored) => found.items(tx, kind),
            (Some(found), RecordState::Tombstone) => found.tombstones(tx, kind),
            (None, _) => Ok(None),
        }
    }

    /// The name of the collection that an item of this snapshot is in, or was in, as it was first spelled.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn collection_of(&self, item: &Item<'_>) -> Result<String> {
        let (schema, _, tx) = self.parts();
        Ok(Collection::by_number(schema, tx, item.head.collection)?.name)
    }
}

impl<'t> Changes<'t> {
    fn step(&mut self) -> Result<Option<Item<'t>>> {
        let first = self.sources.iter_mut().filter(|source| source.next.is_some()).min_by_key(|source| source.next);
        let Some(source) = first else { return Ok(None) };
        let Some((etag, location)) = source.next.take() else { return Ok(None) };
        source.next = source.cursor.next()?.map(|(etag, at)| (etag, Location(at)));
        let (schema, names, tx) = self.snapshot.parts();
        let item = Item::new(schema.records.get(tx, location)?, names)?;
        if (item.head.kind, item.head.state, item.head.etag) != (source.kind, source.state, etag) {
            return Err(Error::Corrupt { rule: "an etag leads to a record of its kind" });
        }
        Ok(Some(item))
    }
}

impl<'t> Iterator for Changes<'t> {
    type Item = Result<Item<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.sources.clear();
        }
        step.transpose()
    }
}
