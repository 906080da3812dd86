//! Why a definition is refused, and why a document cannot be mapped.

use documents::MissingFeature;

/// A definition was refused. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column} {message}")]
pub struct CompileError {
    /// What is wrong: what is not understood, unknown or not supported, by its name.
    pub message: String,
    /// Line of the place.
    pub line: usize,
    /// Column of the place.
    pub column: usize,
    /// The missing feature that it needs, where that is what is wrong.
    pub feature: Option<Box<MissingFeature>>,
}

impl CompileError {
    /// Of a place in a text, in bytes.
    pub(crate) fn at(text: &str, at: usize, message: &str) -> CompileError {
        let before = text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        CompileError { message: message.to_owned(), line, column, feature: None }
    }
}

/// A document cannot be mapped, or a group not be reduced. It becomes an error of the index, with the document's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// The host stopped the evaluation: nothing is wrong with the document.
    #[error("the evaluation was stopped")]
    Interrupted,
    /// There is no memory for the evaluation now: nothing is wrong with the document.
    #[error(
        "The evaluation needs more memory than the limit {limit} = {max_mb} (MB) leaves to it beside others. Try again later"
    )]
    OverMemory {
        /// The setting that names the limit.
        limit: &'static str,
        /// The limit in MiB.
        max_mb: usize,
    },
    /// An integer or a decimal was divided by zero.
    #[error("Attempted to divide by zero.")]
    DivideByZero,
    /// A result that its type of number cannot hold.
    #[error("Arithmetic operation resulted in an overflow.")]
    Overflow,
    /// An operator has no meaning for what it was given.
    #[error("Operator '{operator}' cannot be applied to operands of type '{left}' and '{right}'")]
    Operands {
        /// The operator as it is written.
        operator: &'static str,
        /// The type at its left.
        left: &'static str,
        /// The type at its right.
        right: &'static str,
    },
    /// A value that is not what a function takes.
    #[error("'{function}' cannot be applied to a value of type '{found}'")]
    Argument {
        /// The function.
        function: &'static str,
        /// The type of the value.
        found: &'static str,
    },
    /// A value that cannot become one of another type.
    #[error("Cannot convert {value} to type '{to}'")]
    Convert {
        /// The value, or its type.
        value: String,
        /// The type.
        to: &'static str,
    },
    /// A value that has no such member.
    #[error("'{found}' does not contain a definition for '{name}'")]
    Member {
        /// The type of the value.
        found: &'static str,
        /// The member.
        name: String,
    },
    /// A number outside of what a function takes.
    #[error("'{function}': the value is out of range")]
    Range {
        /// The function.
        function: &'static str,
    },
    /// `First`, `Max` and their like of nothing.
    #[error("Sequence contains no elements")]
    NoElements,
    /// `Single` of several.
    #[error("Sequence contains more than one element")]
    SeveralElements,
    /// A format for a number or a date that is not understood.
    #[error("The format '{0}' is not supported")]
    Format(String),
    /// A pattern that is no regular expression, or one that is not supported.
    #[error("The regular expression '{0}' is not supported")]
    Pattern(String),
    /// More steps than [`STEP_COUNT_MAX`](super::limits::STEP_COUNT_MAX).
    #[error("Mapping takes more than {} steps", super::limits::STEP_COUNT_MAX)]
    TooManySteps,
    /// A text over [`TEXT_SIZE_MAX`](super::limits::TEXT_SIZE_MAX).
    #[error("A text of over {} bytes was made", super::limits::TEXT_SIZE_MAX)]
    TooLong,
    /// A script failed, or took more than it may.
    #[error("{0}")]
    Script(String),
    /// The host failed: it could not read a document, for instance.
    #[error("{0}")]
    Host(String),
    /// The caller of a map does not want to go on.
    #[error("{0}")]
    Stopped(String),
}

/// What evaluating gives.
pub(crate) type Result<T, E = MapError> = std::result::Result<T, E>;

impl From<script::Error> for MapError {
    fn from(error: script::Error) -> MapError {
        match error {
            script::Error::Stopped => MapError::Interrupted,
            script::Error::OverMemory { limit, max_mb } => MapError::OverMemory { limit, max_mb },
            error => MapError::Script(error.to_string()),
        }
    }
}
