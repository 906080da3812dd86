//! The announced snapshots: a padded slot per open read transaction, one store to announce and one to leave.
//!
//! A slot is `FREE`, or owned by a thread and `IDLE`, or holds the word of the snapshot that is open in it. A thread
//! keeps the slots it used last, one of an environment, for a query reads those of its index and of the documents in turn. So
//! opening a transaction is: read what is published, store it in the slot
//! (sequentially consistent), and look again. If something newer was published in between, once more: the writer may
//! have missed the announcement. No lock, no allocation, no line that another thread writes.

use crate::ids::{SnapshotWord, TransactionId};
use crate::limits::{KEPT_READER_SLOTS_MAX, READER_BLOCKS_MAX, READER_SLOTS_PER_BLOCK};
use crate::planted::{Bug, is_planted};
use crate::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{OnceLock, thread, thread_local};
use std::cell::Cell;
use std::sync::Arc;

const FREE: u64 = 0;
const IDLE: u64 = 1;
/// Added to words in slots, so that none is `FREE` or `IDLE`.
const OFFSET: u64 = 2;

#[repr(align(128))]
struct Slot {
    /// `FREE`, `IDLE`, or what is announced.
    word: AtomicU64,
    /// The thread that kept it went on without it while a snapshot was open in it: once `IDLE`, anyone may take it.
    abandoned: AtomicBool,
}

type Block = Box<[Slot]>;

/// The slots of one environment, and the word that new snapshots take.
pub(crate) struct Readers {
    published: Published,
    blocks: [OnceLock<Block>; READER_BLOCKS_MAX],
    /// Blocks that slots were ever taken of. Raised before a snapshot is announced in one, and in the one order of publishing
    /// and announcing: looking whether a block was made is not, and the writer could miss a new one with its first snapshot.
    used_blocks: AtomicUsize,
}

#[repr(align(128))]
struct Published(AtomicU64);

/// The open snapshots that are older than what was published when they were looked for. Those opened later are no older than that,
/// or than one of these (`Announced::hold_back_to`, under the writer's lock).
#[derive(Default)]
pub(crate) struct Older {
    published: TransactionId,
    /// In order.
    transactions: Vec<TransactionId>,
}

impl Older {
    pub fn is_empty(&self) -> bool {
        self.transactions.is_empty()
    }

    pub fn len(&self) -> usize {
        self.transactions.len()
    }

    /// Whether a transaction was published already.
    pub fn is_published(&self, transaction: TransactionId) -> bool {
        transaction <= self.published
    }

    /// Whether a snapshot that is open, or will be, sees a version of transaction `from` that was replaced in `until`.
    pub fn is_seen(&self, from: TransactionId, until: TransactionId) -> bool {
        if is_planted(Bug::SeenRecycled) {
            return !self.is_published(until);
        }
        let next = self.transactions.partition_point(|open| *open < from);
        !self.is_published(until) || self.transactions.get(next).is_some_and(|open| *open < until)
    }
}

/// An open slot.
pub(crate) struct Announced<'a> {
    slot: &'a Slot,
    /// The slot stays with the thread that took it, wherever the transaction ends; else it is free again.
    kept: bool,
    /// What was announced.
    pub word: SnapshotWord,
}

/// A slot that a thread retains for its next snapshot.
struct RetainedSlot {
    readers: Arc<Readers>,
    index: u32,
}

impl Drop for RetainedSlot {
    fn drop(&mut self) {
        // A snapshot may still be open in it: the thread goes on with another environment, or the transaction was sent to
        // another thread. Whoever looks for a slot later takes it over.
        let slot = self.readers.slot(self.index);
        if slot.word.compare_exchange(IDLE, FREE, Ordering::Release, Ordering::Relaxed).is_err() {
            slot.abandoned.store(true, Ordering::Release);
        }
    }
}

/// The slots that a thread retains, of different environments.
struct RetainedSlots {
    /// Where the readers lie that a slot is of, which is held by what is kept, and its number there.
    places: [Cell<(*const Readers, u32)>; KEPT_READER_SLOTS_MAX],
    kept: [Cell<Option<RetainedSlot>>; KEPT_READER_SLOTS_MAX],
    /// Which goes when there is one too many: the one that came first.
    oldest: Cell<usize>,
}

impl RetainedSlots {
    const fn new() -> RetainedSlots {
        RetainedSlots {
            places: [const { Cell::new((std::ptr::null(), 0)) }; KEPT_READER_SLOTS_MAX],
            kept: [const { Cell::new(None) }; KEPT_READER_SLOTS_MAX],
            oldest: Cell::new(0),
        }
    }

    #[inline]
    fn of(&self, readers: &Arc<Readers>) -> Option<u32> {
        let place = self.places.iter().map(Cell::get).find(|(of, _)| *of == Arc::as_ptr(readers));
        place.map(|(_, index)| index)
    }

    fn keep(&self, kept: RetainedSlot) {
        let at = self.oldest.get();
        self.oldest.set((at + 1) % KEPT_READER_SLOTS_MAX);
        self.places[at].set((Arc::as_ptr(&kept.readers), kept.index));
        self.kept[at].set(Some(kept));
    }
}

thread_local! {
    static RETAINED: RetainedSlots = const { RetainedSlots::new() };
}

impl Readers {
    pub fn new(published: SnapshotWord) -> Arc<Self> {
        Arc::new(Readers {
            published: Published(AtomicU64::new(published.0)),
            blocks: std::array::from_fn(|_| OnceLock::new()),
            used_blocks: AtomicUsize::new(0),
        })
    }

    pub fn published(&self) -> SnapshotWord {
        SnapshotWord(self.published.0.load(Ordering::SeqCst))
    }

    /// Makes a newer state the one that snapshots take. Called under the lock of `transaction::publish`.
    pub fn publish(&self, word: SnapshotWord) {
        self.published.0.store(word.0, Ordering::SeqCst);
    }

    fn slot(&self, index: u32) -> &Slot {
        let block = self.blocks[index as usize / READER_SLOTS_PER_BLOCK].get_or_init(new_block);
        &block[index as usize % READER_SLOTS_PER_BLOCK]
    }

    /// Every slot that was ever taken, and perhaps others.
    fn used_slots(&self) -> impl Iterator<Item = &Slot> {
        let used = self.used_blocks.load(Ordering::SeqCst);
        self.blocks[..used].iter().filter_map(OnceLock::get).flatten()
    }

    /// Announces a snapshot of what is published now.
    #[inline]
    pub fn announce(self: &Arc<Self>) -> Announced<'_> {
        let Some(index) = RETAINED.with(|kept| kept.of(self)) else { return self.announce_first() };
        let slot = self.slot(index);
        if slot.word.load(Ordering::Relaxed) == IDLE {
            return self.announce_in(slot, true);
        }
        // The thread has a snapshot open in its slot already.
        self.announce_in(self.slot(self.claim()), false)
    }

    #[cold]
    fn announce_first(self: &Arc<Self>) -> Announced<'_> {
        let index = self.claim();
        RETAINED.with(|kept| kept.keep(RetainedSlot { readers: self.clone(), index }));
        self.announce_in(self.slot(index), true)
    }

    #[inline]
    fn announce_in<'a>(&'a self, slot: &'a Slot, kept: bool) -> Announced<'a> {
        let mut word = self.published.0.load(Ordering::Acquire);
        loop {
            slot.word.store(word + OFFSET, Ordering::SeqCst);
            if is_planted(Bug::AnnouncementUnchecked) {
                return Announced { slot, kept, word: SnapshotWord(word) };
            }
            let now = self.published.0.load(Ordering::SeqCst);
            if now == word {
                return Announced { slot, kept, word: SnapshotWord(word) };
            }
            word = now;
        }
    }

    /// Takes a free slot for the calling thread.
    #[cold]
    fn claim(&self) -> u32 {
        let index = self.take_free();
        self.used_blocks.fetch_max(index as usize / READER_SLOTS_PER_BLOCK + 1, Ordering::SeqCst);
        index
    }

    fn take_free(&self) -> u32 {
        loop {
            for index in 0..(READER_BLOCKS_MAX * READER_SLOTS_PER_BLOCK) as u32 {
                let slot = self.slot(index);
                // Looked at first, for an exchange that fails takes the line from the thread that announces in it.
                if slot.word.load(Ordering::Relaxed) == FREE
                    && slot.word.compare_exchange(FREE, IDLE, Ordering::AcqRel, Ordering::Relaxed).is_ok()
                {
                    return index;
                }
                // An abandoned slot has no owner who could open a snapshot in it; of many who look, one takes it.
                if slot.abandoned.load(Ordering::Relaxed) && slot.abandoned.swap(false, Ordering::AcqRel) {
                    if slot.word.load(Ordering::Acquire) == IDLE {
                        return index;
                    }
                    slot.abandoned.store(true, Ordering::Release);
                }
            }
            // 4,096 snapshots are open in this environment; wait for one to close.
            thread::yield_now();
        }
    }

    /// What is published, and the words below it that open snapshots announced.
    fn announced_below(&self) -> (u64, impl Iterator<Item = u64> + '_) {
        // Before the slots: a snapshot that is announced after its slot was looked at takes at least this word.
        let published = self.published.0.load(Ordering::SeqCst);
        let words = self.used_slots().filter_map(|slot| slot.word.load(Ordering::SeqCst).checked_sub(OFFSET));
        (published, words.filter(move |word| *word < published && !is_planted(Bug::ReadersIgnored)))
    }

    /// The oldest word that an open snapshot announced, or what is published if none is open.
    pub fn oldest(&self) -> SnapshotWord {
        let (published, words) = self.announced_below();
        SnapshotWord(words.fold(published, u64::min))
    }

    /// As [`Self::oldest`], and which snapshots are open that are older than what is published.
    pub fn older(&self, older: &mut Older) -> SnapshotWord {
        let (published, words) = self.announced_below();
        older.published = SnapshotWord(published).transaction();
        older.transactions.clear();
        let oldest = words.fold(published, |oldest, word| {
            let transaction = SnapshotWord(word).transaction();
            if transaction < older.published {
                older.transactions.push(transaction);
            }
            oldest.min(word)
        });
        older.transactions.sort_unstable();
        SnapshotWord(oldest)
    }

    /// Snapshots that are open now.
    pub fn open_count(&self) -> usize {
        self.used_slots().filter(|slot| slot.word.load(Ordering::Relaxed) >= OFFSET).count()
    }
}

fn new_block() -> Block {
    (0..READER_SLOTS_PER_BLOCK)
        .map(|_| Slot { word: AtomicU64::new(FREE), abandoned: AtomicBool::new(false) })
        .collect()
}

impl Announced<'_> {
    /// Announces an older word instead, which is still announced by another.
    pub fn hold_back_to(&self, word: SnapshotWord) {
        self.slot.word.store(word.0 + OFFSET, Ordering::SeqCst);
    }
}

impl Drop for Announced<'_> {
    #[inline]
    fn drop(&mut self) {
        self.slot.word.store(if self.kept { IDLE } else { FREE }, Ordering::Release);
    }
}
