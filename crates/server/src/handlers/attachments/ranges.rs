//! Ranges of bytes that a request asks for (RFC 9110, 14.2): one range of a content, or all of it.

use std::ops::Range;

/// What is to be sent of a content.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// All of it: there is no range, or it is not understood, or there are several.
    All,
    /// These bytes, at least one.
    Part(Range<u64>),
    /// Bytes that it has not.
    Unsatisfiable,
}

/// Reads the value of `Range`.
///
/// * `size`: bytes of the content.
pub(super) fn asked(value: Option<&[u8]>, size: u64) -> Asked {
    let range = value.and_then(|value| std::str::from_utf8(value).ok()).and_then(parse);
    match range {
        None => Asked::All,
        Some((Some(first), _)) if first >= size => Asked::Unsatisfiable,
        Some((Some(first), last)) => Asked::Part(first..last.map_or(size, |last| last.saturating_add(1).min(size))),
        // The last bytes.
        Some((None, Some(0))) => Asked::Unsatisfiable,
        Some((None, _)) if size == 0 => Asked::Unsatisfiable,
        Some((None, count)) => Asked::Part(size.saturating_sub(count.unwrap_or_default())..size),
    }
}

/// `bytes=first-last`, `bytes=first-` or `bytes=-count`.
fn parse(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (unit, range) = text.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    let number = |text: &str| match text {
        "" => Some(None),
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok().map(Some),
        _ => None,
    };
    match (number(first)?, number(last)?) {
        (None, None) => None,
        (Some(first), Some(last)) if last < first => None,
        range => Some(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood_and_everything_else_is_the_whole() {
        let of = |text: &str, size| asked(Some(text.as_bytes()), size);
        assert_eq!(of("bytes=1-2", 5), Asked::Part(1..3));
        assert_eq!(of("Bytes = 3-", 5), Asked::Part(3..5));
        assert_eq!(of("bytes=-2", 5), Asked::Part(3..5));
        assert_eq!(of("bytes=-9", 5), Asked::Part(0..5));
        assert_eq!(of("bytes=0-100", 5), Asked::Part(0..5));
        assert_eq!(of("bytes=4-18446744073709551615", 5), Asked::Part(4..5));
        for text in ["bytes=5-", "bytes=9-10", "bytes=-0"] {
            assert_eq!(of(text, 5), Asked::Unsatisfiable, "{text}");
        }
        assert_eq!((of("bytes=0-", 0), of("bytes=-1", 0)), (Asked::Unsatisfiable, Asked::Unsatisfiable));
        for text in ["", "x=1-2", "bytes=2-1", "bytes=0-1,3-4", "bytes=", "bytes=-", "bytes=+1-2", "bytes=1-x"] {
            assert_eq!(of(text, 5), Asked::All, "{text}");
        }
        assert_eq!(asked(None, 5), Asked::All);
    }
}
