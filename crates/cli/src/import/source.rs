//! The text of a file, or of standard input: decompressed, and as UTF-8.
//!
//! The first bytes decide about compression (gzip, zstd), and then about the encoding: a byte order mark tells UTF-16. Without
//! one, bytes pass as they are; whoever reads them checks that they are UTF-8.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, ensure};

use super::name::Compression;

/// Bytes of each buffer.
const BUFFER_SIZE: usize = 256 << 10;

/// Opens a file, or standard input where it is called `-`.
///
/// * `named`: the compression that the name of the file tells; its first bytes may tell another one.
/// * `read`: counts the bytes that are read of the file.
pub(super) fn open(file: &Path, named: Compression, read: Arc<AtomicU64>) -> anyhow::Result<Box<dyn BufRead>> {
    ensure!(!file.is_dir(), "{} is a folder", file.display());
    let source: Box<dyn Read> = match file.to_str() {
        Some("-") => Box::new(std::io::stdin().lock()),
        _ => Box::new(File::open(file).with_context(|| format!("opening {}", file.display()))?),
    };
    let (head, source) = head::<4>(Box::new(Counted { source, read }));
    let counted = BufReader::with_capacity(BUFFER_SIZE, source);
    let text: Box<dyn Read> = match Compression::of(&head).unwrap_or(named) {
        Compression::None => Box::new(counted),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(counted)),
        Compression::Zstd => Box::new(zstd::Decoder::with_buffer(counted)?),
    };
    let (head, text) = self::head::<2>(text);
    let text: Box<dyn Read> = match head[..] {
        [0xff, 0xfe] => Box::new(Utf16::new(text, u16::from_le_bytes)),
        [0xfe, 0xff] => Box::new(Utf16::new(text, u16::from_be_bytes)),
        _ => text,
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER_SIZE, text)))
}

/// Opens a file that is sent as it is, or standard input. Gives its size, 0 if that is not known.
pub(super) fn open_plain(file: &Path) -> anyhow::Result<(u64, Counted)> {
    ensure!(!file.is_dir(), "{} is a folder", file.display());
    let (size, source): (u64, Box<dyn Read>) = match file.to_str() {
        Some("-") => (0, Box::new(std::io::stdin().lock())),
        _ => {
            let opened = File::open(file).with_context(|| format!("opening {}", file.display()))?;
            (opened.metadata().map_or(0, |file| file.len()), Box::new(opened))
        }
    };
    Ok((size, Counted { source, read: Arc::default() }))
}

/// The first bytes of a text, fewer if it is shorter, and the whole of it.
fn head<const SIZE: usize>(mut source: Box<dyn Read>) -> (Vec<u8>, Box<dyn Read>) {
    let mut head = Vec::with_capacity(SIZE);
    let failure = source.by_ref().take(SIZE as u64).read_to_end(&mut head).err();
    (head.clone(), Box::new(WithHead { head, source, failure }))
}

/// A text whose first bytes were read before.
struct WithHead {
    head: Vec<u8>,
    source: Box<dyn Read>,
    /// Comes behind the head.
    failure: Option<Error>,
}

impl Read for WithHead {
    /// The head comes together with what follows it: whoever looks at the beginning of the text sees more than the head.
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let size = self.head.len().min(bytes.len());
        bytes[..size].copy_from_slice(&self.head[..size]);
        self.head.drain(..size);
        if let Some(failure) = self.failure.take() {
            if size == 0 {
                return Err(failure);
            }
            self.failure = Some(failure);
            return Ok(size);
        }
        match self.source.read(&mut bytes[size..]) {
            Ok(more) => Ok(size + more),
            Err(error) if size == 0 => Err(error),
            Err(error) => {
                self.failure = Some(error);
                Ok(size)
            }
        }
    }
}

/// Counts what is read of the file, for the progress bar.
pub(super) struct Counted {
    source: Box<dyn Read>,
    pub read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let size = self.source.read(bytes)?;
        self.read.fetch_add(size as u64, Relaxed);
        Ok(size)
    }
}

/// A text in UTF-16, read as UTF-8.
struct Utf16<R> {
    source: R,
    unit_of: fn([u8; 2]) -> u16,
    /// Bytes that are not decoded yet: an odd one, or the first half of a character.
    rest: Vec<u8>,
    decoded: Vec<u8>,
    /// The bytes of `decoded` that were given out.
    taken: usize,
}

impl<R: Read> Utf16<R> {
    fn new(source: R, unit_of: fn([u8; 2]) -> u16) -> Utf16<R> {
        Utf16 { source, unit_of, rest: Vec::new(), decoded: Vec::new(), taken: 0 }
    }

    /// Decodes the next part of the source. False: there is none.
    fn decode_more(&mut self) -> std::io::Result<bool> {
        let start = self.rest.len();
        self.rest.resize(start + (64 << 10), 0);
        let size = self.source.read(&mut self.rest[start..]);
        self.rest.truncate(start + size.as_ref().copied().unwrap_or(0));
        if size? == 0 {
            return if self.rest.is_empty() { Ok(false) } else { Err(not_utf_16()) };
        }
        let units: Vec<u16> = self.rest.chunks_exact(2).map(|unit| (self.unit_of)([unit[0], unit[1]])).collect();
        // The other half of the last character may still come.
        let is_half = units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        let whole = units.len() - usize::from(is_half);
        self.decoded.clear();
        self.taken = 0;
        for character in char::decode_utf16(units[..whole].iter().copied()) {
            let character = character.map_err(|_| not_utf_16())?;
            self.decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.rest.drain(..whole * 2);
        Ok(true)
    }
}

fn not_utf_16() -> Error {
    Error::new(ErrorKind::InvalidData, "the file begins as UTF-16 does, and is not UTF-16; save it as UTF-8")
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        while self.taken == self.decoded.len() {
            if !self.decode_more()? {
                return Ok(0);
            }
        }
        let size = bytes.len().min(self.decoded.len() - self.taken);
        bytes[..size].copy_from_slice(&self.decoded[self.taken..self.taken + size]);
        self.taken += size;
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Dripping<'a>(&'a [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
            let size = self.0.len().min(bytes.len()).min(1);
            self.0.read(&mut bytes[..size])
        }
    }

    fn decoded(bytes: &[u8], unit_of: fn([u8; 2]) -> u16) -> Result<String, String> {
        let mut text = String::new();
        let whole = Utf16::new(bytes, unit_of).read_to_string(&mut text).map_err(|error| error.to_string());
        let mut dripped = String::new();
        let in_bytes = Utf16::new(Dripping(bytes), unit_of).read_to_string(&mut dripped);
        assert_eq!((in_bytes.is_ok(), &dripped), (whole.is_ok(), &text));
        whole.map(|_| text)
    }

    #[test]
    fn utf_16_is_decoded_in_both_orders_wherever_its_parts_end() {
        let text = "Zoë,😀\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(&little, u16::from_le_bytes).as_deref(), Ok(text));
        assert_eq!(decoded(&big, u16::from_be_bytes).as_deref(), Ok(text));
    }

    #[test]
    fn halves_of_characters_are_errors() {
        for bytes in [&[0x41][..], &[0x41, 0, 0x42], &[0x00, 0xdc, 0x41, 0], &[0x00, 0xd8, 0x41, 0], &[0x00, 0xd8]] {
            decoded(bytes, u16::from_le_bytes).expect_err("half of a character");
        }
    }
}
