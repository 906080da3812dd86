//! From page number to bytes: one array load, then the first version that is not newer than the snapshot.
//!
//! One word per page:
//!
//! * 0: the file has the newest version, and its checksum was not verified since opening,
//! * 1: the file has it, and it was verified,
//! * else: the newest version in memory. Older ones hang behind it; behind the oldest comes the file.
//!
//! The rules that make the pointers sound:
//!
//! 1. Only the single writer installs versions, and only the flush (which holds the writer's lock for that step) takes
//!    flushed ones out. A version is filled before its transaction is published; then it never changes. One exception: a
//!    reader that verifies a branch page installs a copy of it where no version is, as transaction 0.
//! 2. A snapshot sees versions with its own or an older transaction. It announces itself (`readers`) before it loads a word.
//! 3. A version goes back to the pool only when no announced snapshot can hold a pointer to it. One that none sees may become the
//!    newest of its page before: who passes it finds it newer than his snapshot all the same (`transaction::reclaim`).
//! 4. A page of the file is written only while every announced snapshot sees a version in memory of it, or none sees the page
//!    at all (`transaction::direct`, `transaction::staged`).

use super::Page;
use super::frames::Versions;
use super::map::Mapping;
use super::version::{Head, VersionPointer};
use crate::error::{Error, Result};
use crate::ids::{PageNumber, TransactionId};
use crate::io::File;
use crate::limits::{PAGE_SIZE, SEGMENT_PAGES, SEGMENTS_MAX};
use crate::sync::atomic::{AtomicPtr as Word, Ordering};
use crate::sync::{IS_DIRECTED, Mutex};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64};

/// Words are pointers, so that what they point to may be reached through them; these two point to nothing.
const IN_FILE_UNVERIFIED: *mut Head = std::ptr::null_mut();
const IN_FILE_VERIFIED: *mut Head = std::ptr::without_provenance_mut(1);

/// The newest version in memory, if a word points to one.
#[inline]
fn version_in(word: *mut Head) -> Option<VersionPointer> {
    if word.addr() > IN_FILE_VERIFIED.addr() { VersionPointer::from_raw(word) } else { None }
}

/// The place of a page's newest version.
pub(crate) enum PageSource {
    /// In memory; the newest version.
    Memory(VersionPointer),
    /// In the file.
    File {
        /// Whether its checksum was verified since opening.
        verified: bool,
    },
}

/// The page table of one environment and the map of its data file.
pub(crate) struct PageTable {
    segments: Box<[Segment]>,
    growth: Mutex<Vec<Mapping>>,
    /// Pages that the data file really has room for.
    file_pages: AtomicU64,
    /// `None`: in memory only.
    file: Option<Arc<dyn File>>,
    path: PathBuf,
    /// Checks a page of the file at its first touch.
    verify: fn(&Page, &[u8], PageNumber, u128) -> std::result::Result<(), &'static str>,
    environment_id: u128,
    /// What the words point to.
    pub versions: Versions,
}

#[derive(Default)]
struct Segment {
    words: AtomicPtr<Word<Head>>,
    base: AtomicPtr<u8>,
}

impl PageTable {
    pub fn new(
        file: Option<Arc<dyn File>>,
        path: PathBuf,
        environment_id: u128,
        verify: fn(&Page, &[u8], PageNumber, u128) -> std::result::Result<(), &'static str>,
    ) -> Self {
        PageTable {
            segments: (0..SEGMENTS_MAX).map(|_| Segment::default()).collect(),
            growth: Mutex::new(Vec::new()),
            file_pages: AtomicU64::new(0),
            file,
            path,
            verify,
            environment_id,
            versions: Versions::default(),
        }
    }

    /// Makes pages below `pages` addressable. The file has room for them.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] past the last segment, [`Error::Io`] if addresses cannot be reserved.
    pub fn extend(&self, pages: u64) -> Result<()> {
        let mut growth = self.growth.lock();
        let needed = pages.div_ceil(SEGMENT_PAGES) as usize;
        if needed > SEGMENTS_MAX {
            return Err(Error::TooLarge { max_bytes: SEGMENTS_MAX as u64 * SEGMENT_PAGES * PAGE_SIZE as u64 });
        }
        let failed = |e| Error::io("reserve addresses for", &self.path, 0, e);
        for (index, segment) in self.segments.iter().enumerate().take(needed) {
            if !segment.words.load(Ordering::Acquire).is_null() {
                continue;
            }
            if let Some(file) = &self.file {
                let position = index as u64 * SEGMENT_PAGES * PAGE_SIZE as u64;
                let map = file.map(position, SEGMENT_PAGES as usize * PAGE_SIZE).map_err(failed)?;
                segment.base.store(map.base(), Ordering::Release);
                growth.push(map);
            }
            let words = Mapping::anonymous(SEGMENT_PAGES as usize * size_of::<Word<Head>>()).map_err(failed)?;
            if IS_DIRECTED {
                // Zeros are no such words.
                words.fill_with(Word::<Head>::default);
            }
            // Last, so that who sees the words also sees the base.
            segment.words.store(words.base().cast(), Ordering::Release);
            growth.push(words);
        }
        self.file_pages.fetch_max(pages, Ordering::AcqRel);
        Ok(())
    }

    /// Pages that may be addressed.
    pub fn pages(&self) -> u64 {
        self.file_pages.load(Ordering::Acquire)
    }

    fn word(&self, number: PageNumber) -> Result<&Word<Head>> {
        let segment = self.segments.get((number.0 / SEGMENT_PAGES) as usize);
        let words = segment.map_or(std::ptr::null_mut(), |s| s.words.load(Ordering::Acquire));
        if words.is_null() {
            return Err(self.corrupt(number, "it lies outside of the file"));
        }
        // SAFETY: a segment's table has a word for each of its `SEGMENT_PAGES` pages, reads as zeros at first, and stays
        // mapped while `self` lives.
        Ok(unsafe { &*words.add((number.0 % SEGMENT_PAGES) as usize) })
    }

    /// The newest place of a page.
    pub fn place(&self, number: PageNumber) -> Result<PageSource> {
        let word = self.word(number)?.load(Ordering::Acquire);
        Ok(version_in(word).map_or(PageSource::File { verified: word == IN_FILE_VERIFIED }, PageSource::Memory))
    }

    /// The newest version in memory.
    pub fn newest(&self, number: PageNumber) -> Result<Option<VersionPointer>> {
        Ok(match self.place(number)? {
            PageSource::Memory(version) => Some(version),
            PageSource::File { .. } => None,
        })
    }

    /// The version in memory that the snapshot of `transaction` sees; conditions as for [`Self::page`]. `None`: it sees the file's page.
    pub fn newest_up_to(&self, number: PageNumber, transaction: TransactionId) -> Result<Option<VersionPointer>> {
        let mut version = self.newest(number)?;
        while let Some(newer) = version.filter(|version| version.transaction() > transaction) {
            version = newer.previous();
        }
        Ok(version)
    }

    /// Installs a version on what is newest now. A copy that a reader installed after the writer looked comes behind it.
    pub fn install(&self, number: PageNumber, version: VersionPointer) -> Result<()> {
        let before = version_in(self.word(number)?.swap(version.0.as_ptr(), Ordering::AcqRel));
        if before.is_some() && version.previous().is_none() {
            // Until here an older snapshot goes on to the file, which has the same.
            version.set_previous(before);
        }
        Ok(())
    }

    /// Sets a version (rules 1 and 2), or with `None` says that the file has the newest, verified.
    pub fn set(&self, number: PageNumber, version: Option<VersionPointer>) -> Result<()> {
        let word = version.map_or(IN_FILE_VERIFIED, |v| v.0.as_ptr());
        self.word(number)?.store(word, Ordering::Release);
        Ok(())
    }

    /// Takes back a version that was installed on nothing: the file has the page, and it is not verified.
    pub fn set_unverified(&self, number: PageNumber) -> Result<()> {
        self.word(number)?.store(IN_FILE_UNVERIFIED, Ordering::Release);
        Ok(())
    }

    /// The bytes of page `number` as the snapshot of `transaction` sees them; of the first page, for a run.
    ///
    /// The caller has announced its snapshot and keeps it announced while it uses the reference.
    #[inline]
    pub fn page(&self, number: PageNumber, transaction: TransactionId) -> Result<&Page> {
        let word = self.word(number)?.load(Ordering::Acquire);
        let mut version = version_in(word);
        if version.is_some() {
            let mut base_unverified = false;
            while let Some(v) = version {
                if v.transaction() <= transaction {
                    return Ok(v.page());
                }
                base_unverified = v.base_unverified();
                version = v.previous();
            }
            if base_unverified {
                self.verify_now(number)?;
            }
            return self.file_page_unverified(number);
        }
        if word == IN_FILE_UNVERIFIED {
            self.verify_now(number)?;
        }
        self.file_page_unverified(number)
    }

    /// The bytes of a run of pages as the snapshot of `transaction` sees them; conditions as for [`Self::page`].
    pub fn run(&self, first: PageNumber, pages: u32, transaction: TransactionId) -> Result<&[u8]> {
        let mut version = self.newest(first)?;
        let mut base_unverified = false;
        while let Some(v) = version {
            if v.transaction() <= transaction {
                if v.pages() != pages {
                    return Err(self.corrupt(first, "the run has another length than its reference says"));
                }
                return Ok(v.bytes());
            }
            base_unverified = v.base_unverified();
            version = v.previous();
        }
        if base_unverified || matches!(self.place(first)?, PageSource::File { verified: false }) {
            self.verify_now(first)?;
        }
        let bytes = self.file_bytes(first, u64::from(pages))?;
        if bytes.first_chunk().is_none_or(|page| crate::page::run_pages(page) != pages) {
            return Err(self.corrupt(first, "the run has another length than its reference says"));
        }
        Ok(bytes)
    }

    /// Copies a run of pages into a buffer; conditions as for [`Self::page`]. From the file it is read, not mapped, and verified each
    /// time: a long value then takes no more of the process's memory than the buffer, and a device that cannot read is an error.
    pub fn read_run(
        &self,
        first: PageNumber,
        pages: u32,
        transaction: TransactionId,
        buffer: &mut Vec<u8>,
    ) -> Result<()> {
        let version = self.newest_up_to(first, transaction)?;
        let another_length = || self.corrupt(first, "the run has another length than its reference says");
        if let Some(version) = version {
            if version.pages() != pages {
                return Err(another_length());
            }
            buffer.clear();
            buffer.extend_from_slice(version.bytes());
            return Ok(());
        }
        let outside = || self.corrupt(first, "it lies outside of the file");
        let file = self.file.as_ref().ok_or_else(outside)?;
        let end = first.0.checked_add(u64::from(pages)).ok_or_else(outside)?;
        if end > self.pages() {
            return Err(outside());
        }
        let read = file.read_into(buffer, pages as usize * PAGE_SIZE, first.0 * PAGE_SIZE as u64);
        read.map_err(|error| Error::io("read", &self.path, 0, error))?;
        let page = buffer.first_chunk().ok_or_else(outside)?;
        (self.verify)(page, buffer, first, self.environment_id).map_err(|rule| self.corrupt(first, rule))?;
        if crate::page::run_pages(page) != pages { Err(another_length()) } else { Ok(()) }
    }

    /// What the snapshot of `transaction` and all newer ones see of a page, and the writer: newest first.
    ///
    /// The caller has the writer's lock, so that no version goes meanwhile, and `transaction` is not newer than the oldest snapshot.
    pub fn states_since(&self, number: PageNumber, transaction: TransactionId) -> Result<Vec<&Page>> {
        let mut states = Vec::new();
        let mut version = self.newest(number)?;
        while let Some(newer) = version.filter(|version| version.transaction() > transaction) {
            states.push(newer.page());
            version = newer.previous();
        }
        states.push(self.page(number, transaction)?);
        Ok(states)
    }

    #[cold]
    fn verify_now(&self, number: PageNumber) -> Result<()> {
        let page = self.bring(number, 1).and_then(|()| self.file_page_unverified(number))?;
        let pages = crate::page::run_pages(page).max(1);
        let bytes = self.file_bytes(number, u64::from(pages))?;
        if pages > 1 {
            self.bring(number, u64::from(pages))?;
        }
        (self.verify)(page, bytes, number, self.environment_id).map_err(|rule| self.corrupt(number, rule))?;
        // Another reader may have done the same, or the writer may have installed a version: then the word stays.
        let word = self.word(number)?;
        let copy = if crate::page::is_branch(page) { self.kept_copy(page) } else { None };
        let verified = copy.map_or(IN_FILE_VERIFIED, |copy| copy.0.as_ptr());
        if word.compare_exchange(IN_FILE_UNVERIFIED, verified, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            self.versions.give_back(copy);
        }
        Ok(())
    }

    /// A copy of a page of the file, for every snapshot; `None` if there are enough of them or no memory is to be had.
    fn kept_copy(&self, page: &Page) -> Option<VersionPointer> {
        let mut copy = self.versions.take().ok()?;
        copy.start(TransactionId(0), 0, None);
        copy.page_mut().copy_from_slice(page);
        if self.versions.keep(copy) {
            return Some(copy);
        }
        self.versions.give_back([copy]);
        None
    }

    /// Has a page of the file verified once more at its next touch. One that is kept is touched in memory: [`Self::verify_kept`].
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] outside of the file.
    pub fn verify_at_next_touch(&self, number: PageNumber) -> Result<()> {
        let word = self.word(number)?;
        word.compare_exchange(IN_FILE_VERIFIED, IN_FILE_UNVERIFIED, Ordering::AcqRel, Ordering::Relaxed).ok();
        Ok(())
    }

    /// Verifies a page of the file that also has a version in memory, if it has one. It must be in use: a free page may be a hole.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if it is damaged there; [`Error::Io`] if it cannot be read.
    pub fn verify_kept(&self, number: PageNumber) -> Result<()> {
        match self.newest(number)? {
            Some(version) if version.is_kept() => {
                self.bring(number, 1)?;
                let page = self.file_page_unverified(number)?;
                (self.verify)(page, page, number, self.environment_id).map_err(|rule| self.corrupt(number, rule))
            }
            _ => Ok(()),
        }
    }

    /// Brings pages of the file into memory: a device that cannot read them is an error here, and a signal that ends the process where a
    /// page of a map is touched.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] that names the file; [`Error::Corrupt`] outside of it.
    pub fn bring(&self, first: PageNumber, pages: u64) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let bytes = self.file_bytes(first, pages)?;
        file.bring(bytes, first.0 * PAGE_SIZE as u64).map_err(|error| Error::io("read", &self.path, 0, error))
    }

    /// A page of the file, whatever its checksum says: for the journal's replay and for `verify_now`.
    pub fn file_page_unverified(&self, number: PageNumber) -> Result<&Page> {
        let bytes = self.file_bytes(number, 1)?;
        bytes.first_chunk().ok_or_else(|| self.corrupt(number, "it is cut"))
    }

    /// The bytes of a run in the file, whatever its checksum says.
    pub fn file_bytes(&self, first: PageNumber, pages: u64) -> Result<&[u8]> {
        let end = first.0.checked_add(pages).ok_or_else(|| self.corrupt(first, "it lies outside of the file"))?;
        let same_segment = first.0 / SEGMENT_PAGES == (end - 1) / SEGMENT_PAGES;
        if end > self.file_pages.load(Ordering::Acquire) || !same_segment {
            return Err(self.corrupt(first, "it lies outside of the file"));
        }
        let base = self.segments[(first.0 / SEGMENT_PAGES) as usize].base.load(Ordering::Acquire);
        if base.is_null() {
            return Err(self.corrupt(first, "it is not in memory, and there is no file"));
        }
        // SAFETY: the pages lie below `file_pages`, for which the file has room, so the map may be touched; it stays
        // mapped while `self` lives; rule 4 says that nobody writes them while a snapshot looks.
        Ok(unsafe {
            let start = base.add((first.0 % SEGMENT_PAGES) as usize * PAGE_SIZE);
            std::slice::from_raw_parts(start, pages as usize * PAGE_SIZE)
        })
    }

    /// An error that names a damaged page of this file.
    pub fn corrupt(&self, page: PageNumber, rule: &'static str) -> Error {
        Error::Corrupt { path: self.path.clone(), page, rule }
    }
}

impl Drop for PageTable {
    /// Gives every version back. Nobody has a snapshot any more: transactions borrow the environment.
    fn drop(&mut self) {
        let mut all = Vec::new();
        for index in 0..SEGMENTS_MAX as u64 {
            if self.segments[index as usize].words.load(Ordering::Acquire).is_null() {
                continue;
            }
            let first = index * SEGMENT_PAGES;
            for number in first..(first + SEGMENT_PAGES).min(self.pages()) {
                let mut version = self.newest(PageNumber(number)).ok().flatten();
                while let Some(v) = version {
                    version = v.previous();
                    all.push(v);
                }
            }
        }
        self.versions.give_back(all);
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
