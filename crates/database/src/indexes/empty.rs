//! Empty indexes: they answer queries of collections that never had a document, in place of automatic indexes that would stay for good
//! for a misspelt name.
//!
//! An empty index has the definition and the name of the automatic index that the query would have made, so that the query runs as it
//! always does. It is in memory, has no definition in the database, gets no turn, and is not in the registry. The first query after the
//! first document of the collection makes the automatic index.

use std::sync::Arc;

use documents::{Date, Etag};
use parking_lot::Mutex;
use query::definition::{AutomaticIndex, IndexDefinition, IndexSettings};
use storage::memory::Memory;

use super::open::Index;
use super::stored::StoredIndex;
use crate::Result;
use crate::limits::EMPTY_INDEXES_KEPT_MAX;

/// The empty indexes of the last queries, the newest last.
#[derive(Default)]
pub(super) struct EmptyIndexes(Mutex<Vec<Arc<Index>>>);

impl EmptyIndexes {
    /// The empty index of a definition.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn of(&self, definition: AutomaticIndex, memory: &Arc<Memory>) -> Result<Arc<Index>> {
        let mut kept = self.0.lock();
        if let Some(index) = kept.iter().find(|index| index.definition().as_automatic() == Some(&definition)) {
            return Ok(index.clone());
        }
        let definition = IndexDefinition::Automatic(definition);
        let stored = StoredIndex::new(definition, IndexSettings::default(), false, Date::now());
        let store = query::index::Index::in_memory(storage::Options::default())?.with_memory(memory.clone());
        let index = Arc::new(Index::new(stored, store, None)?);
        // Nobody waits for it.
        index.is_current(Etag::MAX);
        if kept.len() >= EMPTY_INDEXES_KEPT_MAX {
            kept.remove(0);
        }
        kept.push(index.clone());
        Ok(index)
    }
}
