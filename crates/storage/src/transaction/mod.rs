//! Transactions: snapshots to read, one writer, and the way from a finished change to a durable one.
//!
//! * [`read`]: an announced snapshot.
//! * [`mod@write`]: the private state of the one writer.
//! * [`commit`]: the queue in front of the writer; several jobs share one transaction and one write.
//! * [`direct`]: large values that go straight to the data file.
//! * [`nesting`]: a write inside of a write is refused.
//! * [`publish`]: makes durable transactions visible and answers jobs, in order.
//! * [`reclaim`]: garbage collection of page versions.
//! * [`staged`]: pieces of large contents that a job writes straight to the data file.

pub(crate) mod commit;
pub(crate) mod direct;
pub(crate) mod job;
pub(crate) mod nesting;
pub(crate) mod publish;
pub(crate) mod read;
pub(crate) mod reclaim;
pub(crate) mod staged;
pub(crate) mod write;

pub use commit::{Job, Lead};
pub use read::ReadTransaction;
pub use write::WriteTransaction;

use crate::error::Result;
use crate::ids::PageNumber;
use crate::pager::Page;

/// What can read pages: a snapshot, or the writer (which sees its own changes).
///
/// Everything that reads a structure takes a `&impl Reader`. References live as long as the borrow.
pub trait Reader: sealed::Pages {}

impl<T: sealed::Pages> Reader for T {}

pub(crate) mod sealed {
    use super::{Page, PageNumber, Result};
    use crate::tree::finger::Fingers;

    /// The pages behind [`super::Reader`]; not to be implemented outside.
    pub trait Pages {
        /// The bytes of a page.
        fn page(&self, number: PageNumber) -> Result<&Page>;
        /// The bytes of a run of pages.
        fn run(&self, first: PageNumber, pages: u32) -> Result<&[u8]>;
        /// Copies the bytes of a run of pages into a buffer, verified.
        fn read_run(&self, first: PageNumber, pages: u32, buffer: &mut Vec<u8>) -> Result<()>;
        /// Where trees were last looked into, if what reads remembers that.
        fn fingers(&self) -> Option<&Fingers> {
            None
        }
        /// An error that names a damaged page.
        fn corrupt(&self, page: PageNumber, rule: &'static str) -> crate::Error;
    }
}
