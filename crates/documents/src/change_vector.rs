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

/// A change vector taken apart. At most one entry per database.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ChangeVector {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    tag: String,
    etag: u64,
    database: String,
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

impl ChangeVector {
    /// Reads the text of a change vector. Empty text is the empty vector.
    ///
    /// # Errors
    ///
    /// [`Error::BadChangeVector`]
    pub fn parse(text: &str) -> Result<ChangeVector> {
        let bad = || Error::BadChangeVector { text: text.chars().take(200).collect() };
        let mut vector = ChangeVector::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (tag, rest) = part.split_once(':').ok_or_else(bad)?;
            let (etag, database) = rest.split_once('-').ok_or_else(bad)?;
            let is_tag = !tag.is_empty() && tag.len() <= 4 && tag.bytes().all(|byte| byte.is_ascii_uppercase());
            let is_etag = etag.bytes().all(|byte| byte.is_ascii_digit());
            if !is_tag || !is_etag || database.is_empty() || database.len() > 64 {
                return Err(bad());
            }
            vector.raise(tag, etag.parse().map_err(|_| bad())?, database);
        }
        Ok(vector)
    }

    /// Sets the etag of one database, unless it has a higher one.
    pub fn raise(&mut self, tag: &str, etag: u64, database: &str) {
        match self.entries.iter_mut().find(|entry| entry.database == database) {
            Some(entry) => entry.etag = entry.etag.max(etag),
            None => self.entries.push(Entry { tag: tag.to_owned(), etag, database: database.to_owned() }),
        }
    }

    /// The etag of one database; 0 if it is not there.
    pub fn etag_of(&self, database: &str) -> u64 {
        self.entries.iter().find(|entry| entry.database == database).map_or(0, |entry| entry.etag)
    }

    /// Takes the higher etag of each database.
    pub fn merge(&mut self, other: &ChangeVector) {
        other.entries.iter().for_each(|entry| self.raise(&entry.tag, entry.etag, &entry.database));
    }

    /// How this vector stands to another.
    pub fn compare(&self, other: &ChangeVector) -> Order {
        let covers = |left: &ChangeVector, right: &ChangeVector| {
            right.entries.iter().all(|entry| left.etag_of(&entry.database) >= entry.etag)
        };
        match (covers(self, other), covers(other, self)) {
            (true, true) => Order::Equal,
            (true, false) => Order::Newer,
            (false, true) => Order::Older,
            (false, false) => Order::Conflict,
        }
    }
}

impl std::fmt::Display for ChangeVector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut texts: Vec<String> =
            self.entries.iter().map(|entry| format!("{}:{}-{}", entry.tag, entry.etag, entry.database)).collect();
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

    fn vector(text: &str) -> ChangeVector {
        ChangeVector::parse(text).unwrap()
    }

    #[test]
    fn texts_go_there_and_back_in_order() {
        assert_eq!(vector(&format!("{B}, {A}")).to_string(), format!("{A}, {B}"));
        assert_eq!(vector("RAFT:2-x, A:24-y").to_string(), "A:24-y, RAFT:2-x");
        assert_eq!(vector("").to_string(), "");
        for text in ["x", "A:1", "a:1-x", "A:-x", "A:1-", ":1-x", "A:99999999999999999999999-x", "A:+1-x"] {
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
