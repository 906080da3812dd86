//! Tasks of a database by the clock: expiration, refresh and archival of documents ([`documents::DueKind`]).
//!
//! The record of a database configures them (`settings.rs`). One scheduler for all databases of a node (`scheduler.rs`) runs them, and
//! its thread exists only while a database has one enabled. A run handles what is due by the time of the node's clock, in writes of
//! bounded size ([`documents::Write::Due`]), so that it costs what is due (`run.rs`).

mod run;
mod scheduler;
mod settings;
mod tasks;

pub(crate) use scheduler::Scheduler;
pub use settings::DueTask;
pub(crate) use settings::{DueSettings, check, completed, property};
pub use tasks::DueCounts;
pub(crate) use tasks::DueTasks;
