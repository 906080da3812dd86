//! The entries of the tree of contents. The first byte of a key says what the entry is.
//!
//! ```text
//!  'c' | number u64 big-endian | offset u64 big-endian   a chunk: the bytes of a content or upload from this offset on
//!  'h' | hash                                             a content: number u64 | length u64 | references u64
//!  'n'                                                    the next number u64
//!  'r' | number u64 big-endian                            a removal: chunks of this number are left to be freed; no value
//!  'u' | upload id                                        an upload: number u64 | length u64 | time u64
//! ```
//!
//! Invariants: each number with chunks belongs to one content, upload or removal, and is below the next number. The chunks of
//! a content or upload follow each other from offset 0 to its length. A content has at least one reference.

/// Key of the next number.
pub(super) const NEXT: &[u8] = b"n";

const CHUNK: u8 = b'c';
/// First byte of the key of a content.
pub(super) const CONTENT: u8 = b'h';
/// First byte of the key of a removal.
pub(super) const REMOVAL: u8 = b'r';
/// First byte of the key of an upload.
pub(super) const UPLOAD: u8 = b'u';

/// An entry that is no chunk.
pub(super) enum Entry<'e> {
    Content { hash: &'e [u8], entry: ContentEntry },
    Next(u64),
    Removal { number: u64 },
    Upload { id: &'e [u8], entry: UploadEntry },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ContentEntry {
    pub number: u64,
    pub length: u64,
    pub references: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct UploadEntry {
    pub number: u64,
    pub length: u64,
    pub time: u64,
}

fn key(kind: u8, rest: &[u8]) -> Vec<u8> {
    [&[kind], rest].concat()
}

pub(super) fn chunk_key(number: u64, offset: u64) -> [u8; 17] {
    let mut key = [CHUNK; 17];
    key[1..9].copy_from_slice(&number.to_be_bytes());
    key[9..].copy_from_slice(&offset.to_be_bytes());
    key
}

pub(super) fn content_key(hash: &[u8]) -> Vec<u8> {
    key(CONTENT, hash)
}

pub(super) fn removal_key(number: u64) -> Vec<u8> {
    key(REMOVAL, &number.to_be_bytes())
}

pub(super) fn upload_key(id: &[u8]) -> Vec<u8> {
    key(UPLOAD, id)
}

/// Number and offset of a chunk, out of its key. `None`: it is the key of another entry.
pub(super) fn chunk_of(key: &[u8]) -> Option<(u64, u64)> {
    let (kind, rest) = key.split_first()?;
    let (number, offset) = rest.split_first_chunk()?;
    let offset: &[u8; 8] = offset.try_into().ok()?;
    (*kind == CHUNK).then(|| (u64::from_be_bytes(*number), u64::from_be_bytes(*offset)))
}

pub(super) fn is_chunk_of(key: &[u8], number: u64) -> bool {
    chunk_of(key).is_some_and(|(of, _)| of == number)
}

/// Three numbers, little-endian.
fn encode(numbers: [u64; 3]) -> [u8; 24] {
    let mut bytes = [0; 24];
    bytes.chunks_exact_mut(8).zip(numbers).for_each(|(bytes, number)| bytes.copy_from_slice(&number.to_le_bytes()));
    bytes
}

fn decode(bytes: &[u8]) -> Option<[u64; 3]> {
    let bytes: &[u8; 24] = bytes.try_into().ok()?;
    Some(std::array::from_fn(|index| u64::from_le_bytes(std::array::from_fn(|at| bytes[index * 8 + at]))))
}

impl ContentEntry {
    pub fn encode(&self) -> [u8; 24] {
        encode([self.number, self.length, self.references])
    }

    /// `None`: it is cut, or has no reference.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let [number, length, references] = decode(bytes)?;
        (references > 0).then_some(ContentEntry { number, length, references })
    }

    pub fn content(&self) -> super::Content {
        super::Content { length: self.length, references: self.references }
    }
}

impl UploadEntry {
    pub fn encode(&self) -> [u8; 24] {
        encode([self.number, self.length, self.time])
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let [number, length, time] = decode(bytes)?;
        Some(UploadEntry { number, length, time })
    }
}

impl<'e> Entry<'e> {
    /// `None`: a chunk, or none of these entries.
    pub fn decode(key: &'e [u8], value: &[u8]) -> Option<Entry<'e>> {
        let (kind, rest) = key.split_first()?;
        match *kind {
            CONTENT => Some(Entry::Content { hash: rest, entry: ContentEntry::decode(value)? }),
            UPLOAD => Some(Entry::Upload { id: rest, entry: UploadEntry::decode(value)? }),
            REMOVAL if value.is_empty() => Some(Entry::Removal { number: u64::from_be_bytes(rest.try_into().ok()?) }),
            _ if key == NEXT => Some(Entry::Next(u64::from_le_bytes(value.try_into().ok()?))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_made() {
        let content = ContentEntry { number: 1, length: 1 << 40, references: 3 };
        let upload = UploadEntry { number: u64::MAX, length: 0, time: 77 };
        assert_eq!(ContentEntry::decode(&content.encode()), Some(content));
        assert_eq!(UploadEntry::decode(&upload.encode()), Some(upload));
        assert_eq!(chunk_of(&chunk_key(5, 1 << 33)), Some((5, 1 << 33)));
        assert!(matches!(Entry::decode(&removal_key(9), b""), Some(Entry::Removal { number: 9 })));
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        let unreferenced = ContentEntry { number: 1, length: 1, references: 0 };
        assert_eq!(ContentEntry::decode(&unreferenced.encode()), None);
        assert_eq!(UploadEntry::decode(&[0; 23]), None);
        for key in [&b""[..], b"c", b"r1234567", b"n1", b"x"] {
            assert!(Entry::decode(key, b"").is_none() && chunk_of(key).is_none(), "{key:?}");
        }
    }
}
