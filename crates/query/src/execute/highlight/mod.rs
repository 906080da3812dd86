//! Parts of a result's texts that have what the query looks for, with tags around it: what Lucene's `FastVectorHighlighter` does.
//!
//! [`marks`] says what is looked for in a field, [`texts`] gets its texts, [`places`] finds the one in the other, and [`fragments`] cuts.
//! Nothing is kept in an index for it: the texts of the results of one page are taken into words again.

mod fragments;
mod marks;
mod places;
mod texts;

use super::{CancelCheck, Row};
use crate::definition::{Fields, MarkedText};
use crate::index::{Error, IndexSnapshot};
use crate::indexing::extract::Paths;
use crate::plan::{Highlight, IndexQuery};
use marks::Marks;
pub(super) use marks::{Gatherer, WordMatcher};
use texts::Texts;

/// Highlights the fields of results of one query.
#[derive(Debug)]
pub struct Highlighter<'q> {
    fields: Vec<Highlighted<'q>>,
}

#[derive(Debug)]
struct Highlighted<'q> {
    highlight: &'q Highlight,
    source: MarkedText,
    path: Paths,
    marks: Marks,
}

impl<'q> Highlighter<'q> {
    /// What a query looks for in the fields that it wants to be highlighted.
    ///
    /// # Errors
    ///
    /// [`Error`] if the index cannot be read; that of `check_cancel`.
    pub fn new<E: From<Error>>(
        index: &IndexSnapshot<'_>,
        fields: &dyn Fields,
        highlights: &'q [Highlight],
        query: &IndexQuery,
        check_cancel: CancelCheck<'_, E>,
    ) -> Result<Highlighter<'q>, E> {
        let mut highlighted = Vec::new();
        let all = marks::of(index, fields, highlights, query, check_cancel)?;
        for (highlight, marks) in highlights.iter().zip(all) {
            let source = fields.marked_text(&highlight.field.name);
            let (Some(source), Some(marks)) = (source, marks) else { continue };
            let mut path = Paths::default();
            path.add(texts::path(&highlight.field.name.path), 0);
            highlighted.push(Highlighted { highlight, source, path, marks });
        }
        Ok(Highlighter { fields: highlighted })
    }

    /// Calls `each` with the fragments of each field of a result that has any.
    ///
    /// # Errors
    ///
    /// Those of `check_cancel` and `each`.
    pub fn highlight<E>(
        &self,
        row: &Row<'_>,
        check_cancel: CancelCheck<'_, E>,
        each: &mut dyn FnMut(&'q Highlight, Vec<String>) -> Result<(), E>,
    ) -> Result<(), E> {
        for Highlighted { highlight, source, path, marks } in &self.fields {
            let field = &highlight.field.name.path;
            let texts = match source {
                MarkedText::Stored => row.stored().and_then(|stored| Texts::of_stored(stored, field)),
                MarkedText::Document => row.document.map(|document| Texts::of_document(document, field, path)),
            };
            let Some(texts) = texts else { continue };
            let places = places::of(marks, &texts, check_cancel)?;
            let fragments = fragments::cut(&texts.text, &places, highlight.length, highlight.count);
            if !fragments.is_empty() {
                let tagged = fragments.iter().map(|fragment| fragment.tagged(&texts.text, &places, &highlight.tags));
                each(highlight, tagged.collect())?;
            }
        }
        Ok(())
    }
}
