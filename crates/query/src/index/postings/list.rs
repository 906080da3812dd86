//! Posting lists: the rising ids of all entries with a term.
//!
//! ```text
//!  head of a short list:  varint( count * 2 )      | tokens of runs, from base 0
//!  head of a long list:   varint( count * 2 + 1 )  | varint( first id of the last block )
//!  block:                 tokens of runs, from the id before its first
//! ```
//!
//! The head is found by one search for an exact key and tells the count; the last block, where ids are appended, by one
//! more. A list is short as long as its tokens fit into [`BLOCK_SIZE_MAX`](crate::index::limits::BLOCK_SIZE_MAX). The tokens are those
//! of [`super::runs`], the keys those of [`crate::index::dictionary::key`].
//!
//! Invariants: the count is that of the ids and is not 0; a long list has at least one block, the first ids of blocks rise,
//! a block's ids lie below the next one's first; the head names the last.

use super::runs::{Run, Runs};
use crate::index::error::{Result, corrupt};
use crate::index::limits::ENTRY_ID_MAX;
use crate::varint;

/// The head of a list.
pub(crate) struct Head<'v> {
    /// Ids in the list, at least 1.
    pub count: u64,
    pub content: Content<'v>,
}

pub(crate) enum Content<'v> {
    /// All ids.
    Short(Runs<'v>),
    /// The ids are in blocks; this is the first id of the last one.
    Long { last_block: u64 },
}

impl<'v> Head<'v> {
    pub fn of(mut value: &'v [u8]) -> Result<Head<'v>> {
        let broken = || corrupt("the head of a posting list has its count, and its ids or its last block");
        let word = varint::take(&mut value).filter(|word| *word >> 1 > 0).ok_or_else(broken)?;
        let count = word >> 1;
        if word & 1 == 0 {
            return Ok(Head { count, content: Content::Short(Runs::new(value, 0)) });
        }
        let last_block = varint::take(&mut value).ok_or_else(broken)?;
        if !value.is_empty() || !(1..=ENTRY_ID_MAX).contains(&last_block) {
            return Err(broken());
        }
        Ok(Head { count, content: Content::Long { last_block } })
    }

    /// Begins the value of a short list; the tokens follow.
    pub fn put_short(out: &mut Vec<u8>, count: u64) {
        varint::put(out, count << 1);
    }

    /// The value of a long list.
    pub fn put_long(out: &mut Vec<u8>, count: u64, last_block: u64) {
        varint::put(out, count << 1 | 1);
        varint::put(out, last_block);
    }
}

/// The ids of a block. Its first has to be the one that its key names.
pub(crate) fn block(first: u64, value: &[u8]) -> Result<Runs<'_>> {
    let broken = || corrupt("a block begins with the id that its key names");
    let runs = Runs::new(value, first.checked_sub(1).ok_or_else(broken)?);
    match runs.clone().next() {
        Some(Ok(Run { first: found, .. })) if found == first => Ok(runs),
        Some(Err(error)) => Err(error),
        _ => Err(broken()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_head_and_a_block_or_an_error(bytes: Vec<u8>, first: u64) {
            if let Ok(Head { content: Content::Short(runs), .. }) = Head::of(&bytes) {
                runs.for_each(drop);
            }
            if let Ok(runs) = block(first, &bytes) {
                runs.for_each(drop);
            }
        }
    }
}
