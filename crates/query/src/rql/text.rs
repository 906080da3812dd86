//! Strings of RQL: from what stands between quotes to the value, and back.

use super::lexer::Quoted;
use std::borrow::Cow;
use std::fmt::{self, Write};

/// The value of a string: doubled quotes and escapes undone.
///
/// # Errors
///
/// Bytes before the backslash that begins no escape.
pub(super) fn decode(quoted: Quoted<'_>) -> Result<Cow<'_, str>, usize> {
    if quoted.is_plain {
        return Ok(Cow::Borrowed(quoted.inner));
    }
    let mut value = String::with_capacity(quoted.inner.len());
    let mut rest = quoted.inner;
    while let Some(special) = rest.find(['\\', char::from(quoted.quote)]) {
        value.push_str(&rest[..special]);
        let escape = &rest[special..];
        let (c, size) = if escape.starts_with('\\') {
            unescape(escape).ok_or(quoted.inner.len() - escape.len())?
        } else {
            (char::from(quoted.quote), 2)
        };
        value.push(c);
        rest = &escape[size..];
    }
    value.push_str(rest);
    Ok(Cow::Owned(value))
}

/// The character that an escape, backslash first, stands for, and the bytes of the escape.
fn unescape(escape: &str) -> Option<(char, usize)> {
    let c = match escape.as_bytes().get(1)? {
        b'\'' => '\'',
        b'"' => '"',
        b'\\' => '\\',
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'v' => '\u{b}',
        b'u' => return unescape_unicode(escape),
        _ => return None,
    };
    Some((c, 2))
}

/// `\uXXXX`, or two of them for a character outside of the basic plane.
fn unescape_unicode(escape: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let first = unit(0)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Some((c, 6));
    }
    let pair = char::decode_utf16([first, unit(6)?]).next()?.ok()?;
    Some((pair, 12))
}

/// Writes `value` as a string in single quotes that [`decode`] reads back.
pub(super) fn write_quoted(f: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    f.write_char('\'')?;
    for c in value.chars() {
        match c {
            '\'' => f.write_str("\\'")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_ascii_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(inner: &str) -> Result<Cow<'_, str>, usize> {
        decode(Quoted { inner, quote: b'\'', is_plain: false })
    }

    #[test]
    fn escapes_and_doubled_quotes_are_undone() {
        assert_eq!(decoded(r#"it\'s ''x'' \"\\"#).unwrap(), r#"it's 'x' "\"#);
        assert_eq!(decoded(r"\a\b\f\n\r\t\v").unwrap(), "\u{7}\u{8}\u{c}\n\r\t\u{b}");
        assert_eq!(decoded(r"\u00e9\uD83D\uDE00.").unwrap(), "é😀.");
    }

    #[test]
    fn what_is_no_escape_is_refused_with_its_place() {
        for (inner, place) in
            [(r"ab\q", 2), (r"\u00g0", 0), (r"\u12", 0), (r"é\uD83D", 2), (r"\uD83D\u0041", 0), ("\\é", 0)]
        {
            assert_eq!(decoded(inner), Err(place), "{inner}");
        }
    }
}
