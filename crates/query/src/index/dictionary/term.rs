//! Terms: what a field of an entry can be found by.
//!
//! A caller gives terms as they are to be found: analysed, lower-cased, cut into words. What means what:
//!
//! * A present null is [`Term::Null`], a term of its own; a missing property, an empty array: no term.
//! * A string is its text; the empty string is the text of no bytes. `true` and `false` are the texts `true` and `false`.
//! * A number is two terms: its text, by which `f = '10.5'` finds it, and [`Term::Number`], which ranges and sorting use.
//! * A text that is a date is two terms: its text in one way to write it, and [`Term::Time`], by which it equals however it is written.
//!
//! A text over [`TERM_SIZE_MAX`] is cut to at most so many bytes, at a border of characters, and completed by the hash of all
//! of it. So it is longer than any text that was not cut, which is what tells it apart; it equals another only if they are
//! the same text; and it sorts by its beginning.

use super::number::Number;
use crate::index::error::{Result, corrupt};
use crate::index::limits::{TERM_HASH_SIZE, TERM_SIZE_MAX};
use xxhash_rust::xxh3::xxh3_128;

/// The number of a field in its index, as [`crate::index::Index::field`] gives it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldNumber(pub(crate) u16);

/// What kind of term it is. Kinds of one field lie apart, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A present null.
    Null = 1,
    /// Text.
    Text = 2,
    /// A number.
    Number = 3,
    /// How often a word stands in an entry, if more than once: [`super::words`].
    Frequency = 4,
    /// The norm of the field in an entry that is boosted: [`super::words`].
    Norm = 5,
    /// Which words an entry has in their order; in records only: [`super::words`].
    Sequence = 6,
    /// The coordinates of a shape; in records only: [`crate::spatial::Shape`].
    Shape = 7,
    /// The hash of a vector: [`crate::index::graph::vectors`].
    Vector = 8,
    /// When a text that is a date is.
    Time = 9,
}

impl Kind {
    /// Whether it is of what a value is, and not of how its words stand.
    pub(crate) fn is_value(self) -> bool {
        matches!(self, Kind::Null | Kind::Text | Kind::Number)
    }

    /// Whether there is a list of all entries that have any term of it.
    pub(crate) fn has_presence(self) -> bool {
        matches!(self, Kind::Text | Kind::Number | Kind::Time)
    }

    /// Whether its terms have lists.
    pub(crate) fn is_listed(self) -> bool {
        !matches!(self, Kind::Sequence | Kind::Shape)
    }

    pub(crate) fn of(byte: u8) -> Result<Kind> {
        match byte {
            1 => Ok(Kind::Null),
            2 => Ok(Kind::Text),
            3 => Ok(Kind::Number),
            4 => Ok(Kind::Frequency),
            5 => Ok(Kind::Norm),
            6 => Ok(Kind::Sequence),
            7 => Ok(Kind::Shape),
            8 => Ok(Kind::Vector),
            9 => Ok(Kind::Time),
            _ => Err(corrupt("a term is of one of the kinds")),
        }
    }
}

/// A term of a field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Term<'t> {
    /// A present null.
    Null,
    /// Text, as analysed.
    Text(&'t str),
    /// A number.
    Number(Number),
    /// A date, in ticks of 100 ns since 0001-01-01; what is before that has none.
    Time(u64),
}

impl Term<'_> {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Term::Null => Kind::Null,
            Term::Text(_) => Kind::Text,
            Term::Number(_) => Kind::Number,
            Term::Time(_) => Kind::Time,
        }
    }

    /// Appends the bytes under which it is kept.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Term::Null => {}
            Term::Number(number) => number.encode(out),
            Term::Time(ticks) => out.extend_from_slice(&ticks.to_be_bytes()),
            Term::Text(text) if text.len() <= TERM_SIZE_MAX => out.extend_from_slice(text.as_bytes()),
            Term::Text(text) => {
                let kept = text.get(..text.floor_char_boundary(TERM_SIZE_MAX)).unwrap_or_default();
                out.extend_from_slice(kept.as_bytes());
                out.extend_from_slice(&xxh3_128(text.as_bytes()).to_be_bytes());
            }
        }
    }
}

/// A term as it is found in an index.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum StoredTerm {
    /// A present null.
    Null,
    /// Text.
    Text(String),
    /// The beginning of a text that was too long.
    Cut(String),
    /// A number.
    Number(Number),
}

impl StoredTerm {
    /// Reads the bytes under which a term is kept.
    pub(crate) fn decode(kind: Kind, bytes: &[u8]) -> Result<StoredTerm> {
        let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(corrupt("a text term is UTF-8")),
        };
        match kind {
            Kind::Null if bytes.is_empty() => Ok(StoredTerm::Null),
            Kind::Null => Err(corrupt("the term of null has no bytes")),
            Kind::Number => Number::decode(bytes).map(StoredTerm::Number),
            Kind::Text if bytes.len() <= TERM_SIZE_MAX => text(bytes).map(StoredTerm::Text),
            Kind::Frequency | Kind::Norm | Kind::Sequence | Kind::Shape | Kind::Vector | Kind::Time => {
                Err(corrupt("a value is null, text or a number"))
            }
            Kind::Text => match bytes.split_last_chunk::<TERM_HASH_SIZE>() {
                Some((kept, _)) if kept.len() <= TERM_SIZE_MAX => text(kept).map(StoredTerm::Cut),
                _ => Err(corrupt("a cut term has no more bytes than it was cut to")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(term: Term<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        term.encode(&mut out);
        out
    }

    #[test]
    fn long_texts_stay_apart_and_sort_by_their_beginning() {
        let long = |text: &str| text.repeat(TERM_SIZE_MAX);
        let (a, b) = (long("ä") + "a", long("ä") + "b");
        assert_ne!(bytes(Term::Text(&a)), bytes(Term::Text(&b)));
        assert!(bytes(Term::Text(&long("y"))) < bytes(Term::Text(&long("z"))));
        assert!(bytes(Term::Text(&long("y")[..TERM_SIZE_MAX])) < bytes(Term::Text(&(long("y") + "y"))));
        let kept = "ä".repeat(TERM_SIZE_MAX / 2);
        assert_eq!(StoredTerm::decode(Kind::Text, &bytes(Term::Text(&a))).unwrap(), StoredTerm::Cut(kept));
    }

    #[test]
    fn the_longest_text_that_is_kept_is_not_taken_for_a_cut_one() {
        let text = "x".repeat(TERM_SIZE_MAX);
        assert_eq!(StoredTerm::decode(Kind::Text, &bytes(Term::Text(&text))).unwrap(), StoredTerm::Text(text));
        // Four bytes a character, so that up to three are not used: still longer than any that is not cut.
        let text = "a".to_owned() + &"\u{1f426}".repeat(TERM_SIZE_MAX);
        assert!(matches!(StoredTerm::decode(Kind::Text, &bytes(Term::Text(&text))).unwrap(), StoredTerm::Cut(_)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_term_or_an_error(kind in 0u8..12, found: Vec<u8>) {
            let _ = Kind::of(kind).and_then(|kind| StoredTerm::decode(kind, &found));
        }
    }
}
