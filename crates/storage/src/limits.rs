//! Every bound of the engine, with its unit and its reason.

use crate::sync::IS_DIRECTED;

/// Bytes of a page. Two of the processor's 4 KiB pages: a leaf of ~50 small documents' keys, a branch of ~250.
pub const PAGE_SIZE: usize = 8192;

/// Bytes of a key. A document id is at most 512; composite keys carry a few of those.
pub const KEY_SIZE_MAX: usize = 2048;

/// Bytes of one value. A run of pages must lie within one allocation span.
pub const VALUE_SIZE_MAX: usize = 128 << 20;

/// Bytes of key and value that stay together in a leaf; more goes to a run of pages of its own.
pub const INLINE_SIZE_MAX: usize = 2048;

/// Bytes of one chunk of a content: a run of 1 MiB with its head. Reading any byte of a chunk reads and verifies all of it.
pub const CONTENT_CHUNK_SIZE_MAX: usize = (1 << 20) - crate::page::RUN_START;

/// Bytes that one call adds to an upload: its transaction keeps others waiting while they are written to the page cache.
pub const CONTENT_APPEND_SIZE_MAX: usize = 16 << 20;

/// Bytes of an upload id, or of the hash of a content. A hash of 256 bits has 32, in Base64 44.
pub const CONTENT_NAME_SIZE_MAX: usize = 512;

/// Chunks of removed contents that one transaction frees: some milliseconds. Larger contents are freed in steps.
pub const CONTENT_CHUNKS_FREED_AT_ONCE: usize = if IS_SMALL { 4 } else { 1024 };

/// Uploads that one transaction removes.
pub const UPLOADS_REMOVED_AT_ONCE: usize = 64;

/// Whether tests run the engine in a way that makes each step dear: in an interpreter, or in thousands of schedules.
const IS_SMALL: bool = cfg!(miri) || IS_DIRECTED;

/// Pages in one span of the allocation bitmap: 256 MiB of data per bitmap page.
pub const SPAN_PAGES: u64 = if IS_SMALL { 1 << 9 } else { 1 << 15 };

/// Pages in one reserved range of addresses (16 GiB). Reserving is free; 47 bits hold some 8,000 such ranges.
pub const SEGMENT_PAGES: u64 = match IS_SMALL {
    false => 1 << 21,
    // Each word is an object of loom's, and its models need no span.
    true if cfg!(loom) => 1 << 2,
    true => 1 << 10,
};

/// Reserved ranges per environment: 2 TiB of data.
pub const SEGMENTS_MAX: usize = 128;

/// Levels of a tree. Four levels hold billions of entries; more is damage.
pub const TREE_DEPTH_MAX: usize = 16;

/// Lookups made together, so that they wait for memory at once: about as many loads as a core has on their way.
pub(crate) const AT_ONCE_MAX: usize = 32;

/// Reader slots in one block, and blocks: 4,096 snapshots open at once in one environment.
pub const READER_SLOTS_PER_BLOCK: usize = if IS_DIRECTED { 2 } else { 64 };
/// See [`READER_SLOTS_PER_BLOCK`].
pub const READER_BLOCKS_MAX: usize = if IS_DIRECTED { 2 } else { 64 };

/// Environments of which a thread keeps a reader slot.
pub const KEPT_READER_SLOTS_MAX: usize = if IS_DIRECTED { 1 } else { 4 };

/// Bytes of a [`crate::memory::MemoryReservation`] that are not counted: about as many as the kernel holds for a connection anyway.
pub const UNCOUNTED_SIZE: usize = 64 << 10;

/// Bytes in whose multiples a [`crate::memory::MemoryReservation`] reserves.
pub const MEMORY_STEP: usize = 64 << 10;

/// Concurrent writes to the journal. On the devices that were measured, throughput stops rising at about four.
pub const JOURNAL_WRITES_IN_FLIGHT_MAX: usize = 4;

/// Bytes of buffers for records that an environment keeps between commits, until it is idle: a first touch of fresh memory costs
/// as much as making the record.
pub const RECORD_BUFFER_BYTES_MAX: usize = 8 << 20;

/// Writes that no thread waits for, of all environments of the process together. More are made by threads that wait.
pub const ASYNC_WRITES_MAX: usize = 128;

/// Concurrent writes to the journal while threads that may not wait begin them: fewer than threads make, so that more jobs share one.
pub const ASYNC_JOURNAL_WRITES_IN_FLIGHT_MAX: usize = 2;

/// Jobs that a thread which may not wait takes into one transaction.
pub const SHORT_JOBS_PER_TRANSACTION_MAX: usize = 128;

/// Bytes that the jobs which a thread that may not wait takes into one transaction write, with [`SHORT_JOB_PAGES_SIZE`] for each:
/// about 16 ms of its time.
pub const SHORT_JOBS_SIZE_MAX: u64 = 1 << 20;

/// Bytes that are counted for the pages which a short job changes beside what it writes: some lines of 128 bytes in a leaf of each of a
/// few trees.
pub const SHORT_JOB_PAGES_SIZE: u64 = 2 << 10;

/// Bytes of a journal file that a thread which may not wait leaves to the estimate of its record, for pages that are new or were
/// split. It uses no file with less: making another one takes milliseconds.
pub const JOURNAL_LEFT_MIN: u64 = if IS_SMALL { 4 << 10 } else { 64 << 10 };

/// Batches that a thread which may not wait leads one after the other: it has other connections.
pub const SHORT_BATCHES_AT_ONCE_MAX: u32 = 8;

/// Ended writes whose call-backs run in one call of [`reap`](crate::io::aio::AsyncWrites::reap): its thread has other connections.
pub const ASYNC_WRITES_REAPED_AT_ONCE_MAX: usize = 16;

/// Jobs that one transaction takes from the queue.
pub const JOBS_PER_TRANSACTION_MAX: usize = 1024;

/// Bytes of the smallest and of the largest journal file. They double from one to the other, so that an idle
/// database stays small and a busy one switches seldom, to files that it has already.
pub const JOURNAL_FILE_SIZE_MIN: u64 = if IS_SMALL { 32 << 10 } else { 256 << 10 };
/// See [`JOURNAL_FILE_SIZE_MIN`].
pub const JOURNAL_FILE_SIZE_MAX: u64 = 8 << 20;

/// Pages that an image copies under one snapshot: 1 MiB, or one run. Some milliseconds of a slow disk.
pub const IMAGE_PIECE_PAGES: u64 = if IS_SMALL { 8 } else { 128 };

/// Bytes after which an image reads no further value under the same snapshot.
pub const IMAGE_RUNS_SIZE_MAX: usize = 1 << 20;

/// Bytes of records behind which an image opens its next snapshot, instead of writing the records that came meanwhile.
pub const IMAGE_LATE_RECORDS_SIZE: u64 = 256 << 10;

/// Bytes of journal, and of values outside of it, that may wait for the destination of an image, unless the caller says otherwise.
pub const IMAGE_WAITING_BYTES_MAX: u64 = 1 << 30;

/// Bytes of changed pages that a restore keeps in memory before it writes them, sorted.
pub const RESTORE_CACHE_SIZE_MAX: usize = if IS_SMALL { 16 * PAGE_SIZE } else { 32 << 20 };

/// Pages of a data file that holds nothing: the two headers.
pub(crate) const DATA_FILE_PAGES_MIN: u64 = 2;

/// Bytes by which the data file grows at the least and at the most in one step.
pub const DATA_FILE_STEP_MIN: u64 = if IS_SMALL { 32 << 10 } else { 256 << 10 };
/// See [`DATA_FILE_STEP_MIN`].
pub const DATA_FILE_STEP_MAX: u64 = 16 << 20;

/// Pages by which a data file of `pages` grows in one step.
pub(crate) fn data_file_step(pages: u64) -> u64 {
    let size = PAGE_SIZE as u64;
    (pages * size / 16).clamp(DATA_FILE_STEP_MIN, DATA_FILE_STEP_MAX) / size
}

/// Pages of a new data file, its reserve included, once pages below `used` were allocated one after the other.
pub fn data_file_pages(used: u64) -> u64 {
    let mut pages = DATA_FILE_PAGES_MIN;
    while pages < used {
        pages += data_file_step(pages);
    }
    pages
}
