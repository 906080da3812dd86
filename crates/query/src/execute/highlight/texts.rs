//! The texts of one field of one result.

use crate::index::limits::TERM_SIZE_MAX;
use crate::indexing::automatic::{in_metadata, write_metadata};
use crate::indexing::extract::{ExtractedValue, Paths};
use crate::limits::HIGHLIGHT_TEXT_SIZE_MAX;
use documents::Document;
use json::{Kind, Raw};
use std::convert::Infallible;
use std::ops::Range;

/// Texts, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// All of them, a space between two.
    pub text: String,
    /// Where each is.
    pub parts: Vec<Range<usize>>,
}

/// The path of a field, from the object on that it is read from.
pub(super) fn path(field: &str) -> &str {
    in_metadata(field).unwrap_or(field)
}

impl Texts {
    /// Those that an index stores. `None`: it stores none.
    pub fn of_stored(stored: Raw<'_>, field: &str) -> Option<Texts> {
        let mut texts = Texts::default();
        texts.add(stored.get(field)?);
        Some(texts)
    }

    /// Those of a document.
    pub fn of_document(document: &Document<'_>, field: &str, path: &Paths) -> Texts {
        let mut texts = Texts::default();
        let mut add = |_, found: ExtractedValue<'_>| {
            match found {
                ExtractedValue::Value(value) => texts.add(value),
                ExtractedValue::Part(json) => texts.add(Raw::new(&json)),
                ExtractedValue::Count(count) => texts.push(&count.to_string()),
            }
            Ok::<(), Infallible>(())
        };
        let Ok(()) = match in_metadata(field) {
            None => path.visit(document.body(), &mut add),
            Some(_) => {
                let mut metadata = Vec::new();
                write_metadata(document, &mut metadata);
                path.visit(Raw::new(&metadata), &mut add)
            }
        };
        texts
    }

    /// The depth of the recursion is that of arrays in arrays, which is bounded.
    fn add(&mut self, value: Raw<'_>) {
        match value.kind() {
            Kind::Null => {}
            Kind::String => self.push(&value.as_str().unwrap_or_default()),
            Kind::Array => value.elements().for_each(|element| self.add(element)),
            Kind::Bool | Kind::Number | Kind::Object => self.push(&String::from_utf8_lossy(value.bytes())),
        }
    }

    /// Adds a text behind the others.
    pub fn push(&mut self, text: &str) {
        if !self.text.is_empty() && self.text.len() < HIGHLIGHT_TEXT_SIZE_MAX {
            self.text.push(' ');
        }
        let start = self.text.len();
        let mut length = text.len().min(HIGHLIGHT_TEXT_SIZE_MAX.saturating_sub(start));
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        self.text.push_str(&text[..length]);
        if length > 0 {
            self.parts.push(start..start + length);
        }
    }
}

const _: () = assert!(HIGHLIGHT_TEXT_SIZE_MAX > TERM_SIZE_MAX && HIGHLIGHT_TEXT_SIZE_MAX < u32::MAX as usize);
