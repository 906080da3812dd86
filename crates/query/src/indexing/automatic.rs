//! Entries of automatic indexes: each document is one, with the fields that the index has.

use super::extract::{ExtractedValue, Paths};
use super::field_failures::FieldFailures;
use super::indexer::{MakesEntries, Unmapped};
use super::map_runner::Loading;
use super::places::PlaceFields;
use super::terms;
use super::vectors::VectorFields;
use crate::definition::{Analysis, AutomaticIndex};
use crate::index::{Entry, FieldNumber, Index, Result};
use documents::Document;
use json::Raw;

pub(super) struct AutomaticEntries {
    body: Paths,
    metadata: Paths,
    kept: Vec<KeptField>,
    entry: Entry,
    lower: Vec<u8>,
    metadata_text: Vec<u8>,
    places: PlaceFields,
    vectors: VectorFields,
}

/// Where the terms of a field go, and how each is analysed.
type KeptField = Vec<(FieldNumber, Analysis)>;

/// How an index keeps the fields of its definition, in their order.
///
/// # Errors
///
/// Those of [`Index::field`].
pub(super) fn kept_fields(definition: &AutomaticIndex, index: &Index) -> Result<Vec<KeptField>> {
    let mut kept = vec![Vec::new(); definition.fields().len()];
    for (number, analysis, name) in definition.stored_fields() {
        if let Some(kept) = kept.get_mut(number) {
            kept.push((index.field(&name)?, analysis));
        }
    }
    Ok(kept)
}

const METADATA: &str = "@metadata.";

/// The rest of a path that leads into the metadata.
pub(crate) fn in_metadata(path: &str) -> Option<&str> {
    path.strip_prefix(METADATA)
}

/// Makes an object of the whole metadata of a document.
pub(crate) fn write_metadata(document: &Document<'_>, out: &mut Vec<u8>) {
    out.clear();
    out.push(b'{');
    document.write_metadata(out, None);
    out.push(b'}');
}

impl AutomaticEntries {
    pub fn new(definition: &AutomaticIndex, index: &Index) -> Result<AutomaticEntries> {
        let (mut body, mut metadata) = (Paths::default(), Paths::default());
        for (number, field) in definition.fields().iter().enumerate() {
            let path = field.name.path.as_str();
            if field.needs.is_spatial || field.needs.is_vector {
                continue;
            }
            match in_metadata(path) {
                Some(rest) => metadata.add(rest, number),
                None => body.add(path, number),
            };
        }
        let (entry, lower, metadata_text) = (Entry::new(), Vec::new(), Vec::new());
        let places = PlaceFields::new(definition, index)?;
        let vectors = VectorFields::new(definition, index)?;
        let kept = kept_fields(definition, index)?;
        Ok(AutomaticEntries { body, metadata, kept, entry, lower, metadata_text, places, vectors })
    }
}

impl MakesEntries for AutomaticEntries {
    fn entries_of(
        &mut self,
        index: &Index,
        document: &Document<'_>,
        _: Loading<'_>,
        failures: &mut FieldFailures,
    ) -> Result<&mut [Entry], Unmapped> {
        let AutomaticEntries { body, metadata, kept, entry, lower, metadata_text, places, vectors } = self;
        entry.clear();
        let mut add = |field: usize, found: ExtractedValue<'_>| {
            let kept = kept.get(field).map(Vec::as_slice).unwrap_or_default();
            kept.iter().try_for_each(|(number, analysis)| terms::add(entry, *number, analysis, &found, lower))
        };
        body.visit(document.body(), &mut add)?;
        if !metadata.is_empty() {
            write_metadata(document, metadata_text);
            metadata.visit(Raw::new(metadata_text), &mut add)?;
        }
        places.add(document.body(), entry, failures)?;
        vectors.add(index, document.body(), entry, failures)?;
        Ok(std::slice::from_mut(&mut self.entry))
    }
}
