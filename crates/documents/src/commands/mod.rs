//! The commands of a batch: what clients send, what each does, and the outcome.

pub(crate) mod attachments;
pub(crate) mod batch;
pub(crate) mod command;
pub(crate) mod delete;
pub(crate) mod outcome;
pub(crate) mod patch;
pub(crate) mod put;
pub(crate) mod resolve;
