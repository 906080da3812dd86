//! The write transaction: the private state of the one writer.
//!
//! A page is copied when the transaction first changes it, and the copy is installed in the page table at once: readers
//! skip it, because its transaction is newer than their snapshots (copy-on-write). A rollback puts the old word into the table.
//!
//! Several *jobs* can share a transaction. Each has a number. When a job changes a page that an earlier job of the same transaction
//! changed, the old cache lines are saved, so that a failed job can be rolled back alone. An error in the middle of a change
//! *poisons* the job: it is rolled back whatever it returns.

use super::sealed::Pages;
use super::staged::StagedRuns;
use crate::environment::{Inner, Writer};
use crate::error::{Error, Result};
use crate::ids::{PageNumber, SnapshotWord, TransactionId};
use crate::limits::SPAN_PAGES;
use crate::page;
use crate::pager::Page;
use crate::pager::changes::PageMut;
use crate::pager::frames::Versions;
use crate::pager::table::PageSource;
use crate::pager::version::VersionPointer;
use crate::space;
use crate::sync::MutexGuard;
use crate::tree::finger::Fingers;
use std::sync::OnceLock;

/// The single writer's transaction. It sees its own changes; others see them after the commit.
pub struct WriteTransaction<'env> {
    pub(crate) inner: &'env Inner,
    pub(crate) writer: MutexGuard<'env, Writer>,
    id: TransactionId,
    /// Pages with a version of this transaction, in the order of their first change.
    dirty: Vec<PageNumber>,
    job: u32,
    /// Versions that the running job made: the page, and the version of an earlier job in this transaction, if any. What it
    /// changed in versions of earlier jobs is in `writer.saved_lines`.
    undo: Vec<(PageNumber, Option<VersionPointer>)>,
    dirty_before_job: usize,
    /// The error that stopped a change of the running job half-way. A poisoned job is rolled back, whatever it returns.
    poisoned: OnceLock<Error>,
    /// Whether pages were freed, so that some of `dirty` may not matter any more.
    freed: bool,
    /// Runs that are in the data file already.
    pub(crate) staged: StagedRuns,
    pub(crate) fingers: Fingers,
}

impl<'env> WriteTransaction<'env> {
    pub(crate) fn begin(inner: &'env Inner, mut writer: MutexGuard<'env, Writer>) -> Self {
        let id = TransactionId(writer.last_transaction.0 + 1);
        let dirty = std::mem::take(&mut writer.dirty_buffer);
        writer.saved_lines.clear();
        let oldest = inner.readers.older(&mut writer.older);
        writer.reclaim.collect(oldest, &inner.table.versions);
        WriteTransaction {
            inner,
            writer,
            id,
            dirty,
            job: 0,
            undo: Vec::new(),
            dirty_before_job: 0,
            poisoned: OnceLock::new(),
            freed: false,
            staged: StagedRuns::default(),
            fingers: Fingers::default(),
        }
    }

    /// The id that this transaction will have if it changes anything.
    pub fn id(&self) -> TransactionId {
        self.id
    }

    pub(crate) fn dirty(&self) -> &[PageNumber] {
        &self.dirty
    }

    /// Starts the next job.
    pub(crate) fn start_job(&mut self) {
        self.job += 1;
        self.undo.clear();
        self.writer.saved_lines.clear();
        self.dirty_before_job = self.dirty.len();
        self.poisoned.take();
    }

    /// The error that poisoned the running job, if one did; clears it.
    pub(crate) fn take_poison(&mut self) -> Option<Error> {
        self.poisoned.take()
    }

    /// Passes a result on. An error poisons the job, for it may have come in the middle of a change.
    pub(crate) fn poison_on_error<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.poisoned.set(error.clone()).ok();
        }
        result
    }

    /// Keeps what the job changed; versions of earlier jobs that it copied are not needed any more.
    pub(crate) fn keep_job(&mut self) {
        for (number, earlier) in std::mem::take(&mut self.undo) {
            let (Some(earlier), Ok(Some(newest))) = (earlier, self.inner.table.newest(number)) else { continue };
            newest.set_previous(earlier.previous());
            self.writer.reclaim.unlinked(SnapshotWord::of(self.id), earlier);
        }
    }

    /// Rolls back the changes of the running job, and only those.
    pub(crate) fn undo_job(&mut self) -> Result<()> {
        self.fingers.forget_all();
        for saved in self.writer.saved_lines.drain(..) {
            let mut version = saved.version;
            version.restore(saved.offset, &saved.bytes);
        }
        for (number, earlier) in std::mem::take(&mut self.undo).into_iter().rev() {
            let Some(newest) = self.inner.table.newest(number)? else { continue };
            match earlier {
                Some(earlier) => self.inner.table.set(number, Some(earlier))?,
                None => self.restore(number, newest)?,
            }
            self.writer.reclaim.unlinked(SnapshotWord::of(self.id), newest);
        }
        self.dirty.truncate(self.dirty_before_job);
        self.staged.undo(self.job);
        self.writer.space.undone();
        Ok(())
    }

    /// Rolls back the whole transaction. A transaction that is dropped without being sealed is rolled back too.
    pub(crate) fn roll_back(&mut self) {
        self.fingers.forget_all();
        if self.dirty.is_empty() {
            return;
        }
        for number in std::mem::take(&mut self.dirty) {
            // A page in `dirty` has a version of this transaction, and reading the table cannot fail for it.
            while let Ok(Some(newest)) = self.inner.table.newest(number) {
                if newest.transaction() != self.id {
                    break;
                }
                let previous_is_ours = newest.previous().filter(|p| p.transaction() == self.id);
                let restored = match previous_is_ours {
                    Some(earlier) => self.inner.table.set(number, Some(earlier)),
                    None => self.restore(number, newest),
                };
                if restored.is_err() {
                    break;
                }
                self.writer.reclaim.unlinked(SnapshotWord::of(self.id), newest);
            }
        }
        self.undo.clear();
        self.writer.space.undone();
    }

    fn restore(&self, number: PageNumber, ours: VersionPointer) -> Result<()> {
        match ours.previous() {
            Some(previous) => self.inner.table.set(number, Some(previous)),
            None if ours.fresh() => self.inner.table.set_unverified(number),
            None => self.inner.table.set(number, None),
        }
    }

    /// Notes that pages were freed.
    pub(crate) fn note_freed(&mut self, first: PageNumber, count: u32) {
        self.freed = true;
        self.staged.freed(first, count, self.job);
        self.writer.freed_pages += u64::from(count);
        self.writer.quiet.note_freed(count);
    }

    /// Forgets changes of pages that the transaction freed in the end, or that lie inside of a run it allocated: neither
    /// the journal nor the data file may have them.
    pub(crate) fn drop_freed_pages(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.freed) {
            return Ok(());
        }
        self.dirty.sort_unstable();
        // First find out, then change: a bitmap that cannot be read must leave everything for the roll-back.
        let mut kept = Vec::with_capacity(self.dirty.len());
        let mut dropped = Vec::new();
        let mut run_end = 0;
        for number in &self.dirty {
            let Some(version) = self.inner.table.newest(*number)? else { continue };
            let bitmap = self.page_of(space::bitmap_page(number.0 / SPAN_PAGES))?;
            if number.0 < run_end || !space::is_used(bitmap, (number.0 % SPAN_PAGES) as usize) {
                dropped.push((*number, version));
                continue;
            }
            if version.pages() > 1 {
                run_end = number.0 + u64::from(version.pages());
            }
            kept.push(*number);
        }
        for (number, version) in dropped {
            self.restore(number, version)?;
            self.writer.reclaim.unlinked(SnapshotWord::of(self.id), version);
        }
        self.dirty = kept;
        Ok(())
    }

    /// Hands the changed pages over to the commit; after that there is nothing to roll back.
    pub(crate) fn take_dirty(&mut self) -> Vec<PageNumber> {
        self.writer.space.kept();
        std::mem::take(&mut self.dirty)
    }

    /// A page, to be changed.
    pub(crate) fn page_mut(&mut self, number: PageNumber) -> Result<PageMut<'_>> {
        let place = self.poison_on_error(self.inner.table.place(number))?;
        if let PageSource::Memory(mut version) = place
            && version.transaction() == self.id
        {
            return Ok(version.changes_by(self.job, &mut self.writer.saved_lines));
        }
        self.copy_page(number, place)
    }

    fn copy_page(&mut self, number: PageNumber, place: PageSource) -> Result<PageMut<'_>> {
        let mut copy = match place {
            PageSource::Memory(version) => {
                let recycled = self.recycled(version);
                let copy = self.frame(|versions| versions.copy(version, recycled))?;
                copy.start(self.id, self.job, Some(version));
                copy
            }
            PageSource::File { .. } => {
                let source = self.page_of(number)?;
                let mut copy = self.frame(Versions::take)?;
                copy.page_mut().copy_from_slice(source);
                copy.start(self.id, self.job, None);
                copy
            }
        };
        page::set_identity(&mut copy.changes(), number, self.id);
        self.install(number, copy, None)?;
        Ok(copy.changes())
    }

    fn recycled(&mut self, newest: VersionPointer) -> Option<VersionPointer> {
        let Writer { reclaim, older, .. } = &mut *self.writer;
        reclaim.recycle(newest, older)
    }

    fn install(&mut self, number: PageNumber, version: VersionPointer, ours: Option<VersionPointer>) -> Result<()> {
        self.inner.table.install(number, version)?;
        if ours.is_none() {
            self.dirty.push(number);
        }
        if self.job > 0 {
            self.undo.push((number, ours));
        }
        Ok(())
    }

    fn frame(&self, get: impl FnOnce(&Versions) -> std::io::Result<VersionPointer>) -> Result<VersionPointer> {
        let frame = get(&self.inner.table.versions);
        self.poison_on_error(frame.map_err(|e| Error::io("get memory for a page of", &self.inner.path, 0, e)))
    }

    /// A page of zeros (but for its head), allocated by this transaction.
    pub(crate) fn fresh_page(&mut self, number: PageNumber) -> Result<PageMut<'_>> {
        let version = self.fresh_frame(number)?;
        self.install_fresh(number, version)
    }

    /// A frame for a page that is allocated anew, whose bytes are what they were.
    fn fresh_frame(&mut self, number: PageNumber) -> Result<VersionPointer> {
        let newest = self.poison_on_error(self.inner.table.newest(number))?;
        match newest.filter(|newest| newest.pages() == 1 && newest.transaction() != self.id) {
            Some(newest) => {
                let recycled = self.recycled(newest);
                self.frame(|versions| versions.next_of(newest, recycled))
            }
            None => self.frame(Versions::take),
        }
    }

    fn install_fresh(&mut self, number: PageNumber, mut version: VersionPointer) -> Result<PageMut<'_>> {
        let place = self.inner.table.place(number)?;
        let previous = match place {
            PageSource::Memory(previous) => Some(previous),
            PageSource::File { .. } => None,
        };
        version.start(self.id, self.job, previous);
        version.set_fresh(matches!(place, PageSource::File { verified: false }));
        if version.pages() == 1 {
            version.page_mut().fill(0);
        }
        page::set_identity(&mut version.changes(), number, self.id);
        let ours = previous.filter(|p| p.transaction() == self.id);
        // A page that was freed and allocated again by one job: the earlier version goes as if another job had made it.
        if let Some(earlier) = ours.filter(|p| p.job() == self.job) {
            version.set_previous(earlier.previous());
            let before = earlier.previous().filter(|p| p.transaction() == self.id);
            self.inner.table.set(number, Some(version))?;
            self.writer.reclaim.unlinked(SnapshotWord::of(self.id), earlier);
            debug_assert!(before.is_none() || self.job > 0, "only jobs leave two versions");
            return Ok(version.changes());
        }
        self.install(number, version, ours)?;
        Ok(version.changes())
    }

    /// Allocates a page.
    pub(crate) fn new_page(&mut self) -> Result<(PageNumber, PageMut<'_>)> {
        let number = self.allocate_pages(1)?;
        Ok((number, self.fresh_page(number)?))
    }

    /// Allocates a run for a value, and fills it from `parts`.
    pub(crate) fn new_run(&mut self, parts: &[&[u8]]) -> Result<(PageNumber, u64)> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > crate::limits::VALUE_SIZE_MAX {
            return Err(Error::ValueTooLong { size: length, max: crate::limits::VALUE_SIZE_MAX });
        }
        let pages = page::pages_for_run(length);
        let untouched_from = self.writer.untouched_from;
        let number = self.allocate_pages(pages)?;
        let is_direct =
            pages > 1 && number.0 >= untouched_from && !self.writer.is_archived() && self.inner.direct_file().is_some();
        let mut version = if pages == 1 {
            self.fresh_frame(number)?
        } else {
            let run = self.inner.table.versions.take_run(pages);
            self.poison_on_error(
                run.map_err(|e| Error::io("get memory for a value in", &self.inner.path, length as u64, e)),
            )?
        };
        self.install_fresh(number, version)?;
        version.set_direct(is_direct);
        let bytes = version.bytes_mut();
        let mut at = page::RUN_START;
        for part in parts {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        page::set_run(&mut version.changes(), pages, length as u64);
        Ok((number, length as u64))
    }

    pub(crate) fn job(&self) -> u32 {
        self.job
    }

    /// Frees the run of a value of `length` bytes.
    pub(crate) fn free_run(&mut self, first: PageNumber, length: u64) -> Result<()> {
        self.free_pages(first, page::pages_for_run(length as usize))
    }

    /// Makes sure that the data file has room for pages below `pages`.
    pub(crate) fn ensure_room(&mut self, pages: u64) -> Result<()> {
        if pages <= self.inner.table.pages() { Ok(()) } else { self.inner.grow(pages) }
    }

    pub(crate) fn page_of(&self, number: PageNumber) -> Result<&Page> {
        self.poison_on_error(self.inner.table.page(number, self.id))
    }

    /// A page that can be done without: none if it is damaged, or of another kind or level than it should be.
    pub(crate) fn optional_page(&self, number: PageNumber, kind: page::Kind, level: u8) -> Option<&Page> {
        let page = self.inner.table.page(number, self.id).ok()?;
        (page::Kind::of(page) == Some(kind) && page::level(page) == level).then_some(page)
    }

    pub(crate) fn bitmap_exists(&self, span: u64) -> Result<bool> {
        Ok(span < self.inner.spans(self.id)?)
    }
}

impl Pages for WriteTransaction<'_> {
    #[inline]
    fn page(&self, number: PageNumber) -> Result<&Page> {
        self.page_of(number)
    }
    fn run(&self, first: PageNumber, pages: u32) -> Result<&[u8]> {
        self.poison_on_error(self.inner.table.run(first, pages, self.id))
    }
    fn read_run(&self, first: PageNumber, pages: u32, buffer: &mut Vec<u8>) -> Result<()> {
        self.poison_on_error(self.inner.table.read_run(first, pages, self.id, buffer))
    }
    #[inline]
    fn fingers(&self) -> Option<&Fingers> {
        Some(&self.fingers)
    }
    fn corrupt(&self, page: PageNumber, rule: &'static str) -> Error {
        let error = self.inner.table.corrupt(page, rule);
        self.poisoned.set(error.clone()).ok();
        error
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        self.roll_back();
    }
}
