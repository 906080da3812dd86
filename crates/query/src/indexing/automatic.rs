//! Entries of automatic indexes: each document is one, with the fields that the index has.

use super::extract::{Found, Paths};
use super::indexer::{MakesEntries, Unmapped};
use super::map_runner::Loading;
use super::terms;
use crate::definition::{Analysis, AutomaticIndex};
use crate::index::{Entry, FieldNumber, Index, Result};
use documents::Document;
use json::Raw;

pub(super) struct AutomaticEntries {
    body: Paths,
    metadata: Paths,
    /// For each field how it is kept.
    stored: Vec<Vec<(Analysis, FieldNumber)>>,
    entry: Entry,
    lower: Vec<u8>,
    metadata_text: Vec<u8>,
}

const METADATA: &str = "@metadata";

impl AutomaticEntries {
    pub fn new(definition: &AutomaticIndex, index: &Index) -> Result<AutomaticEntries> {
        let (mut body, mut metadata) = (Paths::default(), Paths::default());
        for (number, field) in definition.fields().iter().enumerate() {
            let path = field.name.path.as_str();
            match path.strip_prefix(METADATA).and_then(|rest| rest.strip_prefix('.')) {
                Some(rest) => metadata.add(rest, number),
                None => body.add(path, number),
            };
        }
        let mut stored = vec![Vec::new(); definition.fields().len()];
        for (number, analysis, name) in definition.stored_fields() {
            if let Some(stored) = stored.get_mut(number) {
                stored.push((analysis, index.field(&name)?));
            }
        }
        let (entry, lower, metadata_text) = (Entry::new(), Vec::new(), Vec::new());
        Ok(AutomaticEntries { body, metadata, stored, entry, lower, metadata_text })
    }
}

impl MakesEntries for AutomaticEntries {
    fn entries_of(&mut self, _: &Index, document: &Document<'_>, _: Loading<'_>) -> Result<&mut [Entry], Unmapped> {
        let AutomaticEntries { body, metadata, stored, entry, lower, metadata_text } = self;
        entry.clear();
        let mut add = |field: usize, found: Found<'_>| {
            let stored = stored.get(field).map(Vec::as_slice).unwrap_or_default();
            stored.iter().try_for_each(|(analysis, number)| terms::add(entry, *number, *analysis, &found, lower))
        };
        body.visit(document.body(), &mut add)?;
        if !metadata.is_empty() {
            metadata_text.clear();
            metadata_text.push(b'{');
            document.write_metadata(metadata_text, None);
            metadata_text.push(b'}');
            metadata.visit(Raw::new(metadata_text), &mut add)?;
        }
        Ok(std::slice::from_mut(&mut self.entry))
    }
}
