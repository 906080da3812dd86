//! One transaction in the journal: a header of 128 bytes, then the changed pages; padded to 4 KiB, or to 64 bytes where
//! commits are lazy and many records go out in one write.
//!
//! ```text
//!  0       8                24            32           40                 56
//!  +-------+----------------+-------------+------------+------------------+
//!  | magic | environment id | transaction | durable    | previous hash    |
//!  +-------+----------------+-------------+------------+------------------+
//!  56             64           72      76      80                112    128
//!  +--------------+------------+-------+-------+-----------------+------+
//!  | stored bytes | raw bytes  | pages | flags | reserved, zeros | hash |
//!  +--------------+------------+-------+-------+-----------------+------+
//! ```
//!
//! * `durable`: the newest transaction that was known to be durable when this record was made. A record that is missing
//!   although a later one says that it was durable is damage; otherwise it was on its way when the power went.
//! * `previous hash`: of the record before. Records that a crash left behind a gap never continue a later history.
//! * `hash`: XXH3-128 of the header before it and of the stored bytes. `flags`: 1 = the pages are compressed (LZ4),
//!   2 = padded to 64 bytes.
//! * the pages: for each its number (varint), its kind (0 diff, 1 diff from zeros, 2 run: its pages as varint, 3 run in the
//!   data file: its pages as varint), the length of what follows (varint; 0 for kind 3), and that.
//!
//! Invariant: transaction ids rise by exactly 1, and each record has its predecessor's hash.

use super::diff::{read_varint, write_varint};
use crate::ids::{PageNumber, TransactionId};
use crate::limits::PAGE_SIZE;
use crate::pager::Page;
use crate::pager::changes::Lines;
use crate::planted::{Bug, is_planted};
use xxhash_rust::xxh3::Xxh3;

/// Bytes of the header.
pub(crate) const HEADER_SIZE: usize = 128;
/// Durable records begin at multiples of this: what a device writes at once, and what `O_DIRECT` asks for.
pub(crate) const ALIGNMENT: usize = 4096;
/// All records begin at multiples of this.
pub(crate) const PACKED_ALIGNMENT: usize = 64;
const MAGIC: u64 = u64::from_le_bytes(*b"ROOKJRN1");
const COMPRESSED: u32 = 1;
const PACKED: u32 = 2;

const _: () = assert!(HEADER_SIZE == 8 + 16 + 8 + 8 + 16 + 8 + 8 + 4 + 4 + 32 + 16);

/// Raw bytes of the largest record that is compressed; a larger one is not decompressed either.
const COMPRESSED_RAW_MAX: usize = 1 << 30;

/// The maximum expansion of LZ4: decompressed bytes for each compressed byte.
const LZ4_RATIO_MAX: u64 = 255;

/// The decoded header of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub environment_id: u128,
    pub transaction: TransactionId,
    pub durable: TransactionId,
    pub previous_hash: u128,
    pub stored_bytes: u64,
    pub raw_bytes: u64,
    pub pages: u32,
    pub compressed: bool,
    pub packed: bool,
    pub hash: u128,
}

impl Header {
    /// Reads a header; `None` if there is none. The hash is checked by [`Header::matches`].
    pub fn decode(bytes: &[u8]) -> Option<Header> {
        let bytes: &[u8; HEADER_SIZE] = bytes.first_chunk()?;
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let u128_at = |at: usize| u128::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        if u64_at(0) != MAGIC || u32_at(76) & !(COMPRESSED | PACKED) != 0 || bytes[80..112].iter().any(|b| *b != 0) {
            return None;
        }
        Some(Header {
            environment_id: u128_at(8),
            transaction: TransactionId(u64_at(24)),
            durable: TransactionId(u64_at(32)),
            previous_hash: u128_at(40),
            stored_bytes: u64_at(56),
            raw_bytes: u64_at(64),
            pages: u32_at(72),
            compressed: u32_at(76) & COMPRESSED != 0,
            packed: u32_at(76) & PACKED != 0,
            hash: u128_at(112),
        })
    }

    /// Bytes that the record takes in the file, padding included.
    pub fn padded_size(&self) -> u64 {
        let alignment = alignment(self.packed) as u64;
        (HEADER_SIZE as u64).saturating_add(self.stored_bytes).div_ceil(alignment).saturating_mul(alignment)
    }

    /// Whether `record`, header included, is what was written.
    pub fn matches(&self, record: &[u8]) -> bool {
        let end = (HEADER_SIZE as u64).checked_add(self.stored_bytes).and_then(|end| usize::try_from(end).ok());
        let is_equal = |end: usize| hash_of(&record[..end]) == self.hash || is_planted(Bug::RecordHashUnchecked);
        end.is_some_and(|end| end <= record.len() && is_equal(end))
    }
}

fn alignment(packed: bool) -> usize {
    if packed { PACKED_ALIGNMENT } else { ALIGNMENT }
}

fn hash_of(record: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&record[..HEADER_SIZE - 16]);
    hash.update(&record[HEADER_SIZE..]);
    hash.digest128()
}

/// One changed page in a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change<'a> {
    /// Bytes that differ from the version before.
    Diff(&'a [u8]),
    /// Bytes that differ from zeros: the page was allocated in this transaction.
    Fresh(&'a [u8]),
    /// The whole of a run of pages, trailing zeros cut.
    Run { pages: u32, bytes: &'a [u8] },
    /// A run that was durable in the data file before the record was written.
    Direct { pages: u32 },
}

/// The metadata of a record, without its pages.
#[derive(Clone, Copy)]
pub(crate) struct About {
    pub environment_id: u128,
    pub transaction: TransactionId,
    pub durable: TransactionId,
    pub previous_hash: u128,
    /// Whether it shares a write with others.
    pub packed: bool,
}

/// Bytes of the length of a diff, with 7 bits of it each. A run of a diff takes 4 bytes besides its own at most, and at most each
/// second word of a page begins one.
const DIFF_LENGTH_SIZE: usize = 2;
const _: () = assert!(PAGE_SIZE + PAGE_SIZE / 16 * 4 < 1 << (7 * DIFF_LENGTH_SIZE));

/// A record being made.
pub(crate) struct Builder {
    bytes: Vec<u8>,
    pages: u32,
}

impl Builder {
    /// * `bytes`: a buffer to reuse.
    pub fn new(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        bytes.resize(HEADER_SIZE, 0);
        Builder { bytes, pages: 0 }
    }

    /// Adds the difference from `base` (`None`: from zeros) to `page`, which is in `lines` only.
    pub fn page(&mut self, number: PageNumber, base: Option<&Page>, page: &Page, lines: Lines) {
        // Also where nothing differs, because a change was undone in the same transaction: the page bears the transaction's id
        // in memory, so a flush writes it so, and the replay has to come to the same.
        self.pages += 1;
        write_varint(&mut self.bytes, number.0);
        self.bytes.push(u8::from(base.is_none()));
        // The length comes first and is known last.
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; DIFF_LENGTH_SIZE]);
        super::diff::write(&mut self.bytes, base, page, lines);
        let length = self.bytes.len() - at - DIFF_LENGTH_SIZE;
        if length < 0x80 {
            self.bytes[at] = length as u8;
            self.bytes.remove(at + 1);
        } else {
            self.bytes[at..at + DIFF_LENGTH_SIZE].copy_from_slice(&[length as u8 | 0x80, (length >> 7) as u8]);
        }
    }

    /// Adds a run of pages.
    pub fn run(&mut self, number: PageNumber, pages: u32, bytes: &[u8], used: usize) {
        self.pages += 1;
        write_varint(&mut self.bytes, number.0);
        self.bytes.push(2);
        write_varint(&mut self.bytes, u64::from(pages));
        write_varint(&mut self.bytes, used as u64);
        self.bytes.extend_from_slice(&bytes[..used]);
    }

    /// Adds a run that is written to the data file.
    pub fn direct(&mut self, number: PageNumber, pages: u32) {
        self.pages += 1;
        write_varint(&mut self.bytes, number.0);
        self.bytes.push(3);
        write_varint(&mut self.bytes, u64::from(pages));
        write_varint(&mut self.bytes, 0);
    }

    /// Bytes collected so far, not compressed.
    pub fn raw_bytes(&self) -> usize {
        self.bytes.len() - HEADER_SIZE
    }

    /// Closes the record: compresses it if `compress`, fills the header in, pads it. Returns it and its hash.
    pub fn finish(mut self, about: &About, compress: bool) -> (Vec<u8>, u128) {
        let raw_bytes = self.raw_bytes();
        let mut flags = if about.packed { PACKED } else { 0 };
        if compress && raw_bytes <= COMPRESSED_RAW_MAX {
            let mut compressed = vec![0; lz4_flex::block::get_maximum_output_size(raw_bytes)];
            if let Ok(length) = lz4_flex::block::compress_into(&self.bytes[HEADER_SIZE..], &mut compressed)
                && length < raw_bytes - raw_bytes / 8
            {
                self.bytes.truncate(HEADER_SIZE);
                self.bytes.extend_from_slice(&compressed[..length]);
                flags |= COMPRESSED;
            }
        }
        let stored_bytes = self.bytes.len() - HEADER_SIZE;
        let header = &mut self.bytes[..HEADER_SIZE];
        header[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        header[8..24].copy_from_slice(&about.environment_id.to_le_bytes());
        header[24..32].copy_from_slice(&about.transaction.0.to_le_bytes());
        header[32..40].copy_from_slice(&about.durable.0.to_le_bytes());
        header[40..56].copy_from_slice(&about.previous_hash.to_le_bytes());
        header[56..64].copy_from_slice(&(stored_bytes as u64).to_le_bytes());
        header[64..72].copy_from_slice(&(raw_bytes as u64).to_le_bytes());
        header[72..76].copy_from_slice(&self.pages.to_le_bytes());
        header[76..80].copy_from_slice(&flags.to_le_bytes());
        let hash = hash_of(&self.bytes);
        self.bytes[112..128].copy_from_slice(&hash.to_le_bytes());
        let padded = self.bytes.len().next_multiple_of(alignment(about.packed));
        self.bytes.resize(padded, 0);
        (self.bytes, hash)
    }
}

/// The pages of a record, decompressed. The record's hash was checked, so a failure here is a fault of the writer.
///
/// # Errors
///
/// The violated rule.
pub(crate) fn raw_pages(header: &Header, record: &[u8]) -> Result<Vec<u8>, &'static str> {
    let stored = &record[HEADER_SIZE..HEADER_SIZE + header.stored_bytes as usize];
    if !header.compressed {
        return Ok(stored.to_vec());
    }
    if header.raw_bytes > (COMPRESSED_RAW_MAX as u64).min(header.stored_bytes.saturating_mul(LZ4_RATIO_MAX)) {
        return Err("a record says that it is larger than it can be");
    }
    let mut raw = vec![0; header.raw_bytes as usize];
    match lz4_flex::block::decompress_into(stored, &mut raw) {
        Ok(length) if length as u64 == header.raw_bytes => Ok(raw),
        _ => Err("a record cannot be decompressed"),
    }
}

/// Takes the next page out of what [`raw_pages`] gave, and moves `bytes` past it. `None`: not a page.
pub(crate) fn next_change<'a>(bytes: &mut &'a [u8]) -> Option<(PageNumber, Change<'a>)> {
    let number = PageNumber(read_varint(bytes)?);
    let (kind, rest) = bytes.split_first()?;
    *bytes = rest;
    let pages = if matches!(kind, 2 | 3) { u32::try_from(read_varint(bytes)?).ok()? } else { 1 };
    let length = usize::try_from(read_varint(bytes)?).ok()?;
    let (content, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some((
        number,
        match kind {
            0 => Change::Diff(content),
            1 => Change::Fresh(content),
            3 if length == 0 && pages > 0 => Change::Direct { pages },
            2 if length <= pages as usize * PAGE_SIZE && pages > 0 => Change::Run { pages, bytes: content },
            _ => return None,
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(compress: bool) -> (Vec<u8>, u128) {
        let mut builder = Builder::new(Vec::new());
        let page = [7; PAGE_SIZE];
        builder.page(PageNumber(9), None, &page, Lines::ALL);
        builder.run(PageNumber(300), 2, &[1; 2 * PAGE_SIZE], PAGE_SIZE + 10);
        builder.direct(PageNumber(400), 3);
        let about = About {
            environment_id: 5,
            transaction: TransactionId(12),
            durable: TransactionId(11),
            previous_hash: 99,
            packed: compress,
        };
        builder.finish(&about, compress)
    }

    #[test]
    fn a_record_is_read_as_it_was_made() {
        for compress in [false, true] {
            let (record, hash) = example(compress);
            let header = Header::decode(&record).unwrap();
            assert_eq!((header.transaction.0, header.previous_hash, header.hash), (12, 99, hash));
            assert_eq!((header.compressed, header.packed), (compress, compress));
            assert_eq!(header.padded_size(), record.len() as u64);
            assert!(header.matches(&record));
            let raw = raw_pages(&header, &record).unwrap();
            let mut bytes = &raw[..];
            let (number, Change::Fresh(diff)) = next_change(&mut bytes).unwrap() else { panic!("a fresh page") };
            let mut page = [0; PAGE_SIZE];
            assert!(super::super::diff::apply(diff, &mut page));
            assert_eq!((number.0, page[100]), (9, 7));
            let (number, change) = next_change(&mut bytes).unwrap();
            assert_eq!((number.0, change), (300, Change::Run { pages: 2, bytes: &[1; PAGE_SIZE + 10] }));
            let (number, change) = next_change(&mut bytes).unwrap();
            assert_eq!((number.0, change), (400, Change::Direct { pages: 3 }));
            assert!(bytes.is_empty());
        }
    }

    /// Found by fuzzing: memory was taken for whatever the header said.
    #[test]
    fn a_record_that_says_that_it_is_larger_than_it_can_be_is_refused() {
        let (record, _) = example(true);
        let header = Header::decode(&record).unwrap();
        let most = header.stored_bytes * 255;
        assert!(raw_pages(&Header { raw_bytes: most, ..header }, &record).is_err());
        let refused = raw_pages(&Header { raw_bytes: most + 1, ..header }, &record);
        assert_eq!(refused, Err("a record says that it is larger than it can be"));
    }

    #[test]
    fn any_flipped_bit_is_seen() {
        let (record, _) = example(true);
        let length = HEADER_SIZE + Header::decode(&record).unwrap().stored_bytes as usize;
        for bit in 0..length * 8 {
            let mut damaged = record.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Header::decode(&damaged).is_none_or(|header| !header.matches(&damaged)), "bit {bit}");
        }
    }
}
