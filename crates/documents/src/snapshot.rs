//! Reading: one consistent state, by id, by prefix, by etag, by collection.

use storage::{Cursor, FixedCursor, Location, ReadTransaction, Table};

use crate::ids::id::{lower, lower_into};
use crate::ids::identities::value_from;
use crate::items::collections::{Collection, NO_COLLECTION};
use crate::items::kinds::{ItemKind, PerKind};
use crate::items::record::RecordState;
use crate::{CollectionStatistics, Document, DocumentStore, Etag, ItemCounts, Result, Wildcards};

/// An MVCC snapshot: one consistent state of a database. Opening one is cheap and blocks no writer; a snapshot that is held for long
/// keeps old page versions alive.
pub struct Snapshot<'s> {
    store: &'s DocumentStore,
    tx: ReadTransaction<'s>,
}

/// Which documents of a prefix are asked for.
#[derive(Clone, Debug, Default)]
pub struct PrefixQuery {
    /// Ids begin with it, without regard to case. Empty: all.
    pub prefix: String,
    /// One of these must fit the rest of the id after the prefix.
    pub matches: Option<Wildcards>,
    /// None of these may fit the rest.
    pub exclude: Option<Wildcards>,
    /// Only ids after this one.
    pub start_after: Option<String>,
    /// Documents to pass over.
    pub start: u64,
    /// Documents at most.
    pub count_max: u64,
}

/// Counts over the whole database.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    /// The last etag given out.
    pub last_etag: Etag,
    /// The highest etag of a document.
    pub last_document_etag: Etag,
    /// Items and tombstones of each kind.
    pub counts: PerKind<ItemCounts>,
    /// Identities.
    pub identity_count: u64,
    /// Contents of attachments, each counted once.
    pub content_count: u64,
    /// References to contents: of attachments, and of revisions to what their documents had attached. RavenDB counts all of them as
    /// attachments.
    pub content_reference_count: u64,
    /// The vector that covers all documents; empty when there was no write.
    pub change_vector: String,
}

impl Statistics {
    /// Documents, and their tombstones.
    pub fn documents(&self) -> ItemCounts {
        self.counts[ItemKind::Document]
    }
}

impl<'s> Snapshot<'s> {
    pub(crate) fn new(store: &'s DocumentStore, tx: ReadTransaction<'s>) -> Self {
        Snapshot { store, tx }
    }

    pub(crate) fn parts(&self) -> (&crate::items::schema::Schema, &crate::store::Names, &ReadTransaction<'s>) {
        (&self.store.schema, &self.store.names, &self.tx)
    }

    pub(crate) fn transaction_ref(&self) -> &ReadTransaction<'s> {
        &self.tx
    }

    /// The transaction whose state this is.
    pub fn transaction(&self) -> u64 {
        self.tx.id().0
    }

    /// The document with this id, in any case.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    #[inline]
    pub fn get(&self, id: &str) -> Result<Option<Document<'_>>> {
        let mut key = Vec::with_capacity(id.len() + 8);
        lower_into(&mut key, id);
        let Some(location) = self.store.schema.location_of(&self.tx, ItemKind::Document, &key)? else {
            return Ok(None);
        };
        self.document_at(location).map(Some)
    }

    /// The documents with these ids, in their order, for somebody who knows the etags that they had: those that were not written since are
    /// found by them, which is quicker, and together.
    ///
    /// * `asked`: id and etag, 0 if that is not known.
    ///
    /// # Errors
    ///
    /// As [`Self::get`].
    pub fn get_written<'i>(
        &self,
        asked: impl Iterator<Item = (&'i str, Etag)> + Clone,
    ) -> Result<Vec<Option<Document<'_>>>> {
        let schema = &self.store.schema;
        let etags: Vec<Etag> = asked.clone().map(|(_, etag)| etag).collect();
        let records = schema.records.get_many(&self.tx, schema.documents().by_etag, &etags)?;
        let found = asked.zip(records).map(|((id, _), record)| {
            if let Some(record) = record {
                let document = Document::new(record, &self.store.names)?;
                if document.id() == id {
                    return Ok(Some(document));
                }
            }
            self.get(id)
        });
        found.collect()
    }

    #[inline]
    fn document_at(&self, location: Location) -> Result<Document<'_>> {
        Document::new(self.store.schema.records.get(&self.tx, location)?, &self.store.names)
    }

    /// The documents with these ids, in their order.
    ///
    /// # Errors
    ///
    /// Storage fails or is damaged.
    pub fn get_many<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Result<Vec<Option<Document<'_>>>> {
        ids.into_iter().map(|id| self.get(id)).collect()
    }

    /// Documents by prefix, in the order of lower-cased ids.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn by_prefix(&self, query: PrefixQuery) -> Result<ByPrefix<'_>> {
        let prefix = lower(&query.prefix);
        let after = query.start_after.as_deref().map(lower).filter(|after| !after.is_empty());
        let first = match &after {
            // The first key after this one.
            Some(after) if *after >= prefix => [after.as_slice(), &[0]].concat(),
            _ => prefix.clone(),
        };
        let cursor = self.store.schema.documents().by_key.cursor(&self.tx);
        Ok(ByPrefix {
            snapshot: self,
            cursor,
            first: Some(first),
            prefix,
            skip: query.start,
            left: query.count_max,
            looks_left: u64::MAX,
            query,
        })
    }

    /// All documents, the latest first.
    pub fn latest(&self) -> ByEtag<'_> {
        ByEtag::new(self, self.store.schema.documents().by_etag, Etag::MAX, true)
    }

    /// Documents with an etag above `etag`, in its order: the pull interface.
    pub fn after(&self, etag: Etag) -> ByEtag<'_> {
        ByEtag::new(self, self.store.schema.documents().by_etag, etag.saturating_add(1), false)
    }

    /// Documents of one collection with an etag above `etag`, in its order. An unknown collection has none.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn collection_after(&self, collection: &str, etag: Etag) -> Result<ByEtag<'_>> {
        Ok(match self.etag_tree(ItemKind::Document, RecordState::Stored, Some(collection))? {
            Some(tree) => ByEtag::new(self, tree, etag.saturating_add(1), false),
            None => ByEtag::none(self),
        })
    }

    /// Documents of one collection, the latest first.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn collection_latest(&self, collection: &str) -> Result<ByEtag<'_>> {
        Ok(match self.etag_tree(ItemKind::Document, RecordState::Stored, Some(collection))? {
            Some(tree) => ByEtag::new(self, tree, Etag::MAX, true),
            None => ByEtag::none(self),
        })
    }

    /// The last etags of a kind in a collection, or in all: what somebody who pulls changes compares with how far it is.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn last_etags(&self, kind: ItemKind, collection: Option<&str>) -> Result<LastEtags> {
        let last = |state| -> Result<Etag> {
            let Some(tree) = self.etag_tree(kind, state, collection)? else { return Ok(0) };
            Ok(tree.last(&self.tx)?.map_or(0, |(etag, _)| etag))
        };
        Ok(LastEtags { items: last(RecordState::Stored)?, tombstones: last(RecordState::Tombstone)? })
    }

    /// The greatest etag of a tombstone that was cleaned; 0: none was. Who has seen less than that may lack a deletion.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn tombstones_cleaned(&self) -> Result<Etag> {
        self.store.schema.tombstones_cleaned(&self.tx)
    }

    /// Whether a document is in a collection, whose name may be spelled in any case.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn is_in_collection(&self, document: &Document<'_>, collection: &str) -> Result<bool> {
        let found = Collection::by_name(&self.store.schema, &self.tx, collection)?;
        Ok(found.is_some_and(|found| found.number == document.collection_number()))
    }

    /// Statistics of the collections, sorted by name, without those that have neither documents nor tombstones.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn collections(&self) -> Result<Vec<CollectionStatistics>> {
        let all = Collection::all(&self.store.schema, &self.tx)?;
        let named = all.iter().filter(|collection| collection.number != NO_COLLECTION);
        let mut statistics: Vec<_> = named.map(Collection::statistics).collect();
        statistics.retain(|collection| collection.total() != ItemCounts::default());
        statistics.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(statistics)
    }

    /// Statistics of one collection; `None` if no collection ever had that name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn collection(&self, name: &str) -> Result<Option<CollectionStatistics>> {
        let found = Collection::by_name(&self.store.schema, &self.tx, name)?;
        Ok(found.map(|collection| collection.statistics()))
    }

    /// Counts over the whole database.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn statistics(&self) -> Result<Statistics> {
        let collections = Collection::all(&self.store.schema, &self.tx)?;
        let mut counts = PerKind::<ItemCounts>::default();
        for collection in &collections {
            collection.counts.iter().for_each(|(kind, more)| counts[kind].add(more));
        }
        Ok(Statistics {
            last_etag: self.last_etag()?,
            last_document_etag: self.last_document_etag()?,
            counts,
            identity_count: self.store.schema.identity_count(&self.tx)?,
            content_count: self.store.schema.content_count(&self.tx)?,
            content_reference_count: self.content_reference_count()?,
            change_vector: self.change_vector()?,
        })
    }

    /// The id of the database, as change vectors have it.
    pub fn database_id(&self) -> &str {
        self.store.database_id()
    }

    /// The last etag given out.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn last_etag(&self) -> Result<Etag> {
        self.store.schema.last_etag(&self.tx)
    }

    fn last_document_etag(&self) -> Result<Etag> {
        Ok(self.store.schema.documents().by_etag.last(&self.tx)?.map_or(0, |(etag, _)| etag))
    }

    /// The vector that covers all writes of this database; empty when there was none.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn change_vector(&self) -> Result<String> {
        let etag = self.last_etag()?;
        Ok(if etag == 0 { String::new() } else { self.store.names.vector(etag) })
    }

    /// All identities with their values, by name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn identities(&self) -> Result<Vec<(String, i64)>> {
        let mut cursor = self.store.schema.identities.cursor(&self.tx);
        let mut entry = cursor.first()?;
        let mut identities = Vec::new();
        while let Some((key, value)) = entry {
            identities.push((String::from_utf8_lossy(key).into_owned(), value_from(value)?));
            entry = cursor.next()?;
        }
        Ok(identities)
    }
}

/// The last etags of what somebody pulls changes of; 0 where there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LastEtags {
    /// Of items.
    pub items: Etag,
    /// Of their tombstones.
    pub tombstones: Etag,
}

/// Documents by prefix, see [`Snapshot::by_prefix`].
pub struct ByPrefix<'t> {
    snapshot: &'t Snapshot<'t>,
    cursor: Cursor<'t, ReadTransaction<'t>>,
    /// Where to begin; taken by the first step.
    first: Option<Vec<u8>>,
    prefix: Vec<u8>,
    skip: u64,
    left: u64,
    /// Keys that may be passed over before the next pause.
    looks_left: u64,
    query: PrefixQuery,
}

impl<'t> ByPrefix<'t> {
    /// As `next`, but None after `count_max` keys were passed over, so that somebody may look at the clock; `Some(None)` is the
    /// end.
    pub fn next_within(&mut self, count_max: u64) -> Option<Result<Option<Document<'t>>>> {
        self.looks_left = count_max;
        let step = self.step();
        if step.is_err() {
            self.left = 0;
        }
        let is_paused = matches!(step, Ok(None)) && self.looks_left == 0 && self.left > 0;
        self.looks_left = u64::MAX;
        if is_paused { None } else { Some(step) }
    }

    fn step(&mut self) -> Result<Option<Document<'t>>> {
        while self.left > 0 {
            if self.looks_left == 0 {
                return Ok(None);
            }
            self.looks_left -= 1;
            let entry = match self.first.take() {
                Some(first) => self.cursor.seek(&first)?,
                None => self.cursor.next()?,
            };
            let within = entry.and_then(|(key, location)| Some((key.strip_prefix(self.prefix.as_slice())?, location)));
            let Some((rest, location)) = within else {
                // The end, not a pause.
                self.left = 0;
                return Ok(None);
            };
            let PrefixQuery { matches, exclude, .. } = &self.query;
            let fits = (matches.is_none() && exclude.is_none()) || {
                let rest = String::from_utf8_lossy(rest);
                matches.as_ref().is_none_or(|wildcards| wildcards.fit(&rest))
                    && !exclude.as_ref().is_some_and(|wildcards| wildcards.fit(&rest))
            };
            let location = Table::location(self.snapshot.store.schema.documents().by_key, &self.snapshot.tx, location)?;
            if !fits {
                continue;
            }
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            self.left -= 1;
            return self.snapshot.document_at(location).map(Some);
        }
        Ok(None)
    }
}

impl<'t> Iterator for ByPrefix<'t> {
    type Item = Result<Document<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.left = 0;
        }
        step.transpose()
    }
}

/// Documents by etag, rising or falling.
pub struct ByEtag<'t> {
    snapshot: &'t Snapshot<'t>,
    cursor: Option<FixedCursor<'t, ReadTransaction<'t>>>,
    /// Where to begin; taken by the first step.
    first: Option<Etag>,
    is_falling: bool,
}

impl<'t> ByEtag<'t> {
    fn new(snapshot: &'t Snapshot<'t>, tree: storage::FixedTree, first: Etag, is_falling: bool) -> Self {
        ByEtag { snapshot, cursor: Some(tree.cursor(&snapshot.tx)), first: Some(first), is_falling }
    }

    fn none(snapshot: &'t Snapshot<'t>) -> Self {
        ByEtag { snapshot, cursor: None, first: None, is_falling: false }
    }

    fn step(&mut self) -> Result<Option<Location>> {
        let Some(cursor) = &mut self.cursor else { return Ok(None) };
        let entry = match (self.first.take(), self.is_falling) {
            (Some(first), false) => cursor.seek(first)?,
            (Some(_), true) => cursor.last()?,
            (None, false) => cursor.next()?,
            (None, true) => cursor.previous()?,
        };
        if entry.is_none() {
            self.cursor = None;
        }
        Ok(entry.map(|(_, location)| Location(location)))
    }

    /// Passes over documents without reading them; gives how many there were.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn skip_documents(&mut self, count: u64) -> Result<u64> {
        for passed in 0..count {
            if self.step()?.is_none() {
                return Ok(passed);
            }
        }
        Ok(count)
    }

    fn record(&mut self) -> Result<Option<&'t [u8]>> {
        let Some(location) = self.step().inspect_err(|_| self.cursor = None)? else { return Ok(None) };
        Ok(Some(self.snapshot.store.schema.records.get(&self.snapshot.tx, location)?))
    }
}

impl<'t> Iterator for ByEtag<'t> {
    type Item = Result<Document<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.record().transpose()?;
        Some(record.and_then(|record| Document::new(record, &self.snapshot.store.names)))
    }
}
