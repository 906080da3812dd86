//! The query string of a request, read the way clients write it.
//!
//! Clients are sloppy (endpoints.md §0.1): leading `?&`, doubled separators, empty values, a key that begins with
//! `?`, ids that are escaped or not. Nothing here fails: an empty pair is skipped, a broken escape stands for itself.
//! Values borrow from the request unless an escape has to be resolved.

use std::borrow::Cow;

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

    /// True if the key is there with a value that means yes.
    pub(crate) fn is_true(self, key: &str) -> bool {
        self.raw(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// The value of `key` as a whole number; absent, empty or rubbish (clients send `pageSize=null`) is `None`.
    pub(crate) fn number(self, key: &str) -> Option<i64> {
        self.get(key)?.trim().parse().ok()
    }

    fn raw(self, key: &str) -> Option<&'a str> {
        self.pairs().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// How many pairs there are, without looking at them.
    pub(crate) fn count(self) -> usize {
        if self.text.is_empty() { 0 } else { memchr::memchr_iter(b'&', self.text.as_bytes()).count() + 1 }
    }
}

/// Resolves `%XX` and `+`. Bytes that are not UTF-8 afterwards become the replacement character, which no stored id
/// contains by accident: such a request finds nothing rather than something else.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'%', b'+', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
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
    match String::from_utf8(decoded) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
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
        check("id=%ff", "id", Some("\u{fffd}"));
    }

    #[test]
    fn numbers_that_are_none_are_absent() {
        let query = QueryString::new("start=3&pageSize=null&x=");
        assert_eq!((query.number("start"), query.number("pageSize"), query.number("x")), (Some(3), None, None));
        assert!(QueryString::new("metadataOnly=True").is_true("metadataonly"));
    }
}
