//! Texts of requests, as lists of them keep them.

use crate::limits::SLOW_TEXT_SIZE_MAX;

/// Cuts a text at [`SLOW_TEXT_SIZE_MAX`] bytes, with a sign that there was more.
pub(crate) fn shorten(text: &mut String) {
    if text.len() > SLOW_TEXT_SIZE_MAX {
        text.truncate(text.floor_char_boundary(SLOW_TEXT_SIZE_MAX));
        text.push('…');
    }
}
