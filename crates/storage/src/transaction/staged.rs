//! Runs that a job writes straight to the data file, so that a large content costs no memory and is written once.
//!
//! A job writes the pieces of a content while it runs, through the page cache, into *quiet* pages ([`QuietPages`]). The commit makes
//! the data file durable (fsync) and then writes its record to the journal, which only names the runs. There is no version of these
//! pages in memory: whoever may see a run reads it in the file. [`super::direct`] differs in that the value waits in a version for the
//! commit, and stays in memory until the next flush.
//!
//! A quiet page is one that no open snapshot and no state that a crash could lead to has in use. So what is written there before
//! the record is durable changes nothing that could be read: a job that is rolled back, and a crash, leave the pages free.

use super::WriteTransaction;
use crate::environment::{Durability, Inner};
use crate::error::{Error, Result};
use crate::ids::{PageNumber, TransactionId};
use crate::io::{File, OpenMode};
use crate::limits::{PAGE_SIZE, SPAN_PAGES};
use crate::page;
use crate::space;
use crate::sync::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Pages that must have been freed before the next chunk in new room has a flush begin: 64 MiB.
const FREED_PAGES_MIN: u64 = 8192;

/// What fills the last page of a run.
static ZEROS: [u8; PAGE_SIZE] = [0; PAGE_SIZE];

/// The staged runs of a write transaction.
#[derive(Default)]
pub(crate) struct StagedRuns {
    runs: Vec<StagedRun>,
}

struct StagedRun {
    first: PageNumber,
    pages: u32,
    /// The job that wrote it.
    job: u32,
    /// The job of the same transaction that freed it.
    freed_by: Option<u32>,
}

impl StagedRuns {
    /// A job is rolled back: what it wrote is free, what it freed is in use again.
    pub fn undo(&mut self, job: u32) {
        self.runs.retain(|run| run.job != job);
        self.runs.iter_mut().filter(|run| run.freed_by == Some(job)).for_each(|run| run.freed_by = None);
    }

    /// A job frees pages.
    pub fn freed(&mut self, first: PageNumber, count: u32, job: u32) {
        let range = first.0..first.0 + u64::from(count);
        let freed = self.runs.iter_mut().filter(|run| run.freed_by.is_none() && range.contains(&run.first.0));
        freed.for_each(|run| run.freed_by = Some(job));
    }

    /// First page and pages of each run that the transaction leaves in use.
    pub fn in_use(&self) -> impl Iterator<Item = (PageNumber, u32)> + '_ {
        self.runs.iter().filter(|run| run.freed_by.is_none()).map(|run| (run.first, run.pages))
    }
}

/// The data file as staged runs are written to it.
pub(crate) struct Staging {
    /// A descriptor of its own: the system reports the error of a failed write once to each, and a flush must not miss it.
    file: OnceLock<Arc<dyn File>>,
    /// Runs that were written since the environment was opened.
    written: AtomicU64,
    /// How many of them are durable. Held during a sync: of two at once, one could get the error that belongs to the other.
    synced: Mutex<u64>,
}

impl Staging {
    pub fn new() -> Staging {
        Staging { file: OnceLock::new(), written: AtomicU64::new(0), synced: Mutex::new(0) }
    }

    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

impl Inner {
    /// `None`: contents go through versions, because the environment has no data file, or is lazy, or no descriptor is to be had.
    fn staging_file(&self) -> Option<&Arc<dyn File>> {
        if self.options.durability == Durability::Lazy {
            return None;
        }
        let (data, folder) = (self.data.as_ref()?, self.folder.as_ref()?);
        if self.staging.file.get().is_none() {
            let file = folder.io.open(data.path(), OpenMode::Existing).ok()?;
            self.staging.file.set(file).ok();
        }
        self.staging.file.get()
    }

    /// Makes the first `until` staged runs durable. Commits that wait for the same lock are often covered by one sync.
    ///
    /// # Errors
    ///
    /// That of the device; the environment has failed then.
    pub fn sync_staged(&self, until: u64) -> Result<()> {
        let Some(file) = self.staging.file.get() else { return Err(Error::Closed) };
        let mut synced = self.staging.synced.lock();
        if self.has_failed() {
            return Err(self.refusal());
        }
        if *synced >= until {
            return Ok(());
        }
        let written = self.staging.written();
        file.sync().map_err(|error| {
            let error = Error::io("sync", file.path(), 0, error);
            // Under the lock: the next sync of this file would say that all is well.
            self.fail(error.clone());
            error
        })?;
        *synced = written;
        Ok(())
    }

    /// After a flush: finds the quiet pages, if the environment has contents. Commits go on between two spans.
    ///
    /// * `target`: the transaction that the header names.
    pub fn note_quiet_pages(&self, target: TransactionId) -> Result<()> {
        let spans = {
            let writer = self.writer.lock();
            if !writer.quiet.is_used || self.readers.oldest().transaction() < target {
                return Ok(());
            }
            self.spans(target)?
        };
        {
            let quiet = &mut self.writer.lock().quiet;
            (quiet.is_known, quiet.freed_pages) = (true, 0);
        }
        for span in 0..spans {
            let mut writer = self.writer.lock();
            let states = self.table.states_since(space::bitmap_page(span), target)?;
            let untouched_from = writer.untouched_from;
            let is_quiet = |index: usize| states.iter().fold(!0, |quiet, bitmap| quiet & !space::word(bitmap, index));
            let pages = span * SPAN_PAGES..((span + 1) * SPAN_PAGES).min(untouched_from);
            writer.quiet.set(pages, is_quiet);
        }
        Ok(())
    }
}

impl WriteTransaction<'_> {
    /// Writes a run for a value into the data file, where it can be; else it is one as [`Self::new_run`] makes.
    ///
    /// # Errors
    ///
    /// As [`Self::new_run`]; [`Error::Io`] if it cannot be written. The job is rolled back then, and nothing else happens.
    pub(crate) fn new_staged_run(&mut self, value: &[u8]) -> Result<(PageNumber, u64)> {
        let pages = page::pages_for_run(value.len());
        let inner = self.inner;
        let file = inner.staging_file().filter(|_| pages > 1 && !self.writer.is_archived());
        let Some(file) = file else { return self.new_run(&[value]) };
        self.writer.quiet.is_used = true;
        let first = self.allocate_quiet(pages)?;
        let padding = &ZEROS[..pages as usize * PAGE_SIZE - page::RUN_START - value.len()];
        let head = page::run_head((first, self.id()), value, padding, inner.id);
        let written = file.write_parts_at(&[&head, value, padding], first.0 * PAGE_SIZE as u64);
        self.poison_on_error(written.map_err(|error| Error::io("write", file.path(), value.len() as u64, error)))?;
        inner.staging.written.fetch_add(1, Ordering::Relaxed);
        // What was known of the page is of its former life.
        inner.table.set_unverified(first)?;
        let job = self.job();
        self.staged.runs.push(StagedRun { first, pages, job, freed_by: None });
        Ok((first, value.len() as u64))
    }
}

/// Free pages, below [`crate::environment::Writer::untouched_from`], that were free in the state of the last header and in each since:
/// a bit for each. Found by a flush; a page that is allocated is none any more.
#[derive(Default)]
pub(crate) struct QuietPages {
    words: Vec<u64>,
    /// Contents were written since the environment was opened.
    is_used: bool,
    /// A flush found them since then.
    is_known: bool,
    /// Pages that were freed since: the next flush finds those among them.
    freed_pages: u64,
    /// No run of this many free pages begins before this page.
    searched: (u32, u64),
}

impl QuietPages {
    /// Sets which of a span's pages are quiet.
    ///
    /// * `word`: 64 pages, by their number from the start of the span on; the first in the lowest bit.
    fn set(&mut self, pages: Range<u64>, word: impl Fn(usize) -> u64) {
        self.searched = (0, 0);
        if pages.is_empty() {
            return;
        }
        let first = (pages.start / 64) as usize;
        let count = (pages.end - pages.start).div_ceil(64) as usize;
        self.words.resize(self.words.len().max(first + count), 0);
        for index in 0..count {
            self.words[first + index] = word(index);
        }
        let beyond = pages.end % 64;
        if beyond > 0 {
            self.words[first + count - 1] &= !(!0 << beyond);
        }
    }

    pub fn note_freed(&mut self, count: u32) {
        self.freed_pages += u64::from(count);
    }

    /// Whether a flush would find so many more that growing the file is worse.
    pub fn should_be_found(&self) -> bool {
        !self.is_known || self.freed_pages >= FREED_PAGES_MIN
    }

    /// For a planted bug.
    pub fn add(&mut self, pages: Range<u64>) {
        self.searched = (0, 0);
        self.words.resize(self.words.len().max(pages.end.div_ceil(64) as usize), 0);
        for page in pages {
            self.words[(page / 64) as usize] |= 1 << (page % 64);
        }
    }

    /// Pages are in use, or were.
    pub fn remove(&mut self, pages: Range<u64>) {
        let known = self.words.len() as u64 * 64;
        for page in pages.start..pages.end.min(known) {
            self.words[(page / 64) as usize] &= !(1 << (page % 64));
        }
    }

    /// The first of `count` neighbouring quiet pages of one span.
    pub fn find(&mut self, count: u32) -> Option<u64> {
        let (searched_count, searched) = self.searched;
        let mut page = if count >= searched_count { searched / 64 * 64 } else { 0 };
        let mut start = page;
        let end = self.words.len() as u64 * 64;
        while page < end {
            if page.is_multiple_of(SPAN_PAGES) {
                start = page;
            }
            let left = 64 - page % 64;
            let rest = self.words[(page / 64) as usize] >> (page % 64);
            let quiet = u64::from(rest.trailing_ones()).min(left);
            page += quiet;
            if page - start >= u64::from(count) {
                self.searched = (count, start);
                return Some(start);
            }
            if quiet < left {
                page += u64::from((rest >> quiet).trailing_zeros()).min(left - quiet);
                start = page;
            }
        }
        self.searched = (count, end);
        None
    }
}

#[cfg(test)]
#[path = "staged_tests.rs"]
mod tests;
