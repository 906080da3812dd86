//! The query string of a request, read the way clients write it.
//!
//! The published clients are inexact: they send leading `?&`, doubled separators, empty values, a key that begins with
//! `?`, values that are escaped or not: an empty pair is skipped, a broken escape stands for itself. What is refused, with
//! the parameter and its value: ids that are not UTF-8, numbers and switches that are none. An empty value is no value.
//! Values borrow from the request unless an escape has to be resolved.

use std::borrow::Cow;
use std::time::Duration;

use database::time_span::{self, TIME_SPAN};

use crate::error::{Error, Result};

/// The keys of values that are ids, or what they begin with.
const ID_KEYS: [&str; 3] = ["id", "startsWith", "startAfter"];

/// The part of a request target after its first `?`; pairs are found again at each call, which for the one to ten
/// parameters of a request is cheaper than a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryString<'a> {
    text: &'a str,
}

impl<'a> QueryString<'a> {
    pub(crate) fn new(text: &'a str) -> QueryString<'a> {
        QueryString { text }
    }

    /// The pairs in order: key as written (but for leading `?`), value still escaped.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.text.split('&').filter_map(|pair| {
            let pair = pair.trim_start_matches('?');
            if pair.is_empty() {
                return None;
            }
            Some(pair.split_once('=').unwrap_or((pair, "")))
        })
    }

    /// The first value of `key`, unescaped; `None` if the key is absent. Keys compare without regard to ASCII case.
    pub(crate) fn get(self, key: &str) -> Option<Cow<'a, str>> {
        self.raw(key).map(decode)
    }

    /// As [`QueryString::get`], but an empty value counts as absent.
    pub(crate) fn get_nonempty(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key).filter(|value| !value.is_empty())
    }

    /// All values of `key` in order, unescaped.
    pub(crate) fn all(self, key: &str) -> impl Iterator<Item = Cow<'a, str>> {
        self.pairs().filter(move |(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| decode(value))
    }

    /// True if `key` is `true`; absent or `false` it is not.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is neither.
    pub(crate) fn is_true(self, key: &str) -> Result<bool> {
        self.raw(key).map_or(Ok(false), |value| parse_bool(key, value))
    }

    /// The value of `key` as a whole number, negative or not.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is none.
    pub(crate) fn signed(self, key: &str) -> Result<Option<i64>> {
        let Some(value) = self.get_nonempty(key) else { return Ok(None) };
        let number = value.trim().parse();
        number.map(Some).map_err(|_| Error::parameter(key, &value, "a whole number"))
    }

    /// The value of `key` as a whole number from 0 on.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is none.
    pub(crate) fn number(self, key: &str) -> Result<Option<u64>> {
        let Some(value) = self.get_nonempty(key) else { return Ok(None) };
        let number = value.trim().parse();
        number.map(Some).map_err(|_| Error::parameter(key, &value, "a whole number from 0 on"))
    }

    /// A parameter that must be a span of time.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is none.
    pub(crate) fn time_span(self, key: &str) -> Result<Option<Duration>> {
        let Some(value) = self.get_nonempty(key) else { return Ok(None) };
        time_span::parse(&value).map(Some).ok_or_else(|| Error::parameter(key, &value, TIME_SPAN))
    }

    /// `start`: how many results are passed over.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is no number from 0 on.
    pub(crate) fn page_start(self) -> Result<u64> {
        Ok(self.number("start")?.unwrap_or(0))
    }

    /// `pageSize`: how many results there are at most; absent means all. A negative page is an empty one, as clients know it.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is no number.
    pub(crate) fn page_size(self) -> Result<u64> {
        Ok(self.signed("pageSize")?.map_or(u64::MAX, |size| u64::try_from(size).unwrap_or(0)))
    }

    /// Checks that ids, and what they begin with, are UTF-8 once their escapes are resolved.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] for the first that is not.
    pub(crate) fn check_ids(self) -> Result<()> {
        for (key, value) in self.pairs() {
            // Only an escape of 0x80 or above can end in something else, and few values have one.
            let is_suspect = value.as_bytes().windows(2).any(|pair| pair[0] == b'%' && pair[1] >= b'8');
            let is_id = || ID_KEYS.iter().any(|name| name.eq_ignore_ascii_case(key));
            if is_suspect && is_id() && std::str::from_utf8(&decode_bytes(value)).is_err() {
                return Err(Error::parameter(key, value, "text in UTF-8"));
            }
        }
        Ok(())
    }

    fn raw(self, key: &str) -> Option<&'a str> {
        self.pairs().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// How many pairs there are, without looking at them.
    pub(crate) fn count(self) -> usize {
        if self.text.is_empty() { 0 } else { memchr::memchr_iter(b'&', self.text.as_bytes()).count() + 1 }
    }
}

/// `true` or `false`, in any case; empty is `false`.
pub(crate) fn parse_bool(key: &str, value: &str) -> Result<bool> {
    if value.eq_ignore_ascii_case("true") {
        Ok(true)
    } else if value.is_empty() || value.eq_ignore_ascii_case("false") {
        Ok(false)
    } else {
        Err(Error::parameter(key, &decode(value), "true or false"))
    }
}

/// Resolves `%XX` and `+`. Text that would not be UTF-8 afterwards was not escaped by its client, and stands for itself: one
/// published client sends the names of collections to hi-lo as they are, `%Cars` for example.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'%', b'+', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    String::from_utf8(decode_bytes(text)).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn decode_bytes(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = match byte {
            b'%' => {
                bytes.get(at + 1).zip(bytes.get(at + 2)).and_then(|(&high, &low)| Some((hex(high)? << 4) | hex(low)?))
            }
            _ => None,
        };
        match escaped {
            Some(value) => {
                decoded.push(value);
                at += 3;
            }
            None => {
                decoded.push(if byte == b'+' { b' ' } else { byte });
                at += 1;
            }
        }
    }
    decoded
}

/// As [`decode`] for a path segment, where `+` stands for itself.
pub(crate) fn decode_segment(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'%', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    if memchr::memchr(b'+', text.as_bytes()).is_none() {
        return decode(text);
    }
    Cow::Owned(decode(&text.replace('+', "%2B")).into_owned())
}

/// A name as a segment or value of a target: all but letters, digits and `-._~` are percent-encoded.
pub(crate) fn encode_segment(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, key: &str, expected: Option<&str>) {
        assert_eq!(QueryString::new(text).get(key).as_deref(), expected, "{text}");
    }

    #[test]
    fn sloppy_separators_are_skipped() {
        check("?&id=users%2F1&&to=&", "id", Some("users/1"));
        check("?&id=users%2F1&&to=&", "to", Some(""));
        check("id=a&?raft-request-id=7", "raft-request-id", Some("7"));
        check("", "id", None);
    }

    #[test]
    fn keys_have_no_case_and_values_keep_theirs() {
        check("ID=Users/1", "id", Some("Users/1"));
        check("name=A&NAME=B", "name", Some("A"));
        assert_eq!(QueryString::new("id=1&Id=2&x=3").all("id").collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn broken_escapes_stand_for_themselves() {
        check("id=100%", "id", Some("100%"));
        check("id=%zz%4", "id", Some("%zz%4"));
        check("id=a+b%2Bc", "id", Some("a b+c"));
        check("id=%C3%A9", "id", Some("é"));
    }

    #[test]
    fn numbers_and_switches_that_are_none_are_refused_by_name() {
        let query = QueryString::new("start=+3&pageSize=-1&x=&y=1.5&metadataOnly=True&force=yes&z=%2D2");
        assert_eq!((query.page_start().unwrap(), query.page_size().unwrap()), (3, 0));
        assert_eq!((query.number("x").unwrap(), query.number("absent").unwrap()), (None, None));
        assert_eq!(query.signed("z").unwrap(), Some(-2));
        assert!(query.is_true("metadataonly").unwrap());
        assert!(!query.is_true("x").unwrap());
        let message = |error: Error| error.to_string();
        assert_eq!(
            message(query.number("y").unwrap_err()),
            "Query string value 'y' must be a whole number from 0 on, but is '1.5'"
        );
        assert_eq!(
            message(query.number("z").unwrap_err()),
            "Query string value 'z' must be a whole number from 0 on, but is '-2'"
        );
        assert_eq!(
            message(query.is_true("force").unwrap_err()),
            "Query string value 'force' must be true or false, but is 'yes'"
        );
    }

    #[test]
    fn ids_that_are_not_utf_8_are_refused_and_other_text_stands_for_itself() {
        for text in ["id=a%ff", "x=1&ID=%C3", "startsWith=%ED%A0%80"] {
            assert!(QueryString::new(text).check_ids().is_err(), "{text}");
        }
        for text in ["id=%C3%A9", "id=100%", "id=%zz", "id=%", "", "tag=%Cars"] {
            assert!(QueryString::new(text).check_ids().is_ok(), "{text}");
        }
        check("tag=My+%Cars", "tag", Some("My+%Cars"));
    }
}
