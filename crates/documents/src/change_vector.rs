//! Change vectors: which write of which database a document holds.
//!
//! ```text
//! A:5951-pITDlhlRaEeJh16dDBREzg, B:7-kSXfVRAkKEmffZpyfkd+Zw
//! tag:etag-database, separated by comma and space, sorted as text
//! ```
//!
//! Clients treat it as opaque and compare for equality. One vector is not older than another if it has, for each database
//! of the other, an etag that is not less; two of which neither is so are in conflict.

use crate::{Error, Result};

/// A change vector taken apart, in pieces of the texts that it came from. At most one entry per database, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ChangeVector<'t> {
    /// Most have no other, and then nothing is allocated.
    first: Option<VectorEntry<'t>>,
    more: Vec<VectorEntry<'t>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct VectorEntry<'t> {
    tag: &'t str,
    etag: u64,
    database: &'t str,
}

/// How two change vectors stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The same writes.
    Equal,
    /// The first has all of the second, and more.
    Newer,
    /// The second has all of the first, and more.
    Older,
    /// Each has a write that the other has not.
    Conflict,
}

impl<'t> ChangeVector<'t> {
    /// Reads the text of a change vector. Empty text is the empty vector.
    ///
    /// # Errors
    ///
    /// [`Error::BadChangeVector`]
    #[inline]
    pub fn parse(text: &'t str) -> Result<ChangeVector<'t>> {
        let mut vector = ChangeVector::default();
        let mut rest = Some(text);
        while let Some(text_from_here) = rest {
            let (part, after) = match memchr::memchr(b',', text_from_here.as_bytes()) {
                Some(comma) => (&text_from_here[..comma], Some(&text_from_here[comma + 1..])),
                None => (text_from_here, None),
            };
            // Between entries there is a space; else there rarely is one.
            let has_edges = part.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase())
                && part.bytes().next_back().is_some_and(|byte| byte.is_ascii_graphic());
            let part = if has_edges { part } else { part.trim() };
            if !part.is_empty() {
                let Some(entry) = VectorEntry::parse(part) else { return Err(bad(text)) };
                vector.append(entry);
            }
            rest = after;
        }
        if !vector.more.is_empty() {
            vector.arrange();
        }
        Ok(vector)
    }

    /// Adds an entry at the end, which [`arrange`](Self::arrange) puts in its place.
    #[inline]
    fn append(&mut self, entry: VectorEntry<'t>) {
        match self.first {
            None => self.first = Some(entry),
            Some(_) => self.more.push(entry),
        }
    }

    /// Sorts by database, and of each keeps the highest etag under the tag that came first. All at once: finding its place for
    /// each entry takes hours for a text of a few megabytes.
    fn arrange(&mut self) {
        let mut entries: Vec<VectorEntry<'t>> = self.entries().copied().collect();
        entries.sort_by_key(|entry| entry.database);
        entries.dedup_by(|again, kept| {
            let is_same = again.database == kept.database;
            if is_same {
                kept.etag = kept.etag.max(again.etag);
            }
            is_same
        });
        let mut entries = entries.into_iter();
        self.first = entries.next();
        self.more = entries.collect();
    }

    fn entries(&self) -> impl Iterator<Item = &VectorEntry<'t>> {
        self.first.iter().chain(&self.more)
    }

    /// Sets the etag of one database, unless it has a higher one.
    pub fn raise(&mut self, tag: &'t str, etag: u64, database: &'t str) {
        self.append(VectorEntry { tag, etag, database });
        self.arrange();
    }

    /// The etag of one database; 0 if it is not there.
    pub fn etag_of(&self, database: &str) -> u64 {
        self.entries().find(|entry| entry.database == database).map_or(0, |entry| entry.etag)
    }

    /// The highest etag of the entries with a tag; 0 if there is none.
    pub(crate) fn etag_of_tag(&self, tag: &str) -> u64 {
        self.entries().filter(|entry| entry.tag == tag).map(|entry| entry.etag).max().unwrap_or(0)
    }

    /// Takes the higher etag of each database.
    pub fn merge(&mut self, other: &ChangeVector<'t>) {
        other.entries().for_each(|entry| self.append(*entry));
        self.arrange();
    }

    /// How this vector stands to another.
    pub fn compare(&self, other: &ChangeVector<'_>) -> Order {
        let covers = |left: &ChangeVector<'_>, right: &ChangeVector<'_>| {
            // Both are in the order of databases.
            let mut left = left.entries().peekable();
            right.entries().all(|entry| {
                while left.next_if(|other| other.database < entry.database).is_some() {}
                let other = left.next_if(|other| other.database == entry.database);
                other.map_or(0, |other| other.etag) >= entry.etag
            })
        };
        match (covers(self, other), covers(other, self)) {
            (true, true) => Order::Equal,
            (true, false) => Order::Newer,
            (false, true) => Order::Older,
            (false, false) => Order::Conflict,
        }
    }
}

impl<'t> VectorEntry<'t> {
    /// Reads `tag:etag-database`.
    #[inline]
    fn parse(text: &'t str) -> Option<VectorEntry<'t>> {
        const TAG_SIZE_MAX: usize = 4;
        const DATABASE_SIZE_MAX: usize = 64;
        let bytes = text.as_bytes();
        let colon = bytes.iter().take(TAG_SIZE_MAX + 1).position(|byte| *byte == b':')?;
        let tag = &text[..colon];
        if tag.is_empty() || !tag.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let (mut etag, mut at) = (0u64, colon + 1);
        while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
            etag = etag.checked_mul(10)?.checked_add(u64::from(digit))?;
            at += 1;
        }
        let database = text.get(at + 1..)?;
        let is_good =
            at > colon + 1 && bytes[at] == b'-' && !database.is_empty() && database.len() <= DATABASE_SIZE_MAX;
        is_good.then_some(VectorEntry { tag, etag, database })
    }
}

#[cold]
fn bad(text: &str) -> Error {
    Error::BadChangeVector { text: text.chars().take(200).collect() }
}

impl std::fmt::Display for ChangeVector<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut texts: Vec<String> =
            self.entries().map(|entry| format!("{}:{}-{}", entry.tag, entry.etag, entry.database)).collect();
        texts.sort_unstable();
        f.write_str(&texts.join(", "))
    }
}

/// Whether a vector that a client sent back is the one that is stored, whatever the order of entries.
pub fn is_same(given: &str, stored: &str) -> bool {
    if given == stored {
        return true;
    }
    // Most vectors have one entry; then only equal texts are equal vectors.
    if !stored.contains(',') {
        return false;
    }
    match (ChangeVector::parse(given), ChangeVector::parse(stored)) {
        (Ok(given), Ok(stored)) => given.to_string() == stored.to_string(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "A:5951-pITDlhlRaEeJh16dDBREzg";
    const B: &str = "B:7-kSXfVRAkKEmffZpyfkd+Zw";

    fn vector(text: &str) -> ChangeVector<'_> {
        ChangeVector::parse(text).unwrap()
    }

    #[test]
    fn texts_go_there_and_back_in_order() {
        assert_eq!(vector(&format!("{B}, {A}")).to_string(), format!("{A}, {B}"));
        assert_eq!(vector("RAFT:2-x, A:24-y").to_string(), "A:24-y, RAFT:2-x");
        assert_eq!(vector("").to_string(), "");
        for text in [
            "x",
            "A:1",
            "a:1-x",
            "A:-x",
            "A:1-",
            "A:1",
            "A:1é",
            "ABCDE:1-x",
            ":1-x",
            "A:99999999999999999999999-x",
            "A:+1-x",
        ] {
            assert!(ChangeVector::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn vectors_compare_by_database() {
        assert_eq!(vector("A:2-x").compare(&vector("A:1-x")), Order::Newer);
        assert_eq!(vector("A:2-x").compare(&vector("A:1-x, B:1-y")), Order::Conflict);
        assert_eq!(vector("A:1-x").compare(&vector("A:1-x, B:1-y")), Order::Older);
        assert_eq!(vector("A:1-x, B:1-y").compare(&vector("B:1-y, A:1-x")), Order::Equal);
        let mut merged = vector("A:2-x, B:1-y");
        merged.merge(&vector("A:1-x, B:3-y, C:4-z"));
        assert_eq!(merged.to_string(), "A:2-x, B:3-y, C:4-z");
    }

    #[test]
    fn equality_ignores_the_order_of_entries() {
        assert!(is_same(&format!("{A}, {B}"), &format!("{B}, {A}")) && is_same(A, A));
        assert!(!is_same(A, B) && !is_same("nonsense", &format!("{A}, {B}")) && !is_same("", A));
    }
}
