//! Which pages are in use: one bitmap page per span of 32,768 pages.
//!
//! ```text
//!  0      64                    4160      8192
//!  +------+---------------------+---------+
//!  | head | a bit per page      | zeros   |
//!  +------+---------------------+---------+
//! ```
//!
//! The bitmap of span 0 is page 2 (0 and 1 are the headers, 3 the root of the catalog); that of span `n` is its first
//! page. Bitmaps are pages like others: versioned, journaled, flushed. A page that was freed is used again at once: old
//! snapshots see its old version.

use crate::error::Result;
use crate::ids::PageNumber;
use crate::limits::{PAGE_SIZE, SPAN_PAGES};
use crate::page::{self, Kind, u64_at};
use crate::pager::Page;
use crate::transaction::WriteTransaction;

/// The root of the catalog, the first page that is not fixed.
pub(crate) const CATALOG_ROOT: PageNumber = PageNumber(3);
const BITS: usize = 64;
const WORDS: usize = SPAN_PAGES as usize / 64;
const _: () = assert!(BITS + WORDS * 8 <= PAGE_SIZE);

/// The bitmap page of a span.
pub(crate) fn bitmap_page(span: u64) -> PageNumber {
    PageNumber(if span == 0 { 2 } else { span * SPAN_PAGES })
}

/// Where to look first: no page below is free, in each span. Only a hint: it may be too low.
#[derive(Default)]
pub(crate) struct SpaceHints {
    first_free: Vec<u32>,
}

impl SpaceHints {
    /// Forgets everything: after a rollback.
    pub fn reset(&mut self) {
        self.first_free.iter_mut().for_each(|hint| *hint = 0);
    }
    fn freed(&mut self, span: usize, bit: u32) {
        if let Some(hint) = self.first_free.get_mut(span) {
            *hint = (*hint).min(bit);
        }
    }
}

fn word(page: &Page, index: usize) -> u64 {
    u64_at(page, BITS + index * 8)
}

/// Whether a page is marked as used.
pub(crate) fn is_used(bitmap: &Page, bit: usize) -> bool {
    word(bitmap, bit / 64) >> (bit % 64) & 1 == 1
}

fn set_bits(bitmap: &mut Page, first: usize, count: usize, used: bool) {
    for bit in first..first + count {
        let at = BITS + bit / 8;
        if used {
            bitmap[at] |= 1 << (bit % 8);
        } else {
            bitmap[at] &= !(1 << (bit % 8));
        }
    }
}

/// The first run of `count` free pages from `from` on.
fn find(bitmap: &Page, from: usize, count: usize) -> Option<usize> {
    let (mut start, mut length) = (from, 0);
    let mut bit = from;
    while bit < SPAN_PAGES as usize {
        let word = word(bitmap, bit / 64);
        if bit % 64 == 0 && word == u64::MAX {
            bit += 64;
            (start, length) = (bit, 0);
            continue;
        }
        if word >> (bit % 64) & 1 == 1 {
            bit += 1;
            (start, length) = (bit, 0);
            continue;
        }
        length += 1;
        bit += 1;
        if length == count {
            return Some(start);
        }
    }
    None
}

/// Pages that are in use in a span, out of its bitmap.
pub(crate) fn used_count(bitmap: &Page) -> u64 {
    (0..WORDS).map(|index| u64::from(word(bitmap, index).count_ones())).sum()
}

impl WriteTransaction<'_> {
    /// Marks `count` neighbouring pages as used and returns the first. Their room on the device is taken.
    ///
    /// # Errors
    ///
    /// [`crate::Error::DiskFull`], [`crate::Error::TooLarge`], or what reading a bitmap gives.
    pub(crate) fn allocate_pages(&mut self, count: u32) -> Result<PageNumber> {
        let mut span = 0u64;
        loop {
            let hint = self.space_hint(span);
            let bitmap = bitmap_page(span);
            if !self.bitmap_exists(span)? {
                self.ensure_room(bitmap.0 + 1)?;
                let page = self.fresh_page(bitmap)?;
                page::set_kind(page, Kind::Bitmap, 0);
                let fixed = if span == 0 { CATALOG_ROOT.0 as usize + 1 } else { 1 };
                set_bits(page, 0, fixed, true);
            }
            let found = find(self.page_of(bitmap)?, hint as usize, count as usize);
            if let Some(bit) = found {
                let first = PageNumber(span * SPAN_PAGES + bit as u64);
                self.ensure_room(first.0 + u64::from(count))?;
                set_bits(self.page_mut(bitmap)?, bit, count as usize, true);
                if count == 1 {
                    self.set_space_hint(span, bit as u32 + 1);
                }
                return Ok(first);
            }
            if count == 1 {
                self.set_space_hint(span, SPAN_PAGES as u32);
            }
            span += 1;
        }
    }

    /// Marks pages as free. Their content stays for the snapshots that see it.
    pub(crate) fn free_pages(&mut self, first: PageNumber, count: u32) -> Result<()> {
        let span = first.0 / SPAN_PAGES;
        let bit = (first.0 % SPAN_PAGES) as usize;
        let bitmap = self.page_mut(bitmap_page(span))?;
        assert!(
            (bit..bit + count as usize).all(|bit| is_used(bitmap, bit)),
            "page {first} is freed once, and was in use until then"
        );
        set_bits(bitmap, bit, count as usize, false);
        self.note_freed();
        self.space_hints().freed(span as usize, bit as u32);
        Ok(())
    }

    fn space_hint(&mut self, span: u64) -> u32 {
        self.space_hints().first_free.get(span as usize).copied().unwrap_or(0)
    }

    fn set_space_hint(&mut self, span: u64, bit: u32) {
        let hints = &mut self.space_hints().first_free;
        if hints.len() <= span as usize {
            hints.resize(span as usize + 1, 0);
        }
        hints[span as usize] = bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_between_used_pages() {
        let mut bitmap = [0; PAGE_SIZE];
        set_bits(&mut bitmap, 0, 130, true);
        set_bits(&mut bitmap, 133, 1, true);
        assert_eq!(find(&bitmap, 0, 1), Some(130));
        assert_eq!(find(&bitmap, 0, 3), Some(130));
        assert_eq!(find(&bitmap, 0, 4), Some(134));
        assert_eq!(find(&bitmap, 0, SPAN_PAGES as usize), None);
        set_bits(&mut bitmap, 64, 2, false);
        assert_eq!(find(&bitmap, 0, 2), Some(64));
        assert_eq!(used_count(&bitmap), 129);
    }
}
