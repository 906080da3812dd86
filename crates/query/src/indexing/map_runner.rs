//! Running the maps of a definition over a document.

use crate::definition::MapIndex;
use crate::mapping::{DocumentView, MapError, NoHost, Output, Source};
use documents::{Document, EMPTY_COLLECTION};
use json::Raw;
use std::borrow::Cow;
use std::sync::Arc;

/// Runs maps; keeps memory between documents.
pub(super) struct MapRunner {
    pub definition: Arc<MapIndex>,
    metadata: Vec<u8>,
}

impl MapRunner {
    pub fn new(definition: &Arc<MapIndex>) -> MapRunner {
        MapRunner { definition: definition.clone(), metadata: Vec::new() }
    }

    /// Calls `emit` with the number of the map and each of its outputs, for the maps whose source the document belongs to.
    ///
    /// # Errors
    ///
    /// [`MapError`], that of `emit` among them.
    pub fn run(
        &mut self,
        document: &Document<'_>,
        emit: &mut dyn FnMut(usize, Output<'_, '_>) -> Result<(), MapError>,
    ) -> Result<(), MapError> {
        let MapRunner { definition, metadata } = self;
        metadata.clear();
        metadata.push(b'{');
        metadata.extend_from_slice(document.stored_metadata());
        metadata.push(b'}');
        let collection = document.collection().unwrap_or(Cow::Borrowed(EMPTY_COLLECTION));
        for (number, map) in definition.maps().iter().enumerate() {
            if !is_of(map.source(), &collection) {
                continue;
            }
            let view = DocumentView {
                id: document.id(),
                body: document.body(),
                metadata: Raw::new(metadata),
                collection: collection.clone(),
                change_vector: if map.reads_metadata() { document.change_vector().into() } else { "".into() },
                last_modified: document.last_modified(),
            };
            map.run(view, &mut NoHost, &mut |output| emit(number, output))?;
        }
        Ok(())
    }
}

/// Whether documents of a collection belong to a source.
fn is_of(source: &Source, collection: &str) -> bool {
    match source {
        Source::AllDocuments => true,
        Source::Collections(names) => names.iter().any(|name| documents::id::is_same(name, collection)),
    }
}
