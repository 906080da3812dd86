//! Strings inside JSON text: finding their end, writing and undoing escapes.
//!
//! The stored form of a string escapes only what JSON demands: `"`, `\` and the control characters, these as `\b`, `\f`,
//! `\n`, `\r`, `\t` where there is a short form and as `\u00xx` otherwise.

use std::borrow::Cow;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks, in the top bit of each byte, the bytes that end a run of plain characters: `"`, `\`, controls. Only the lowest
/// mark is exact (a borrow can spoil those above it), and only that one is used.
#[inline]
fn marks(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    ((quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash) | control) & HIGH
}

/// How many bytes from the start stand for themselves inside a JSON string.
#[inline]
pub(crate) fn plain_run(text: &[u8]) -> usize {
    let mut at = 0;
    let mut rest = text;
    while let Some((chunk, more)) = rest.split_first_chunk::<8>() {
        let found = marks(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
        rest = more;
    }
    at + rest.iter().take_while(|byte| **byte >= 0x20 && **byte != b'"' && **byte != b'\\').count()
}

/// Appends `text` as it stands between the quotes of a JSON string.
#[inline]
pub fn escape_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let plain = plain_run(rest);
        let (run, tail) = rest.split_at(plain);
        out.extend_from_slice(run);
        match tail.split_first() {
            None => return,
            Some((byte, tail)) => {
                push_escaped(out, *byte);
                rest = tail;
            }
        }
    }
}

/// Appends one byte that may not stand for itself.
pub(crate) fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            let digit = |value: u8| DIGITS[usize::from(value & 15)];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// The four hex digits at the start of `text`.
pub(crate) fn hex4(text: &[u8]) -> Option<u32> {
    let digits = text.first_chunk::<4>()?;
    digits.iter().try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}

/// What stands between the quotes of a string of checked JSON text, escapes and all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a>(pub(crate) &'a [u8]);

impl<'a> Text<'a> {
    /// The text between the quotes as it stands, with its escapes.
    pub fn escaped(self) -> &'a [u8] {
        self.0
    }

    /// The string that is meant. Copies only if there are escapes. Text that was never checked gives replacement
    /// characters where it is broken.
    pub fn decode(self) -> Cow<'a, str> {
        if !self.0.contains(&b'\\') {
            // Several times as fast for what is well-formed.
            return std::str::from_utf8(self.0).map_or_else(|_| String::from_utf8_lossy(self.0), Cow::Borrowed);
        }
        let mut out = Vec::with_capacity(self.0.len());
        let mut rest = self.0;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
            let (run, tail) = rest.split_at(at);
            out.extend_from_slice(run);
            rest = decode_escape(&mut out, tail.get(1..).unwrap_or_default());
        }
        out.extend_from_slice(rest);
        Cow::Owned(String::from_utf8_lossy(&out).into_owned())
    }

    /// Whether the string that is meant is `other`; does not allocate when there are no escapes.
    #[inline]
    pub fn is(self, other: &str) -> bool {
        self.0 == other.as_bytes() || (self.0.contains(&b'\\') && self.decode() == other)
    }
}

/// Appends what the escape means whose backslash was just read; returns what follows it.
fn decode_escape<'a>(out: &mut Vec<u8>, text: &'a [u8]) -> &'a [u8] {
    let Some((kind, mut rest)) = text.split_first() else { return text };
    let character = match kind {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => match unicode_escape(rest) {
            Some((character, size)) => {
                rest = rest.get(size..).unwrap_or_default();
                character
            }
            None => char::REPLACEMENT_CHARACTER,
        },
        other => char::from(*other),
    };
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    rest
}

/// The character of an escape whose `\u` was just read, and how many bytes it takes from here: 4, or 10 for a pair of
/// surrogates. None: no hex digits, or half of a pair.
pub(crate) fn unicode_escape(text: &[u8]) -> Option<(char, usize)> {
    let first = hex4(text)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 4));
    }
    if first >= 0xdc00 || text.get(4..6) != Some(b"\\u") {
        return None;
    }
    let second = hex4(text.get(6..)?)?;
    if !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).map(|character| (character, 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_run_ends_at_quote_backslash_and_control_wherever_they_are() {
        for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for at in 0..40 {
                let mut text = vec![b'x'; 45];
                text[at] = special;
                assert_eq!(plain_run(&text), at, "{special} at {at}");
            }
        }
        let others: Vec<u8> = (0x20..=0xff).filter(|byte| *byte != b'"' && *byte != b'\\').collect();
        assert_eq!(plain_run(&others), others.len());
    }

    #[test]
    fn escapes_go_there_and_back() {
        let text = "a\"b\\c/\u{8}\u{c}\n\r\t\u{1}\u{7f}é🙂\u{2028}";
        let mut out = Vec::new();
        escape_into(&mut out, text);
        assert_eq!(std::str::from_utf8(&out), Ok("a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\u{7f}é🙂\u{2028}"));
        assert_eq!(Text(&out).decode(), text);
        assert!(Text(&out).is(text));
    }

    #[test]
    fn broken_escapes_are_replaced_and_never_panic() {
        assert_eq!(Text(b"\\").decode(), "");
        assert_eq!(Text(b"\\ud83d").decode(), "\u{fffd}d83d");
        assert_eq!(Text(b"\\ud83d\\ude42").decode(), "🙂");
    }
}
