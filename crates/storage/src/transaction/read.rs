//! A read transaction: an announced snapshot. Opening is one store and one look.

use super::sealed::Pages;
use crate::environment::Inner;
use crate::error::{Error, Result};
use crate::ids::{PageNumber, TransactionId};
use crate::pager::Page;
use crate::pager::readers::Announced;

/// One consistent state of an environment, for as long as the value lives. Never waits, and nothing waits for it; but
/// what it sees cannot be given back, so a snapshot that is kept for long costs memory (see `Statistics::oldest_reader`).
pub struct ReadTransaction<'env> {
    inner: &'env Inner,
    transaction: TransactionId,
    _announced: Announced<'env>,
}

impl<'env> ReadTransaction<'env> {
    #[inline]
    pub(crate) fn open(inner: &'env Inner) -> Self {
        let announced = inner.readers.announce();
        ReadTransaction { inner, transaction: announced.word.transaction(), _announced: announced }
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
    fn corrupt(&self, page: PageNumber, rule: &'static str) -> Error {
        self.inner.table.corrupt(page, rule)
    }
}
