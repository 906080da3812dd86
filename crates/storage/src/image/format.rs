//! The form of an image: a header, and frames whose hashes form a chain. Little-endian; not compressed.
//!
//! ```text
//! header:
//!  0       8         12          16               32            40            56            64     80
//!  +-------+---------+-----------+----------------+-------------+-------------+-------------+------+
//!  | magic | version | page size | environment id | transaction | record hash | pages total | hash |
//!  +-------+---------+-----------+----------------+-------------+-------------+-------------+------+
//!
//! frame:
//!  0      4       8          16            24       32            48             64
//!  +------+-------+----------+-------------+--------+-------------+--------------+---------------------+
//!  | kind | zeros | sequence | transaction | length | header hash | payload hash | payload, of `length` |
//!  +------+-------+----------+-------------+--------+-------------+--------------+---------------------+
//! ```
//!
//! * `transaction`, `record hash` of the header: the state that the copy began at. Records go on from there. `pages total`: in use by
//!   then.
//! * `hash`: XXH3-128 of the header before it. `header hash`: of the payload hash of the frame before (of `hash`, for the first) and the
//!   frame's bytes up to it. `payload hash`: of the header hash and the payload. So no frame can be changed, moved, left out or taken from
//!   another image, and a length is believed only when its header is.
//! * `sequence`: 0, 1, 2, ... `transaction`: the last one whose record came before, or is this frame.
//!
//! | kind | payload |
//! | --- | --- |
//! | 1 pages | end (u64), count (u64), count x (first page, pages: u64 each), and the bytes of those pages, with their checksums |
//! | 2 record | a record of the journal, without its padding (`journal::record`): of the transaction behind the last |
//! | 3 run | first page (u64), and the bytes of a run that an earlier record put straight into the data file (kind 3 there) |
//! | 4 end | record hash (u128) of `transaction`, pages, records, bytes before this frame (u64 each). Nothing follows |
//!
//! Invariant: behind a frame with pages, all pages below its `end` that are in use are as the state of its `transaction` has them, when
//! the records so far are applied; but for runs whose frame is still to come. A page that a record so far allocated is in no frame with
//! pages, wherever it is: the record has it, or a run frame.

use super::error::{Error, Result};
use crate::checkpoint::header::COUNT_END;
use crate::ids::{Position, TransactionId};
use crate::limits::PAGE_SIZE;
use std::io::Read;
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The version that this program writes.
pub(super) const VERSION: u32 = 1;
const MAGIC: u64 = u64::from_le_bytes(*b"ROOKIMG1");
const HEADER_SIZE: usize = 80;
const FRAME_SIZE: usize = 64;
pub(super) const END_SIZE: usize = 16 + 3 * 8;
const _: () = assert!(HEADER_SIZE == 8 + 4 + 4 + 16 + 8 + 16 + 8 + 16 && FRAME_SIZE == 4 + 4 + 3 * 8 + 2 * 16);

/// Bytes that a payload is read in, so that a length costs no memory that its bytes do not.
const STEP: u64 = 1 << 20;

/// What an image begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub environment_id: u128,
    pub start: Position,
    pub pages_total: u64,
}

/// What a frame has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Kind {
    Pages = 1,
    Record = 2,
    Run = 3,
    End = 4,
}

impl Kind {
    fn of(number: u32) -> Option<Kind> {
        [Kind::Pages, Kind::Record, Kind::Run, Kind::End].into_iter().find(|kind| *kind as u32 == number)
    }
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

pub(super) fn u128_at(bytes: &[u8], at: usize) -> Option<u128> {
    bytes.get(at..)?.first_chunk().map(|bytes| u128::from_le_bytes(*bytes))
}

fn chained(before: u128, bytes: &[&[u8]]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&before.to_le_bytes());
    bytes.iter().for_each(|bytes| hash.update(bytes));
    hash.digest128()
}

/// Encodes an image, frame by frame.
pub(super) struct Encoder {
    hash: u128,
    sequence: u64,
}

impl Encoder {
    /// Begins an image in `out`.
    pub fn begin(header: &Header, out: &mut Vec<u8>) -> Encoder {
        let start = out.len();
        out.extend_from_slice(&MAGIC.to_le_bytes());
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(PAGE_SIZE as u32).to_le_bytes());
        out.extend_from_slice(&header.environment_id.to_le_bytes());
        out.extend_from_slice(&header.start.transaction.0.to_le_bytes());
        out.extend_from_slice(&header.start.hash.to_le_bytes());
        out.extend_from_slice(&header.pages_total.to_le_bytes());
        let hash = xxh3_128(&out[start..]);
        out.extend_from_slice(&hash.to_le_bytes());
        Encoder { hash, sequence: 0 }
    }

    /// Adds a frame to `out`; its payload is in parts.
    pub fn frame(&mut self, kind: Kind, transaction: TransactionId, payload: &[&[u8]], out: &mut Vec<u8>) {
        let length: usize = payload.iter().map(|part| part.len()).sum();
        let start = out.len();
        out.extend_from_slice(&(kind as u32).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&transaction.0.to_le_bytes());
        out.extend_from_slice(&(length as u64).to_le_bytes());
        let header_hash = chained(self.hash, &[&out[start..]]);
        self.hash = chained(header_hash, payload);
        self.sequence += 1;
        out.extend_from_slice(&header_hash.to_le_bytes());
        out.extend_from_slice(&self.hash.to_le_bytes());
        payload.iter().for_each(|part| out.extend_from_slice(part));
    }
}

/// Decodes an image and checks its hashes.
pub(super) struct Decoder<'r> {
    from: &'r mut dyn Read,
    hash: u128,
    sequence: u64,
    /// Bytes that were read.
    at: u64,
    /// Where the last frame began.
    frame_at: u64,
}

impl<'r> Decoder<'r> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::NewerFormat`], [`Error::Source`].
    pub fn begin(from: &'r mut dyn Read) -> Result<(Decoder<'r>, Header)> {
        let mut decoder = Decoder { from, hash: 0, sequence: 0, at: 0, frame_at: 0 };
        let mut bytes = [0; HEADER_SIZE];
        decoder.read(&mut bytes)?;
        let no_image = decoder.damaged("it does not begin as an image does");
        let field = |at: usize| u64_at(&bytes, at).ok_or_else(|| no_image.clone());
        let id = |at: usize| u128_at(&bytes, at).ok_or_else(|| no_image.clone());
        if field(0)? != MAGIC {
            return Err(no_image);
        }
        if id(64)? != xxh3_128(&bytes[..64]) {
            return Err(decoder.damaged("its header does not fit its hash"));
        }
        let (version, page_size) = (field(8)? as u32, field(8)? >> 32);
        if version > VERSION {
            return Err(Error::NewerFormat { found: version, known: VERSION });
        }
        if page_size != PAGE_SIZE as u64 {
            return Err(decoder.damaged("its pages have another size"));
        }
        decoder.hash = id(64)?;
        let start = Position { transaction: TransactionId(field(32)?), hash: id(40)? };
        if start.transaction.0 >= COUNT_END {
            return Err(decoder.damaged("its transaction is higher than any can be"));
        }
        Ok((decoder, Header { environment_id: id(16)?, start, pages_total: field(56)? }))
    }

    /// Reads the next frame: its kind and transaction. The payload is in `payload` then.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Source`].
    pub fn next(&mut self, payload: &mut Vec<u8>) -> Result<(Kind, TransactionId)> {
        self.frame_at = self.at;
        let mut header = [0; FRAME_SIZE];
        self.read(&mut header)?;
        let cut = self.damaged("a frame has no header");
        let field = |at: usize| u64_at(&header, at).ok_or_else(|| cut.clone());
        let id = |at: usize| u128_at(&header, at).ok_or_else(|| cut.clone());
        if id(32)? != chained(self.hash, &[&header[..32]]) {
            return Err(self.damaged("the header of a frame does not fit its hash"));
        }
        let kind = u32::try_from(field(0)?).ok().and_then(Kind::of);
        let Some(kind) = kind.filter(|_| field(8).is_ok_and(|sequence| sequence == self.sequence)) else {
            return Err(self.damaged("a frame has no known kind, or another number than its place"));
        };
        let (transaction, mut left) = (TransactionId(field(16)?), field(24)?);
        payload.clear();
        while left > 0 {
            let length = left.min(STEP) as usize;
            let start = payload.len();
            payload.resize(start + length, 0);
            self.read(&mut payload[start..])?;
            left -= length as u64;
        }
        self.hash = id(48)?;
        if self.hash != chained(id(32)?, &[payload]) {
            return Err(self.damaged("a frame does not fit its hash"));
        }
        self.sequence += 1;
        Ok((kind, transaction))
    }

    /// Bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.at
    }

    /// Where the last frame began.
    pub fn frame_at(&self) -> u64 {
        self.frame_at
    }

    /// Checks that nothing follows.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], [`Error::Source`].
    pub fn end(&mut self) -> Result<()> {
        let mut more = [0];
        match read_some(self.from, &mut more)? {
            0 => Ok(()),
            _ => Err(self.damaged("something follows its end")),
        }
    }

    /// An error at the frame that was read last.
    pub fn damaged(&self, rule: &'static str) -> Error {
        Error::Damaged { at: self.frame_at, rule }
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<()> {
        let read = read_full(self.from, buffer)?;
        self.at += read as u64;
        if read == buffer.len() { Ok(()) } else { Err(Error::Damaged { at: self.at, rule: "it is cut" }) }
    }
}

/// Fills a buffer as far as the source has bytes.
///
/// # Errors
///
/// [`Error::Source`]
pub(crate) fn read_full(from: &mut dyn Read, buffer: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read_some(from, &mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn read_some(from: &mut dyn Read, buffer: &mut [u8]) -> Result<usize> {
    loop {
        match from.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // What decompresses says so of a stream that is cut.
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(0),
            Err(error) => return Err(Error::Source(Arc::new(error))),
            Ok(read) => return Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Vec<u8> {
        let start = Position { transaction: TransactionId(8), hash: 1 << 100 };
        let header = Header { environment_id: 5, start, pages_total: 3 };
        let mut bytes = Vec::new();
        let mut encoder = Encoder::begin(&header, &mut bytes);
        encoder.frame(Kind::Record, TransactionId(9), &[b"record"], &mut bytes);
        encoder.frame(Kind::Run, TransactionId(9), &[b"a ", b"run"], &mut bytes);
        encoder.frame(Kind::End, TransactionId(9), &[], &mut bytes);
        bytes
    }

    type Frame = (Kind, u64, Vec<u8>);

    fn read(mut bytes: &[u8]) -> Result<(Header, Vec<Frame>)> {
        let (mut decoder, header) = Decoder::begin(&mut bytes)?;
        let mut frames = Vec::new();
        let mut payload = Vec::new();
        loop {
            let (kind, transaction) = decoder.next(&mut payload)?;
            frames.push((kind, transaction.0, payload.clone()));
            if kind == Kind::End {
                decoder.end()?;
                return Ok((header, frames));
            }
        }
    }

    #[test]
    fn an_image_is_read_as_it_was_written() {
        let (header, frames) = read(&example()).unwrap();
        assert_eq!((header.environment_id, header.start.transaction.0, header.pages_total), (5, 8, 3));
        assert_eq!(header.start.hash, 1 << 100);
        let expected =
            [(Kind::Record, 9, b"record".to_vec()), (Kind::Run, 9, b"a run".to_vec()), (Kind::End, 9, vec![])];
        assert_eq!(frames, expected);
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_seen() {
        let whole = example();
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&damaged).is_err(), "bit {bit}");
        }
        for length in 0..whole.len() {
            assert!(matches!(read(&whole[..length]), Err(Error::Damaged { .. })), "{length} bytes");
        }
        assert!(read(&[&whole[..], b"x"].concat()).is_err());
    }

    #[test]
    fn frames_in_another_order_or_of_another_image_are_refused() {
        let whole = example();
        let (record, run) =
            (HEADER_SIZE..HEADER_SIZE + FRAME_SIZE + 6, HEADER_SIZE + FRAME_SIZE + 6..whole.len() - FRAME_SIZE);
        let swapped = [&whole[..HEADER_SIZE], &whole[run.clone()], &whole[record.clone()], &whole[run.end..]].concat();
        assert_eq!(swapped.len(), whole.len());
        assert!(read(&swapped).is_err());
        let without = [&whole[..record.end], &whole[run.end..]].concat();
        assert!(read(&without).is_err());
        let twice = [&whole[..record.end], &whole[record.start..]].concat();
        assert!(read(&twice).is_err());
        let mut other = Vec::new();
        let start = Position { transaction: TransactionId(8), hash: 1 };
        Encoder::begin(&Header { environment_id: 5, start, pages_total: 3 }, &mut other);
        other.extend_from_slice(&whole[HEADER_SIZE..]);
        assert!(read(&other).is_err());
    }
}
