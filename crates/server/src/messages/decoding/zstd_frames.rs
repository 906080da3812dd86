//! Where the frames and blocks of zstd data end (RFC 8878), without decompressing them.
//!
//! ```text
//! frame:      magic 4 | descriptor 1 | window 0..1, dictionary 0..4, content size 0..8 | blocks | checksum 0 or 4
//! block:      header 3: last 1 bit, type 2 bits, size 21 bits | content: 1 byte if its type is RLE, else `size` bytes
//! skippable:  magic 4 | size 4 | content
//! ```
//!
//! A client that flushes its compressor and never ends it sends whole blocks, the last of which is not marked as the last of its
//! frame. The decompressor cannot tell that from data that were cut off; this can.

const FRAME_MAGIC: u32 = 0xFD2F_B528;
/// The first of sixteen.
const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;

/// The part of the data that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FramePart {
    /// Magic number of a frame, or the end of the data.
    Magic,
    /// Size of a skippable frame.
    SkippableSize,
    Descriptor,
    /// The rest of a frame's header.
    Header {
        has_checksum: bool,
    },
    /// Header of a block.
    Block {
        has_checksum: bool,
    },
    /// Content of a block that is not the last of its frame.
    Content {
        has_checksum: bool,
    },
    /// What remains of a frame: content of its last block, checksum, content of a skippable frame.
    Rest,
}

/// Follows zstd data as they arrive, in parts of any size.
#[derive(Debug)]
pub(crate) struct ZstdFrames {
    part: FramePart,
    /// Bytes of the part that have not come yet.
    missing: u64,
    /// The first bytes of a part that is read as a number.
    number: u32,
    /// How many of them came.
    number_size: u32,
    /// Whether the frame has a whole block.
    has_block: bool,
}

impl ZstdFrames {
    pub(crate) fn new() -> ZstdFrames {
        ZstdFrames { part: FramePart::Magic, missing: 4, number: 0, number_size: 0, has_block: false }
    }

    /// True if the data so far end with a frame or with a block.
    pub(crate) fn is_at_border(&self) -> bool {
        self.number_size == 0
            && (self.part == FramePart::Magic || self.has_block && matches!(self.part, FramePart::Block { .. }))
    }

    /// Follows the next bytes. Data that are no zstd end nowhere: the decompressor refuses them.
    pub(crate) fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = usize::try_from(self.missing).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(count);
            for byte in now.iter().take(4usize.saturating_sub(self.number_size as usize)) {
                self.number |= u32::from(*byte) << (8 * self.number_size);
                self.number_size += 1;
            }
            self.missing -= count as u64;
            bytes = later;
            while self.missing == 0 {
                self.end_part();
            }
        }
    }

    /// The part is complete; sets the next one, which may be empty.
    fn end_part(&mut self) {
        let number = std::mem::take(&mut self.number);
        self.number_size = 0;
        self.has_block =
            matches!(self.part, FramePart::Content { .. }) || self.has_block && self.part != FramePart::Descriptor;
        (self.part, self.missing) = match self.part {
            FramePart::Magic if number == FRAME_MAGIC => (FramePart::Descriptor, 1),
            FramePart::Magic if number & !0xF == SKIPPABLE_MAGIC => (FramePart::SkippableSize, 4),
            FramePart::Magic => (FramePart::Rest, u64::MAX),
            FramePart::SkippableSize => (FramePart::Rest, u64::from(number)),
            FramePart::Descriptor => {
                let is_single_segment = number & 0x20 != 0;
                let window = u64::from(!is_single_segment);
                let dictionary = [0, 1, 2, 4][(number & 3) as usize];
                let content_size = match number >> 6 {
                    0 => u64::from(is_single_segment),
                    size => 1 << size,
                };
                (FramePart::Header { has_checksum: number & 4 != 0 }, window + dictionary + content_size)
            }
            FramePart::Header { has_checksum } | FramePart::Content { has_checksum } => {
                (FramePart::Block { has_checksum }, 3)
            }
            FramePart::Block { has_checksum } => {
                let is_rle = (number >> 1) & 3 == 1;
                let size = if is_rle { 1 } else { u64::from(number >> 3) };
                match number & 1 {
                    0 => (FramePart::Content { has_checksum }, size),
                    _ => (FramePart::Rest, size + if has_checksum { 4 } else { 0 }),
                }
            }
            FramePart::Rest => (FramePart::Magic, 4),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The sizes at which data end with a frame or a block, found byte by byte.
    fn borders(data: &[u8]) -> Vec<usize> {
        let mut frames = ZstdFrames::new();
        let mut borders = Vec::new();
        for (at, byte) in data.iter().enumerate() {
            frames.follow(std::slice::from_ref(byte));
            if frames.is_at_border() {
                borders.push(at + 1);
            }
        }
        borders
    }

    #[test]
    fn each_flush_ends_a_block_and_each_finish_a_frame() {
        for has_checksum in [false, true] {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
            encoder.include_checksum(has_checksum).unwrap();
            let mut flushed = Vec::new();
            // Text that compresses, noise that does not, and one letter that is a block of its own kind.
            let noise: Vec<u8> = (0..5000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
            for text in [&b"some text, some text"[..], &noise, &[b'x'; 3000]] {
                encoder.write_all(text).unwrap();
                encoder.flush().unwrap();
                flushed.push(encoder.get_ref().len());
            }
            let whole = encoder.finish().unwrap();
            let found = borders(&whole);
            assert!(flushed.iter().all(|size| found.contains(size)), "{flushed:?} {found:?}");
            assert_eq!(found.last(), Some(&whole.len()));
            let twice = [whole.as_slice(), whole.as_slice()].concat();
            assert_eq!(borders(&twice).last(), Some(&twice.len()));
            // The size of parts does not matter.
            let mut frames = ZstdFrames::new();
            twice.chunks(7).for_each(|part| frames.follow(part));
            assert!(frames.is_at_border());
        }
    }

    #[test]
    fn skippable_frames_are_skipped_and_rubbish_has_no_border() {
        let skippable = [0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3];
        assert_eq!(borders(&skippable), [skippable.len()]);
        assert!(borders(b"{\"Name\":\"plain text\"}").is_empty());
    }
}
