//! Where a text is no JavaScript, in its own lines and columns.
//!
//! A [`Program`](crate::Program) compiles a text that was rewritten, and put between others. This compiles a text as it is, and runs
//! nothing.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::limits::{Limits, SCRIPT_SIZE_MAX};

/// What makes statements a function that is not called. It has one line, as the first line of the text.
const BEFORE: &str = "(function(){\"use strict\";return function(){";
const AFTER: &str = "\n}})";

/// What is wrong with a text, and where: line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What the parser says.
    pub message: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// What is wrong with statements, if they are no JavaScript.
///
/// # Errors
///
/// [`Error`] if that cannot be found out: they are too large, or take more than they may.
pub fn syntax_error(text: &str) -> Result<Option<SyntaxError>> {
    if text.len() > SCRIPT_SIZE_MAX {
        let message = format!("A script of {} bytes is over the limit of {SCRIPT_SIZE_MAX} bytes", text.len());
        return Err(Error::Limit { message });
    }
    match Engine::new(format!("{BEFORE}{text}{AFTER}").into(), text, &Limits::default()) {
        Ok(_) => Ok(None),
        Err(Error::Syntax { message, line, column, .. }) => Ok(Some(within(text, message, line, column))),
        Err(error) => Err(error),
    }
}

/// The error at its place of the text: at its end, if the parser only found what was put behind it.
///
/// * `column`: in bytes, from 1.
fn within(text: &str, message: String, line: u32, column: u32) -> SyntaxError {
    let (line, column) = ((line as usize).max(1), column as usize);
    let (mut lines, line_count) = (text.split('\n'), text.split('\n').count());
    let Some(found) = lines.nth(line - 1) else {
        let last = text.rsplit('\n').next().unwrap_or_default();
        let message = "unexpected end of the text".to_owned();
        return SyntaxError { message, line: line_count, column: last.chars().count() + 1 };
    };
    let before = if line == 1 { BEFORE.len() } else { 0 };
    let at = found.floor_char_boundary(column.saturating_sub(before + 1));
    SyntaxError { message, line, column: found[..at].chars().count() + 1 }
}
