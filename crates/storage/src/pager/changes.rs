//! A page that is being changed, and which of its lines were.
//!
//! Commits are found by comparing a page with its previous version. Most change a few lines of it, so every way to change
//! one goes through [`PageMut`], which notes the lines; the journal compares only those. In debug builds it compares all,
//! and a line that changed without a note is a panic.
//!
//! Jobs that share a transaction change its versions one after the other. When a job first changes a line of a version that an
//! earlier job made, the old line is saved (undo log), so that the job can be rolled back alone.

use super::Page;
use super::version::VersionPointer;
use crate::limits::PAGE_SIZE;
use std::cell::Cell;
use std::ops::{Deref, Range};

/// Bytes that one bit stands for.
pub(crate) const LINE: usize = PAGE_SIZE / u64::BITS as usize;

/// Lines of a page, a bit for each, the first in the lowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lines(u64);

impl Lines {
    pub const NONE: Lines = Lines(0);
    pub const ALL: Lines = Lines(u64::MAX);

    /// The lines that a range of bytes touches.
    #[inline]
    fn of(range: &Range<usize>) -> Lines {
        if range.start >= range.end {
            return Lines::NONE;
        }
        let (first, last) = (range.start / LINE, (range.end - 1) / LINE);
        Lines((u64::MAX << first) & (u64::MAX >> (63 - last)))
    }

    /// These lines and others.
    pub fn and(self, others: Lines) -> Lines {
        Lines(self.0 | others.0)
    }

    /// Where the lines are, as offsets of their first bytes.
    pub fn offsets(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let line = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (line < u64::BITS as usize).then_some(line * LINE)
        })
    }

    /// Whether the line that begins at or holds a byte is among them.
    #[inline]
    pub fn contains(self, at: usize) -> bool {
        self.0 >> (at / LINE) & 1 == 1
    }
}

/// A line as it was before the running job.
pub(crate) struct SavedLine {
    pub version: VersionPointer,
    /// Of its first byte in the page.
    pub offset: usize,
    pub bytes: [u8; LINE],
}

/// Saves the lines of a version before they change.
pub(crate) struct Saver<'p> {
    pub version: VersionPointer,
    /// What the running job saved of it already.
    pub saved: &'p Cell<Lines>,
    pub log: &'p mut Vec<SavedLine>,
}

impl Saver<'_> {
    fn save(&mut self, page: &Page, lines: Lines) {
        let saved = self.saved.get();
        let missing = Lines(lines.0 & !saved.0);
        self.saved.set(Lines(saved.0 | missing.0));
        for offset in missing.offsets() {
            let mut bytes = [0; LINE];
            bytes.copy_from_slice(&page[offset..offset + LINE]);
            self.log.push(SavedLine { version: self.version, offset, bytes });
        }
    }
}

/// A page, to be changed. Reads as the page.
pub(crate) struct PageMut<'p> {
    page: &'p mut Page,
    lines: &'p Cell<Lines>,
    saver: Option<Saver<'p>>,
}

impl<'p> PageMut<'p> {
    #[inline]
    pub fn new(page: &'p mut Page, lines: &'p mut Lines) -> Self {
        Self::noting(page, Cell::from_mut(lines))
    }

    /// Notes the lines where others may look them up meanwhile.
    #[inline]
    pub fn noting(page: &'p mut Page, lines: &'p Cell<Lines>) -> Self {
        PageMut { page, lines, saver: None }
    }

    /// The same page, whose lines are saved before they change.
    #[inline]
    pub fn saving(self, saver: Saver<'p>) -> Self {
        PageMut { saver: Some(saver), ..self }
    }

    #[inline]
    fn note(&mut self, range: Range<usize>) {
        let lines = Lines::of(&range);
        if let Some(saver) = &mut self.saver {
            saver.save(self.page, lines);
        }
        self.lines.set(Lines(self.lines.get().0 | lines.0));
    }

    /// Writes bytes at a place.
    #[inline]
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        self.note(at..at + bytes.len());
        self.page[at..at + bytes.len()].copy_from_slice(bytes);
    }

    #[inline]
    pub fn set_u8(&mut self, at: usize, value: u8) {
        self.write(at, &[value]);
    }

    #[inline]
    pub fn set_u16(&mut self, at: usize, value: u16) {
        self.write(at, &value.to_le_bytes());
    }

    #[inline]
    pub fn set_u32(&mut self, at: usize, value: u32) {
        self.write(at, &value.to_le_bytes());
    }

    #[inline]
    pub fn set_u64(&mut self, at: usize, value: u64) {
        self.write(at, &value.to_le_bytes());
    }

    /// Sets a range to zeros.
    pub fn clear(&mut self, range: Range<usize>) {
        self.note(range.clone());
        self.page[range].fill(0);
    }

    /// All of it, to be written anew.
    pub fn whole(&mut self) -> &mut Page {
        self.note(0..PAGE_SIZE);
        self.page
    }

    /// Moves bytes within the page.
    #[inline]
    pub fn copy_within(&mut self, from: Range<usize>, to: usize) {
        self.note(to..to + from.len());
        self.page.copy_within(from, to);
    }
}

impl Deref for PageMut<'_> {
    type Target = Page;

    #[inline]
    fn deref(&self) -> &Page {
        self.page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_notes_its_lines_and_no_others() {
        let (mut bytes, mut lines) = ([0; PAGE_SIZE], Lines::NONE);
        let mut page = PageMut::new(&mut bytes, &mut lines);
        page.set_u64(0, 1);
        page.write(2 * LINE - 1, &[1, 2]);
        page.clear(5 * LINE..6 * LINE);
        page.copy_within(0..8, PAGE_SIZE - 8);
        page.clear(9 * LINE..9 * LINE);
        let noted: Vec<usize> = lines.offsets().map(|offset| offset / LINE).collect();
        assert_eq!(noted, [0, 1, 2, 5, 63]);
        assert!((0..64).all(|line| lines.contains(line * LINE) == noted.contains(&line)));
        assert_eq!((bytes[2 * LINE - 1], bytes[2 * LINE], bytes[PAGE_SIZE - 8]), (1, 2, 1));
    }
}
