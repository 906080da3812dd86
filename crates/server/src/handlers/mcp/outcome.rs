//! What a tool gives: text for the model, or why there is none.

/// Why a tool has no result, in words for the model.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct ToolError(String);

impl ToolError {
    pub(super) fn new(text: String) -> ToolError {
        ToolError(text)
    }
}

/// What a tool gives.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// JSON in most cases.
    pub(super) text: String,
    /// Where it was cut off, and what to do about that.
    pub(super) notes: Vec<String>,
}

impl Output {
    /// One JSON object.
    pub(super) fn object(content: impl FnOnce(&mut ::json::Writer<'_>)) -> Output {
        let mut text = Vec::new();
        ::json::Writer::new(&mut text).object(content);
        Output { text: String::from_utf8_lossy(&text).into_owned(), notes: Vec::new() }
    }

    pub(super) fn with_note(mut self, note: impl Into<Option<String>>) -> Output {
        self.notes.extend(note.into());
        self
    }
}

/// The outcome of a tool.
pub(super) type Outcome = Result<Output, ToolError>;
