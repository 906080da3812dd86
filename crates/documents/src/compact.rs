//! Compaction: everything written anew into an empty environment, densely and in order of etags.
//!
//! Ids, etags, change vectors, dates, counts and the database id stay; only the places of records change. The copy is lazy
//! while it is made and durable when it is closed, so that nothing of it counts before the caller puts it in place.

use storage::{Environment, FixedTree, Location, ReadTransaction, Tree};

use crate::collections::Collection;
use crate::record::{self, Head};
use crate::schema::{Schema, tombstone_key};
use crate::{DocumentStore, Result, id};

/// Records that one transaction copies.
const RECORDS_AT_ONCE: usize = 2_000;

impl DocumentStore {
    /// Copies all that one snapshot shows into `target`, which must be empty. `progress` is told how many documents and
    /// tombstones were copied so far.
    ///
    /// # Errors
    ///
    /// Storage fails on either side.
    pub fn copy_into(&self, target: &Environment, mut progress: impl FnMut(u64)) -> Result<()> {
        let tx = self.environment().read();
        let from = &self.schema;
        let to = Schema::open(target)?;
        let trees = [
            (from.collections, to.collections),
            (from.collection_names, to.collection_names),
            (from.identities, to.identities),
            (from.state, to.state),
        ];
        for (from, to) in trees {
            copy_tree(&tx, from, target, to)?;
        }
        let rows = Collection::all(from, &tx)?;
        target.write(|tx| rows.iter().try_for_each(|row| row.create_trees(tx)))?;
        let mut copied = 0;
        let documents = Kinds { by_etag: [from.by_etag, to.by_etag], are_documents: true };
        let tombstones = Kinds { by_etag: [from.tombstones_by_etag, to.tombstones_by_etag], are_documents: false };
        for kind in [documents, tombstones] {
            copy_records(&tx, from, target, &to, &kind, |more| {
                copied += more;
                progress(copied);
            })?;
        }
        Ok(())
    }
}

/// Documents, or tombstones.
struct Kinds {
    /// Etag to location: in the source, in the target.
    by_etag: [FixedTree; 2],
    are_documents: bool,
}

fn copy_tree(tx: &ReadTransaction<'_>, from: Tree, target: &Environment, to: Tree) -> Result<()> {
    let mut cursor = from.cursor(tx);
    let mut entries = Vec::new();
    while let Some((key, value)) = cursor.next()? {
        entries.push((key.to_vec(), value.to_vec()));
        if entries.len() == RECORDS_AT_ONCE {
            put_entries(target, to, &std::mem::take(&mut entries))?;
        }
    }
    put_entries(target, to, &entries)
}

fn put_entries(target: &Environment, to: Tree, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
    target.write(|tx| entries.iter().try_for_each(|(key, value)| Ok(to.put(tx, key, value)?)))
}

fn copy_records(
    source: &ReadTransaction<'_>,
    from: &Schema,
    target: &Environment,
    to: &Schema,
    kind: &Kinds,
    mut progress: impl FnMut(u64),
) -> Result<()> {
    let mut cursor = kind.by_etag[0].cursor(source);
    loop {
        let mut batch = Vec::with_capacity(RECORDS_AT_ONCE);
        while batch.len() < RECORDS_AT_ONCE {
            let Some((etag, location)) = cursor.next()? else { break };
            batch.push((etag, from.records.get(source, Location(location))?));
        }
        if batch.is_empty() {
            return Ok(());
        }
        target.write(|tx| {
            for (etag, bytes) in &batch {
                let head = Head::decode(bytes)?;
                let location = to.records.insert(tx, &[bytes])?;
                kind.by_etag[1].put(tx, *etag, location.0)?;
                let row = Collection::by_number(to, tx, head.collection)?;
                if kind.are_documents {
                    row.documents(tx)?.put(tx, *etag, location.0)?;
                    let key = id::lower(record::id(&head, bytes)?);
                    to.by_id.put(tx, &key, &location.0.to_le_bytes())?;
                } else {
                    row.tombstones(tx)?.put(tx, *etag, location.0)?;
                    let key = tombstone_key(head.collection, &id::lower(record::id(&head, bytes)?));
                    to.tombstones_by_id.put(tx, &key, &location.0.to_le_bytes())?;
                }
            }
            Ok::<_, crate::Error>(())
        })?;
        progress(batch.len() as u64);
    }
}
