//! The paths of fields in the newest documents of a collection: to see whether a field is there, and to suggest one.

use std::collections::BTreeSet;

use documents::Snapshot;
use json::{Kind, Raw};
use query::spelling::nearest;

use crate::Result;
use crate::limits::{
    SAMPLE_DEPTH_MAX, SAMPLE_DOCUMENT_SIZE_MAX, SAMPLE_DOCUMENTS_MAX, SAMPLE_ELEMENTS_MAX, SAMPLE_PATHS_MAX,
};

/// The paths of the fields of some documents.
pub(super) struct FieldSample {
    /// As queries write them, such as `Lines[].Product`.
    paths: BTreeSet<String>,
    /// Documents that were read.
    pub document_count: u64,
}

impl FieldSample {
    /// Reads the newest documents, but not large ones.
    ///
    /// * `collection`: `None`: of all documents.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn of(documents: &Snapshot<'_>, collection: Option<&str>) -> Result<FieldSample> {
        let newest = match collection {
            Some(name) => documents.collection_latest(name)?,
            None => documents.latest(),
        };
        let mut sample = FieldSample { paths: BTreeSet::new(), document_count: 0 };
        for document in newest.take(SAMPLE_DOCUMENTS_MAX) {
            let document = document?;
            if document.body().bytes().len() <= SAMPLE_DOCUMENT_SIZE_MAX {
                sample.document_count += 1;
                sample.add(&mut String::new(), document.body(), SAMPLE_DEPTH_MAX);
            }
        }
        Ok(sample)
    }

    /// * `path`: that of the value; the same again at the end.
    /// * `depth`: how far below the value fields are still added.
    fn add(&mut self, path: &mut String, value: Raw<'_>, depth: usize) {
        let length = path.len();
        match value.kind() {
            Kind::Object if depth > 0 => {
                for (name, value) in value.members() {
                    if self.paths.len() >= SAMPLE_PATHS_MAX {
                        return;
                    }
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(&name.decode());
                    if !self.paths.contains(path.as_str()) {
                        self.paths.insert(path.clone());
                    }
                    self.add(path, value, depth - 1);
                    path.truncate(length);
                }
            }
            Kind::Array => {
                path.push_str("[]");
                let objects =
                    value.elements().take(SAMPLE_ELEMENTS_MAX).filter(|element| element.kind() == Kind::Object);
                objects.for_each(|element| self.add(path, element, depth));
                path.truncate(length);
            }
            _ => {}
        }
    }

    /// True if a document of the sample has the field, if only with an empty array.
    pub fn has(&self, path: &str) -> bool {
        let wanted = without_brackets(path);
        self.paths.iter().any(|path| without_brackets(path) == wanted)
    }

    /// The field that a misspelt path may mean: one that is spelled nearly the same, or else the shortest path that ends with it.
    pub fn nearest(&self, path: &str) -> Option<&str> {
        nearest(path, self.paths.iter().map(String::as_str)).or_else(|| {
            let is_end = |known: &&str| {
                let start = known.len().checked_sub(path.len()).and_then(|at| known.split_at_checked(at));
                start.is_some_and(|(before, end)| before.ends_with('.') && end.eq_ignore_ascii_case(path))
            };
            self.paths.iter().map(String::as_str).filter(is_end).min_by_key(|known| known.len())
        })
    }
}

fn without_brackets(path: &str) -> String {
    path.replace("[]", "")
}
