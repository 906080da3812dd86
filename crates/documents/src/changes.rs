//! The change reader: what was stored and deleted after an etag, of any kinds, in the order of etags.
//!
//! Everything that is derived from documents pulls from it: indexes, the changes socket, dumps. An item that was written several times comes once, with
//! its latest state and etag. An item that was deleted comes as its tombstone, until that is cleaned.

use storage::{FixedCursor, FixedTree, Location, ReadTransaction};

use crate::collections::{Collection, CollectionTrees};
use crate::kinds::ItemKind;
use crate::{Etag, Item, Result, Snapshot};

/// Changes by rising etag, see [`Snapshot::changes`].
pub struct Changes<'t> {
    snapshot: &'t Snapshot<'t>,
    sources: Vec<Source<'t>>,
}

/// One tree of etags.
struct Source<'t> {
    cursor: FixedCursor<'t, ReadTransaction<'t>>,
    /// What comes next of it; None at its end.
    next: Option<(Etag, Location)>,
}

impl<'s> Snapshot<'s> {
    /// What was stored or deleted after an etag, in the order of etags: the pull interface.
    ///
    /// * `kinds`: whose items. `collection`: None for all; an unknown one has none.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn changes(&self, kinds: &[ItemKind], collection: Option<&str>, after: Etag) -> Result<Changes<'_>> {
        self.changes_in(kinds, collection, after, |trees| [Some(trees.items), Some(trees.tombstones)])
    }

    /// The items alone, without tombstones.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn items(&self, kinds: &[ItemKind], collection: Option<&str>, after: Etag) -> Result<Changes<'_>> {
        self.changes_in(kinds, collection, after, |trees| [Some(trees.items), None])
    }

    /// The tombstones alone.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn deletions(&self, kinds: &[ItemKind], collection: Option<&str>, after: Etag) -> Result<Changes<'_>> {
        self.changes_in(kinds, collection, after, |trees| [None, Some(trees.tombstones)])
    }

    fn changes_in(
        &self,
        kinds: &[ItemKind],
        collection: Option<&str>,
        after: Etag,
        choose: fn(CollectionTrees) -> [Option<FixedTree>; 2],
    ) -> Result<Changes<'_>> {
        let mut sources = Vec::new();
        for kind in kinds {
            let Some(trees) = self.etag_trees(*kind, collection)? else { continue };
            for tree in choose(trees).into_iter().flatten() {
                let mut cursor = tree.cursor(self.transaction_ref());
                let next = cursor.seek(after.saturating_add(1))?.map(|(etag, at)| (etag, Location(at)));
                if next.is_some() {
                    sources.push(Source { cursor, next });
                }
            }
        }
        Ok(Changes { snapshot: self, sources })
    }

    /// The trees of etags of a kind: those of a collection, or of all. None if the collection has had no item of the kind.
    pub(crate) fn etag_trees(&self, kind: ItemKind, collection: Option<&str>) -> Result<Option<CollectionTrees>> {
        let (schema, _, tx) = self.parts();
        let Some(name) = collection else {
            let trees = &schema.kinds[kind];
            return Ok(Some(CollectionTrees { items: trees.by_etag, tombstones: trees.tombstones_by_etag }));
        };
        match Collection::by_name(schema, tx, name)? {
            Some(found) => found.trees(tx, kind),
            None => Ok(None),
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
        let Some(Source { cursor, next }) = first else { return Ok(None) };
        let Some((_, location)) = next.take() else { return Ok(None) };
        *next = cursor.next()?.map(|(etag, at)| (etag, Location(at)));
        let (schema, names, tx) = self.snapshot.parts();
        Item::new(schema.records.get(tx, location)?, names).map(Some)
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
