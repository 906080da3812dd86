//! What `load` found for one result, as the values that conditions of `filter` ask.

use std::rc::Rc;

use documents::Snapshot;
use json::Raw;
use script::Document;

use super::loading::Loads;
use super::projection::Row;
use super::scripted::ScriptFailure;

/// One value for each `load`, by its place.
#[derive(Debug)]
pub(super) struct LoadedValues(Vec<Loaded>);

#[derive(Debug)]
enum Loaded {
    /// The document is not there.
    Nothing,
    One(Document),
    /// An array of the documents that are there.
    Several(Vec<u8>),
}

impl LoadedValues {
    /// Loads what a result names: a document, or a group that an index stores.
    ///
    /// # Errors
    ///
    /// [`ScriptFailure::Load`], [`ScriptFailure::Documents`]
    pub(super) fn load(
        loads: &Loads<'_>,
        row: &Row<'_>,
        snapshot: &Snapshot<'_>,
    ) -> Result<LoadedValues, ScriptFailure> {
        let find = |id: &str| {
            Ok::<_, ScriptFailure>(snapshot.get(id)?.map(|document| {
                let mut json = Vec::with_capacity(document.size());
                document.write_to(&mut json);
                Document { id: document.id().to_owned(), json: Rc::from(json), stored: None }
            }))
        };
        let nothing = Raw::new(b"{}");
        let body = row.document.map(|document| document.body()).or_else(|| row.stored()).unwrap_or(nothing);
        let loaded = loads.load(body, None, find)?;
        let values = loads.are_arrays().zip(loaded).map(|(is_array, mut documents)| match is_array {
            true => Loaded::Several(array(&documents)),
            false => documents.pop().map_or(Loaded::Nothing, Loaded::One),
        });
        Ok(LoadedValues(values.collect()))
    }

    /// The document, or the array of several, that a `load` found. `None`: it is not there.
    pub(super) fn value(&self, place: usize) -> Option<Raw<'_>> {
        match self.0.get(place)? {
            Loaded::Nothing => None,
            Loaded::One(document) => Some(Raw::new(&document.json)),
            Loaded::Several(array) => Some(Raw::new(array)),
        }
    }

    /// The id of the document that a `load` found. `None`: it is not there, or there may be several.
    pub(super) fn id(&self, place: usize) -> Option<&str> {
        match self.0.get(place)? {
            Loaded::One(document) => Some(&document.id),
            Loaded::Nothing | Loaded::Several(_) => None,
        }
    }
}

fn array(documents: &[Document]) -> Vec<u8> {
    let mut array = vec![b'['];
    for (at, document) in documents.iter().enumerate() {
        array.extend_from_slice(if at == 0 { b"" } else { b"," });
        array.extend_from_slice(&document.json);
    }
    array.push(b']');
    array
}
