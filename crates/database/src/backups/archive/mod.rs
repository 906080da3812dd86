//! The archive of a task with `PointInTime`: the journal of the database, copied to the places of its backups a few seconds behind the
//! writer, so that a snapshot and what follows it bring back the state of any second, and of any transaction.
//!
//! ```text
//! journal ─► archiver ─► segments ─┐
//! task    ─► snapshot ─► base     ─┴─► timeline ─► restore until a time
//! ```
//!
//! A *history* is a run of transactions without a gap. It has a folder of its own beside those of the backups:
//!
//! ```text
//! 2026-11-27-02-00-00.rookery-Shop-A-archive-9f86d081884c7d65/
//!     000000000000002a.2026-11-27-02-00-07-120.rookery-base                               a snapshot with the state of transaction 42
//!     2026-11-27/
//!         000000000000002a-0000000000000031.2026-11-27-02-00-12-121.rookery-journal       the transactions 43 to 49
//! ```
//!
//! * `names`: of folders and files.
//! * `segment`: a file with records, and when they were committed.
//! * `state`: how far an archive has come.
//! * `host`: the node, as an archive sees it.
//! * `archiver`: the thread that notes times and begins segments.
//! * `work`: one run of that.
//! * `timeline`: what a place has, and the way to a time.
//! * `prune`: what cannot be restored any more.

mod archiver;
mod host;
mod names;
mod prune;
mod segment;
mod state;
mod timeline;
mod work;

pub(crate) use archiver::Archiver;
pub(crate) use host::Host;
pub(super) use names::{is_day, is_folder};
pub(crate) use prune::prune;
pub use state::ArchiveStatus;
pub(crate) use state::{ArchiveState, places_of};
pub use timeline::{Archive, Until};
pub(crate) use timeline::{Plan, Timeline};
pub(crate) use work::{Base, note_base};
