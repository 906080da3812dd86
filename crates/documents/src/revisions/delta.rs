//! A text as its difference from another one: what to copy from the base, and what to insert.
//!
//! ```text
//! operation, operation, ..
//!  copy     LEB128 of length << 1 | 1, LEB128 of the zigzag distance from the end of the copy before
//!  insert   LEB128 of length << 1, the bytes
//! ```
//!
//! The encoder takes the common start and end of both texts first. Between them it looks up blocks of [`BLOCK`] bytes of the base by a hash
//! and extends each match both ways (as `rsync` and `bsdiff` do for whole files; Tichy, "The String-to-String Correction Problem with Block
//! Moves", ACM TOCS 2(4), 1984). Time is linear in both texts, memory half of the base's size. The same texts always give the same bytes.

use crate::{Error, Result};

/// Bytes of the base that one entry of the table stands for, and the shortest match in the middle.
const BLOCK: usize = 16;

/// The difference that makes `target` from `base`; `None` if it is longer than `size_max`.
pub(super) fn encode(base: &[u8], target: &[u8], size_max: usize) -> Option<Vec<u8>> {
    let shorter = base.len().min(target.len());
    let prefix = base.iter().zip(target).take_while(|(left, right)| left == right).count();
    let ends = base.iter().rev().zip(target.iter().rev()).take(shorter - prefix);
    let suffix = ends.take_while(|(left, right)| left == right).count();
    let mut encoder = Encoder { out: Vec::new(), copied_to: 0 };
    encoder.copy(0, prefix);
    let middle = Middle { base, base_range: (prefix, base.len() - suffix), target };
    middle.encode(&mut encoder, prefix, target.len() - suffix, size_max)?;
    encoder.copy(base.len() - suffix, suffix);
    (encoder.out.len() <= size_max).then_some(encoder.out)
}

/// Makes the text back.
///
/// * `size`: bytes of the text, which the difference must come to.
///
/// # Errors
///
/// [`Error::Corrupt`]
pub(super) fn decode(base: &[u8], mut delta: &[u8], size: usize, out: &mut Vec<u8>) -> Result<()> {
    let corrupt = || Error::Corrupt { rule: "a revision is made from its base" };
    let (begin, mut copied_to) = (out.len(), 0_usize);
    out.reserve(size);
    while !delta.is_empty() {
        let operation = number(&mut delta).ok_or_else(corrupt)?;
        let length = usize::try_from(operation >> 1).map_err(|_| corrupt())?;
        let part = match operation & 1 {
            1 => {
                let distance = number(&mut delta).ok_or_else(corrupt)?;
                let distance = (distance >> 1) as i64 ^ -((distance & 1) as i64);
                let from = usize::try_from(distance).ok().map_or_else(
                    || copied_to.checked_sub(usize::try_from(distance.unsigned_abs()).ok()?),
                    |distance| copied_to.checked_add(distance),
                );
                let from = from.ok_or_else(corrupt)?;
                copied_to = from.checked_add(length).ok_or_else(corrupt)?;
                base.get(from..copied_to).ok_or_else(corrupt)?
            }
            _ => {
                let (inserted, rest) = delta.split_at_checked(length).ok_or_else(corrupt)?;
                delta = rest;
                inserted
            }
        };
        if out.len() - begin + part.len() > size {
            return Err(corrupt());
        }
        out.extend_from_slice(part);
    }
    if out.len() - begin == size { Ok(()) } else { Err(corrupt()) }
}

/// Appends a number: 7 bits a byte, the lowest first.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number off the front.
pub(super) fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

struct Encoder {
    out: Vec<u8>,
    /// The end of the last copy in the base.
    copied_to: usize,
}

impl Encoder {
    fn copy(&mut self, from: usize, length: usize) {
        if length == 0 {
            return;
        }
        put_number(&mut self.out, (length as u64) << 1 | 1);
        let distance = from as i64 - self.copied_to as i64;
        put_number(&mut self.out, (distance << 1 ^ distance >> 63) as u64);
        self.copied_to = from + length;
    }

    fn insert(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            put_number(&mut self.out, (bytes.len() as u64) << 1);
            self.out.extend_from_slice(bytes);
        }
    }
}

/// What lies between the common start and end.
struct Middle<'t> {
    base: &'t [u8],
    base_range: (usize, usize),
    target: &'t [u8],
}

impl Middle<'_> {
    /// Encodes `target[from..to]`; `None` as soon as it is too long.
    fn encode(&self, encoder: &mut Encoder, from: usize, to: usize, size_max: usize) -> Option<()> {
        let (base_from, base_to) = self.base_range;
        if to - from < BLOCK || base_to - base_from < BLOCK {
            encoder.insert(&self.target[from..to]);
            return Some(());
        }
        let table = self.table();
        let (mut done, mut at) = (from, from);
        while at + BLOCK <= to {
            let found = table[slot(&self.target[at..at + BLOCK], table.len())] as usize;
            if found == 0 || self.base[found - 1..found - 1 + BLOCK] != self.target[at..at + BLOCK] {
                at += 1;
                continue;
            }
            let start = found - 1;
            let back = self.base[base_from..start].iter().rev().zip(self.target[done..at].iter().rev());
            let back = back.take_while(|(left, right)| left == right).count();
            let ahead = self.base[start..base_to].iter().zip(&self.target[at..to]);
            let ahead = ahead.take_while(|(left, right)| left == right).count();
            encoder.insert(&self.target[done..at - back]);
            encoder.copy(start - back, back + ahead);
            at += ahead;
            done = at;
            if encoder.out.len() > size_max {
                return None;
            }
        }
        encoder.insert(&self.target[done..to]);
        Some(())
    }

    /// Blocks of the base by their hash: where each begins, and one more; 0 is none. Of blocks with one hash the first stays.
    fn table(&self) -> Vec<u32> {
        let (from, to) = self.base_range;
        let mut table = vec![0_u32; (2 * (to - from) / BLOCK).next_power_of_two()];
        for at in (from..=to - BLOCK).step_by(BLOCK) {
            let entry = &mut table[slot(&self.base[at..at + BLOCK], (2 * (to - from) / BLOCK).next_power_of_two())];
            if *entry == 0 {
                // Texts are bounded far below 32 bits.
                *entry = at as u32 + 1;
            }
        }
        table
    }
}

/// The place of a block in a table, whose size is a power of two.
fn slot(block: &[u8], table_size: usize) -> usize {
    let bytes: [u8; BLOCK] = std::array::from_fn(|at| block.get(at).copied().unwrap_or_default());
    let value = u128::from_le_bytes(bytes);
    let mixed = (value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (value >> 64) as u64;
    (mixed.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 32) as usize & (table_size - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(base: &[u8], target: &[u8]) -> usize {
        let delta = encode(base, target, usize::MAX).unwrap();
        let mut out = b"before".to_vec();
        decode(base, &delta, target.len(), &mut out).unwrap();
        assert_eq!(out.strip_prefix(b"before").unwrap(), target);
        delta.len()
    }

    #[test]
    fn a_small_change_costs_little() {
        let base: Vec<u8> = (0..10_000_u32).flat_map(|number| format!("{},", number % 977).into_bytes()).collect();
        assert!(there_and_back(&base, &base) <= 8);
        let mut changed = base.clone();
        changed.splice(100..105, *b"hello");
        changed.splice(20_000..20_000, *b"inserted");
        changed.drain(30_000..30_010);
        assert!(there_and_back(&base, &changed) < 60, "{}", there_and_back(&base, &changed));
        let moved = [&base[25_000..], &base[..25_000]].concat();
        assert!(there_and_back(&base, &moved) < 400, "{}", there_and_back(&base, &moved));
    }

    #[test]
    fn what_is_too_long_is_none() {
        assert_eq!(encode(b"", &[7; 100], 50), None);
        assert_eq!(encode(b"abc", b"abc", 2), Some(vec![7, 0]));
    }

    proptest! {
        /// The model: a text is what comes back, whatever was changed of it.
        #[test]
        fn any_edits_come_back(
            base in prop::collection::vec(0_u8..4, 0..600),
            edits in prop::collection::vec((any::<u16>(), 0_usize..40, prop::collection::vec(any::<u8>(), 0..40)), 0..6),
        ) {
            let mut target = base.clone();
            for (at, removed, inserted) in edits {
                let at = usize::from(at) % (target.len() + 1);
                let end = (at + removed).min(target.len());
                target.splice(at..end, inserted);
            }
            there_and_back(&base, &target);
        }

        #[test]
        fn noise_never_panics(base in prop::collection::vec(any::<u8>(), 0..40), delta in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut out = Vec::new();
            let _ = decode(&base, &delta, 64, &mut out);
            prop_assert!(out.len() <= 64);
        }
    }
}
