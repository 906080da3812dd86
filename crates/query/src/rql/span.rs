//! Where a part of a query stands in its text.

/// Bytes `start..end` of the text that was parsed.
///
/// All spans are equal to each other: two trees are the same when they mean the same, wherever their parts stood.
#[derive(Debug, Clone, Copy, Default, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A text has at most [`QUERY_SIZE_MAX`](crate::limits::QUERY_SIZE_MAX) bytes, so positions fit.
    pub(super) fn new(start: usize, end: usize) -> Self {
        Span { start: start as u32, end: end as u32 }
    }

    /// From the beginning of `self` to the end of `last`.
    pub(super) fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }

    /// The part of `text` that stands here; nothing if this is the span of another text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
