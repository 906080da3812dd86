//! Keys of posting lists. Bytes sort by field, kind and term; the blocks of a term's list follow its head.
//!
//! ```text
//!  0          2        3
//!  +----------+--------+--------------------+------+----------------------+
//!  | field BE | kind   | term, escaped      | 0x00 | first id of a block  |
//!  +----------+--------+--------------------+------+----------------------+
//!                                                    head of the list: none
//! ```
//!
//! * `kind`: that of the term, or 0: which entries have a term of the kind that the one byte of the "term" names, or with its
//!   highest bit several of them.
//! * In the term 0x00 is written 0x01 0x01 and 0x01 is 0x01 0x02. So 0x00 ends it, below anything that a longer term goes on
//!   with, and no term's key is the beginning of another's. Both bytes are rare in text and in cut numbers.
//! * The first id: its count of bytes (1 to 8), then those without leading zeros, big-endian; more bytes is more.
//!
//! Invariant: a key decodes to one field, kind, term and id, and these are written in one way.

use super::term::{FieldNumber, Kind};
use crate::index::error::{Error, Result, corrupt};
use crate::index::limits::ENTRY_ID_MAX;

/// The kind of the lists of all entries that have a term of some kind, or several.
const PRESENCE: u8 = 0;
/// Makes the "term" of a presence that of the entries with several.
const SEVERAL: u8 = 0x80;
const END: u8 = 0;
const ESCAPE: u8 = 1;
/// Where the term begins.
const TERM: usize = 3;

/// What a posting list is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum ListKind {
    /// Entries with any term of a kind, or several.
    Presence,
    /// Entries with one term of a kind.
    Term(Kind),
}

impl ListKind {
    fn byte(self) -> u8 {
        match self {
            ListKind::Presence => PRESENCE,
            ListKind::Term(kind) => kind as u8,
        }
    }
}

/// The "term" of the list of entries with several terms of a kind.
pub(crate) fn several(kind: Kind) -> u8 {
    kind as u8 | SEVERAL
}

/// Appends what the keys of all terms of a field and kind begin with.
pub(crate) fn put_start(out: &mut Vec<u8>, field: FieldNumber, kind: ListKind) {
    out.extend_from_slice(&field.0.to_be_bytes());
    out.push(kind.byte());
}

/// Appends the bytes of a term, escaped, without its end: also what the keys of all terms with this prefix go on with.
pub(crate) fn put_escaped(out: &mut Vec<u8>, term: &[u8]) {
    // Without a way out of the loop: it is done for many bytes at once.
    if term.iter().fold(true, |is_plain, byte| is_plain & (*byte > ESCAPE)) {
        return out.extend_from_slice(term);
    }
    for byte in term {
        match byte {
            0..=ESCAPE => out.extend_from_slice(&[ESCAPE, byte + 1]),
            _ => out.push(*byte),
        }
    }
}

/// Appends the key of the head of a list.
pub(crate) fn put_head(out: &mut Vec<u8>, field: FieldNumber, kind: ListKind, term: &[u8]) {
    put_start(out, field, kind);
    put_escaped(out, term);
    out.push(END);
}

/// Appends the first id of a block to the key of its list's head.
pub(crate) fn put_block(out: &mut Vec<u8>, first: u64) {
    let size = (64 - first.leading_zeros()).div_ceil(8).max(1);
    out.push(size as u8);
    out.extend(first.to_be_bytes().iter().skip(8 - size as usize));
}

/// The first id of a block from the part of its key after the head.
pub(crate) fn block_of(rest: &[u8]) -> Result<u64> {
    let broken = || corrupt("the key of a block ends with its first id");
    let (size, bytes) = rest.split_first().ok_or_else(broken)?;
    if bytes.len() != usize::from(*size) || bytes.is_empty() || (bytes.len() > 1 && bytes.first() == Some(&0)) {
        return Err(broken());
    }
    let mut padded = [0; 8];
    let at = padded.len().checked_sub(bytes.len()).ok_or_else(broken)?;
    padded.get_mut(at..).ok_or_else(broken)?.copy_from_slice(bytes);
    Some(u64::from_be_bytes(padded)).filter(|first| *first <= ENTRY_ID_MAX).ok_or_else(broken)
}

/// A key taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PostingKey<'k> {
    pub field: FieldNumber,
    pub kind: ListKind,
    /// The whole key of the head.
    pub head: &'k [u8],
    /// The first id of a block. `None`: it is a head.
    pub block: Option<u64>,
}

impl<'k> PostingKey<'k> {
    pub fn of(key: &'k [u8]) -> Result<PostingKey<'k>> {
        let broken = || corrupt("the key of a posting list has field, kind, term and end");
        let (&[high, low, kind], rest) = key.split_first_chunk::<TERM>().ok_or_else(broken)?;
        let kind = if kind == PRESENCE { ListKind::Presence } else { ListKind::Term(Kind::of(kind)?) };
        let end = rest.iter().position(|byte| *byte == END).ok_or_else(broken)?;
        let (head, block) = key.split_at_checked(TERM + end + 1).ok_or_else(broken)?;
        let block = if block.is_empty() { None } else { Some(block_of(block)?) };
        Ok(PostingKey { field: FieldNumber(u16::from_be_bytes([high, low])), kind, head, block })
    }
}

/// Puts the term of a head's key into `out`, in place of what was there.
pub(crate) fn term_into(out: &mut Vec<u8>, head: &[u8]) -> Result<()> {
    let broken = || -> Error { corrupt("a term is escaped in one way") };
    out.clear();
    let (_, term) = head.split_at_checked(TERM).ok_or_else(broken)?;
    let (end, term) = term.split_last().ok_or_else(broken)?;
    if *end != END {
        return Err(broken());
    }
    let mut bytes = term.iter();
    while let Some(byte) = bytes.next() {
        match *byte {
            END => return Err(broken()),
            ESCAPE => match bytes.next() {
                Some(&escaped @ 1..=2) => out.push(escaped - 1),
                _ => return Err(broken()),
            },
            byte => out.push(byte),
        }
    }
    Ok(())
}

/// A key after all that begin with `prefix`, and not after any other: fields and kinds end far below 0xFF, so there is one.
pub(crate) fn after_prefix(prefix: &[u8]) -> Vec<u8> {
    let kept = prefix.iter().rposition(|byte| *byte < u8::MAX).map_or(0, |last| last + 1);
    let mut after = prefix.get(..kept).unwrap_or_default().to_vec();
    match after.last_mut() {
        Some(last) => *last += 1,
        None => after.resize(prefix.len() + 1, u8::MAX),
    }
    after
}

/// Appends what is after a list's head and all of its blocks, and before any other list.
pub(crate) fn put_after_blocks(head: &mut Vec<u8>) {
    head.push(u8::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(field: u16, kind: Kind, term: &[u8], block: Option<u64>) -> Vec<u8> {
        let mut out = Vec::new();
        put_head(&mut out, FieldNumber(field), ListKind::Term(kind), term);
        if let Some(first) = block {
            put_block(&mut out, first);
        }
        out
    }

    fn kinds() -> impl Strategy<Value = Kind> {
        prop::sample::select(vec![Kind::Null, Kind::Text, Kind::Number])
    }

    fn terms() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..12)
    }

    fn blocks() -> impl Strategy<Value = Option<u64>> {
        prop::option::of((any::<u64>(), 24u32..64).prop_map(|(id, shift)| id >> shift))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn keys_sort_as_what_they_are_made_of(
            a in (0u16..300, kinds(), terms(), blocks()),
            b in (0u16..300, kinds(), terms(), blocks()),
            same in 0u8..4,
        ) {
            // Often the same beginning, or the rest would never decide.
            let b = match same {
                0 => b,
                1 => (a.0, a.1, b.2, b.3),
                2 => (a.0, a.1, [&a.2[..], &b.2[..]].concat(), b.3),
                _ => (a.0, a.1, a.2.clone(), b.3),
            };
            let (x, y) = (key(a.0, a.1, &a.2, a.3), key(b.0, b.1, &b.2, b.3));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }

        #[test]
        fn a_key_comes_back(field: u16, kind in kinds(), term in terms(), block in blocks()) {
            let key = key(field, kind, &term, block);
            let found = PostingKey::of(&key).unwrap();
            prop_assert_eq!((found.field, found.kind, found.block), (FieldNumber(field), ListKind::Term(kind), block));
            let mut out = vec![9];
            term_into(&mut out, found.head).unwrap();
            prop_assert_eq!(out, term);
        }

        #[test]
        fn any_bytes_are_a_key_in_one_way_or_none(bytes in prop::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..16)) {
            let mut term = Vec::new();
            if let Ok(found) = PostingKey::of(&bytes) && term_into(&mut term, found.head).is_ok() {
                let mut again = Vec::new();
                put_head(&mut again, found.field, found.kind, &term);
                if let Some(first) = found.block {
                    put_block(&mut again, first);
                }
                prop_assert_eq!(again, bytes);
            }
        }

        #[test]
        fn the_key_after_a_prefix_is_after_all_that_have_it(prefix: Vec<u8>, rest: Vec<u8>) {
            let with = [&prefix[..], &rest[..]].concat();
            prop_assume!(prefix.iter().any(|byte| *byte < u8::MAX));
            let after = after_prefix(&prefix);
            prop_assert!(with < after && prefix < after);
        }
    }
}
