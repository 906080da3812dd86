//! The entry of a document in the tree of constraints: equal values have equal entries.
//!
//! ```text
//! number (4 bytes, big-endian), then for each field: values joined by 1 and ended by 0
//! value: `s` and a text (in lower case unless case counts), `n` and a number, `b` and true or false, `j` and other JSON
//! ```
//!
//! Bytes 0 and 1 of texts are escaped by 2. Of an entry that is too long for a key the beginning stands there, then its hash (XXH3,
//! 128 bits, in hexadecimal), as with names of definitions.

use json::{Kind, PathMatch, Raw};
use storage::limits::KEY_SIZE_MAX;
use xxhash_rust::xxh3::xxh3_128;

use super::Prepared;
use crate::ids::id;

impl Prepared {
    /// The entry of a document; `None`: it lacks a field, or has null there, and is not constrained.
    ///
    /// * `body`: of the document, an object.
    pub fn entry(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut entry = self.number.to_be_bytes().to_vec();
        for path in &self.paths {
            let mut count = 0;
            path.visit(Raw::new(body), &mut |found| {
                let start = entry.len();
                if count > 0 {
                    entry.push(1);
                }
                match push(&mut entry, &found, self.constraint.is_case_sensitive) {
                    true => count += 1,
                    false => entry.truncate(start),
                }
            });
            if count == 0 {
                return None;
            }
            entry.push(0);
        }
        if entry.len() > KEY_SIZE_MAX {
            let hash = format!("{:032x}", xxh3_128(&entry));
            entry.truncate(KEY_SIZE_MAX - hash.len());
            entry.extend_from_slice(hash.as_bytes());
        }
        Some(entry)
    }

    /// The value of each field as JSON, for people.
    pub fn values(&self, body: &[u8]) -> Vec<String> {
        let shorten = |text: String| text.chars().take(100).collect::<String>();
        let of_path = |path: &json::Path| {
            let mut texts = Vec::new();
            path.visit(Raw::new(body), &mut |found| {
                texts.push(match found {
                    PathMatch::Key(key) => key.into_owned(),
                    PathMatch::Value(value) => String::from_utf8_lossy(value.bytes()).into_owned(),
                });
            });
            shorten(texts.join(","))
        };
        self.paths.iter().map(of_path).collect()
    }
}

/// Appends a value; false: it is null.
fn push(entry: &mut Vec<u8>, found: &PathMatch<'_>, is_case_sensitive: bool) -> bool {
    let value = match found {
        PathMatch::Key(key) => {
            push_text(entry, key, is_case_sensitive);
            return true;
        }
        PathMatch::Value(value) => value,
    };
    match value.kind() {
        Kind::Null => return false,
        Kind::String => push_text(entry, &value.as_str().unwrap_or_default(), is_case_sensitive),
        Kind::Number => {
            entry.push(b'n');
            entry.extend_from_slice(number(*value).as_bytes());
        }
        Kind::Bool => entry.extend_from_slice(if value.as_bool() == Some(true) { b"b1" } else { b"b0" }),
        Kind::Object | Kind::Array => {
            entry.push(b'j');
            push_escaped(entry, value.bytes());
        }
    }
    true
}

fn push_text(entry: &mut Vec<u8>, text: &str, is_case_sensitive: bool) {
    entry.push(b's');
    match is_case_sensitive {
        true => push_escaped(entry, text.as_bytes()),
        false => push_escaped(entry, &id::lower(text)),
    }
}

fn push_escaped(entry: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        if *byte <= 2 {
            entry.push(2);
        }
        entry.push(*byte);
    }
}

/// One text for equal numbers: `1`, `1.0` and `1e0` are one. Numbers that neither 64 bits nor a double have exactly are what they are
/// written as.
fn number(value: Raw<'_>) -> String {
    let text = value.number_text().unwrap_or_default();
    if let Some(whole) = value.as_i64() {
        return whole.to_string();
    }
    let is_whole_text = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match value.as_f64().filter(|number| number.is_finite() && !is_whole_text) {
        // Up to 2^53 each whole number is a double. Zero has no sign.
        Some(number) if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 => {
            format!("{:.0}", number + 0.0)
        }
        Some(number) => format!("{number:e}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_one_text() {
        let text = |number: &str| super::number(Raw::new(number.as_bytes()));
        for (numbers, expected) in [
            (&["1", "1.0", "1e0", "10e-1"][..], "1"),
            (&["0", "-0", "0.0", "-0.0", "-0e0"], "0"),
            (&["9007199254740992", "9007199254740992.0"], "9007199254740992"),
            (&["0.5", "5e-1"], "5e-1"),
            (&["123456789012345678901"], "123456789012345678901"),
        ] {
            for number in numbers {
                assert_eq!(text(number), expected, "{number}");
            }
        }
        assert_ne!(text("9007199254740993"), text("9007199254740992"));
    }
}
