//! Running the maps of a definition over a document.

use super::control::BatchControl;
use super::limits::LOADED_DOCUMENTS_MAX;
use super::loaded_ids::{LoadedIds, reference_to_value};
use crate::definition::{ALL_DOCUMENTS, MapIndex};
use crate::mapping::limits::TEXT_SIZE_MAX;
use crate::mapping::{Attachment, DocumentView, Following, Host, MapError, Output, Source};
use documents::{Document, EMPTY_COLLECTION, Snapshot, id};
use json::{Properties, Raw};
use std::borrow::Cow;
use std::sync::Arc;

/// Where documents are loaded from while another is mapped, and which were asked for.
pub(super) struct Loading<'l> {
    pub documents: &'l Snapshot<'l>,
    /// Whether they were there or not.
    pub loaded: &'l mut LoadedIds,
    /// Whether to give up.
    pub control: &'l dyn BatchControl,
}

/// Answers maps from one snapshot.
struct LoadingHost<'h, 'd> {
    documents: &'d Snapshot<'d>,
    loaded: &'h mut LoadedIds,
    control: &'h dyn BatchControl,
    reads_metadata: bool,
}

impl LoadingHost<'_, '_> {
    /// Notes a reference.
    fn note(&mut self, reference: Vec<u8>) -> Result<(), MapError> {
        if self.loaded.contains(&reference) {
            return Ok(());
        }
        if self.loaded.len() >= LOADED_DOCUMENTS_MAX {
            return Err(MapError::Stopped(format!(
                "it loads more than LOADED_DOCUMENTS_MAX = {LOADED_DOCUMENTS_MAX} documents"
            )));
        }
        self.loaded.push(reference);
        Ok(())
    }
}

impl<'d> Host<'d> for LoadingHost<'_, 'd> {
    fn load_document(
        &mut self,
        id: &str,
        collection: &str,
        following: Following,
    ) -> Result<Option<DocumentView<'d>>, MapError> {
        let lower = id::lower(id);
        // What can be no id is nowhere, and will not come.
        if id.is_empty() || lower.len() > documents::limits::ID_SIZE_MAX {
            return Ok(None);
        }
        if following == Following::Followed {
            self.note(lower)?;
        }
        let Some(document) = self.documents.get(id).map_err(unread)? else { return Ok(None) };
        let is_of_any = collection.eq_ignore_ascii_case(ALL_DOCUMENTS);
        if !is_of_any && !self.documents.is_in_collection(&document, collection).map_err(unread)? {
            return Ok(None);
        }
        let collection = document.collection().unwrap_or(Cow::Borrowed(EMPTY_COLLECTION));
        Ok(Some(view(&document, collection, self.reads_metadata)))
    }

    fn load_compare_exchange(&mut self, key: &str) -> Result<Option<Raw<'d>>, MapError> {
        // What can be no key is nowhere, and will not come.
        if key.is_empty() || key.len() > documents::limits::VALUE_KEY_SIZE_MAX {
            return Ok(None);
        }
        self.note(reference_to_value(key))?;
        let value = self.documents.compare_exchange_value(key);
        Ok(value.map_err(|error| MapError::Stopped(error.to_string()))?.and_then(|value| value.object()))
    }

    // What it gives changes with its document, which was loaded or is mapped.
    fn load_attachment(&mut self, id: &str, name: &str) -> Result<Option<Attachment<'d>>, MapError> {
        let found = self.documents.attachment(id, name).map_err(unread)?;
        Ok(found.map(|attachment| Attachment {
            name: attachment.name(),
            content_type: attachment.content_type(),
            hash: attachment.hash().to_string(),
            size: attachment.size(),
        }))
    }

    fn load_content(&mut self, id: &str, name: &str) -> Result<Option<String>, MapError> {
        let Some(attachment) = self.documents.attachment(id, name).map_err(unread)? else { return Ok(None) };
        if attachment.size() > TEXT_SIZE_MAX as u64 {
            return Err(MapError::TooLong);
        }
        let reading = self.documents.content(attachment.hash(), 0..attachment.size()).map_err(unread)?;
        let Some(mut reading) = reading else { return Ok(None) };
        let mut content = Vec::new();
        while let Some(bytes) = reading.next().map_err(|error| unread(error.into()))? {
            content.extend_from_slice(bytes);
        }
        Ok(Some(String::from_utf8_lossy(&content).into_owned()))
    }

    fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }
}

fn unread(error: documents::Error) -> MapError {
    MapError::Stopped(error.to_string())
}

fn view<'d>(document: &Document<'d>, collection: Cow<'d, str>, reads_metadata: bool) -> DocumentView<'d> {
    DocumentView {
        id: document.id(),
        body: document.body(),
        metadata: Properties::new(document.stored_metadata()),
        server_metadata: Properties::new(document.server_metadata()),
        is_archived: document.flags().is_archived(),
        collection,
        change_vector: if reads_metadata { document.change_vector().into() } else { "".into() },
        last_modified: document.last_modified(),
    }
}

/// Runs maps.
pub(super) struct MapRunner {
    pub definition: Arc<MapIndex>,
}

impl MapRunner {
    pub fn new(definition: &Arc<MapIndex>) -> MapRunner {
        MapRunner { definition: definition.clone() }
    }

    /// Calls `emit` with the number of the map and each of its outputs, for the maps whose source the document belongs to.
    ///
    /// # Errors
    ///
    /// [`MapError`], that of `emit` among them.
    pub fn run(
        &self,
        document: &Document<'_>,
        loading: Loading<'_>,
        emit: &mut dyn FnMut(usize, Output<'_, '_>) -> Result<(), MapError>,
    ) -> Result<(), MapError> {
        let collection = document.collection().unwrap_or(Cow::Borrowed(EMPTY_COLLECTION));
        for (number, map) in self.definition.maps().iter().enumerate() {
            if !is_of(map.source(), document, &collection) {
                continue;
            }
            let reads_metadata = map.reads_metadata();
            let view = view(document, collection.clone(), reads_metadata);
            let Loading { documents, control, .. } = loading;
            let mut host = LoadingHost { documents, loaded: &mut *loading.loaded, control, reads_metadata };
            map.run(view, &mut host, &mut |output| emit(number, output))?;
        }
        Ok(())
    }
}

/// Whether a document of a collection, or a counter that stands as one, belongs to a source.
fn is_of(source: &Source, document: &Document<'_>, collection: &str) -> bool {
    let is_same = |name: &String, other: &str| documents::id::is_same(name, other);
    match (source, document.counter_name()) {
        (Source::AllDocuments, None) => true,
        (Source::Collections(names), None) => names.iter().any(|name| is_same(name, collection)),
        (Source::Counters { collection: of, name: called }, Some(name)) => {
            of.as_ref().is_none_or(|of| is_same(of, collection))
                && called.as_ref().is_none_or(|called| is_same(called, name))
        }
        _ => false,
    }
}
