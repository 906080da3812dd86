//! A read transaction: an announced MVCC snapshot. Opening it costs one store and one load.

use super::sealed::Pages;
use crate::environment::Inner;
use crate::error::{Error, Result};
use crate::ids::{PageNumber, SnapshotWord, TransactionId};
use crate::pager::Page;
use crate::pager::readers::Announced;

/// One consistent state of an environment, for as long as the value lives. Never waits, and nothing waits for it; but
/// what it sees cannot be given back, so a snapshot that is kept for long costs memory (see `Statistics::oldest_reader`).
pub struct ReadTransaction<'env> {
    inner: &'env Inner,
    transaction: TransactionId,
    announced: Announced<'env>,
}

impl<'env> ReadTransaction<'env> {
    #[inline]
    pub(crate) fn open(inner: &'env Inner) -> Self {
        let announced = inner.readers.announce();
        ReadTransaction { inner, transaction: announced.word.transaction(), announced }
    }

    /// Keeps what an older snapshot sees as well, even when that closes. For the flush, under the writer's lock: versions
    /// are given back under that lock only, so that none goes between finding `word` the oldest and announcing it here.
    pub(crate) fn hold_back_to(&self, word: SnapshotWord) {
        self.announced.hold_back_to(word);
    }

    /// The last transaction whose changes the snapshot shows.
    pub fn id(&self) -> TransactionId {
        self.transaction
    }
}

impl Pages for ReadTransaction<'_> {
    #[inline]
    fn page(&self, number: PageNumber) -> Result<&Page> {
        self.inner.table.page(number, self.transaction)
    }
    fn run(&self, first: PageNumber, pages: u32) -> Result<&[u8]> {
        self.inner.table.run(first, pages, self.transaction)
    }
    fn read_run(&self, first: PageNumber, pages: u32, buffer: &mut Vec<u8>) -> Result<()> {
        self.inner.table.read_run(first, pages, self.transaction, buffer)
    }
    fn corrupt(&self, page: PageNumber, rule: &'static str) -> Error {
        self.inner.table.corrupt(page, rule)
    }
}
