//! A snapshot of an index: one consistent state, as of some batch, for as long as it is held.

use super::batch::Progress;
use super::dictionary::key::{self, ListKind};
use super::dictionary::number::Number;
use super::dictionary::term::{FieldNumber, Kind, StoredTerm, Term};
use super::dictionary::term_entries::TermEntries;
use super::entry::{EntryId, Record};
use super::error::{Result, corrupt};
use super::graph::search::Graph;
use super::groups::group::{GroupKey, Member, NodeKey};
use super::groups::outputs::Owed;
use super::history::{History, IndexError};
use super::postings::entry_ids::{AllEntries, EntryIds};
use super::postings::entry_set::EntrySet;
use super::postings::list::Head;
use super::postings::range::TermRange;
use super::postings::runs::{Run, Runs};
use super::schema::{Counters, Schema};
use super::sorting::columns::Columns;
use documents::{Etag, id};
use json::Raw;
use std::ops::Bound;
use std::sync::Arc;
use storage::memory::{Memory, MemoryReservation};
use storage::{Location, ReadTransaction};

/// One state of an index. Never waits, and nothing waits for it.
pub struct IndexSnapshot<'env> {
    tx: ReadTransaction<'env>,
    schema: Schema,
    columns: &'env Columns,
    counters: Counters,
    memory: &'env Arc<Memory>,
    /// The memory of the query that reads it, a part of the other.
    memory_of_query: Option<Arc<Memory>>,
}

/// What an index keeps of one entry.
#[derive(Clone, Copy)]
pub struct IndexEntry<'s> {
    record: Record<'s>,
}

/// The values that the entries have in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldContents {
    /// No entry has one.
    Nothing,
    /// Some entries have null, and none has another value.
    NullsAlone,
    /// Some entry has a value that is not null.
    Values,
}

impl<'s> IndexEntry<'s> {
    /// The id of its document, as it is spelled.
    pub fn document(&self) -> &'s str {
        self.record.document
    }

    /// The etag that its document had when it was indexed; 0 if it is of none.
    pub fn etag(&self) -> Etag {
        self.record.etag
    }

    /// Its terms in a field, in order.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`].
    pub fn values(&self, field: FieldNumber) -> Result<Vec<StoredTerm>> {
        let mut values = Vec::new();
        for term in self.record.terms() {
            let term = term?;
            if term.field == field && term.kind.is_value() {
                values.push(StoredTerm::decode(term.kind, term.bytes)?);
            }
        }
        Ok(values)
    }

    /// Whether it has a term in a range.
    ///
    /// * `key`: memory.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`].
    pub(crate) fn has_term_in(&self, range: &TermRange, key: &mut Vec<u8>) -> Result<bool> {
        for term in self.record.terms() {
            let term = term?;
            if (term.field, term.kind) == range.of() && range.contains(term.bytes, key) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Calls `each` with the numbers that it has in fields, and which field it is.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`].
    pub fn each_number(&self, mut each: impl FnMut(FieldNumber, Number)) -> Result<()> {
        for term in self.record.terms() {
            let term = term?;
            if term.kind == Kind::Number {
                each(term.field, Number::decode(term.bytes)?);
            }
        }
        Ok(())
    }

    /// Calls `each` with the bytes of its shapes in a field, as [`crate::spatial::Shape::encode`] wrote them.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`]; those of `each`.
    pub fn each_shape(&self, field: FieldNumber, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for term in self.record.terms() {
            let term = term?;
            if (term.field, term.kind) == (field, Kind::Shape) {
                each(term.bytes)?;
            }
        }
        Ok(())
    }

    /// Its stored values, an object; for a result of a reduce the result. `None`: nothing is stored.
    pub fn stored(&self) -> Option<Raw<'s>> {
        self.record.stored()
    }

    pub(crate) fn record(&self) -> Record<'s> {
        self.record
    }
}

impl<'env> IndexSnapshot<'env> {
    pub(crate) fn new(
        tx: ReadTransaction<'env>,
        schema: Schema,
        columns: &'env Columns,
        memory: &'env Arc<Memory>,
    ) -> Result<IndexSnapshot<'env>> {
        let counters = schema.counters(&tx)?;
        Ok(IndexSnapshot { tx, schema, columns, counters, memory, memory_of_query: None })
    }

    /// Bounds the memory of a query on this snapshot: what does not fit is [`storage::Error::OverMemory`].
    pub fn set_memory(&mut self, memory: Arc<Memory>) {
        self.memory_of_query = Some(memory);
    }

    /// An empty reservation in the memory that bounds work on this snapshot.
    pub fn reservation(&self) -> MemoryReservation {
        self.memory_of_query.as_ref().unwrap_or(self.memory).reservation()
    }

    pub(crate) fn tx(&self) -> &ReadTransaction<'env> {
        &self.tx
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(crate) fn columns(&self) -> &Columns {
        self.columns
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    /// How far the index is with a source. `None`: nothing of it was indexed yet.
    ///
    /// # Errors
    ///
    /// [`super::Error::Corrupt`]; those of the storage. As for all that follows.
    pub fn progress(&self, source: &str) -> Result<Option<Progress>> {
        self.schema.progress(&self.tx, source)
    }

    /// Counts and dates.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn history(&self) -> Result<History> {
        self.schema.history(&self.tx)
    }

    /// The errors that are kept, the oldest first.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn errors(&self) -> Result<Vec<IndexError>> {
        self.schema.errors(&self.tx)
    }

    /// How many they are.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn error_count(&self) -> Result<u64> {
        self.schema.error_count(&self.tx)
    }

    /// How many numbers a group gave so far; 0: there is no such group.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn group_given(&self, group: &GroupKey) -> Result<u64> {
        self.schema.groups.map_or(Ok(0), |groups| groups.given(&self.tx, group))
    }

    /// The bytes of a node of a group; empty: there is none.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn group_node(&self, key: &NodeKey) -> Result<&[u8]> {
        self.schema.groups.map_or(Ok(&[]), |groups| groups.node(&self.tx, key))
    }

    /// The leaves that a group has, rising by number, and the bytes of each.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn group_leaves(&self, group: GroupKey) -> Result<Vec<(u64, &[u8])>> {
        self.schema.groups.map_or(Ok(Vec::new()), |groups| groups.leaves(&self.tx, group))
    }

    /// Appends where the mapped values of a document are.
    ///
    /// * `document`: the lower-cased id.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn group_members(&self, document: &[u8], members: &mut Vec<Member>) -> Result<()> {
        self.schema.groups.map_or(Ok(()), |groups| groups.mapped(&self.tx, document, members))
    }

    /// What has to be written as documents, `count_max` at most; what names results comes after the results.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn owed(&self, count_max: usize) -> Result<Vec<Owed>> {
        self.schema.outputs.map_or(Ok(Vec::new()), |outputs| outputs.owed(&self.tx, count_max))
    }

    /// Whether documents may be there that an index before this one wrote.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn is_sweep_due(&self) -> Result<bool> {
        self.schema.outputs.map_or(Ok(false), |outputs| outputs.is_sweep_due(&self.tx))
    }

    /// How many results a group gives, where they become documents.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn output_count(&self, group: &GroupKey) -> Result<u64> {
        self.schema.outputs.map_or(Ok(0), |outputs| outputs.count(&self.tx, group))
    }

    /// The results that a document names: groups, and which of their results.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn outputs_named(&self, id: &str) -> Result<Vec<(GroupKey, u32)>> {
        self.schema.outputs.map_or(Ok(Vec::new()), |outputs| outputs.named(&self.tx, id))
    }

    /// The results of a group, objects.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn group_results(&self, group: &GroupKey) -> Result<Vec<Raw<'_>>> {
        let broken = || corrupt("the entries of groups have results");
        let entries = self.entries_of(&group.name())?;
        entries.into_iter().map(|id| self.known_entry(id)?.stored().ok_or_else(broken)).collect()
    }

    /// The next documents that asked for one while they were mapped, in the order of their lower-cased ids, which these are.
    ///
    /// * `asked`: the lower-cased id.
    /// * `after`: behind this document; empty: from the first.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn asking(&self, asked: &[u8], after: &[u8], count_max: usize) -> Result<Vec<Vec<u8>>> {
        match &self.schema.references {
            Some(references) => references.asking(&self.tx, asked, after, count_max),
            None => Ok(Vec::new()),
        }
    }

    /// How many components the vectors of a field have. `None`: it never had one.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn vector_dimensions(&self, field: FieldNumber) -> Result<Option<usize>> {
        let Some(vectors) = &self.schema.vectors else { return Ok(None) };
        Ok(vectors.state(&self.tx, field)?.map(|state| state.dimensions as usize))
    }

    /// Calls `each` with the entries of the vectors of a field that are nearest to one, and how near each is, the nearest vector first.
    /// As many vectors as are asked for, or all; an entry comes as often as it has one of them.
    ///
    /// * `asked`: as [`crate::vector::read`] gives it, of as many components as the field's.
    /// * `width`: vectors that a search keeps on its way; the more, the surer it finds the nearest. `None`: all are looked at.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`]; those of `check_cancel`, which is called now and then.
    pub fn nearest<E: From<super::Error>>(
        &self,
        field: FieldNumber,
        asked: &[u8],
        count_max: usize,
        width: Option<usize>,
        check_cancel: &dyn Fn() -> Result<(), E>,
        mut each: impl FnMut(EntryId, f32),
    ) -> Result<(), E> {
        let Some(vectors) = &self.schema.vectors else { return Ok(()) };
        let Some(graph) = Graph::of(vectors, &self.tx, field)? else { return Ok(()) };
        let found = match width {
            Some(width) => graph.nearest(asked, count_max, width, check_cancel)?,
            None => graph.nearest_of_all(asked, count_max, check_cancel)?,
        };
        for near in found {
            let hash = graph.hash(near.node)?;
            let mut entries = self.list(field, ListKind::Term(Kind::Vector), &hash)?;
            while let Some(entry) = entries.next()? {
                each(entry, near.similarity);
            }
        }
        Ok(())
    }

    /// The vectors that an entry has in a field, as they are kept.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn vectors_of(&self, entry: EntryId, field: FieldNumber) -> Result<Vec<Vec<u8>>> {
        let Some(vectors) = &self.schema.vectors else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for term in self.known_entry(entry)?.record.terms() {
            let term = term?;
            if (term.field, term.kind) != (field, Kind::Vector) {
                continue;
            }
            let broken = || corrupt("the vectors of entries have nodes");
            let hash = term.bytes.try_into().map_err(|_| broken())?;
            let node = vectors.node_of(&self.tx, field, hash)?.ok_or_else(broken)?;
            found.push(vectors.node(&self.tx, field, node)?.vector.to_vec());
        }
        Ok(found)
    }

    /// Where a source is gone on with, within what is next of it.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn resume(&self, source: &str) -> Result<Option<&[u8]>> {
        self.schema.resume(&self.tx, source)
    }

    /// All sources of which something was indexed, by name.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn sources(&self) -> Result<Vec<String>> {
        self.schema.sources(&self.tx)
    }

    /// How many entries there are.
    pub fn entry_count(&self) -> u64 {
        self.counters.entry_count
    }

    /// How many documents have entries.
    pub fn document_count(&self) -> u64 {
        self.counters.document_count
    }

    /// Whether a document may have more than one entry.
    pub fn has_several_entries(&self) -> bool {
        self.entry_count() != self.document_count()
    }

    /// The number of a field. `None`: no entry ever had it.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn field(&self, name: &str) -> Result<Option<FieldNumber>> {
        self.schema.field(&self.tx, name)
    }

    /// The values that the entries have in a field, by its name. Every value but null has a text; places, shapes and vectors have none, and
    /// are not seen here.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn field_contents(&self, name: &str) -> Result<FieldContents> {
        let Some(field) = self.field(name)? else { return Ok(FieldContents::Nothing) };
        if self.present(field, Kind::Text)?.count() > 0 {
            return Ok(FieldContents::Values);
        }
        match self.present(field, Kind::Null)?.count() {
            0 => Ok(FieldContents::Nothing),
            _ => Ok(FieldContents::NullsAlone),
        }
    }

    /// All fields by name.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn fields(&self) -> Result<Vec<(String, FieldNumber)>> {
        self.schema.field_names(&self.tx)
    }

    /// All entries.
    pub fn all(&self) -> AllEntries<'_> {
        let Counters { next_entry: end, entry_count: left, .. } = self.counters;
        AllEntries { cursor: self.schema.entries.cursor(&self.tx), left, next: 0, end }
    }

    /// The entries with a term.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn term(&self, field: FieldNumber, term: Term<'_>) -> Result<TermEntries<'_>> {
        let mut bytes = Vec::new();
        term.encode(&mut bytes);
        self.list(field, ListKind::Term(term.kind()), &bytes)
    }

    /// The entries with any term of a kind in a field.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn present(&self, field: FieldNumber, kind: Kind) -> Result<TermEntries<'_>> {
        match kind {
            Kind::Null => self.term(field, Term::Null),
            kind => self.list(field, ListKind::Presence, &[kind as u8]),
        }
    }

    /// The entries with several terms of a kind in a field, texts or numbers.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn several(&self, field: FieldNumber, kind: Kind) -> Result<TermEntries<'_>> {
        self.list(field, ListKind::Presence, &[key::several(kind)])
    }

    pub(crate) fn list(&self, field: FieldNumber, kind: ListKind, term: &[u8]) -> Result<TermEntries<'_>> {
        let mut key = Vec::with_capacity(term.len() + 8);
        key::put_head(&mut key, field, kind, term);
        match self.schema.postings.get(&self.tx, &key)? {
            Some(value) => Ok(self.entries_of_list(&key, Head::of(value)?)),
            None => Ok(TermEntries::empty()),
        }
    }

    /// The entries of the list with this head, found under this key.
    pub(crate) fn entries_of_list<'s>(&'s self, key: &[u8], head: Head<'s>) -> TermEntries<'s> {
        TermEntries::of(&self.tx, self.schema.postings, self.counters.next_entry, key, head)
    }

    /// What is kept of an entry. `None`: there is none with this id.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn entry(&self, id: EntryId) -> Result<Option<IndexEntry<'_>>> {
        let Some(location) = self.schema.entries.get(&self.tx, id.0)? else { return Ok(None) };
        let record = Record::of(self.schema.records.get(&self.tx, Location(location))?)?;
        Ok(Some(IndexEntry { record }))
    }

    /// What is kept of several entries, in their order: they are looked up together.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn entries(&self, ids: &[EntryId]) -> Result<Vec<Option<IndexEntry<'_>>>> {
        let keys: Vec<u64> = ids.iter().map(|id| id.0).collect();
        let records = self.schema.records.get_many(&self.tx, self.schema.entries, &keys)?;
        let entry = |record| Ok(IndexEntry { record: Record::of(record)? });
        records.into_iter().map(|record| record.map(entry).transpose()).collect()
    }

    /// What is kept of an entry that some list has.
    pub(crate) fn known_entry(&self, id: EntryId) -> Result<IndexEntry<'_>> {
        self.entry(id)?.ok_or_else(|| corrupt("the entries of posting lists exist"))
    }

    /// The entries of a document, whatever the case of its id.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn entries_of(&self, document: &str) -> Result<Vec<EntryId>> {
        let mut entries = Vec::new();
        if let Some(value) = self.schema.documents.get(&self.tx, &id::lower(document))? {
            self.each_run(value, |run| entries.extend((run.first..=run.last).map(EntryId)))?;
        }
        Ok(entries)
    }

    /// Bytes of what is kept of a document's entries.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub(crate) fn record_bytes_of(&self, document: &str) -> Result<usize> {
        let mut bytes = 0;
        for entry in self.entries_of(document)? {
            if let Some(location) = self.schema.entries.get(&self.tx, entry.0)? {
                bytes += self.schema.records.get(&self.tx, Location(location))?.len();
            }
        }
        Ok(bytes)
    }

    /// The entries of all documents whose id begins so, whatever the case.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn entries_by_prefix(&self, prefix: &str) -> Result<EntrySet> {
        let prefix = id::lower(prefix);
        let mut set = EntrySet::new();
        let mut cursor = self.schema.documents.cursor(&self.tx);
        let mut found = cursor.seek(&prefix)?;
        while let Some((_, value)) = found.filter(|(key, _)| key.starts_with(&prefix)) {
            self.each_run(value, |run| set.insert_run(run))?;
            found = cursor.next()?;
        }
        Ok(set)
    }

    /// The entries of all documents whose id is between two bounds, whatever the case.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub fn entries_by_id_range(&self, low: Bound<&str>, high: Bound<&str>) -> Result<EntrySet> {
        let [low, high] = [low, high].map(|bound| bound.map(id::lower));
        let mut set = EntrySet::new();
        let mut cursor = self.schema.documents.cursor(&self.tx);
        let mut found = match &low {
            Bound::Included(low) | Bound::Excluded(low) => cursor.seek(low)?,
            Bound::Unbounded => cursor.seek(&[])?,
        };
        while let Some((key, value)) = found {
            let is_within = match &high {
                Bound::Included(high) => key <= high.as_slice(),
                Bound::Excluded(high) => key < high.as_slice(),
                Bound::Unbounded => true,
            };
            if !is_within {
                break;
            }
            if !matches!(&low, Bound::Excluded(low) if key == low.as_slice()) {
                self.each_run(value, |run| set.insert_run(run))?;
            }
            found = cursor.next()?;
        }
        Ok(set)
    }

    fn each_run(&self, value: &[u8], mut each: impl FnMut(Run)) -> Result<()> {
        for run in Runs::new(value, 0) {
            let run = run?;
            if run.last >= self.counters.next_entry {
                return Err(corrupt("the entries of a document were given ids"));
            }
            each(run);
        }
        Ok(())
    }
}
