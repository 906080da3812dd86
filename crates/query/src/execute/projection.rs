//! Writing projected values of a result.

use crate::index::IndexEntry;
use crate::mapping::rewritten;
use crate::plan::{PathStep, Projected, ProjectedColumn, Projection, write_path};
use documents::Document;
use json::{Kind, Raw};

/// What one result of a query is made of.
#[derive(Clone, Copy)]
pub struct Row<'r> {
    /// The document; `None`: it is the result of a reduce, or the stored values are all that is wanted.
    pub document: Option<&'r Document<'r>>,
    /// What an index keeps of it; `None`: no index answers.
    pub entry: Option<IndexEntry<'r>>,
    /// Whether the entry is the result of a reduce.
    pub is_grouped: bool,
}

impl<'r> Row<'r> {
    /// The object that an index stores; `None`: it stores nothing.
    pub fn stored(&self) -> Option<Raw<'r>> {
        self.entry.and_then(|entry| entry.stored())
    }
}

/// A value that has to be there and is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingValue {
    /// The index does not store it.
    #[error(
        "Could not extract field '{field}' from index, because index does not contain such a field or field value is not stored within index"
    )]
    OfIndex {
        /// Its name.
        field: String,
    },
    /// The document does not have it.
    #[error("Could not extract field '{field}' from document, because document does not contain such a field")]
    OfDocument {
        /// Its name.
        field: String,
    },
}

impl Projection {
    /// Whether the document of an entry has to be loaded for it: as in the reference, where the entry does not store
    /// one of the values, such as the id.
    pub fn needs_document(&self, entry: &IndexEntry<'_>) -> bool {
        let stored = entry.stored().filter(|_| self.behavior.asks_index());
        let is_stored = |field: &str, steps: &[PathStep]| {
            stored.is_some_and(|stored| stored.get(field).is_some() || write_path(steps, stored, &mut Vec::new()))
        };
        let needs = |column: &ProjectedColumn| match &column.value {
            Projected::Path { field, steps } => !is_stored(field, steps),
            Projected::Metadata(_) | Projected::Id | Projected::Literal(_) => true,
            Projected::Key(_) => false,
        };
        self.behavior.asks_documents() && self.columns.iter().any(needs)
    }

    /// Whether what is missing is left out of results of an index, where it is null otherwise: as in the reference, if a field or id comes
    /// from the index.
    ///
    /// * `may_store`: whether the index may store a field.
    pub fn omits_missing_in(&self, may_store: impl Fn(&str) -> bool) -> bool {
        let is_of_index = |column: &ProjectedColumn| match &column.value {
            Projected::Path { field, .. } => may_store(field),
            Projected::Id => true,
            Projected::Metadata(_) | Projected::Key(_) | Projected::Literal(_) => false,
        };
        self.behavior.asks_index() && self.columns.iter().any(is_of_index)
    }

    /// Appends the properties of a result, without braces and without metadata.
    ///
    /// * `omits_missing`: see [`Self::omits_missing_in`].
    ///
    /// # Errors
    ///
    /// [`MissingValue`] if the projection wants all values to be there.
    pub fn write(&self, row: &Row<'_>, omits_missing: bool, out: &mut Vec<u8>) -> Result<(), MissingValue> {
        for ProjectedColumn { name, value } in &self.columns {
            let start = out.len();
            out.extend_from_slice(if start_of_object(out) { b"\"" } else { b",\"" });
            json::escape_into(out, name);
            out.extend_from_slice(b"\":");
            let is_stored_only = row.entry.is_some() && !self.behavior.asks_documents();
            let is_there = match value {
                Projected::Path { field, steps } => self.write_field(field, steps, row, out),
                Projected::Metadata(steps) => row.document.is_some_and(|document| {
                    if let [PathStep::Name(name)] = steps.as_slice()
                        && name == "@last-modified"
                    {
                        json::Writer::new(out).string(&document.last_modified().to_string());
                        return true;
                    }
                    let stored = [b"{", &*document.metadata_of_scripts(), b"}"].concat();
                    write_path(steps, Raw::new(&stored), out)
                }),
                Projected::Key(fields) => {
                    let stored = row.stored();
                    json::Writer::new(out).object(|json| {
                        for field in fields {
                            let value = stored.and_then(|stored| stored.get(field));
                            json.name(field).raw(value.map_or(b"null", |value| value.bytes()));
                        }
                    });
                    true
                }
                Projected::Id => {
                    let id = row.document.map(Document::id).or_else(|| row.entry.map(|entry| entry.document()));
                    out.push(b'"');
                    json::escape_into(out, id.unwrap_or_default());
                    out.push(b'"');
                    true
                }
                Projected::Literal(json) => {
                    out.extend_from_slice(json);
                    true
                }
            };
            match is_there {
                true => {}
                false if self.behavior.throws() => {
                    let field = name.clone();
                    return Err(match is_stored_only {
                        true => MissingValue::OfIndex { field },
                        false => MissingValue::OfDocument { field },
                    });
                }
                false if self.omits_missing || omits_missing || is_stored_only => out.truncate(start),
                false => out.extend_from_slice(b"null"),
            }
        }
        Ok(())
    }

    /// Appends the value of a field. False: there is none. A date is written with all its digits, so that equal ones are one text, which
    /// `distinct` compares.
    fn write_field(&self, field: &str, steps: &[PathStep], row: &Row<'_>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let is_there = self.write_value(field, steps, row, out);
        if let Some(date) = out.get(start..).filter(|_| is_there).and_then(|value| rewritten(Raw::new(value))) {
            out.truncate(start);
            out.extend_from_slice(&date);
        }
        is_there
    }

    fn write_value(&self, field: &str, steps: &[PathStep], row: &Row<'_>, out: &mut Vec<u8>) -> bool {
        let stored = row.stored();
        if let Some(stored) = stored.filter(|_| self.behavior.asks_index() || row.document.is_none()) {
            if let Some(value) = stored.get(field) {
                match row.is_grouped {
                    true => out.extend_from_slice(value.bytes()),
                    false => write_stored(value, out),
                }
                return true;
            }
            // Into what a reduce gave, or a stored object.
            let start = out.len();
            if write_path(steps, stored, out) {
                let is_of_array = !matches!(steps, [_, .., PathStep::Name(_)]);
                if !row.is_grouped && is_of_array {
                    let value = out.split_off(start);
                    write_stored(Raw::new(&value), out);
                }
                return true;
            }
        }
        match row.document {
            Some(document) if row.entry.is_none() || self.behavior.asks_documents() => {
                write_path(steps, document.body(), out)
            }
            _ => false,
        }
    }
}

/// Appends what an index stores of a document: as in the reference, numbers are texts, alone and in arrays. The depth of the recursion is
/// that of the document.
pub(super) fn write_stored(value: Raw<'_>, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Number => {
            out.push(b'"');
            out.extend_from_slice(value.bytes());
            out.push(b'"');
        }
        Kind::Array => {
            out.push(b'[');
            for (at, element) in value.elements().enumerate() {
                out.extend_from_slice(if at == 0 { b"" } else { b"," });
                write_stored(element, out);
            }
            out.push(b']');
        }
        _ => out.extend_from_slice(value.bytes()),
    }
}

/// Whether the next property is the first one of its object.
fn start_of_object(out: &[u8]) -> bool {
    out.last() == Some(&b'{')
}
