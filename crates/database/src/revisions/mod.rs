//! Revisions of a database: their configuration in its record, and the operations that go through all of them.
//!
//! `settings` reads the configurations, `work` enforces them, adopts orphans and reverts a database to a time, `bin` removes what was
//! deleted long ago. What a single write keeps is decided in the crate `documents`.

mod bin;
mod report;
mod settings;
mod work;

pub use bin::BinCleaner;
pub(crate) use bin::RevisionsBin;
pub use report::{RevisionsReport, RevisionsWork};
pub use settings::RevisionsProperty;
pub(crate) use settings::{bin_cleaner, configuration};
pub use work::RevisionsOperation;
