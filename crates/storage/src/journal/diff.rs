//! Physical page diffs (redo log) in absolute bytes: runs of (bytes to skip, bytes that follow), both as LEB128.
//!
//! Because the bytes are absolute, applying all diffs since a page was last flushed gives the same page whether the
//! file has its old content, its new content, or a torn mixture of both.

use crate::limits::PAGE_SIZE;
use crate::page::DIFF_START;
use crate::pager::Page;
use crate::pager::changes::{LINE, Lines};

const WORD: usize = 8;

/// Appends `value` in 7-bit groups, low first.
pub(crate) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads what [`write_varint`] wrote and moves `bytes` past it. `None` if it is cut or over 64 bits.
pub(crate) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f).checked_shl(shift)?;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Appends the difference from `base` to `page`, which is in `lines` only. `None` as base: from zeros.
pub(crate) fn write(out: &mut Vec<u8>, base: Option<&Page>, page: &Page, lines: Lines) {
    const ZEROS: Page = [0; PAGE_SIZE];
    let base = base.unwrap_or(&ZEROS);
    let mut written = DIFF_START;
    let mut at = DIFF_START;
    while let Some(start) = next_difference(base, page, at, lines) {
        let mut end = start + WORD;
        while end < PAGE_SIZE && word(base, end) != word(page, end) {
            end += WORD;
        }
        at = end;
        let (mut start, mut end) = (start, end);
        while base[start] == page[start] {
            start += 1;
        }
        while base[end - 1] == page[end - 1] {
            end -= 1;
        }
        write_varint(out, (start - written) as u64);
        write_varint(out, (end - start) as u64);
        out.extend_from_slice(&page[start..end]);
        written = end;
    }
}

#[inline]
fn word(page: &Page, at: usize) -> u64 {
    let mut bytes = [0; WORD];
    bytes.copy_from_slice(&page[at..at + WORD]);
    u64::from_ne_bytes(bytes)
}

/// The first word from `at` on (a multiple of 8) that differs, in `lines`.
fn next_difference(base: &Page, page: &Page, at: usize, lines: Lines) -> Option<usize> {
    let mut at = at;
    while at < PAGE_SIZE {
        if !lines.contains(at) {
            debug_assert_eq!(base[at], page[at], "a line that was changed is among those noted");
            at += if cfg!(debug_assertions) { 1 } else { LINE - at % LINE };
            continue;
        }
        // Whole lines first. Words rather than slices: the compiler makes vector code of this, not a call per line.
        if at.is_multiple_of(LINE)
            && (0..LINE / WORD).fold(0, |bits, word_in_line| {
                bits | (word(base, at + word_in_line * WORD) ^ word(page, at + word_in_line * WORD))
            }) == 0
        {
            at += LINE;
            continue;
        }
        if word(base, at) != word(page, at) {
            return Some(at);
        }
        at += WORD;
    }
    None
}

/// Applies a diff. `false`: it is not one.
#[must_use]
pub(crate) fn apply(mut diff: &[u8], page: &mut Page) -> bool {
    let mut at = DIFF_START;
    while !diff.is_empty() {
        let (Some(skip), Some(length)) = (read_varint(&mut diff), read_varint(&mut diff)) else { return false };
        let (Ok(skip), Ok(length)) = (usize::try_from(skip), usize::try_from(length)) else { return false };
        let Some(end) = at.checked_add(skip).and_then(|start| start.checked_add(length)) else { return false };
        if end > PAGE_SIZE || length > diff.len() {
            return false;
        }
        page[end - length..end].copy_from_slice(&diff[..length]);
        diff = &diff[length..];
        at = end;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_page(seed: u64) -> Page {
        testing::random::Random::new(seed).bytes(PAGE_SIZE).try_into().unwrap()
    }

    #[test]
    fn a_diff_gives_the_page_from_its_base_and_from_any_torn_mixture() {
        for seed in 0..200 {
            let base = random_page(seed);
            let mut page = base;
            for change in 0..seed % 20 {
                let at =
                    (DIFF_START as u64 + (seed * 7919 + change * 104_729) % (PAGE_SIZE - DIFF_START) as u64) as usize;
                let end = (at + (change * 13 % 90) as usize + 1).min(PAGE_SIZE);
                page[at..end].iter_mut().for_each(|b| *b = b.wrapping_add(1));
            }
            let mut diff = Vec::new();
            write(&mut diff, Some(&base), &page, Lines::ALL);
            let mut torn = base;
            let cut = (seed as usize * 512) % PAGE_SIZE;
            torn[cut..].copy_from_slice(&page[cut..]);
            for mut start in [base, torn] {
                assert!(apply(&diff, &mut start));
                assert_eq!(start[DIFF_START..], page[DIFF_START..]);
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let mut page = [0; PAGE_SIZE];
        for diff in [&[0x80][..], &[0, 5, 1], &[0xff, 0xff, 0x7f, 1, 0], &[0; 1], &[0xff; 30]] {
            assert!(!apply(diff, &mut page), "{diff:?}");
        }
    }
}
