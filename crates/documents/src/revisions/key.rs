//! Ids of revisions: the id of the document, a NUL character, the date and the etag of the revision as 16 hexadecimal digits each.
//!
//! The key of the item is the id in lower case, so all revisions of a document lie together, the oldest first. The date is that of the
//! state which it keeps, but never before that of the revision before it, unless it was imported: a clock that is set back does not change
//! the order of revisions.

use crate::{Date, Error, Etag, Result};

/// Between the id of the document and the date. No new document has one in its id.
const SEPARATOR: char = '\0';

/// Bytes behind the separator: two numbers of 16 digits.
const DIGITS: usize = 32;

/// The id of a revision.
pub(crate) fn id_of(document_id: &str, date: Date, etag: Etag) -> String {
    format!("{document_id}{SEPARATOR}{:016x}{etag:016x}", date.ticks())
}

/// The key of a revision, made from the key of its document.
pub(crate) fn key_of(document_key: &[u8], date: Date, etag: Etag) -> Vec<u8> {
    let end = format!("{SEPARATOR}{:016x}{etag:016x}", date.ticks());
    [document_key, end.as_bytes()].concat()
}

/// The beginning of the keys of all revisions of a document.
pub(crate) fn prefix_of(document_key: &[u8]) -> Vec<u8> {
    [document_key, SEPARATOR.encode_utf8(&mut [0; 4]).as_bytes()].concat()
}

/// The first key behind all revisions of a document.
pub(crate) fn end_of(document_key: &[u8]) -> Vec<u8> {
    [document_key, &[1]].concat()
}

/// The id of the document in the id of a revision.
pub(crate) fn document_id(id: &str) -> &str {
    id.split_once(SEPARATOR).map_or(id, |(document, _)| document)
}

/// The key of the document in the key of a revision.
pub(crate) fn document_key(key: &[u8]) -> &[u8] {
    key.iter().position(|byte| *byte == 0).and_then(|end| key.get(..end)).unwrap_or(key)
}

/// The date in the key of a revision.
pub(crate) fn date_in(key: &[u8]) -> Result<Date> {
    let corrupt = Error::Corrupt { rule: "the key of a revision ends with a date and an etag" };
    let digits = key.len().checked_sub(DIGITS).and_then(|at| key.get(at..at + DIGITS / 2));
    let ticks = digits.and_then(|digits| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
    ticks.map(Date::from_ticks).ok_or(corrupt)
}

/// Checks the id of a stored revision.
pub(crate) fn check(id: &str) -> Result<()> {
    let bad = || Error::Corrupt { rule: "the id of a revision is that of its document, a date and an etag" };
    let (document_id, digits) = id.split_once(SEPARATOR).ok_or_else(bad)?;
    crate::ids::id::check(document_id)?;
    match digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
        true => Ok(()),
        false => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_date_then_etag() {
        let key = |ticks, etag| crate::ids::id::lower(&id_of("Users/1", Date::from_ticks(ticks), etag));
        assert!(key(1, 9) < key(2, 1) && key(2, 1) < key(2, 17) && key(2, 17) < end_of(b"users/1"));
        assert!(key(1, 9).starts_with(&prefix_of(b"users/1")));
        assert_eq!(key(1, 9), key_of(b"users/1", Date::from_ticks(1), 9));
        assert_eq!((document_key(&key(1, 9)), date_in(&key(77, 9)).unwrap()), (&b"users/1"[..], Date::from_ticks(77)));
        assert!(check(&id_of("Users/1", Date::from_ticks(1), 9)).is_ok());
        for bad in ["users/1", "users/1\0", "users/1\0zz", "\u{0}00000000000000010000000000000009"] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
