//! Fragments of the texts of results (highlighting), and explanations of their scores.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use query::execute::{Highlighter, Row};
use query::plan::{Explanations, Highlight};
use storage::memory::{Memory, MemoryReservation};

use super::deadline::Deadline;
use super::error::QueryError;
use super::timings::{Stage, Timings, timed};
use crate::Result;

/// Texts by the key of their result.
pub type MarkedTexts = BTreeMap<String, Vec<String>>;

/// Fragments and explanations of the results of one query.
pub struct Marks<'a> {
    highlighter: Option<Highlighter<'a>>,
    /// Fragments by field and key of the result.
    highlighted: RefCell<BTreeMap<String, MarkedTexts>>,
    explanations: Option<&'a Explanations>,
    /// Explanations by key of the result.
    explained: RefCell<MarkedTexts>,
    /// What that takes, in bytes.
    size: Cell<usize>,
    reservation: RefCell<MemoryReservation>,
}

impl<'a> Marks<'a> {
    /// * `highlighter`: if anything is to be highlighted.
    pub(super) fn new(
        highlighter: Option<Highlighter<'a>>,
        explanations: Option<&'a Explanations>,
        memory: &Arc<Memory>,
    ) -> Marks<'a> {
        Marks {
            highlighter,
            highlighted: RefCell::default(),
            explanations,
            explained: RefCell::default(),
            size: Cell::new(0),
            reservation: RefCell::new(memory.reservation()),
        }
    }

    /// Notes the fragments and the explanation of a result.
    ///
    /// # Errors
    ///
    /// There is no memory for them, the time is up, or the result has no key.
    pub(super) fn note(
        &self,
        row: &Row<'_>,
        explanation: Option<&str>,
        deadline: &Deadline,
        timings: Option<&Timings>,
    ) -> Result<()> {
        if let (Some(wanted), Some(text)) = (self.explanations, explanation) {
            let key = key_of(row, wanted.group_key.as_deref())?;
            self.grow(key.len() + text.len() + size_of::<String>())?;
            self.explained.borrow_mut().entry(key).or_default().push(text.to_owned());
        }
        match self.highlighter {
            Some(_) => timed(timings, Stage::Highlight, || self.highlight(row, deadline)),
            None => Ok(()),
        }
    }

    fn highlight(&self, row: &Row<'_>, deadline: &Deadline) -> Result<()> {
        let Some(highlighter) = &self.highlighter else { return Ok(()) };
        highlighter.highlight(row, &|| deadline.look(), &mut |highlight: &Highlight, fragments| {
            let key = key_of(row, highlight.group_key.as_deref())?;
            let size = fragments.iter().map(|fragment| fragment.len() + size_of::<String>()).sum::<usize>();
            self.grow(key.len() + size)?;
            let mut highlighted = self.highlighted.borrow_mut();
            let of_field = highlighted.entry(highlight.field.name.path.clone()).or_default();
            of_field.entry(key).or_default().extend(fragments);
            Ok(())
        })
    }

    fn grow(&self, size: usize) -> Result<()> {
        self.size.set(self.size.get() + size);
        Ok(self.reservation.borrow_mut().grow(self.size.get())?)
    }

    /// The fragments by field, if the query highlights anything.
    pub fn highlights(&self) -> Option<Ref<'_, BTreeMap<String, MarkedTexts>>> {
        self.highlighter.as_ref().map(|_| self.highlighted.borrow())
    }

    /// The explanations, if the query asks for them.
    pub fn explanations(&self) -> Option<Ref<'_, MarkedTexts>> {
        self.explanations.map(|_| self.explained.borrow())
    }
}

/// What names a result: its document's id, or the value of a field.
fn key_of(row: &Row<'_>, field: Option<&str>) -> Result<String> {
    let Some(field) = field else {
        let id = row.document.map(|document| document.id()).or_else(|| row.entry.map(|entry| entry.document()));
        return Ok(id.unwrap_or_default().to_owned());
    };
    let stored = row.stored().and_then(|stored| stored.get(field));
    let value = stored.or_else(|| row.document.and_then(|document| document.body().get(field)));
    let text = value.and_then(|value| match value.kind() {
        json::Kind::String => value.as_str().map(|text| text.into_owned()),
        json::Kind::Number | json::Kind::Bool => Some(String::from_utf8_lossy(value.bytes()).into_owned()),
        json::Kind::Null | json::Kind::Array | json::Kind::Object => None,
    });
    text.ok_or_else(|| QueryError::Invalid(format!("the group key '{field}' is not a value of every result")).into())
}
