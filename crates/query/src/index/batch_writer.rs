//! Bringing a batch into an index, inside of one write transaction.
//!
//! Trees are walked through in the order of their keys: documents by their lower-cased ids, posting lists by term; the write
//! transaction remembers where it last was in each tree, so neighbours are found without a way down from the root. Entries get
//! their ids in the order of the batch, which is that of the documents' etags.
//!
//! A document that is indexed again keeps its entries' ids, and only the lists of terms that came or went are touched: a
//! change of one property out of seven costs two lists, not fourteen.

use super::batch::{Batch, BatchDocument};
use super::dictionary::key::{self, ListKind};
use super::dictionary::term::{FieldNumber, Kind};
use super::entry::{EntryId, Record};
use super::error::{Error, Result, corrupt};
use super::graph::vectors::Hash;
use super::graph::writer::{GraphWriter, NewVector};
use super::limits::ENTRY_ID_MAX;
use super::postings::list_writer::ListWriter;
use super::postings::posting_changes::PostingChanges;
use super::postings::runs::{self, Encoder, Run, Runs};
use super::schema::{Counters, Schema};
use super::sorting::columns::ColumnChanges;
use std::ops::Range;
use storage::{Location, WriteTransaction};

/// A document of the batch, and what the index has of it.
struct PlannedDocument<'b> {
    document: &'b BatchDocument,
    /// Its old entries, in the list of all of them.
    old: Range<usize>,
    /// The first of its new entries that has a new id, and that id.
    first_new: u64,
}

/// An entry that the index has and the batch changes or removes.
struct OldEntry {
    id: u64,
    location: Location,
    /// Its record, in the copies; a record in the tree cannot be kept while the tree is written.
    record: Range<usize>,
}

/// Brings a batch into the index.
///
/// * `columns`: told what changes in them.
///
/// # Errors
///
/// [`Error::Corrupt`] if what is stored does not agree with itself; those of the storage. The transaction has to be taken
/// back.
pub(crate) fn write(
    schema: &Schema,
    tx: &mut WriteTransaction<'_>,
    batch: &Batch,
    columns: &mut ColumnChanges,
) -> Result<()> {
    let mut counters = schema.counters(tx)?;
    let mut olds = Vec::new();
    let mut copies = Vec::new();
    let mut planned = find_documents(schema, tx, batch, &mut olds)?;
    copy_old_entries(schema, tx, &mut olds, &mut copies)?;
    // From here on in the order of the batch.
    planned.sort_unstable_by_key(|planned| planned.document.key.start);
    let mut changes = PostingChanges::default();
    for planned in &mut planned {
        let old = olds.get(planned.old.clone()).unwrap_or_default();
        write_entries(schema, tx, batch, planned, old, &copies, &mut counters, &mut changes, columns)?;
    }
    planned.sort_unstable_by_key(|planned| batch.bytes_of(&planned.document.key));
    for planned in &planned {
        let old = olds.get(planned.old.clone()).unwrap_or_default();
        write_document(schema, tx, batch, planned, old, &mut counters)?;
    }
    changes.apply(tx, &mut ListWriter::new(schema.postings))?;
    write_vectors(schema, tx, batch, &olds, &copies)?;
    match &schema.groups {
        Some(groups) => groups.write(tx, &batch.groups)?,
        None if batch.groups.is_empty() => {}
        None => return Err(corrupt("an index with groups has room for them")),
    }
    match &schema.outputs {
        Some(outputs) => outputs.write(tx, &batch.outputs)?,
        None if batch.outputs.is_empty() => {}
        None => return Err(corrupt("an index whose results become documents has room for them")),
    }
    match &schema.references {
        Some(references) => references.write(tx, &batch.references)?,
        None if batch.references.is_empty() => {}
        None => return Err(corrupt("an index with references has room for them")),
    }
    for (source, at) in &batch.resumes {
        schema.set_resume(tx, source, at)?;
    }
    schema.set_counters(tx, counters)?;
    if let Some(notes) = &batch.notes {
        schema.note(tx, notes)?;
    }
    for (source, progress) in &batch.progress {
        schema.set_progress(tx, source, *progress)?;
    }
    Ok(())
}

/// Finds which entries the documents of the batch have. Of several changes of one document the last counts.
fn find_documents<'b>(
    schema: &Schema,
    tx: &WriteTransaction<'_>,
    batch: &'b Batch,
    olds: &mut Vec<OldEntry>,
) -> Result<Vec<PlannedDocument<'b>>> {
    let mut documents: Vec<&BatchDocument> = batch.documents.iter().collect();
    // Stable, and quick where the ids rise already.
    documents.sort_by_key(|document| batch.bytes_of(&document.key));
    let same = |a: &&BatchDocument, b: &&BatchDocument| batch.bytes_of(&a.key) == batch.bytes_of(&b.key);
    let last_of_each = documents.chunk_by(same).filter_map(|group| group.last());
    let plan = |document: &&'b BatchDocument| {
        let first = olds.len();
        if let Some(value) = schema.documents.get(tx, batch.bytes_of(&document.key))? {
            for run in Runs::new(value, 0) {
                let run = run?;
                for id in run.first..=run.last {
                    let location = schema.entries.get(tx, id)?.map(Location);
                    let location = location.ok_or_else(|| corrupt("the entries of a document exist"))?;
                    olds.push(OldEntry { id, location, record: 0..0 });
                }
            }
        }
        Ok(PlannedDocument { document, old: first..olds.len(), first_new: 0 })
    };
    last_of_each.map(plan).collect()
}

fn copy_old_entries(
    schema: &Schema,
    tx: &WriteTransaction<'_>,
    olds: &mut [OldEntry],
    copies: &mut Vec<u8>,
) -> Result<()> {
    for old in olds {
        let start = copies.len();
        copies.extend_from_slice(schema.records.get(tx, old.location)?);
        old.record = start..copies.len();
    }
    Ok(())
}

/// Writes the records of a document's entries and notes what that changes of the posting lists.
#[expect(clippy::too_many_arguments, reason = "one step of a function that owns all of these")]
fn write_entries<'b>(
    schema: &Schema,
    tx: &mut WriteTransaction<'_>,
    batch: &'b Batch,
    planned: &mut PlannedDocument<'b>,
    old: &[OldEntry],
    copies: &'b [u8],
    counters: &mut Counters,
    changes: &mut PostingChanges<'b>,
    columns: &mut ColumnChanges,
) -> Result<()> {
    let new = batch.entries.get(planned.document.entries.clone()).unwrap_or_default();
    planned.first_new = counters.next_entry;
    for index in 0..old.len().max(new.len()) {
        let record = new.get(index).map(|range| batch.bytes_of(range));
        let before = old.get(index).map(|old| (old, copies.get(old.record.clone()).unwrap_or_default()));
        match (before, record) {
            (Some((_, before)), Some(record)) if before == record => {}
            (Some((old, before)), Some(record)) => {
                let (before, new) = (Record::of(before)?, Record::of(record)?);
                if !before.is_same_but_etag(&new) {
                    changes.replace(old.id, before.terms(), new.terms())?;
                    columns.note(EntryId(old.id), Some(new))?;
                }
                let location = schema.records.update(tx, old.location, &[record])?;
                if location != old.location {
                    schema.entries.put(tx, old.id, location.0)?;
                }
            }
            (None, Some(record)) => {
                let id = counters.next_entry;
                if id >= ENTRY_ID_MAX {
                    return Err(corrupt("an index never comes to the end of its ids"));
                }
                let new = Record::of(record)?;
                changes.replace(id, std::iter::empty(), new.terms())?;
                columns.note(EntryId(id), Some(new))?;
                let location = schema.records.insert(tx, &[record])?;
                schema.entries.put(tx, id, location.0)?;
                counters.next_entry = id + 1;
                counters.entry_count += 1;
            }
            (Some((old, before)), None) => {
                changes.replace(old.id, Record::of(before)?.terms(), std::iter::empty())?;
                columns.note(EntryId(old.id), None)?;
                schema.records.delete(tx, old.location)?;
                schema.entries.delete(tx, old.id)?;
                counters.entry_count = less_one(counters.entry_count)?;
            }
            (None, None) => {}
        }
    }
    Ok(())
}

/// Writes which entries a document has now.
fn write_document(
    schema: &Schema,
    tx: &mut WriteTransaction<'_>,
    batch: &Batch,
    planned: &PlannedDocument<'_>,
    old: &[OldEntry],
    counters: &mut Counters,
) -> Result<()> {
    let key = batch.bytes_of(&planned.document.key);
    let count = planned.document.entries.len();
    if count == old.len() {
        return Ok(());
    }
    if count == 0 {
        schema.documents.delete(tx, key)?;
        counters.document_count = less_one(counters.document_count)?;
        return Ok(());
    }
    let mut entries: Vec<Run> = Vec::new();
    for old in old.iter().take(count) {
        runs::push(&mut entries, Run { first: old.id, last: old.id });
    }
    if let Some(more) = count.checked_sub(old.len()).filter(|more| *more > 0) {
        runs::push(&mut entries, Run { first: planned.first_new, last: planned.first_new + more as u64 - 1 });
    }
    let mut value = Vec::new();
    let mut encoder = Encoder::new(&mut value, 0);
    entries.iter().for_each(|run| encoder.push(*run));
    schema.documents.put(tx, key, &value)?;
    if old.is_empty() {
        counters.document_count += 1;
    }
    Ok(())
}

/// Brings the graphs to the vectors that entries have now: what no entry has any more goes, what is new comes.
fn write_vectors(
    schema: &Schema,
    tx: &mut WriteTransaction<'_>,
    batch: &Batch,
    olds: &[OldEntry],
    copies: &[u8],
) -> Result<()> {
    let Some(vectors) = &schema.vectors else {
        return if batch.vectors.is_empty() { Ok(()) } else { Err(corrupt("an index with vectors has room for them")) };
    };
    let mut before: Vec<(FieldNumber, Hash)> = Vec::new();
    for old in olds {
        for term in Record::of(copies.get(old.record.clone()).unwrap_or_default())?.terms() {
            let term = term?;
            if term.kind == Kind::Vector {
                before.push((term.field, hash_of(term.bytes)?));
            }
        }
    }
    before.sort_unstable();
    before.dedup();
    for (field, hash) in before {
        if !is_had(schema, tx, field, &hash)? {
            GraphWriter::new(vectors, tx, field).remove(&hash)?;
        }
    }
    for vector in &batch.vectors {
        let (field, hash) = (vector.field, vector.hash);
        // Of several changes of one document the last counts, so it may be that no entry has it.
        if vectors.node_of(tx, field, &hash)?.is_none() && is_had(schema, tx, field, &hash)? {
            let (dimensions, options) = (vector.dimensions, vector.options);
            let new = NewVector { hash, stored: &vector.stored, dimensions, options };
            GraphWriter::new(vectors, tx, field).insert(&new)?;
        }
    }
    Ok(())
}

fn hash_of(term: &[u8]) -> Result<Hash> {
    term.try_into().map_err(|_| corrupt("the term of a vector is its hash"))
}

/// Whether any entry has a vector.
fn is_had(schema: &Schema, tx: &WriteTransaction<'_>, field: FieldNumber, hash: &Hash) -> Result<bool> {
    let mut key = Vec::new();
    key::put_head(&mut key, field, ListKind::Term(Kind::Vector), hash);
    Ok(schema.postings.contains(tx, &key)?)
}

fn less_one(count: u64) -> Result<u64, Error> {
    count.checked_sub(1).ok_or_else(|| corrupt("an index counts its entries and documents"))
}
