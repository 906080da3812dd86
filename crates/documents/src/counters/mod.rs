//! Counters: 64-bit signed numbers that belong to a document, and are raised without writing it.
//!
//! A counter is an item of the kind [`ItemKind::Counter`](crate::ItemKind::Counter): one record for each, with an etag of its own. It holds
//! a value for each database that ever raised it (a PN counter, which is a CRDT), so that the values of several nodes merge: of each
//! database the value with the higher etag counts, and the counter is their sum. The names of a document's counters stand in the part of
//! its metadata that the server maintains, `@counters`, and it has the flag `HasCounters`; both change in the transaction that adds the
//! first counter of a name or deletes one. `docs/design/counters.md` has the reasons.

pub(crate) mod command;
pub(crate) mod includes;
pub(crate) mod names;
pub(crate) mod pending;
pub(crate) mod read;
pub(crate) mod value;
pub(crate) mod write;
