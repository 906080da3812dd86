//! The data file of a folder that is being made: pages out of an image, and records applied to them (redo).
//!
//! Unlike recovery, which makes versions in memory, records change the file, through a cache of bounded size. A crash in the middle costs
//! nothing: the folder cannot be opened yet.
//!
//! Invariant: pages below the cursor, and pages that a record allocated, are as the state of the last record has them, if they are in use.
//! Of other pages nothing is known until they come, and a change of one is left out: what comes has it.

use super::error::{Error, Result};
use crate::checkpoint::header::{self, FORMAT_VERSION, Header};
use crate::ids::{PageNumber, Position, TransactionId};
use crate::io::File;
use crate::journal::diff;
use crate::journal::record::Change;
use crate::limits::{PAGE_SIZE, RESTORE_CACHE_SIZE_MAX, SEGMENT_PAGES, SEGMENTS_MAX, SPAN_PAGES, VALUE_SIZE_MAX};
use crate::page;
use crate::page_set::PageSet;
use crate::pager::Page;
use crate::pager::changes::{Lines, PageMut};
use crate::space::{self, CHUNK_PAGES};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that are written at once.
const PIECE: usize = 1 << 20;

/// The pages of a restore.
pub(super) struct Pages {
    file: Arc<dyn File>,
    environment_id: u128,
    /// All pages below came.
    cursor: u64,
    /// Pages that records allocated.
    allocated: PageSet,
    /// Pages that came, or that a record made.
    present: PageSet,
    /// Chunks that have room on the device.
    chunks: PageSet,
    /// Changed pages that are to be written.
    changed: BTreeMap<u64, Box<Page>>,
}

/// Splits neighbouring pages into single ones and runs, and checks each.
///
/// # Errors
///
/// The rule that does not hold; those of `each`.
pub(super) fn split(
    first: u64,
    mut bytes: &[u8],
    environment_id: u128,
    mut each: impl FnMut(u64, &[u8]),
) -> std::result::Result<(), &'static str> {
    let mut at = first;
    while !bytes.is_empty() {
        let page: &Page = bytes.first_chunk().ok_or("it has a part of a page")?;
        let pages = page::run_pages(page).max(1);
        let (whole, rest) = bytes.split_at_checked(pages as usize * PAGE_SIZE).ok_or("it has a part of a run")?;
        page::verify(page, whole, PageNumber(at), environment_id)?;
        each(at, whole);
        at += u64::from(pages);
        bytes = rest;
    }
    Ok(())
}

fn set_identity(page: &mut Page, number: PageNumber, transaction: TransactionId) {
    let mut lines = Lines::NONE;
    page::set_identity(&mut PageMut::new(page, &mut lines), number, transaction);
}

impl Pages {
    pub fn new(file: Arc<dyn File>, environment_id: u128) -> Pages {
        let mut present = PageSet::default();
        present.insert_all(0..header::PAGES);
        Pages {
            file,
            environment_id,
            cursor: header::PAGES,
            allocated: PageSet::default(),
            present,
            chunks: PageSet::default(),
            changed: BTreeMap::new(),
        }
    }

    fn corrupt(&self, page: u64, rule: &'static str) -> Error {
        crate::Error::Corrupt { path: self.file.path().to_path_buf(), page: PageNumber(page), rule }.into()
    }

    fn failed(&self, operation: &'static str, length: usize) -> impl FnOnce(std::io::Error) -> Error + use<> {
        let path = self.file.path().to_path_buf();
        move |error| crate::Error::io(operation, &path, length as u64, error).into()
    }

    /// Whether pages that an image brings may come now: none came before, and no record has one.
    pub fn may_come(&self, pages: Range<u64>) -> bool {
        pages.start >= self.cursor && pages.end <= PAGES_MAX && pages.clone().all(|page| !self.allocated.contains(page))
    }

    /// All pages below `end` came.
    pub fn set_cursor(&mut self, end: u64) {
        self.cursor = self.cursor.max(end);
    }

    /// Writes pages with fitting checksums.
    pub fn bring(&mut self, first: u64, bytes: &[u8]) -> Result<()> {
        let pages = first..first + (bytes.len() / PAGE_SIZE) as u64;
        self.make_room(pages.clone())?;
        for (index, part) in bytes.chunks(PIECE).enumerate() {
            let at = first * PAGE_SIZE as u64 + (index * PIECE) as u64;
            self.file.write_at(part, at).map_err(self.failed("write", part.len()))?;
        }
        self.present.insert_all(pages);
        Ok(())
    }

    /// Applies a change of a record.
    pub fn apply(&mut self, transaction: TransactionId, number: PageNumber, change: Change<'_>) -> Result<()> {
        let identity = (number, transaction);
        match change {
            Change::Diff(_) if number.0 >= self.cursor && !self.allocated.contains(number.0) => Ok(()),
            Change::Diff(diff) => {
                let mut page = self.take(number.0)?;
                self.change(&mut page, identity, diff)
            }
            Change::Fresh(diff) => {
                self.allocate(number.0..number.0.saturating_add(1))?;
                self.present.insert(number.0);
                self.change(&mut Box::new([0; PAGE_SIZE]), identity, diff)
            }
            Change::Run { pages, bytes } => self.bring_run(identity, pages, bytes),
            Change::Direct { pages } if pages > page::pages_for_run(VALUE_SIZE_MAX) => {
                Err(self.corrupt(number.0, "a record names a run there that is longer than any"))
            }
            Change::Direct { pages } => {
                let range = number.0..number.0.saturating_add(u64::from(pages));
                self.allocate(range.clone())?;
                self.present.remove_all(range);
                Ok(())
            }
        }
    }

    fn change(&mut self, page: &mut Box<Page>, identity: (PageNumber, TransactionId), changes: &[u8]) -> Result<()> {
        let (number, transaction) = identity;
        if !diff::apply(changes, page) {
            return Err(self.corrupt(number.0, "a record has a broken diff for it"));
        }
        set_identity(page, number, transaction);
        self.changed.insert(number.0, std::mem::replace(page, Box::new([0; PAGE_SIZE])));
        if self.changed.len() * PAGE_SIZE > RESTORE_CACHE_SIZE_MAX { self.write_changed() } else { Ok(()) }
    }

    /// The whole of a run, with the zeros behind its value that the record leaves out.
    fn bring_run(&mut self, identity: (PageNumber, TransactionId), pages: u32, bytes: &[u8]) -> Result<()> {
        let (number, transaction) = identity;
        let broken = || self.corrupt(number.0, "a record has a broken run for it");
        // So that a short record costs no more memory than a long value.
        if bytes.len() < page::RUN_START || page::pages_for_run(bytes.len() - page::RUN_START) != pages {
            return Err(broken());
        }
        let mut run = bytes.to_vec();
        run.resize(pages as usize * PAGE_SIZE, 0);
        let page: &mut Page = run.first_chunk_mut().ok_or_else(broken)?;
        set_identity(page, number, transaction);
        if page::run_pages(page) != pages {
            return Err(broken());
        }
        let checksum = page::checksum(&run, self.environment_id);
        page::store_checksum(&mut run, checksum);
        self.allocate(number.0..number.0.saturating_add(u64::from(pages)))?;
        self.bring(number.0, &run)
    }

    /// Notes pages that a record allocates. What was there before is gone.
    fn allocate(&mut self, pages: Range<u64>) -> Result<()> {
        if pages.end > PAGES_MAX {
            return Err(self.corrupt(pages.start, "it lies outside of what an environment can have"));
        }
        self.make_room(pages.clone())?;
        let gone: Vec<u64> = self.changed.range(pages.clone()).map(|(page, _)| *page).collect();
        gone.iter().for_each(|page| drop(self.changed.remove(page)));
        self.allocated.insert_all(pages);
        Ok(())
    }

    /// Takes room on the device for the chunks of pages.
    fn make_room(&mut self, pages: Range<u64>) -> Result<()> {
        let length = CHUNK_PAGES * PAGE_SIZE as u64;
        for chunk in pages.start / CHUNK_PAGES..pages.end.div_ceil(CHUNK_PAGES) {
            if !self.chunks.contains(chunk) {
                let taken = self.file.allocate(chunk * length, length);
                taken.map_err(self.failed("make room for", length as usize))?;
                self.chunks.insert(chunk);
            }
        }
        Ok(())
    }

    /// A page that came, to be changed; it is not in the cache afterwards.
    fn take(&mut self, number: u64) -> Result<Box<Page>> {
        if let Some(page) = self.changed.remove(&number) {
            return Ok(page);
        }
        if !self.present.contains(number) {
            return Err(self.corrupt(number, "a record changes it, but the image does not have it"));
        }
        let mut page = Box::new([0; PAGE_SIZE]);
        self.file.read_at(&mut page[..], number * PAGE_SIZE as u64).map_err(self.failed("read", 0))?;
        let verified = page::verify(&page, &page[..], PageNumber(number), self.environment_id);
        verified.map_err(|rule| self.corrupt(number, rule))?;
        Ok(page)
    }

    /// Writes all changed pages, with their checksums.
    fn write_changed(&mut self) -> Result<()> {
        let mut piece = Vec::new();
        let mut start = 0;
        for (number, mut page) in std::mem::take(&mut self.changed) {
            page::check(&page, &page[..]).map_err(|rule| self.corrupt(number, rule))?;
            let checksum = page::checksum(&page[..], self.environment_id);
            page::store_checksum(&mut page[..], checksum);
            let follows = start + (piece.len() / PAGE_SIZE) as u64 == number && piece.len() < PIECE;
            if !follows {
                self.write(start, &piece)?;
                piece.clear();
            }
            if piece.is_empty() {
                start = number;
            }
            piece.extend_from_slice(&page[..]);
        }
        self.write(start, &piece)
    }

    fn write(&self, first: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.write_at(bytes, first * PAGE_SIZE as u64).map_err(self.failed("write", bytes.len()))
    }

    /// All has come: checks that all pages in use are there, writes the headers of a state that needs no journal, and makes the file
    /// durable.
    pub fn finish(&mut self, position: Position) -> Result<()> {
        self.write_changed()?;
        self.refuse_missing()?;
        let header = Header {
            version: FORMAT_VERSION,
            clean: true,
            environment_id: self.environment_id,
            sequence: 1,
            transaction: position.transaction,
            journal_number: 1,
            journal_offset: 0,
            journal_hash: position.hash,
        };
        if Header::decode(&header.encode()) != Some(header) {
            return Err(self.corrupt(0, "its transaction is higher than any can be"));
        }
        self.make_room(0..header::PAGES)?;
        self.write(0, &header.encode())?;
        self.write(1, &Header { sequence: 0, ..header }.encode())?;
        self.file.sync().map_err(self.failed("sync", 0))
    }

    fn refuse_missing(&mut self) -> Result<()> {
        let mut spans = 1;
        let mut span = 0;
        while span < spans {
            let number = space::bitmap_page(span).0;
            let bitmap = self.take(number)?;
            if page::Kind::of(&bitmap) != Some(page::Kind::Bitmap) {
                return Err(self.corrupt(number, "it is no allocation bitmap"));
            }
            if span == 0 {
                spans = page::count(&bitmap) as u64;
            }
            for group in (0..SPAN_PAGES).step_by(64) {
                let first = span * SPAN_PAGES + group;
                let missing = space::word(&bitmap, group as usize / 64) & !self.present.group(first);
                if missing != 0 {
                    let page = first + u64::from(missing.trailing_zeros());
                    return Err(self.corrupt(page, "it is in use, but the image does not have it"));
                }
            }
            span += 1;
        }
        Ok(())
    }
}

/// Pages that an environment can have.
const PAGES_MAX: u64 = SEGMENT_PAGES * SEGMENTS_MAX as u64;
