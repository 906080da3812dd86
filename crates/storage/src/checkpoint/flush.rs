//! The flush (checkpoint): it writes committed pages to the data file, so that the journal can be reused.
//!
//! 1. Announce a snapshot; its transaction, or an older one if an older snapshot is open, is the *target*: all open
//!    snapshots see it or something newer, so the file may have it.
//! 2. Find the newest version up to the target of each dirty page and pin it, so that the snapshot can close: held for as
//!    long as a flush takes, it would keep every version that is replaced meanwhile.
//! 3. Note in a file what will be written (`intent`), then write it: sorted, in small pieces (large buffered writes make
//!    large page-cache folios, after which each small write costs ten times as much).
//! 4. Sync the data file, then write and sync the header that names the target and where its journal continues.
//! 5. Take the written versions out of the page table; journals before the target can be used again.
//!
//! A crash before step 4 leaves the old header, whose journal is still there, and pages that are old, new or torn: the
//! replay writes all bytes that differ.

use super::header::Header;
use super::intent::{IntentEntry, Intents};
use crate::environment::{Durability, Inner};
use crate::error::{Error, Result};
use crate::ids::{PageNumber, TransactionId};
use crate::io::File;
use crate::limits::{PAGE_SIZE, SPAN_PAGES};
use crate::page;
use crate::pager::version::VersionPointer;
use crate::space;
use crate::sync::MutexGuard;
use crate::transaction::ReadTransaction;
use std::sync::atomic::Ordering;

/// Pages that must have been freed before holes are looked for: 8 MiB.
const FREED_PAGES_MIN: u64 = 1024;

/// A page of a flush, and the version that it writes.
struct FlushedPage {
    entry: IntentEntry,
    version: VersionPointer,
}

/// The versions of a flush, pinned against reclamation while this value lives.
struct Pins<'a> {
    inner: &'a Inner,
    plan: &'a [FlushedPage],
}

impl<'a> Pins<'a> {
    fn pin(inner: &'a Inner, plan: &'a [FlushedPage]) -> Pins<'a> {
        plan.iter().for_each(|planned| planned.version.set_pinned(true));
        Pins { inner, plan }
    }
}

impl Drop for Pins<'_> {
    fn drop(&mut self) {
        let mut writer = self.inner.writer.lock();
        self.plan.iter().for_each(|planned| planned.version.set_pinned(false));
        writer.reclaim.release_pinned(&self.inner.table.versions);
    }
}

/// Bytes that are written at once.
const PIECE: usize = 64 << 10;

/// Pages between two syncs of one flush: what a commit's own write may have to wait behind.
const SYNC_EVERY: usize = (16 << 20) / PAGE_SIZE;

impl Inner {
    /// Flushes. `clean`: nothing else happens to this environment, so the header may say that nothing is to be replayed.
    pub fn flush(&self, clean: bool) -> Result<()> {
        let _hurry = clean.then(|| self.pacing.hurry());
        self.flush_from(self.flushed.lock(), clean)
    }

    /// Waits for the flush that runs, and then flushes if that is still wanted.
    pub fn flush_if(&self, wanted: impl Fn() -> bool) -> Result<()> {
        let last_header = self.flushed.lock();
        if wanted() { self.flush_from(last_header, false) } else { Ok(()) }
    }

    fn flush_from(&self, mut last_header: MutexGuard<'_, Option<Header>>, clean: bool) -> Result<()> {
        let (Some(data), Some(folder)) = (&self.data, &self.folder) else { return Ok(()) };
        let Some(header) = *last_header else { return Ok(()) };
        if self.is_detached() {
            return Ok(());
        }
        if self.has_failed() {
            return Err(self.refusal());
        }
        // Keeps the versions that will be written from going back to the pool, until they are pinned.
        let snapshot = ReadTransaction::open(self);
        let (mut pages, target_state, all, freed_pages) = {
            let mut writer = self.writer.lock();
            // Jobs that are still in the queue are refused from here on, or their records would be removed below.
            writer.closed |= clean;
            let oldest = self.readers.oldest();
            // An older snapshot that set the target may close before the flush ends; what it sees must stay.
            snapshot.hold_back_to(oldest);
            let target = oldest.transaction();
            self.pacing.flush_begins(self.table.versions.bytes());
            let position = writer.positions.partition_point(|state| state.transaction <= target);
            let state = position.checked_sub(1).and_then(|last| writer.positions.get(last)).copied();
            let all = position == writer.positions.len() && writer.last_transaction <= target;
            let freed_pages = std::mem::take(&mut writer.freed_pages);
            (std::mem::take(&mut writer.dirty_since_flush), state, all, freed_pages)
        };
        let target = target_state.map_or(header.transaction, |state| state.transaction);
        pages.sort_unstable();
        pages.dedup();
        let plan = match self.plan(&pages, target) {
            Ok(plan) => plan,
            // A bitmap is damaged. It will be at every later flush; the journal and the versions would grow for ever.
            Err(error) => return Err(self.failed(error)),
        };
        let pins = Pins::pin(self, &plan);
        drop(snapshot);
        // First, because what is noted next says that all of it is durable.
        if let Err(error) = self.sync_lazy_journal() {
            return Err(self.failed(error));
        }
        if let Err(error) = self.make_header_durable(&**data, &header) {
            return Err(self.failed(error));
        }
        if let Err(error) = self.note_intent(&plan, target) {
            self.leave_to_next_flush(pages, freed_pages);
            if matches!(error, Error::DiskFull { .. }) || error.is_want_of_descriptors() {
                // Nothing was written, and nothing is lost: the journal has it. The next flush tries again.
                return Err(error);
            }
            return Err(self.failed(error));
        }
        if let Err(error) = self.write_pages(&plan) {
            return Err(self.failed(error));
        }
        let clean = clean && all;
        // A journal that was begun, and has no whole record, is removed as well; the header must not call for it.
        let already_clean =
            header.clean && target == header.transaction && header.journal_number == self.next_journal_number();
        if target > header.transaction || (clean && !already_clean) {
            let (number, offset) = match target_state {
                // The journals will be removed; the next one begins anew.
                _ if clean => (self.next_journal_number(), 0),
                Some(state) => (state.number, state.offset),
                None => (header.journal_number, header.journal_offset),
            };
            let next = Header {
                clean,
                sequence: header.sequence + 1,
                transaction: target,
                journal_number: number,
                journal_offset: offset,
                journal_hash: target_state.map_or(header.journal_hash, |state| state.hash),
                ..header
            };
            if let Err(error) = write_header(&**data, &next) {
                return Err(self.failed(error));
            }
            *last_header = Some(next);
            self.intents.iter().for_each(Intents::ended);
            self.flushed_transaction.store(target.0, Ordering::Relaxed);
        }
        self.after_flush(pages, &plan, target).map_err(|error| self.failed(error))?;
        drop(pins);
        self.pacing.note_held_back((plan.is_empty() && !all).then(|| self.readers.oldest()));
        if let (Some(header), Some(journal)) = (*last_header, &mut self.writer.lock().journal) {
            if clean {
                journal.remove_all();
            } else {
                journal.retire_before(header.journal_number);
            }
        }
        self.punch_holes(target, freed_pages, all).map_err(|error| self.failed(error))?;
        self.note_quiet_pages(target).map_err(|error| self.failed(error))?;
        tracing::debug!(path = %folder.path.display(), pages = plan.len(), transaction = target.0, "flushed");
        Ok(())
    }

    /// The header that the environment was opened with may be in the page cache only: a process was killed before its sync, or the
    /// sync failed. Before the other copy is written over, or the journals are used again that only the other copy needs, it
    /// is written once more to its own place. If it was durable no crash can tear that; if not, the other copy is in force.
    fn make_header_durable(&self, data: &dyn File, header: &Header) -> Result<()> {
        if self.header_is_durable.load(Ordering::Relaxed) {
            return Ok(());
        }
        write_header(data, header)?;
        self.header_is_durable.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Nothing was written. The next flush must not move the checkpoint past pages that this one did not write.
    fn leave_to_next_flush(&self, pages: Vec<PageNumber>, freed_pages: u64) {
        let mut writer = self.writer.lock();
        writer.dirty_since_flush.extend(pages);
        writer.freed_pages += freed_pages;
    }

    fn next_journal_number(&self) -> u64 {
        self.writer.lock().journal.as_ref().map_or(1, |journal| journal.next_number())
    }

    /// Lazy commits are in the journal's page cache. What a page of the data file may show must be durable there first, or
    /// a crash in the middle of the flush would leave pages that no replay can bring to one state; and what the intent says
    /// was durable must be, or such a crash would pass for a lost journal.
    fn sync_lazy_journal(&self) -> Result<()> {
        if self.options.durability == Durability::Durable {
            return Ok(());
        }
        let (files, sealed) = {
            let mut writer = self.writer.lock();
            if let Some(write) = writer.unwritten.take() {
                write.run()?;
            }
            (writer.journal.as_ref().map(|journal| journal.files()).unwrap_or_default(), self.readers.published())
        };
        for file in files {
            file.file.sync().map_err(|e| Error::io("sync", file.file.path(), 0, e))?;
        }
        self.writer.lock().synced = sealed.transaction();
        Ok(())
    }

    /// The newest version up to `target` of each page that has one, and what is to be written of it.
    fn plan(&self, pages: &[PageNumber], target: TransactionId) -> Result<Vec<FlushedPage>> {
        let mut plan = Vec::with_capacity(pages.len());
        // The run that came last: pages inside of it with older versions belonged to something that was freed.
        let mut run_end = 0;
        let mut run_transaction = TransactionId(0);
        for number in pages {
            let newest = self.table.newest(*number)?;
            let mut version = newest;
            while let Some(newer) = version.filter(|v| v.transaction() > target) {
                version = newer.previous();
            }
            let Some(version) = version else { continue };
            let bitmap = self.table.page(space::bitmap_page(number.0 / SPAN_PAGES), target)?;
            let used = space::is_used(bitmap, (number.0 % SPAN_PAGES) as usize);
            let covered = number.0 < run_end && version.transaction() < run_transaction;
            // What was freed since is not written: nobody will read it, and its place may be a hole by now.
            let is_live = used && !covered;
            // Its commit wrote a direct run, in full.
            let is_written = is_live && !version.direct() && !version.is_settled();
            let checksum = if is_written { page::checksum(version.bytes(), self.id) } else { 0 };
            if is_live && version.pages() > 1 {
                run_end = number.0 + u64::from(version.pages());
                run_transaction = version.transaction();
            }
            if version.is_settled() && newest != Some(version) {
                // An earlier flush saw to it; it is only there for old snapshots.
                continue;
            }
            plan.push(FlushedPage {
                entry: IntentEntry { number: *number, pages: version.pages(), checksum },
                version,
            });
        }
        Ok(plan)
    }

    /// Makes durable what will be written.
    fn note_intent(&self, plan: &[FlushedPage], target: TransactionId) -> Result<()> {
        let Some(intents) = self.intents.as_ref().filter(|_| writes_pages(plan)) else { return Ok(()) };
        let written = plan.iter().filter(|FlushedPage { version, .. }| !version.direct() && !version.is_settled());
        let entries: Vec<IntentEntry> = written.map(|planned| planned.entry).collect();
        intents.write(self.id, target, &entries)
    }

    fn write_pages(&self, plan: &[FlushedPage]) -> Result<()> {
        let Some(data) = self.data.as_ref().filter(|_| writes_pages(plan)) else { return Ok(()) };
        let write = |bytes: &[u8], at: u64| {
            data.write_at(bytes, at * PAGE_SIZE as u64)
                .map_err(|e| Error::io("write", data.path(), bytes.len() as u64, e))
        };
        let sync = || data.sync().map_err(|e| Error::io("sync", data.path(), 0, e));
        let mut pace = self.pace(plan.len());
        let mut piece = Vec::with_capacity(PIECE);
        let mut piece_start = 0;
        let mut unsynced = 0;
        for (written, FlushedPage { entry, version }) in plan.iter().enumerate() {
            if entry.checksum == 0 {
                continue;
            }
            let bytes = version.bytes();
            let follows = piece_start + (piece.len() / PAGE_SIZE) as u64 == entry.number.0;
            if !piece.is_empty() && (!follows || piece.len() + bytes.len() > PIECE) {
                // A long run is one value; it is cut all the same.
                for (index, part) in piece.chunks(PIECE).enumerate() {
                    write(part, piece_start + (index * PIECE / PAGE_SIZE) as u64)?;
                }
                unsynced += piece.len() / PAGE_SIZE;
                piece.clear();
                if unsynced >= SYNC_EVERY {
                    sync()?;
                    unsynced = 0;
                }
                pace.written(written);
            }
            if piece.is_empty() {
                piece_start = entry.number.0;
            }
            let start = piece.len();
            piece.extend_from_slice(bytes);
            page::store_checksum(&mut piece[start..], entry.checksum);
        }
        for (index, part) in piece.chunks(PIECE).enumerate() {
            write(part, piece_start + (index * PIECE / PAGE_SIZE) as u64)?;
        }
        sync()
    }

    /// Takes the flushed versions out of the page table, and remembers what is still to be flushed.
    fn after_flush(&self, pages: Vec<PageNumber>, plan: &[FlushedPage], target: TransactionId) -> Result<()> {
        let mut writer = self.writer.lock();
        let mut unlinked = Vec::new();
        let mut next_planned = plan.iter().peekable();
        for number in pages {
            let planned = next_planned.next_if(|p| p.entry.number == number);
            let version = planned.map(|p| p.version);
            let is_written = planned.is_some_and(|p| p.entry.checksum != 0);
            if let Some(version) = version {
                version.set_settled();
            }
            match (self.table.newest(number)?, version) {
                (Some(newest), Some(version)) if newest == version => {
                    let is_live_branch = page::is_branch(version.page()) && is_written;
                    if !is_live_branch || !self.table.versions.keep(version) {
                        self.table.set(number, None)?;
                        unlinked.push(version);
                    }
                }
                // A newer version is on top; it keeps the flushed one behind it until that goes.
                (Some(_), _) => writer.dirty_since_flush.push(number),
                (None, _) => {}
            }
        }
        let first_kept = writer.positions.partition_point(|state| state.transaction <= target);
        let last = writer.positions.drain(..first_kept).next_back();
        writer.checkpoint = last.unwrap_or(writer.checkpoint);
        // Snapshots that were announced until now may have loaded a pointer to what was unlinked.
        let unreachable_from = self.publication.next_epoch(self);
        for version in unlinked {
            writer.reclaim.unlinked(unreachable_from, version);
        }
        writer.reclaim.collect(self.readers.oldest(), &self.table.versions);
        Ok(())
    }

    /// Gives back the room of chunks that are free in the state that the header names, and in each that a snapshot may see or a crash
    /// could lead to now: what is published, and what is sealed and on its way. Nobody writes into them meanwhile, neither a flush (this
    /// is one) nor a commit (it writes what a sealed state uses) nor a job (this has the writer's lock). Commits go on between two spans.
    ///
    /// * `freed_pages`: since this was last done. If they are few they are counted for the next time; and if some were freed
    ///   after the target (`all` is false) the next flush looks again.
    fn punch_holes(&self, target: TransactionId, freed_pages: u64, all: bool) -> Result<()> {
        let Some(data) = &self.data else { return Ok(()) };
        let is_worth_it = freed_pages >= FREED_PAGES_MIN && self.readers.oldest().transaction() >= target;
        if !is_worth_it || !all {
            self.writer.lock().freed_pages += freed_pages;
        }
        if !is_worth_it {
            return Ok(());
        }
        let spans = {
            // Nobody announced the target any more.
            let _writer = self.writer.lock();
            self.spans(target)?
        };
        for span in 0..spans {
            if !self.punch_holes_of(data.as_ref(), span, target)? {
                break;
            }
        }
        Ok(())
    }

    /// Those of one span; neighbouring chunks are one hole. False: the file system makes no holes.
    fn punch_holes_of(&self, data: &dyn File, span: u64, target: TransactionId) -> Result<bool> {
        let mut writer = self.writer.lock();
        let number = space::bitmap_page(span);
        let mut free: Vec<u64> = space::free_chunks(self.table.page(number, target)?, span).collect();
        for state in self.table.states_since(number, target)? {
            if free.is_empty() {
                return Ok(true);
            }
            let there: Vec<u64> = space::free_chunks(state, span).collect();
            free.retain(|chunk| there.binary_search(chunk).is_ok());
        }
        free.retain(|chunk| {
            chunk * space::CHUNK_PAGES < self.table.pages() && writer.allocated_chunks.given_back(*chunk)
        });
        for run in free.chunk_by(|chunk, next| chunk + 1 == *next) {
            let start = run[0] * space::CHUNK_PAGES;
            let end = ((run[0] + run.len() as u64) * space::CHUNK_PAGES).min(self.table.pages());
            let size = PAGE_SIZE as u64;
            match data.punch_hole(start * size, (end - start) * size) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                // The room is not given back; nothing else is wrong.
                Err(error) => {
                    tracing::warn!(path = %data.path().display(), %error, "space in the data file could not be given back (punching a hole)")
                }
            }
        }
        Ok(true)
    }
}

/// Whether a flush writes anything. Large values that their commits wrote, and pages that were freed since, need no sync.
fn writes_pages(plan: &[FlushedPage]) -> bool {
    plan.iter().any(|planned| planned.entry.checksum != 0)
}

fn write_header(data: &dyn File, header: &Header) -> Result<()> {
    // Two copies in turn: sequence 1 went to page 0 when the file was made, so odd ones go there.
    let position = if header.sequence % 2 == 1 { 0 } else { PAGE_SIZE as u64 };
    data.write_at(&header.encode(), position).map_err(|e| Error::io("write", data.path(), PAGE_SIZE as u64, e))?;
    data.sync().map_err(|e| Error::io("sync", data.path(), 0, e))
}
