//! Compare-exchange values: values under a key that change only if their index is the expected one, and transactions that change them
//! together with documents.
//!
//! A value is an item of the kind [`ItemKind::CompareExchange`](crate::ItemKind) without a collection, and its *index* is its etag. So an
//! index rises with each write of the database, comes once, and is the same on every node that applies the same log. Keys are found
//! without regard to case. [`change`] writes values, [`snapshot`] reads them, [`value`] is their stored form.
//!
//! A [cluster-wide transaction](transaction) changes values and documents, all or nothing, if all conditions hold. Unless the client
//! declines, it keeps an *atomic guard* for each document that it writes: the value `rvn-atomic/<id>` ([`guard`]). The change vector of
//! the document names the index of its guard, so that a client that read the document sends it back, and another transaction in
//! between is found even if it deleted the document.

mod change;
mod guard;
mod key;
mod snapshot;
mod transaction;
mod value;
mod violation;

pub use change::{Exchanged, ValueChange};
pub use guard::is_guard;
pub(crate) use guard::{GuardChange, GuardIndexes};
pub(crate) use key::check_key;
pub use snapshot::{CompareExchangeValue, ValuesByPrefix};
pub use transaction::{BulkDocs, ClusterTransaction, TransactionOutcome};
pub(crate) use value::{ValueContent, check_value, dump_value};
pub use violation::Violation;
