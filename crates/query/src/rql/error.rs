//! Why a text is not RQL, and where.

use crate::limits::{DEPTH_MAX, FOUND_CHARACTERS_MAX, FUNCTION_COUNT_MAX, QUERY_SIZE_MAX, TERM_COUNT_MAX};
use std::borrow::Cow;

/// A text was refused. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column} {reason}{}", .hint.as_ref().map_or_else(String::new, |hint| format!(". {hint}")))]
pub struct Error {
    /// What is wrong.
    pub reason: Reason,
    /// Line of the place.
    pub line: usize,
    /// Column of the place.
    pub column: usize,
    /// Bytes before the place.
    pub offset: usize,
    /// What was probably meant, or what to do, as a sentence without its full stop.
    pub hint: Option<String>,
}

/// What is wrong with the text. The wording is RavenDB's wherever it has one for the case.
///
/// RavenDB answers what is wrong in grammar with its parser's exception, and what its parser takes but cannot mean anything
/// ([`Reason::NoOperator`], [`Reason::Invalid`]) with `InvalidQueryException`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Something else was expected here.
    #[error("{expected} but got{found}")]
    Unexpected {
        /// What the parser wanted.
        expected: Cow<'static, str>,
        /// What stands there.
        found: ActualToken,
    },
    /// A field stands where a condition should, with nothing to compare it by.
    #[error(
        "Expected operator after '{field}' field, but found {}. Valid operators are: 'in', 'between', =, <, >, <=, >=, !=",
        found.map_or_else(|| "nothing".to_owned(), |found| format!("'{found}'"))
    )]
    NoOperator {
        /// The field.
        field: String,
        /// The character that follows; none at the end of the query.
        found: Option<char>,
    },
    /// Something that has the form of RQL, but no meaning.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
    /// A part of the language that is gone.
    #[error("{0}")]
    Removed(&'static str),
    /// A character after a backslash that is no escape, or a malformed `\u`.
    #[error("unrecognized escape character found in string")]
    Escape,
    /// The body of a function, projection or update has no end, or its brackets do not fit.
    #[error("{0}")]
    Script(&'static str),
    /// Longer than [`QUERY_SIZE_MAX`].
    #[error("Query is too complex, over {} bytes are not allowed", QUERY_SIZE_MAX)]
    TooLong,
    /// Deeper than [`DEPTH_MAX`].
    #[error("Query is too complex, over {} nested clauses are not allowed", DEPTH_MAX)]
    TooDeep,
    /// More than [`TERM_COUNT_MAX`] terms.
    #[error("Query is too complex, over {} terms are not allowed", TERM_COUNT_MAX)]
    TooManyTerms,
    /// More than [`FUNCTION_COUNT_MAX`] functions.
    #[error("Query is too complex, over {} declared functions are not allowed", FUNCTION_COUNT_MAX)]
    TooManyFunctions,
}

impl Reason {
    /// Whether the text is not RQL, rather than RQL that means nothing.
    pub fn is_grammar(&self) -> bool {
        !matches!(self, Reason::NoOperator { .. } | Reason::Invalid(_))
    }
}

/// What stands where something else was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActualToken {
    /// Nothing: the query ends.
    End,
    /// This, up to the next blank and not longer than an error should be.
    Text(String),
    /// A string that is not closed.
    OpenText(String),
    /// A comment that is not closed.
    OpenComment(String),
}

impl std::fmt::Display for ActualToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ActualToken::End => f.write_str(" to the end of the query"),
            ActualToken::Text(text) => write!(f, ": {text}"),
            ActualToken::OpenText(text) => write!(f, ": {text} (a string without an end)"),
            ActualToken::OpenComment(text) => write!(f, ": {text} (a comment without an end)"),
        }
    }
}

impl Error {
    /// Works out line and column; only done when there is an error to report.
    pub(super) fn at(reason: Reason, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        let column = 1 + before.chars().rev().take_while(|c| *c != '\n').count();
        Error { reason, line, column, offset, hint: None }
    }
}

/// The part of `text` behind `offset` that an error shows.
pub(super) fn shown(text: &str, offset: usize) -> String {
    let rest = text.get(offset..).unwrap_or_default().trim_start();
    rest.chars().take_while(|c| !c.is_whitespace()).take(FOUND_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let error = Error::at(Reason::Escape, "a\nüb", 4);
        assert_eq!((error.line, error.column, error.offset), (2, 2, 4));
        assert_eq!(error.to_string(), "2:2 unrecognized escape character found in string");
    }

    #[test]
    fn what_is_shown_is_one_word_and_short() {
        assert_eq!(shown("a (b c", 2), "(b");
        assert_eq!(shown(&"x".repeat(1000), 1).len(), FOUND_CHARACTERS_MAX);
    }
}
