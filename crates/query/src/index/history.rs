//! Statistics of an index, stored in it: indexed documents, failures, the time of the last query.
//!
//! It is written by the transaction of the batch that it is about, so that after a crash it never disagrees with the entries. Where it is
//! absent, as in an index that was made before it was kept, nothing is known.
//!
//! ```text
//!  index/state   "history"    attempted | failed | last indexed | last query | last use | next error, each u64 BE
//!  index/errors  number u64 BE    date u64 BE | varint( size of id + 1 ), 0: none | id | message
//! ```
//!
//! Dates are ticks; 0: never. The tree of errors is made with the first of them, and has the last [`ERRORS_KEPT_MAX`]: their numbers rise
//! by one and are below the next, so that the first tells how many there are.

use super::error::{Result, corrupt};
use super::limits::{ERROR_MESSAGE_SIZE_MAX, ERRORS_KEPT_MAX};
use crate::varint;
use documents::Date;
use storage::{Reader, Tree, WriteTransaction};

const ERRORS: &[u8] = b"index/errors";

/// Counts and dates of an index, since it was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct History {
    /// Documents that were indexed, or failed to be.
    pub attempted_count: u64,
    /// Documents that could not be indexed.
    pub failed_count: u64,
    /// When something was last indexed.
    pub last_indexed: Option<Date>,
    /// When it was last asked, as far as that was noted.
    pub last_query: Option<Date>,
    /// The same on the clock of who retires indexes.
    pub last_use: Option<Date>,
    next_error: u64,
}

/// What a transaction adds to it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Notes {
    /// Documents that were indexed, or failed to be.
    pub attempted: u64,
    /// Documents that could not be indexed.
    pub failed: u64,
    /// When that was, if anything was indexed or removed.
    pub indexed: Option<Date>,
    /// When it was last asked. `None`: as before.
    pub last_query: Option<Date>,
    /// The same on the clock of who retires indexes.
    pub last_use: Option<Date>,
    /// What went wrong. The last [`ERRORS_KEPT_MAX`] are kept.
    pub errors: Vec<IndexError>,
}

/// A document that an index could not take, or not all of its fields, or a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexError {
    /// When.
    pub at: Date,
    /// Its id; `None`: a group could not be reduced.
    pub document: Option<String>,
    /// Why. The first [`ERROR_MESSAGE_SIZE_MAX`] bytes are kept.
    pub message: String,
}

impl History {
    pub(super) fn decode(words: [u64; 6]) -> Result<History> {
        let [attempted_count, failed_count, last_indexed, last_query, last_use, next_error] = words;
        if failed_count > attempted_count {
            return Err(corrupt("no more documents failed than were tried"));
        }
        let date = |ticks| (ticks > 0).then(|| Date::from_ticks(ticks));
        Ok(History {
            attempted_count,
            failed_count,
            last_indexed: date(last_indexed),
            last_query: date(last_query),
            last_use: date(last_use),
            next_error,
        })
    }

    pub(super) fn words(&self) -> [u64; 6] {
        let ticks = |date: Option<Date>| date.map_or(0, Date::ticks);
        let dates = [self.last_indexed, self.last_query, self.last_use].map(ticks);
        let [last_indexed, last_query, last_use] = dates;
        [self.attempted_count, self.failed_count, last_indexed, last_query, last_use, self.next_error]
    }

    /// Adds notes, and keeps their errors.
    pub(super) fn add(&mut self, tx: &mut WriteTransaction<'_>, notes: &Notes) -> Result<()> {
        self.attempted_count = self.attempted_count.saturating_add(notes.attempted);
        self.failed_count = self.failed_count.saturating_add(notes.failed);
        self.last_indexed = notes.indexed.or(self.last_indexed);
        self.last_query = notes.last_query.or(self.last_query);
        self.last_use = notes.last_use.or(self.last_use);
        let surplus = notes.errors.len().saturating_sub(ERRORS_KEPT_MAX);
        let mut errors = notes.errors.iter().skip(surplus).peekable();
        if errors.peek().is_none() {
            return Ok(());
        }
        let tree = Tree::open_or_create(tx, ERRORS)?;
        for error in errors {
            tree.put(tx, &self.next_error.to_be_bytes(), &encode(error))?;
            self.next_error += 1;
        }
        let kept_from = self.next_error.saturating_sub(ERRORS_KEPT_MAX as u64);
        while let Some(number) = first_number(tree, tx)?.filter(|number| *number < kept_from) {
            tree.delete(tx, &number.to_be_bytes())?;
        }
        Ok(())
    }

    /// How many errors are kept.
    pub(super) fn error_count(&self, reader: &impl Reader) -> Result<u64> {
        let Some(tree) = Tree::open(reader, ERRORS)? else { return Ok(0) };
        let Some(first) = first_number(tree, reader)? else { return Ok(0) };
        let count = self.next_error.checked_sub(first).filter(|count| *count <= ERRORS_KEPT_MAX as u64);
        count.ok_or_else(|| corrupt("errors have numbers below the next"))
    }
}

/// The errors that are kept, the oldest first.
pub(super) fn errors(reader: &impl Reader) -> Result<Vec<IndexError>> {
    let Some(tree) = Tree::open(reader, ERRORS)? else { return Ok(Vec::new()) };
    let mut errors = Vec::new();
    let mut cursor = tree.cursor(reader);
    while let Some((_, value)) = cursor.next()? {
        errors.push(decode(value).ok_or_else(|| corrupt("an error has a date, an id and a message"))?);
    }
    Ok(errors)
}

/// Forgets the errors, not how many documents failed.
pub(super) fn clear_errors(tx: &mut WriteTransaction<'_>) -> Result<()> {
    match Tree::open(tx, ERRORS)? {
        Some(tree) => Ok(tree.clear(tx)?),
        None => Ok(()),
    }
}

fn first_number(tree: Tree, reader: &impl Reader) -> Result<Option<u64>> {
    let mut cursor = tree.cursor(reader);
    let Some((key, _)) = cursor.first()? else { return Ok(None) };
    let number = key.try_into().map_err(|_| corrupt("an error has a number of eight bytes"))?;
    Ok(Some(u64::from_be_bytes(number)))
}

fn encode(error: &IndexError) -> Vec<u8> {
    let mut value = error.at.ticks().to_be_bytes().to_vec();
    let id = error.document.as_deref();
    varint::put(&mut value, id.map_or(0, |id| id.len() as u64 + 1));
    value.extend_from_slice(id.unwrap_or_default().as_bytes());
    let message = error.message.as_str();
    let end = message.floor_char_boundary(ERROR_MESSAGE_SIZE_MAX);
    value.extend_from_slice(message.get(..end).unwrap_or_default().as_bytes());
    value
}

fn decode(value: &[u8]) -> Option<IndexError> {
    let text = |bytes: &[u8]| Some(std::str::from_utf8(bytes).ok()?.to_owned());
    let (at, mut rest) = value.split_first_chunk()?;
    let document = match varint::take(&mut rest)? {
        0 => None,
        size => Some(text(varint::take_bytes(&mut rest, size - 1)?)?),
    };
    Some(IndexError { at: Date::from_ticks(u64::from_be_bytes(*at)), document, message: text(rest)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(document: Option<&str>, message: &str) -> IndexError {
        IndexError { at: Date::from_ticks(7), document: document.map(str::to_owned), message: message.to_owned() }
    }

    #[test]
    fn an_error_comes_back_and_a_part_of_one_is_none() {
        for error in [error(None, ""), error(Some(""), "x"), error(Some("üs/1"), "schön")] {
            assert_eq!(decode(&encode(&error)), Some(error));
        }
        let bytes = encode(&error(Some("us/1"), "x"));
        assert!((0..13).all(|size| decode(&bytes[..size]).is_none()));
        assert_eq!(decode(&[&bytes[..], &[0xff]].concat()), None);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let long = format!("x{}", "ü".repeat(ERROR_MESSAGE_SIZE_MAX));
        let kept = decode(&encode(&error(None, &long))).unwrap().message;
        assert_eq!(kept.len(), ERROR_MESSAGE_SIZE_MAX - 1);
        assert!(long.starts_with(&kept));
    }

    #[test]
    fn more_failed_than_were_tried_is_damage() {
        let history = History { attempted_count: 2, failed_count: 1, next_error: 9, ..History::default() };
        assert_eq!(History::decode(history.words()).unwrap(), history);
        assert!(History::decode([1, 2, 0, 0, 0, 0]).is_err());
    }
}
