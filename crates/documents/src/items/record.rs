//! The stored form of an item or of its tombstone: a fixed head, then its parts, little-endian.
//!
//! ```text
//!  0      8               16      20           24        26            28              32            36
//!  +------+---------------+-------+------------+---------+-------------+---------------+-------------+
//!  | etag | last modified | flags | collection | id size | vector size | metadata size | server size |
//!  +------+---------------+-------+------------+---------+-------------+---------------+-------------+
//!  36          40     41      44
//!  +-----------+------+-------+----+---------------+-----------------+----------+------+
//!  | body size | kind | state | id | change vector | server metadata | metadata | body |
//!  +-----------+------+-------+----+---------------+-----------------+----------+------+
//! ```
//!
//! * `last modified`: ticks of 100 ns since the year 1. `collection`: its number in this environment.
//! * `kind`: the number of an [`ItemKind`]. `state`: 1 stored, 2 a tombstone; two bytes of 0 follow.
//! * `id`: as it is spelled. `change vector`: empty when it is only this database's own entry, which follows from the etag.
//! * `server metadata`: the properties of `@metadata` that the server maintains and a PUT keeps (`@attachments`, ..), as JSON
//!   without braces. `metadata`: the properties that clients set, in the same form, `@collection` first. `body`: of a document the
//!   minified JSON without `@metadata`. A tombstone has none of these three.
//!
//! Invariant: the sizes add up to the size of the record.

use super::kinds::ItemKind;
use crate::{Date, Error, Etag, Flags, Result};

pub(crate) const HEAD_SIZE: usize = 44;
const _: () =
    assert!(HEAD_SIZE == 2 * size_of::<u64>() + 2 * size_of::<u32>() + 2 * size_of::<u16>() + 4 * size_of::<u32>());

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordState {
    Stored = 1,
    Tombstone = 2,
}

/// The decoded head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub etag: Etag,
    pub last_modified: Date,
    pub flags: Flags,
    pub collection: u32,
    pub id_size: u16,
    pub vector_size: u16,
    pub metadata_size: u32,
    pub server_size: u32,
    pub body_size: u32,
    pub kind: ItemKind,
    pub state: RecordState,
}

impl Head {
    /// The head of an item that is stored, without flags and parts.
    pub fn stored(kind: ItemKind, collection: u32, etag: Etag, last_modified: Date) -> Head {
        Head {
            etag,
            last_modified,
            flags: Flags::NONE,
            collection,
            id_size: 0,
            vector_size: 0,
            metadata_size: 0,
            server_size: 0,
            body_size: 0,
            kind,
            state: RecordState::Stored,
        }
    }

    pub fn encode(&self) -> [u8; HEAD_SIZE] {
        let mut bytes = [0; HEAD_SIZE];
        bytes[0..8].copy_from_slice(&self.etag.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.last_modified.ticks().to_le_bytes());
        bytes[16..20].copy_from_slice(&self.flags.0.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.collection.to_le_bytes());
        bytes[24..26].copy_from_slice(&self.id_size.to_le_bytes());
        bytes[26..28].copy_from_slice(&self.vector_size.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.metadata_size.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.server_size.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.body_size.to_le_bytes());
        bytes[40] = self.kind.number();
        bytes[41] = self.state as u8;
        bytes
    }

    /// Reads the head of a record and checks that its sizes add up.
    #[inline]
    pub fn decode(record: &[u8]) -> Result<Head> {
        let corrupt = |rule| Error::Corrupt { rule };
        let head = record.first_chunk::<HEAD_SIZE>().ok_or(corrupt("a record has a whole head"))?;
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[at + byte]));
        let u16_at = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let state = match head[41..] {
            [1, 0, 0] => RecordState::Stored,
            [2, 0, 0] => RecordState::Tombstone,
            _ => return Err(corrupt("a record is of an item or of a tombstone")),
        };
        let decoded = Head {
            etag: u64_at(0),
            last_modified: Date::from_ticks(u64_at(8)),
            flags: Flags(u32_at(16)),
            collection: u32_at(20),
            id_size: u16_at(24),
            vector_size: u16_at(26),
            metadata_size: u32_at(28),
            server_size: u32_at(32),
            body_size: u32_at(36),
            kind: ItemKind::from_number(head[40]).ok_or(corrupt("the kind of a record is known"))?,
            state,
        };
        // Far from overflowing: two sizes of 16 bits, three of 32.
        let size = decoded.body_at() + decoded.body_size as usize;
        if size != record.len() {
            return Err(corrupt("the sizes in a record add up"));
        }
        Ok(decoded)
    }

    /// Whether this is a stored item of a kind, not a tombstone.
    #[inline]
    pub fn is_stored(&self, kind: ItemKind) -> bool {
        self.kind == kind && self.state == RecordState::Stored
    }

    pub fn vector_at(&self) -> usize {
        HEAD_SIZE + usize::from(self.id_size)
    }

    pub fn server_at(&self) -> usize {
        self.vector_at() + usize::from(self.vector_size)
    }

    pub fn metadata_at(&self) -> usize {
        self.server_at() + self.server_size as usize
    }

    pub fn body_at(&self) -> usize {
        self.metadata_at() + self.metadata_size as usize
    }
}

/// The spelling of the id in a record whose head was decoded.
pub(crate) fn id<'r>(head: &Head, record: &'r [u8]) -> Result<&'r str> {
    let bytes = record.get(HEAD_SIZE..head.vector_at()).unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|_| Error::Corrupt { rule: "the id in a record is UTF-8" })
}

/// The stored change vector of a record; None if it is this database's own entry alone.
pub(crate) fn vector<'r>(head: &Head, record: &'r [u8]) -> Result<Option<&'r str>> {
    if head.vector_size == 0 {
        return Ok(None);
    }
    let bytes = record.get(head.vector_at()..head.server_at()).unwrap_or_default();
    std::str::from_utf8(bytes).map(Some).map_err(|_| Error::Corrupt { rule: "the change vector in a record is UTF-8" })
}

/// The server metadata of a record whose head was decoded.
#[inline]
pub(crate) fn server_metadata<'r>(head: &Head, record: &'r [u8]) -> &'r [u8] {
    record.get(head.server_at()..head.metadata_at()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_head_goes_there_and_back() {
        let head = Head {
            etag: 7,
            last_modified: Date::from_ticks(635_568_792_766_616_631),
            flags: Flags(5),
            collection: 3,
            id_size: 1,
            vector_size: 2,
            metadata_size: 3,
            server_size: 5,
            body_size: 4,
            kind: ItemKind::Document,
            state: RecordState::Stored,
        };
        let mut record = head.encode().to_vec();
        record.extend_from_slice(b"ivvsssssmmmbbbb");
        assert_eq!(Head::decode(&record).unwrap(), head);
        assert_eq!((id(&head, &record).unwrap(), vector(&head, &record).unwrap()), ("i", Some("vv")));
        assert_eq!(server_metadata(&head, &record), b"sssss");
        assert_eq!(&record[head.body_at()..], b"bbbb");
        record.pop();
        assert!(Head::decode(&record).is_err());
    }

    proptest! {
        #[test]
        fn noise_never_panics(record in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Head::decode(&record);
        }
    }
}
