//! Why text is not acceptable JSON, and where.

/// Text was refused. The place is that of the offending byte; lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (line {line}, column {column})")]
pub struct Error {
    /// What is wrong.
    pub reason: Reason,
    /// Line of the place, from 1.
    pub line: usize,
    /// Column of the place in bytes, from 1.
    pub column: usize,
    /// Bytes before the place.
    pub offset: usize,
}

/// What is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The text stopped inside of a value; more bytes could complete it.
    #[error("unexpected end of JSON")]
    UnexpectedEnd,
    /// A byte that cannot stand here.
    #[error("expected {expected}, found {}", show(*found))]
    Unexpected {
        /// What could stand here.
        expected: &'static str,
        /// What stands here.
        found: u8,
    },
    /// Something follows the value.
    #[error("unexpected text after the end of the JSON value")]
    TrailingText,
    /// The bytes are not UTF-8.
    #[error("the text is not valid UTF-8")]
    NotUtf8,
    /// `NaN`, `Infinity` and their kin.
    #[error("NaN and Infinity are not JSON numbers")]
    NotANumber,
    /// A number that is malformed, such as `01` or `1.`.
    #[error("malformed number")]
    MalformedNumber,
    /// A number beyond the range of a 64-bit floating point number.
    #[error("the number is out of the range of a double")]
    NumberOutOfRange,
    /// An escape that JSON does not know.
    #[error("unknown escape sequence in a string")]
    UnknownEscape,
    /// Half of a surrogate pair.
    #[error("an escaped surrogate is without its other half")]
    LoneSurrogate,
    /// The same property twice in one object.
    #[error("the property '{name}' occurs twice in one object")]
    DuplicateProperty {
        /// The property.
        name: String,
    },
    /// Deeper than [`DEPTH_MAX`](crate::DEPTH_MAX).
    #[error("nested deeper than {} levels", crate::DEPTH_MAX)]
    TooDeep,
    /// A name longer than [`PROPERTY_NAME_SIZE_MAX`](crate::PROPERTY_NAME_SIZE_MAX).
    #[error("a property name is longer than {} bytes", crate::PROPERTY_NAME_SIZE_MAX)]
    PropertyNameTooLong,
    /// Text longer than [`INPUT_SIZE_MAX`](crate::INPUT_SIZE_MAX).
    #[error("the text is longer than {} bytes", crate::INPUT_SIZE_MAX)]
    TooLong,
}

impl Error {
    /// Works out line and column; only done when there is an error to report.
    pub(crate) fn at(reason: Reason, text: &[u8], offset: usize) -> Self {
        let offset = offset.min(text.len());
        let before = text.get(..offset).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
        Error { reason, line, column, offset }
    }
}

fn show(byte: u8) -> String {
    if byte.is_ascii_graphic() { format!("'{}'", char::from(byte)) } else { format!("byte 0x{byte:02x}") }
}
