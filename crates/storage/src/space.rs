//! Free-space management: one allocation bitmap page per span of 32,768 pages.
//!
//! ```text
//!  0      64                    4160      8192
//!  +------+---------------------+---------+
//!  | head | a bit per page      | zeros   |
//!  +------+---------------------+---------+
//! ```
//!
//! `count` in the head of the first bitmap is the number of bitmaps that were made.
//!
//! The bitmap of span 0 is page 2 (0 and 1 are the headers, 3 the root of the catalog); that of span `n` is its first
//! page. Bitmaps are pages like others: versioned, journaled, flushed. A page that was freed is used again at once: old
//! snapshots see its old version.

use crate::error::Result;
use crate::ids::PageNumber;
use crate::limits::{PAGE_SIZE, SPAN_PAGES};
use crate::page::{self, Kind, u64_at};
use crate::pager::Page;
use crate::pager::changes::PageMut;
use crate::planted::{Bug, is_planted};
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

/// Hints about the free pages of a span. They may promise too much, never too little.
#[derive(Clone, Copy)]
struct SpanHint {
    /// No page below is free.
    first_free: u32,
    /// True if the running transaction allocated pages of it: a rollback invalidates the hints.
    is_touched: bool,
}

/// Where to look for free pages.
#[derive(Default)]
pub(crate) struct SpaceHints {
    spans: Vec<SpanHint>,
    /// For each span: no more neighbouring pages than this are free. Apart from the rest, for all spans are gone through, a database of
    /// 100 GB has 400 of them.
    longest: Vec<u32>,
    touched: Vec<usize>,
}

impl SpaceHints {
    /// Called when the changes are kept.
    pub fn kept(&mut self) {
        for span in self.touched.drain(..) {
            self.spans[span].is_touched = false;
        }
    }

    /// Called after a rollback of one job or of the transaction: pages that it allocated may be free again.
    pub fn undone(&mut self) {
        for span in &self.touched {
            self.spans[*span].first_free = 0;
            self.longest[*span] = SPAN_PAGES as u32;
        }
    }

    /// The first span at or after a given one that may have this many contiguous free pages, and its first page that may be free.
    fn candidate(&self, from: usize, count: u32) -> (usize, u32) {
        let known = self.longest.get(from..).unwrap_or_default();
        let span =
            known.iter().position(|longest| *longest >= count).map_or(from.max(self.longest.len()), |at| from + at);
        (span, self.spans.get(span).map_or(0, |hint| hint.first_free))
    }

    fn grow(&mut self, span: usize) {
        if self.spans.len() <= span {
            self.spans.resize(span + 1, SpanHint { first_free: 0, is_touched: false });
            self.longest.resize(span + 1, SPAN_PAGES as u32);
        }
    }

    /// `count` pages from a bit on were taken; one alone was the first free one.
    fn taken(&mut self, span: usize, bit: u32, count: u32) {
        self.grow(span);
        let hint = &mut self.spans[span];
        if count == 1 || bit == hint.first_free {
            hint.first_free = bit + count;
        }
        if !std::mem::replace(&mut hint.is_touched, true) {
            self.touched.push(span);
        }
    }

    /// A span has no `count` neighbouring free pages.
    fn note_not_found(&mut self, span: usize, count: u32) {
        self.grow(span);
        self.longest[span] = count - 1;
    }

    /// They may stand between two of the longest runs.
    fn freed(&mut self, span: usize, bit: u32, count: u32) {
        if let Some(hint) = self.spans.get_mut(span) {
            hint.first_free = hint.first_free.min(bit);
            self.longest[span] = (2 * self.longest[span] + count).min(SPAN_PAGES as u32);
        }
    }
}

/// 64 pages of a bitmap's span, the first in the lowest bit: 1 is in use.
pub(crate) fn word(page: &Page, index: usize) -> u64 {
    u64_at(page, BITS + index * 8)
}

/// Pages of a chunk, the unit in which the data file's space on the device is freed (hole punching) and allocated again: 1 MiB.
pub(crate) const CHUNK_PAGES: u64 = 128;

/// The chunks of the data file that are known to be allocated on the device, and those known to be holes. After opening, the state of
/// every chunk is unknown: free chunks may be holes.
#[derive(Default)]
pub(crate) struct AllocatedChunks {
    taken: ChunkSet,
    holes: ChunkSet,
}

#[derive(Default)]
struct ChunkSet {
    words: Vec<u64>,
}

impl ChunkSet {
    fn has(&self, chunk: u64) -> bool {
        self.words.get((chunk / 64) as usize).is_some_and(|word| word >> (chunk % 64) & 1 == 1)
    }
    fn add(&mut self, chunk: u64) {
        let word = (chunk / 64) as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (chunk % 64);
    }
    fn remove(&mut self, chunk: u64) {
        if let Some(word) = self.words.get_mut((chunk / 64) as usize) {
            *word &= !(1 << (chunk % 64));
        }
    }
}

impl AllocatedChunks {
    fn has(&self, chunk: u64) -> bool {
        self.taken.has(chunk)
    }

    /// Marks the whole chunks of a range of pages as allocated.
    pub fn taken(&mut self, pages: std::ops::Range<u64>) {
        for chunk in pages.start.div_ceil(CHUNK_PAGES)..pages.end / CHUNK_PAGES {
            self.taken.add(chunk);
            self.holes.remove(chunk);
        }
    }

    /// Marks a chunk as a hole. False: it was known to be one.
    pub fn given_back(&mut self, chunk: u64) -> bool {
        let was_hole = self.holes.has(chunk);
        self.taken.remove(chunk);
        self.holes.add(chunk);
        !was_hole
    }
}

/// The chunks of a span whose pages are all free.
pub(crate) fn free_chunks(bitmap: &Page, span: u64) -> impl Iterator<Item = u64> + '_ {
    let words = (CHUNK_PAGES / 64) as usize;
    let free = move |chunk: &u64| (0..words).all(|index| word(bitmap, *chunk as usize * words + index) == 0);
    (0..SPAN_PAGES / CHUNK_PAGES).filter(free).map(move |chunk| span * (SPAN_PAGES / CHUNK_PAGES) + chunk)
}

/// Whether a page is marked as used.
pub(crate) fn is_used(bitmap: &Page, bit: usize) -> bool {
    word(bitmap, bit / 64) >> (bit % 64) & 1 == 1
}

fn set_bits(bitmap: &mut PageMut<'_>, first: usize, count: usize, used: bool) {
    for bit in first..first + count {
        let at = BITS + bit / 8;
        let mask = 1 << (bit % 8);
        bitmap.set_u8(at, if used { bitmap[at] | mask } else { bitmap[at] & !mask });
    }
}

/// The first run of `count` free pages from `from` on.
fn find(bitmap: &Page, from: usize, count: usize) -> Option<usize> {
    let (mut start, mut bit) = (from, from);
    while bit < SPAN_PAGES as usize {
        let left = 64 - bit % 64;
        let rest = word(bitmap, bit / 64) >> (bit % 64);
        let free = (rest.trailing_zeros() as usize).min(left);
        bit += free;
        if bit - start >= count {
            return Some(start);
        }
        if free < left {
            bit += (rest >> free).trailing_ones() as usize;
            start = bit;
        }
    }
    None
}

/// Pages that are in use in a span, out of its bitmap.
pub(crate) fn used_count(bitmap: &Page) -> u64 {
    (0..WORDS).map(|index| u64::from(word(bitmap, index).count_ones())).sum()
}

impl WriteTransaction<'_> {
    /// Marks `count` neighbouring pages as used and returns the first. Allocates them on the device.
    ///
    /// # Errors
    ///
    /// [`crate::Error::DiskFull`], [`crate::Error::TooLarge`], or what reading a bitmap gives.
    pub(crate) fn allocate_pages(&mut self, count: u32) -> Result<PageNumber> {
        let found = self.find_and_mark(count);
        self.poison_on_error(found)
    }

    fn find_and_mark(&mut self, count: u32) -> Result<PageNumber> {
        let mut from = 0;
        loop {
            let (index, first_free) = self.writer.space.candidate(from, count);
            let span = index as u64;
            let bitmap = bitmap_page(span);
            if !self.bitmap_exists(span)? {
                self.make_bitmap(span)?;
            }
            let Some(bit) = find(self.page_of(bitmap)?, first_free as usize, count as usize) else {
                self.writer.space.note_not_found(index, count);
                from = index + 1;
                continue;
            };
            let first = PageNumber(span * SPAN_PAGES + bit as u64);
            self.mark(first, count)?;
            return Ok(first);
        }
    }

    /// The bitmap of the first span that has none.
    fn make_bitmap(&mut self, span: u64) -> Result<()> {
        let bitmap = bitmap_page(span);
        self.ensure_room(bitmap.0 + 1)?;
        let page = &mut self.fresh_page(bitmap)?;
        page::set_kind(page, Kind::Bitmap, 0);
        let fixed = if span == 0 { CATALOG_ROOT.0 as usize + 1 } else { 1 };
        set_bits(page, 0, fixed, true);
        page::set_count(&mut self.page_mut(bitmap_page(0))?, span as usize + 1);
        Ok(())
    }

    /// Marks neighbouring free pages of one span as used, and allocates them on the device.
    fn mark(&mut self, first: PageNumber, count: u32) -> Result<()> {
        let (span, bit) = (first.0 / SPAN_PAGES, (first.0 % SPAN_PAGES) as usize);
        let end = first.0 + u64::from(count);
        self.ensure_room(end)?;
        self.fill_holes(first, count)?;
        set_bits(&mut self.page_mut(bitmap_page(span))?, bit, count as usize, true);
        self.writer.untouched_from = self.writer.untouched_from.max(end);
        self.writer.quiet.remove(first.0..end);
        self.writer.space.taken(span as usize, bit as u32, count);
        Ok(())
    }

    /// Marks `count` neighbouring pages as used of which no snapshot, and no state that a crash could lead to, has any: they may be
    /// written in the data file before the transaction is durable.
    ///
    /// # Errors
    ///
    /// As [`Self::allocate_pages`].
    pub(crate) fn allocate_quiet(&mut self, count: u32) -> Result<PageNumber> {
        let found = self.find_quiet(count);
        self.poison_on_error(found)
    }

    fn find_quiet(&mut self, count: u32) -> Result<PageNumber> {
        while let Some(first) = self.writer.quiet.find(count) {
            // One that a reader keeps a copy of, or an old version, is left to other uses: a flush could write that over ours.
            let table = &self.inner.table;
            let versions = (first..first + u64::from(count)).map(|page| table.newest(PageNumber(page)));
            let in_memory = versions.zip(first..).find_map(|(version, page)| match version {
                Ok(None) => None,
                Ok(Some(_)) => Some(Ok(page)),
                Err(error) => Some(Err(error)),
            });
            match in_memory.transpose()? {
                Some(page) => self.writer.quiet.remove(page..page + 1),
                None => return self.mark_quiet(PageNumber(first), count),
            }
        }
        if self.writer.quiet.should_be_found() {
            self.inner.want_flush();
        }
        let mut first = self.writer.untouched_from;
        if first % SPAN_PAGES + u64::from(count) > SPAN_PAGES {
            first = first.next_multiple_of(SPAN_PAGES);
        }
        // The first page of a span is its bitmap.
        first += u64::from(first.is_multiple_of(SPAN_PAGES));
        for span in self.inner.spans(self.id())?..=first / SPAN_PAGES {
            self.make_bitmap(span)?;
        }
        self.mark_quiet(PageNumber(first), count)
    }

    fn mark_quiet(&mut self, first: PageNumber, count: u32) -> Result<PageNumber> {
        let bitmap = self.page_of(bitmap_page(first.0 / SPAN_PAGES))?;
        let bit = (first.0 % SPAN_PAGES) as usize;
        if (bit..bit + count as usize).any(|bit| is_used(bitmap, bit)) {
            return Err(self.inner.table.corrupt(first, "it is in use, but was never allocated"));
        }
        self.mark(first, count)?;
        Ok(first)
    }

    /// Allocates on the device the chunks of a range of pages that may be holes.
    fn fill_holes(&mut self, first: PageNumber, count: u32) -> Result<()> {
        let Some(data) = &self.inner.data else { return Ok(()) };
        for chunk in first.0 / CHUNK_PAGES..=(first.0 + u64::from(count) - 1) / CHUNK_PAGES {
            if self.writer.allocated_chunks.has(chunk) {
                continue;
            }
            let size = PAGE_SIZE as u64;
            let start = chunk * CHUNK_PAGES;
            let end = (start + CHUNK_PAGES).min(self.inner.table.pages());
            let taken = data.allocate(start * size, (end - start) * size);
            taken.map_err(|e| crate::Error::io("make room in", data.path(), (end - start) * size, e))?;
            self.writer.allocated_chunks.taken(start..start + CHUNK_PAGES);
        }
        Ok(())
    }

    /// Marks pages as free. Their content stays for the snapshots that see it.
    pub(crate) fn free_pages(&mut self, first: PageNumber, count: u32) -> Result<()> {
        let span = first.0 / SPAN_PAGES;
        let bit = (first.0 % SPAN_PAGES) as usize;
        let end = bit + count as usize;
        let bitmap = &mut self.page_mut(bitmap_page(span))?;
        let is_in_use = end <= SPAN_PAGES as usize && (bit..end).all(|bit| is_used(bitmap, bit));
        if !is_in_use {
            return self.poison_on_error(Err(self.inner.table.corrupt(first, "it is freed, but not marked as in use")));
        }
        set_bits(bitmap, bit, count as usize, false);
        self.note_freed(first, count);
        if is_planted(Bug::FreedIsQuiet) {
            self.writer.quiet.add(first.0..first.0 + u64::from(count));
        }
        self.writer.space.freed(span as usize, bit as u32, count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn runs_are_found_between_used_pages() {
        let (mut bytes, mut lines) = ([0; PAGE_SIZE], crate::pager::changes::Lines::NONE);
        let mut bitmap = PageMut::new(&mut bytes, &mut lines);
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

    proptest! {
        #[test]
        fn the_first_run_is_found(
            runs in vec((0usize..200, 1usize..200), 0..40), from in 0usize..2000, count in 1usize..100,
        ) {
            let (mut bytes, mut lines) = ([0; PAGE_SIZE], crate::pager::changes::Lines::NONE);
            let mut bitmap = PageMut::new(&mut bytes, &mut lines);
            let mut at = 0;
            for (free, used) in runs {
                set_bits(&mut bitmap, at + free, used, true);
                at += free + used;
            }
            let is_free = |bit: usize| (bit..bit + count).all(|bit| !is_used(&bitmap, bit));
            let expected = (from..=SPAN_PAGES as usize - count).find(|bit| is_free(*bit));
            prop_assert_eq!(find(&bitmap, from, count), expected);
        }

        /// Against a bitmap that is gone through: what is looked for is where the hints lead, also after rollbacks.
        #[test]
        fn hints_never_promise_too_little(
            steps in vec((0u8..6, any::<prop::sample::Index>(), 1u32..12), 1..200),
        ) {
            let mut hints = SpaceHints::default();
            let pages = SPAN_PAGES as usize;
            // The last pages of two spans, so that they fill up.
            let mut used = vec![vec![true; pages]; 2];
            used.iter_mut().for_each(|span| span[pages - 40..].fill(false));
            let mut before = used.clone();
            let mut given: Vec<(usize, usize, u32)> = Vec::new();
            let mut given_before = given.clone();
            let first_run = |used: &[Vec<bool>], count: u32| {
                (0..2).find_map(|span| {
                    let is_free = |bit: &usize| used[span][*bit..*bit + count as usize].iter().all(|used| !used);
                    (pages - 40..=pages - count as usize).find(is_free).map(|bit| (span, bit))
                })
            };
            for (what, which, count) in steps {
                match what {
                    0..=2 => {
                        let mut from = 0;
                        let found = loop {
                            let (span, first) = hints.candidate(from, count);
                            if span >= 2 {
                                break None;
                            }
                            let is_free = |bit: &usize| used[span][*bit..*bit + count as usize].iter().all(|used| !used);
                            match (first as usize..=pages - count as usize).find(is_free) {
                                Some(bit) => break Some((span, bit)),
                                None => hints.note_not_found(span, count),
                            }
                            from = span + 1;
                        };
                        prop_assert_eq!(found, first_run(&used, count));
                        if let Some((span, bit)) = found {
                            used[span][bit..bit + count as usize].fill(true);
                            hints.taken(span, bit as u32, count);
                            given.push((span, bit, count));
                        }
                    }
                    3 if !given.is_empty() => {
                        let (span, bit, count) = given.swap_remove(which.index(given.len()));
                        used[span][bit..bit + count as usize].fill(false);
                        hints.freed(span, bit as u32, count);
                    }
                    4 => {
                        hints.kept();
                        (before, given_before) = (used.clone(), given.clone());
                    }
                    5 => {
                        hints.undone();
                        (used, given) = (before.clone(), given_before.clone());
                    }
                    _ => {}
                }
            }
        }
    }
}
