//! What an image copies: the pages in use, in pieces, each under a snapshot of its own, and values that commits put straight into the data
//! file.
//!
//! A page that was allocated since the copy began is left out, because the records have it. So each page that is copied belongs to the
//! allocation that it belonged to at the beginning; no run is begun in one piece and found again, as another one, in the next.
//!
//! Where a page is, in memory or in the file, is looked up before the file is read: what has no version under an open snapshot is not
//! written meanwhile by a flush.

use crate::environment::Inner;
use crate::error::{Error, Result};
use crate::ids::{PageNumber, TransactionId};
use crate::journal::record::{self, Change};
use crate::limits::{IMAGE_PIECE_PAGES, PAGE_SIZE, SPAN_PAGES};
use crate::page;
use crate::page_set::PageSet;
use crate::pager::version::VersionPointer;
use crate::space;
use crate::transaction::ReadTransaction;
use std::collections::BTreeMap;
use std::ops::Range;

/// Pages of an image's piece.
#[derive(Default)]
pub(super) struct Piece {
    /// First pages and counts, rising.
    pub ranges: Vec<(u64, u64)>,
    pub bytes: Vec<u8>,
}

impl Piece {
    fn clear(&mut self) {
        self.ranges.clear();
        self.bytes.clear();
    }

    /// Adds a page or a run, with its checksum.
    fn add(&mut self, first: u64, bytes: &[u8], environment_id: u128) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let checksum = page::checksum(bytes, environment_id);
        page::store_checksum(&mut self.bytes[start..], checksum);
        self.note(first, (bytes.len() / PAGE_SIZE) as u64);
    }

    fn note(&mut self, first: u64, count: u64) {
        match self.ranges.last_mut() {
            Some((start, pages)) if *start + *pages == first => *pages += count,
            _ => self.ranges.push((first, count)),
        }
    }
}

/// The place of a page as a snapshot sees it.
#[derive(Clone, Copy)]
enum Place {
    /// Free, or allocated since the copy began.
    LeftOut,
    Memory(VersionPointer),
    File,
}

/// How far an image has copied.
pub(super) struct Source<'e> {
    inner: &'e Inner,
    /// All pages below are copied.
    cursor: u64,
    /// No page from here on was in use when the copy began.
    end: u64,
    /// Pages that were allocated since.
    allocated: PageSet,
    /// First pages and lengths of runs that records named and that are to be copied, if they are still there.
    runs: BTreeMap<u64, u32>,
    run_pages: u64,
    places: Vec<Place>,
    buffer: Vec<u8>,
}

impl<'e> Source<'e> {
    /// * `tx`: the state that the copy begins at.
    pub fn new(inner: &'e Inner, tx: &ReadTransaction<'_>) -> Result<Source<'e>> {
        Ok(Source {
            inner,
            cursor: crate::checkpoint::header::PAGES,
            end: inner.spans(tx.id())? * SPAN_PAGES,
            allocated: PageSet::default(),
            runs: BTreeMap::new(),
            run_pages: 0,
            places: Vec::new(),
            buffer: Vec::new(),
        })
    }

    /// Below it all pages are copied.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    pub fn has_pages(&self) -> bool {
        self.cursor < self.end
    }

    /// Bytes of the runs that are to be copied.
    pub fn run_bytes(&self) -> u64 {
        self.run_pages * PAGE_SIZE as u64
    }

    /// Notes what a record allocates.
    pub fn note(&mut self, header: &record::Header, record: &[u8]) -> Result<()> {
        let broken = |rule: &str| Error::CorruptFile { path: self.inner.path.clone(), rule: rule.into() };
        let raw = record::raw_pages(header, record).map_err(broken)?;
        let mut rest = &raw[..];
        for _ in 0..header.pages {
            let change = record::next_change(&mut rest);
            let (number, change) = change.ok_or_else(|| broken("a record of the journal has a broken page"))?;
            let pages = match change {
                Change::Diff(_) => continue,
                Change::Fresh(_) => 1,
                Change::Run { pages, .. } | Change::Direct { pages } => pages,
            };
            let range = number.0..number.0.saturating_add(u64::from(pages));
            self.allocated.insert_all(range.clone());
            self.forget_runs(range);
            if let Change::Direct { pages } = change {
                self.runs.insert(number.0, pages);
                self.run_pages += u64::from(pages);
            }
        }
        Ok(())
    }

    /// Runs whose first page was allocated again are gone.
    fn forget_runs(&mut self, pages: Range<u64>) {
        let gone: Vec<u64> = self.runs.range(pages).map(|(first, _)| *first).collect();
        for first in gone {
            self.run_pages -= u64::from(self.runs.remove(&first).unwrap_or(0));
        }
    }

    /// Reads the next run that a record named and that is still there. All records up to the snapshot were noted.
    pub fn next_run(&mut self, tx: &ReadTransaction<'_>, bytes: &mut Vec<u8>) -> Result<Option<PageNumber>> {
        while let Some((first, pages)) = self.runs.pop_first() {
            self.run_pages -= u64::from(pages);
            let first = PageNumber(first);
            let bitmap = self.inner.table.page(space::bitmap_page(first.0 / SPAN_PAGES), tx.id())?;
            if !space::is_used(bitmap, (first.0 % SPAN_PAGES) as usize) {
                continue;
            }
            self.inner.table.read_run(first, pages, tx.id(), bytes)?;
            // The bytes of a version in memory have none that means anything.
            let checksum = page::checksum(bytes, self.inner.id);
            page::store_checksum(bytes, checksum);
            return Ok(Some(first));
        }
        Ok(None)
    }

    /// Reads pages from the cursor on: about as many as a piece has, or what is left. All records up to the snapshot were noted.
    pub fn next_pages(&mut self, tx: &ReadTransaction<'_>, piece: &mut Piece) -> Result<()> {
        piece.clear();
        while self.cursor < self.end && piece.bytes.len() < IMAGE_PIECE_PAGES as usize * PAGE_SIZE {
            self.copy_window(tx.id(), piece)?;
        }
        Ok(())
    }

    /// Copies what begins in the next pages of one span.
    fn copy_window(&mut self, transaction: TransactionId, piece: &mut Piece) -> Result<()> {
        let span_end = (self.cursor / SPAN_PAGES + 1) * SPAN_PAGES;
        let window = self.cursor..(self.cursor + IMAGE_PIECE_PAGES).min(span_end);
        self.find_places(window.clone(), transaction)?;
        let is_in_file = |place: &Place| matches!(place, Place::File);
        let first_read = window.start + self.places.iter().position(is_in_file).unwrap_or(0) as u64;
        let end_read = window.start + self.places.iter().rposition(is_in_file).map_or(0, |last| last as u64 + 1);
        self.buffer.clear();
        // In memory these are pages inside of runs.
        if first_read < end_read && self.inner.data.is_some() {
            self.read(first_read..end_read)?;
        }
        let mut at = window.start;
        while at < window.end {
            let pages = match self.places[(at - window.start) as usize] {
                Place::LeftOut => 1,
                Place::Memory(version) => {
                    page::check(version.page(), version.bytes()).map_err(|rule| self.corrupt(at, rule))?;
                    piece.add(at, version.bytes(), self.inner.id);
                    u64::from(version.pages())
                }
                Place::File => self.copy_from_file(at, first_read..end_read, span_end, transaction, piece)?,
            };
            at += pages;
        }
        self.cursor = at;
        Ok(())
    }

    fn find_places(&mut self, window: Range<u64>, transaction: TransactionId) -> Result<()> {
        self.places.clear();
        let table = &self.inner.table;
        let bitmap = table.page(space::bitmap_page(window.start / SPAN_PAGES), transaction)?;
        for number in window {
            let is_used = space::is_used(bitmap, (number % SPAN_PAGES) as usize);
            if !is_used || self.allocated.contains(number) {
                self.places.push(Place::LeftOut);
                continue;
            }
            let version = table.newest_up_to(PageNumber(number), transaction)?;
            self.places.push(version.map_or(Place::File, Place::Memory));
        }
        Ok(())
    }

    /// Reads pages of the file into the buffer.
    fn read(&mut self, pages: Range<u64>) -> Result<()> {
        if pages.end > self.inner.table.pages() {
            return Err(self.corrupt(pages.end - 1, "it lies outside of the file"));
        }
        let Some(data) = &self.inner.data else { return Ok(()) };
        self.buffer.resize((pages.end - pages.start) as usize * PAGE_SIZE, 0);
        let read = data.read_at(&mut self.buffer, pages.start * PAGE_SIZE as u64);
        read.map_err(|error| Error::io("read", data.path(), 0, error))
    }

    /// Copies a page or a run that the file has; gives its pages.
    ///
    /// * `read`: the pages that are in the buffer. The first page is one of them.
    fn copy_from_file(
        &mut self,
        first: u64,
        read: Range<u64>,
        span_end: u64,
        transaction: TransactionId,
        piece: &mut Piece,
    ) -> Result<u64> {
        let start = (first - read.start) as usize * PAGE_SIZE;
        let cut = || self.corrupt(first, "it is not in memory, and there is no file");
        let page = self.buffer.get(start..).and_then(|bytes| bytes.first_chunk()).ok_or_else(cut)?;
        let pages = page::run_pages(page).max(1);
        let end = first + u64::from(pages);
        if end > span_end {
            return Err(self.corrupt(first, "its run reaches over the end of its span"));
        }
        if end > read.end {
            // Verified there.
            let mut run = Vec::new();
            self.inner.table.read_run(PageNumber(first), pages, transaction, &mut run)?;
            piece.bytes.extend_from_slice(&run);
        } else {
            let bytes = &self.buffer[start..start + pages as usize * PAGE_SIZE];
            let verified = page::verify(page, bytes, PageNumber(first), self.inner.id);
            verified.map_err(|rule| self.corrupt(first, rule))?;
            piece.bytes.extend_from_slice(bytes);
        }
        piece.note(first, u64::from(pages));
        Ok(u64::from(pages))
    }

    fn corrupt(&self, page: u64, rule: &'static str) -> Error {
        self.inner.table.corrupt(PageNumber(page), rule)
    }
}
