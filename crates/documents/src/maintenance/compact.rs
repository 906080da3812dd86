//! Compaction: everything written anew into an empty environment, densely and in order of etags.
//!
//! Ids, etags, change vectors, dates, counts and the database id stay; only the places of records change. The copy is lazy
//! while it is made and durable when it is closed, so that nothing of it counts before the caller puts it in place.

use std::collections::HashMap;

use storage::{Contents, Environment, FixedTree, Key, Location, ReadTransaction, Tree, WriteTransaction};

use crate::constraints::CONSTRAINTS;
use crate::definitions::DEFINITIONS;
use crate::items::collections::Collection;
use crate::items::kinds::{ItemKind, PerKind};
use crate::items::record::{self, Head, RecordState};
use crate::items::schema::{CONTENTS, Schema, tombstone_key};
use crate::{DocumentStore, Error, Result};

/// Entries, and bytes, that one transaction copies at most, but for its last record.
const ENTRIES_AT_ONCE: usize = 2_000;
/// See [`ENTRIES_AT_ONCE`].
const BYTES_AT_ONCE: usize = 8 << 20;

impl DocumentStore {
    /// Copies all that one snapshot shows into `target`, which must be empty. Gives false if it was cut short: the copy is useless then.
    ///
    /// * `goes_on`: is given how many items and tombstones were copied so far; false cuts the copy short.
    ///
    /// # Errors
    ///
    /// Storage fails on either side; or there are more or fewer documents than their collections count, so that the copy would
    /// be without some.
    pub fn copy_into(&self, target: &Environment, mut goes_on: impl FnMut(u64) -> bool) -> Result<bool> {
        let tx = self.environment().read();
        let from = &self.schema;
        let to = Schema::open(target, None)?;
        let trees = [
            (from.collections, to.collections),
            (from.collection_names, to.collection_names),
            (from.identities, to.identities),
            (from.due, to.due),
            (from.revisions.by_vector, to.revisions.by_vector),
            (from.state, to.state),
        ];
        for (from, to) in trees {
            copy_tree(&tx, from, target, to)?;
        }
        for (from, to) in [(from.revisions.base_users, to.revisions.base_users), (from.revisions.bin, to.revisions.bin)]
        {
            copy_fixed_tree(&tx, from, target, to)?;
        }
        if let Some(definitions) = Tree::open(&tx, DEFINITIONS)? {
            let to = target.write(|tx| Tree::open_or_create(tx, DEFINITIONS))?;
            copy_tree(&tx, definitions, target, to)?;
        }
        if let Some(constraints) = Tree::open(&tx, CONSTRAINTS)? {
            let to = target.write(|tx| Tree::open_or_create(tx, CONSTRAINTS))?;
            copy_tree(&tx, constraints, target, to)?;
        }
        if let Some(contents) = Contents::open(&tx, CONTENTS)? {
            let to = target.write(|tx| Contents::open_or_create(tx, CONTENTS))?;
            contents.copy_into(&tx, target, to, |_| ())?;
        }
        let rows = Collection::all(from, &tx)?;
        let mut copy = Copy { source: &tx, from, target, to, trees: HashMap::new() };
        for rows in rows.chunks(ENTRIES_AT_ONCE) {
            copy.trees.extend(target.write(|tx| rows.iter().map(|row| trees_of(tx, row)).collect::<Result<Vec<_>>>())?);
        }
        copy.bases()?;
        let mut copied = 0;
        for kind in ItemKind::all() {
            let sum = |count: fn(&Collection, ItemKind) -> u64| {
                rows.iter().map(|row| count(row, kind)).fold(0, u64::saturating_add)
            };
            let trees = &from.kinds[kind];
            for (by_etag, expected) in [
                (trees.by_etag, sum(|row, kind| row.counts[kind].count)),
                (trees.tombstones_by_etag, sum(|row, kind| row.counts[kind].tombstone_count)),
            ] {
                let before = copied;
                let is_whole = copy.records(by_etag, |more| {
                    copied += more;
                    goes_on(copied)
                })?;
                if !is_whole {
                    return Ok(false);
                }
                // What the etags do not lead to can still be found by its key where it is, and would be gone.
                if copied - before != expected {
                    return Err(Error::Corrupt { rule: "the collections count what there is" });
                }
            }
        }
        Ok(true)
    }
}

/// The trees of a collection in the copy: of its items and of its tombstones, by kind.
type Trees = [PerKind<Option<FixedTree>>; 2];

/// Makes the trees of a collection, for what it has.
fn trees_of(tx: &mut WriteTransaction<'_>, row: &Collection) -> Result<(u32, Trees)> {
    let items = PerKind::try_of(|kind| match row.counts[kind].count {
        0 => Ok::<_, Error>(None),
        _ => FixedTree::open_or_create(tx, &row.items_name(kind)).map(Some).map_err(Error::from),
    })?;
    let tombstones = PerKind::try_of(|kind| match row.counts[kind].tombstone_count {
        0 => Ok::<_, Error>(None),
        _ => FixedTree::open_or_create(tx, &row.tombstones_name(kind)).map(Some).map_err(Error::from),
    })?;
    Ok((row.number, [items, tombstones]))
}

fn copy_tree(tx: &ReadTransaction<'_>, from: Tree, target: &Environment, to: Tree) -> Result<()> {
    let mut cursor = from.cursor(tx);
    let mut entries = Vec::new();
    while let Some((key, value)) = cursor.next()? {
        entries.push((key.to_vec(), value.to_vec()));
        if entries.len() == ENTRIES_AT_ONCE {
            put_entries(target, to, &std::mem::take(&mut entries))?;
        }
    }
    put_entries(target, to, &entries)
}

fn copy_fixed_tree(tx: &ReadTransaction<'_>, from: FixedTree, target: &Environment, to: FixedTree) -> Result<()> {
    let mut cursor = from.cursor(tx);
    loop {
        let mut entries = Vec::new();
        while entries.len() < ENTRIES_AT_ONCE
            && let Some(entry) = cursor.next()?
        {
            entries.push(entry);
        }
        if entries.is_empty() {
            return Ok(());
        }
        target.write(|tx| entries.iter().try_for_each(|(key, value)| Ok::<_, Error>(to.put(tx, *key, *value)?)))?;
    }
}

fn put_entries(target: &Environment, to: Tree, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
    target.write(|tx| entries.iter().try_for_each(|(key, value)| Ok(to.put(tx, key, value)?)))
}

struct Copy<'c> {
    source: &'c ReadTransaction<'c>,
    from: &'c Schema,
    target: &'c Environment,
    to: Schema,
    /// In the target, by the collection's number.
    trees: HashMap<u32, Trees>,
}

impl Copy<'_> {
    /// Copies the whole states that revisions are made from.
    fn bases(&self) -> Result<()> {
        let mut cursor = self.from.revisions.bases.cursor(self.source);
        loop {
            let mut batch = Vec::new();
            let mut bytes = 0;
            while batch.len() < ENTRIES_AT_ONCE && bytes < BYTES_AT_ONCE {
                let Some((base, location)) = cursor.next()? else { break };
                let content = self.from.records.get(self.source, Location(location))?;
                bytes += content.len();
                batch.push((base, content));
            }
            if batch.is_empty() {
                return Ok(());
            }
            let bases = self.to.revisions.bases;
            self.target.write(|tx| {
                batch.iter().try_for_each(|(base, content)| {
                    self.to.records.insert(tx, &[Key::Number(bases, *base)], &[*content])?;
                    Ok::<_, Error>(())
                })
            })?;
        }
    }

    fn records(&self, by_etag: FixedTree, mut goes_on: impl FnMut(u64) -> bool) -> Result<bool> {
        let mut cursor = by_etag.cursor(self.source);
        loop {
            let mut batch = Vec::with_capacity(ENTRIES_AT_ONCE);
            let mut bytes = 0;
            while batch.len() < ENTRIES_AT_ONCE && bytes < BYTES_AT_ONCE {
                let Some((_, location)) = cursor.next()? else { break };
                let record = self.from.records.get(self.source, Location(location))?;
                bytes += record.len();
                batch.push(record);
            }
            if batch.is_empty() {
                return Ok(true);
            }
            self.target.write(|tx| batch.iter().try_for_each(|record| self.record(tx, record)))?;
            if !goes_on(batch.len() as u64) {
                return Ok(false);
            }
        }
    }

    fn record(&self, tx: &mut WriteTransaction<'_>, record: &[u8]) -> Result<()> {
        let head = Head::decode(record)?;
        let key = head.kind.key(record::id(&head, record)?);
        let trees =
            self.trees.get(&head.collection).map(|trees| &trees[usize::from(head.state == RecordState::Tombstone)]);
        let tree = trees.and_then(|trees| trees[head.kind]);
        let tree = tree.ok_or(Error::Corrupt { rule: "the collection of an item counts it" })?;
        match head.state {
            RecordState::Stored => {
                let keys = self.to.item_keys(head.kind, &key, head.etag, tree);
                self.to.records.insert(tx, &keys, &[record])?
            }
            RecordState::Tombstone => {
                let key = tombstone_key(head.collection, &key);
                let keys = self.to.tombstone_keys(head.kind, &key, head.etag, tree);
                self.to.records.insert(tx, &keys, &[record])?
            }
        };
        Ok(())
    }
}
