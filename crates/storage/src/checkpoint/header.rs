//! The environment's header: two copies, pages 0 and 1 of the data file, written in turn.
//!
//! ```text
//!  0       8         12      16               32         40            48
//!  +-------+---------+-------+----------------+----------+-------------+
//!  | magic | version | flags | environment id | sequence | transaction |
//!  +-------+---------+-------+----------------+----------+-------------+
//!  48               56               64             80     96
//!  +----------------+----------------+--------------+------+
//!  | journal number | journal offset | journal hash | hash |
//!  +----------------+----------------+--------------+------+
//! ```
//!
//! * `transaction`: all of it and of those before is in the data file, synced. The journal is replayed from
//!   `journal number` and `journal offset` on, where the record after it begins; `journal hash` is the hash of its own record.
//! * `sequence`: the copy with the higher one is in force. `hash`: XXH3-128 of the bytes before it.
//! * `flags`: 1 = closed cleanly, nothing to replay as of then. It stays until the next flush, while commits go to the journal:
//!   only the journal decides whether there is something to replay.
//!
//! A crash while a copy is written leaves the other one, which describes an older state whose journal is still there.

use crate::ids::TransactionId;
use crate::limits::PAGE_SIZE;
use xxhash_rust::xxh3::xxh3_128;

/// The format that this program writes. Each has a paragraph in `docs/format.md`.
pub(crate) const FORMAT_VERSION: u32 = 1;
/// Its copies are the first pages of the data file.
pub(crate) const PAGES: u64 = 2;
const MAGIC: u64 = u64::from_le_bytes(*b"ROOKERY1");
const CLEAN: u32 = 1;
const SIZE: usize = 96;
/// Transactions, sequences and numbers of journals stay below this. None gets there by counting; adding to what is below
/// never overflows, also not in the words of snapshots, which have 16 bits behind a transaction.
pub(crate) const COUNT_END: u64 = 1 << 47;

/// The decoded contents of a header copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub version: u32,
    pub clean: bool,
    pub environment_id: u128,
    pub sequence: u64,
    pub transaction: TransactionId,
    pub journal_number: u64,
    pub journal_offset: u64,
    pub journal_hash: u128,
}

impl Header {
    /// The bytes of a header page.
    pub fn encode(&self) -> Box<[u8]> {
        let mut page = vec![0; PAGE_SIZE].into_boxed_slice();
        page[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        page[8..12].copy_from_slice(&self.version.to_le_bytes());
        page[12..16].copy_from_slice(&(if self.clean { CLEAN } else { 0 }).to_le_bytes());
        page[16..32].copy_from_slice(&self.environment_id.to_le_bytes());
        page[32..40].copy_from_slice(&self.sequence.to_le_bytes());
        page[40..48].copy_from_slice(&self.transaction.0.to_le_bytes());
        page[48..56].copy_from_slice(&self.journal_number.to_le_bytes());
        page[56..64].copy_from_slice(&self.journal_offset.to_le_bytes());
        page[64..80].copy_from_slice(&self.journal_hash.to_le_bytes());
        let hash = xxh3_128(&page[..80]);
        page[80..SIZE].copy_from_slice(&hash.to_le_bytes());
        page
    }

    /// Reads a header page. `None`: it is not one, or it is torn.
    pub fn decode(page: &[u8]) -> Option<Header> {
        let bytes: &[u8; SIZE] = page.first_chunk()?;
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let u128_at = |at: usize| u128::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        if u64_at(0) != MAGIC || u128_at(80) != xxh3_128(&bytes[..80]) {
            return None;
        }
        if [32, 40, 48].iter().any(|at| u64_at(*at) >= COUNT_END) {
            return None;
        }
        Some(Header {
            version: u32_at(8),
            clean: u32_at(12) & CLEAN != 0,
            environment_id: u128_at(16),
            sequence: u64_at(32),
            transaction: TransactionId(u64_at(40)),
            journal_number: u64_at(48),
            journal_offset: u64_at(56),
            journal_hash: u128_at(64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by fuzzing: a write waited for ever for a transaction that no snapshot's word can hold.
    #[test]
    fn a_header_that_counts_further_than_anything_can_is_none() {
        let header = Header {
            version: FORMAT_VERSION,
            clean: true,
            environment_id: 77,
            sequence: 3,
            transaction: TransactionId(COUNT_END - 1),
            journal_number: 2,
            journal_offset: 4096,
            journal_hash: 0,
        };
        assert_eq!(Header::decode(&header.encode()), Some(header));
        for header in [
            Header { transaction: TransactionId(COUNT_END), ..header },
            Header { sequence: u64::MAX, ..header },
            Header { journal_number: u64::MAX, ..header },
        ] {
            assert_eq!(Header::decode(&header.encode()), None);
        }
    }

    #[test]
    fn a_header_is_read_as_it_was_written_and_no_bit_may_differ() {
        let header = Header {
            version: FORMAT_VERSION,
            clean: true,
            environment_id: 77,
            sequence: 3,
            transaction: TransactionId(9),
            journal_number: 2,
            journal_offset: 4096,
            journal_hash: 1 << 100,
        };
        let page = header.encode();
        assert_eq!(Header::decode(&page), Some(header));
        for bit in 0..SIZE * 8 {
            let mut damaged = page.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::decode(&damaged), None, "bit {bit}");
        }
    }
}
