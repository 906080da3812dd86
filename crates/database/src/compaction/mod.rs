//! Compaction: documents or an index are copied into a new environment, densely, and the copy takes the place of what it was made of.
//!
//! The copy is made in the folder `compacted`, inside of that of its environment, checked and closed; then one file is renamed
//! (`storage::Environment::replace_by`). A crash before that leaves the old environment, and one after it the new one. What is left of a
//! copy is removed when the environment is opened next. `docs/design/compaction.md` says what goes on meanwhile.
//!
//! [`Copy`] is the work itself, also for tools that work on folders without a server; [`gate`] holds back the writes to documents,
//! [`documents`] and `indexes/compacting.rs` put copies in place under those who use them, and [`run`] is the operation of the node.

mod copy;
mod documents;
mod gate;
mod report;
mod run;

pub(crate) use copy::remove_rest;
pub use copy::{Copy, Step};
pub(crate) use gate::{ParkedWrite, WriteGate};
pub use report::CompactionReport;
pub use run::{Compaction, CompactionRequest};

#[cfg(test)]
mod tests;
