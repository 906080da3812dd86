//! Checkpoint scheduling and write throttling (backpressure): when a flush begins, how fast it writes, and when writers wait or fail.
//!
//! * A flush is *due* when the journal has reached its measure, or the process holds many page versions. The measure is small
//!   while flushes are cheap: when about as much was changed as there are pages to write, as in a load of rising keys, waiting
//!   gains nothing and costs memory. What writes to pages here and there waits, so that a page is written once for
//!   many changes.
//! * It writes slowly, in small pieces, as long as that keeps up with the journal: the device then has time for commits.
//! * Past twice the measure writers wait for it, and it hurries.
//! * What an old snapshot keeps from being flushed is not tried again before that snapshot closes. Past a bound on page
//!   versions, or on the journal beside it, it should close; past twice that of versions, writes are refused.

use crate::environment::{Inner, Writer};
use crate::error::{Error, Result};
use crate::ids::{SnapshotWord, TransactionId};
use crate::pager::frames::Pool;
use crate::threads::background;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Pages that a background flush writes before it pauses: 128 MiB a second, a twentieth of a core.
const PAGES_AT_ONCE: usize = 16;
/// See [`PAGES_AT_ONCE`].
const PAUSE: Duration = Duration::from_millis(1);

/// A flush should end before the journal has grown by one part in this many of its measure.
const PARTS_OF_MEASURE: u64 = 4;

/// Bytes that commits write before a flush begins, while flushes are cheap.
const CHEAP_FLUSH_BYTES: u64 = 8 << 20;

/// Journal that an old snapshot may keep from being used again, in measures of flushes, where page versions may take less memory.
const HELD_JOURNAL_MEASURES: u64 = 4;

/// Bytes of page versions that an environment may have whatever others have.
const OWN_VERSION_BYTES_MIN: usize = 16 << 20;

/// The inputs of flush scheduling of one environment.
#[derive(Default)]
pub(crate) struct Pacing {
    /// Bytes of journal since the last flush began.
    journal_bytes: AtomicU64,
    /// Bytes of pages that commits changed since then; more than of journal, where that is compressed.
    changed_bytes: AtomicU64,
    /// Bytes of large values that commits wrote straight to the data file since then.
    direct_bytes: AtomicU64,
    /// At the last flush about as much had been changed as there were pages to write.
    cheap: AtomicBool,
    /// A flush is due; the next batch has it started.
    wanted: AtomicBool,
    /// A thread is about to flush.
    scheduled: AtomicBool,
    /// Writers that wait for the running flush.
    waiting: AtomicUsize,
    /// The oldest snapshot when a flush could move nothing for it, plus one; 0: none.
    held_back_by: AtomicU64,
    /// Flushes that began.
    flushes: AtomicU64,
    /// The last transaction when it was last asked whether the environment is idle.
    seen: AtomicU64,
}

/// The bytes of one commit, by destination.
pub(crate) struct CommitBytes {
    pub journal_bytes: u64,
    /// Bytes described by the journal record, before compression.
    pub changed_bytes: u64,
    /// Of large values, straight to the data file.
    pub direct_bytes: u64,
}

impl Pacing {
    pub fn journal_bytes(&self) -> u64 {
        self.journal_bytes.load(Ordering::Relaxed)
    }

    pub fn note_written(&self, written: CommitBytes) {
        self.journal_bytes.fetch_add(written.journal_bytes, Ordering::Relaxed);
        self.changed_bytes.fetch_add(written.changed_bytes, Ordering::Relaxed);
        self.direct_bytes.fetch_add(written.direct_bytes, Ordering::Relaxed);
    }

    /// The measure: all bytes that commits wrote since the last flush began.
    fn written_bytes(&self) -> u64 {
        self.journal_bytes() + self.direct_bytes.load(Ordering::Relaxed)
    }

    /// Whether a flush writes little more than what commits changed.
    ///
    /// * `version_bytes`: of the environment's versions.
    fn is_cheap(&self, version_bytes: usize) -> bool {
        let changed_bytes = self.changed_bytes.load(Ordering::Relaxed) + self.direct_bytes.load(Ordering::Relaxed);
        2 * changed_bytes >= version_bytes as u64
    }

    /// A flush begins. What commits write from here on is for the next one.
    ///
    /// * `version_bytes`: of the environment's versions.
    pub fn flush_begins(&self, version_bytes: usize) {
        self.scheduled.store(false, Ordering::Relaxed);
        self.flushes.fetch_add(1, Ordering::Relaxed);
        self.cheap.store(self.is_cheap(version_bytes), Ordering::Relaxed);
        self.journal_bytes.store(0, Ordering::Relaxed);
        self.changed_bytes.store(0, Ordering::Relaxed);
        self.direct_bytes.store(0, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub fn is_hurried(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    #[cfg(test)]
    pub fn is_flush_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    pub fn flush_count(&self) -> u64 {
        self.flushes.load(Ordering::Relaxed)
    }

    /// Flushes do not pause while the value lives.
    pub fn hurry(&self) -> Hurry<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Hurry(self)
    }

    /// A flush found nothing that it may write, beside snapshots from `oldest` on; or something.
    pub fn note_held_back(&self, by: Option<SnapshotWord>) {
        self.held_back_by.store(by.map_or(0, |oldest| oldest.0 + 1), Ordering::Relaxed);
    }
}

impl Inner {
    /// Bytes that commits write before a flush begins; at twice that, writers wait for it.
    fn measure(&self) -> u64 {
        let bytes = self.options.flush_after_bytes;
        if self.pacing.cheap.load(Ordering::Relaxed) { bytes.min(CHEAP_FLUSH_BYTES) } else { bytes }
    }

    /// Called by the writer after each commit: when enough has gathered, the next batch starts a flush.
    pub fn note_if_flush_is_due(&self, writer: &Writer) {
        let written_bytes = self.pacing.written_bytes();
        let became_cheap = written_bytes >= CHEAP_FLUSH_BYTES && self.pacing.is_cheap(self.table.versions.bytes());
        let due = written_bytes >= self.measure() || became_cheap || self.has_many_versions(1);
        if due && self.options.background && !writer.dirty_since_flush.is_empty() && !self.is_held_back() {
            self.pacing.wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Has the next batch start a flush, which finds pages that can be used again.
    pub fn want_flush(&self) {
        if self.options.background && !self.is_held_back() {
            self.pacing.wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Starts a flush on a thread of the pool, unless one is about to start.
    pub fn flush_in_background(self: &Arc<Inner>) {
        if self.pacing.scheduled.swap(true, Ordering::Relaxed) {
            return;
        }
        self.in_background(|inner| {
            if let Err(error) = inner.flush(false) {
                tracing::error!(path = %inner.path.display(), %error, "a flush to the data file failed");
            }
        });
    }

    /// Before a batch: starts the flush that is due, and waits for it if the journal has grown to twice its measure.
    pub fn wait_for_room(self: &Arc<Inner>) {
        if self.has_room() {
            return;
        }
        let _hurry = self.pacing.hurry();
        if let Err(error) = self.flush_if(|| self.is_crowded()) {
            tracing::error!(path = %self.path.display(), %error, "a flush to the data file failed");
        }
    }

    /// Starts the flush that is due. False: the next batch has to wait for it.
    pub fn has_room(self: &Arc<Inner>) -> bool {
        if self.pacing.wanted.load(Ordering::Relaxed) && self.pacing.wanted.swap(false, Ordering::Relaxed) {
            self.flush_in_background();
        }
        !self.is_crowded()
    }

    fn is_crowded(&self) -> bool {
        let is_much = self.pacing.written_bytes() >= 2 * self.measure();
        self.options.background && (is_much || self.has_many_versions(2)) && !self.is_held_back()
    }

    /// Whether the process holds more than `times` the measure of page versions, and this environment a part that matters.
    fn has_many_versions(&self, times: usize) -> bool {
        Pool::used_bytes() > self.options.version_bytes_max.saturating_mul(times)
            && self.table.versions.bytes() > OWN_VERSION_BYTES_MIN.min(self.options.version_bytes_max)
    }

    /// Whether a flush would fail to move anything, for a snapshot that was open when one last tried.
    pub fn is_held_back(&self) -> bool {
        let by = self.pacing.held_back_by.load(Ordering::Relaxed);
        by != 0 && self.readers.oldest().0 < by
    }

    /// Versions that an old snapshot keeps from being flushed are bounded: past twice the measure writes are refused, until
    /// it closes. Other environments of the process, whose snapshots are young, go on.
    pub fn refuse_beside_long_reader(&self) -> Result<()> {
        if self.data.is_none() || !self.has_many_versions(2) {
            return Ok(());
        }
        let oldest = self.readers.oldest().transaction();
        if oldest == self.readers.published().transaction() {
            return Ok(());
        }
        let max_bytes = self.options.version_bytes_max.saturating_mul(2);
        Err(Error::LongReader { oldest, version_bytes: Pool::used_bytes(), max_bytes })
    }

    /// Whether commits beside an old snapshot wrote so much journal, none of which can be used again, as versions may take memory.
    fn has_much_journal(&self) -> bool {
        let max_bytes =
            (self.options.version_bytes_max as u64).max(HELD_JOURNAL_MEASURES * self.options.flush_after_bytes);
        self.pacing.journal_bytes() > max_bytes
    }

    /// The oldest snapshot, if there are many versions or much journal and nothing more can be flushed before it closes, or writes are
    /// refused.
    pub fn versions_held_for(&self) -> Option<TransactionId> {
        let oldest = self.readers.oldest().transaction();
        let is_pressed = self.data.is_some() && (self.has_many_versions(1) || self.has_much_journal());
        let is_flushed = || self.flushed_transaction.load(Ordering::Relaxed) >= oldest.0;
        let is_old = || oldest != self.readers.published().transaction();
        let is_held = (is_pressed && is_flushed() && is_old()) || self.refuse_beside_long_reader().is_err();
        is_held.then_some(oldest)
    }

    /// The pace of a flush of `total` pages that begins now.
    pub fn pace(&self, total: usize) -> FlushPacer<'_> {
        FlushPacer { inner: self, total, written: 0 }
    }

    /// Whether nothing was committed since this was last asked.
    pub fn is_idle(&self) -> bool {
        let last = self.readers.published().transaction().0;
        self.pacing.seen.swap(last, Ordering::Relaxed) == last
    }
}

/// Somebody waits for a flush.
pub(crate) struct Hurry<'a>(&'a Pacing);

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Rate limiter of a flush: it writes no faster than it must.
pub(crate) struct FlushPacer<'a> {
    inner: &'a Inner,
    total: usize,
    /// Pages that were written when it last paused.
    written: usize,
}

impl FlushPacer<'_> {
    /// So many pages are written. Waits if there is time.
    pub fn written(&mut self, written: usize) {
        let Pacing { waiting, .. } = &self.inner.pacing;
        let options = &self.inner.options;
        if written < self.written + PAGES_AT_ONCE || !options.background || waiting.load(Ordering::Relaxed) > 0 {
            return;
        }
        let room = self.inner.measure() / PARTS_OF_MEASURE;
        let written_bytes = self.inner.pacing.written_bytes();
        let is_behind = written_bytes.saturating_mul(self.total as u64) > room.saturating_mul(written as u64);
        if !is_behind && !background::is_short_of_threads() {
            self.written = written;
            std::thread::sleep(PAUSE);
        }
    }
}
