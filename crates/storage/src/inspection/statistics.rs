//! Statistics of an environment. They are cheap: only the allocation bitmaps are scanned.

use crate::environment::Environment;
use crate::error::Result;
use crate::ids::TransactionId;
use crate::journal::files::JournalFiles;
use crate::journal::latency::JournalWrites;
use crate::limits::PAGE_SIZE;
use crate::pager::frames::Pool;
use crate::space;
use crate::transaction::read::ReadTransaction;
use std::sync::atomic::Ordering;

/// Numbers of one environment at one moment. Sizes are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes of the data file that have room on the device or are a hole in it.
    pub data_file_size: u64,
    /// Pages in use.
    pub used_pages: u64,
    /// Pages in the data file that are free.
    pub free_pages: u64,
    /// Bytes of all journal files, those kept for use again included.
    pub journal_size: u64,
    /// Bytes of journal written since the last flush began: what a crash now would have to replay, about.
    pub journal_since_flush: u64,
    /// The last transaction that is durable and visible.
    pub last_transaction: TransactionId,
    /// The last transaction that the data file has.
    pub flushed_transaction: TransactionId,
    /// Flushes that began since the environment was opened.
    pub flush_count: u64,
    /// Snapshots that are open.
    pub open_readers: usize,
    /// The transaction of the oldest open snapshot; the last one if none is open. How far it lies behind
    /// `last_transaction` is what keeps versions in memory and the journal from being used again.
    pub oldest_reader: TransactionId,
    /// Page versions that wait until no snapshot can see them.
    pub versions_waiting: usize,
    /// Jobs in the queue of the writer.
    pub queue_length: usize,
    /// Bytes of page versions in memory, of all environments of the process together.
    pub version_bytes_in_process: usize,
}

/// Numbers of one environment that are there without a look at any page and without waiting for the writer: for those who ask every few
/// seconds. Sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// As in [`Statistics`].
    pub data_file_size: u64,
    /// As in [`Statistics`].
    pub journal_since_flush: u64,
    /// As in [`Statistics`].
    pub flush_count: u64,
    /// As in [`Statistics`].
    pub open_readers: usize,
    /// How long the durable writes of the journal took.
    pub journal_writes: JournalWrites,
}

impl Statistics {
    /// Bytes of the pages in use.
    pub fn used_size(&self) -> u64 {
        self.used_pages * PAGE_SIZE as u64
    }
}

/// A file of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journal {
    /// Rises from file to file.
    pub number: u64,
    /// Bytes, those that are not written yet included.
    pub size: u64,
    /// Nothing in it is needed any more; the next file is made of it.
    pub is_spare: bool,
}

impl Environment {
    /// The files of the journal, by number; none in memory.
    pub fn journals(&self) -> Vec<Journal> {
        let writer = self.inner.writer.lock();
        let mut found = writer.journal.as_ref().map(JournalFiles::all).unwrap_or_default();
        found.sort_by_key(|journal| journal.number);
        found
    }

    /// Bytes of the pages in use. Waits for no writer.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if an allocation bitmap is damaged.
    pub fn used_size(&self) -> Result<u64> {
        Ok(self.used_pages(&self.read())? * PAGE_SIZE as u64)
    }

    pub(crate) fn used_pages(&self, tx: &ReadTransaction<'_>) -> Result<u64> {
        let inner = &self.inner;
        let mut used_pages = 0;
        for span in 0..inner.spans(tx.id())? {
            // A span that was made after the snapshot has no bitmap in it yet.
            if let Ok(bitmap) = inner.table.page(space::bitmap_page(span), tx.id()) {
                used_pages += space::used_count(bitmap);
            }
        }
        Ok(used_pages)
    }

    /// The numbers that cost nothing.
    pub fn gauges(&self) -> Gauges {
        let inner = &self.inner;
        Gauges {
            data_file_size: if inner.data.is_some() { inner.table.pages() * PAGE_SIZE as u64 } else { 0 },
            journal_since_flush: inner.pacing.journal_bytes(),
            flush_count: inner.pacing.flush_count(),
            open_readers: inner.readers.open_count().saturating_sub(1),
            journal_writes: inner.device.latency.writes(),
        }
    }

    /// Bytes of page versions in memory, of all environments of the process together.
    pub fn version_bytes_in_process() -> usize {
        Pool::used_bytes()
    }

    /// Counts.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Corrupt`] if an allocation bitmap is damaged.
    pub fn statistics(&self) -> Result<Statistics> {
        let inner = &self.inner;
        let tx = self.read();
        let used_pages = self.used_pages(&tx)?;
        let pages = inner.table.pages();
        let flushed = TransactionId(inner.flushed_transaction.load(Ordering::Relaxed));
        let writer = inner.writer.lock();
        Ok(Statistics {
            data_file_size: if inner.data.is_some() { pages * PAGE_SIZE as u64 } else { 0 },
            used_pages,
            free_pages: pages.saturating_sub(used_pages),
            journal_size: writer.journal.as_ref().map_or(0, |journal| journal.size_bytes()),
            journal_since_flush: inner.pacing.journal_bytes(),
            last_transaction: tx.id(),
            flushed_transaction: flushed,
            flush_count: inner.pacing.flush_count(),
            open_readers: inner.readers.open_count().saturating_sub(1),
            oldest_reader: inner.readers.oldest().transaction(),
            versions_waiting: writer.reclaim.len(),
            queue_length: inner.queue.len(),
            version_bytes_in_process: Pool::used_bytes(),
        })
    }
}
