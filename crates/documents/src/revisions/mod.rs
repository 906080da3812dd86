//! Revisions: former states of documents, kept when they change.
//!
//! A revision is an item of its own ([`ItemKind::Revision`](crate::ItemKind)), written in the transaction of the change. Its record has
//! the change vector, the date and the flags of the state that it keeps; its body is that state, mostly as a difference ([`delta`]) from a
//! *base*, which is a whole state that many revisions of the document share ([`stored`]).
//!
//! ```text
//! revisions/by-key        document NUL date etag   -> record          the order of a document's revisions
//! revisions/by-vector     hash of vector, etag     -> nothing
//! revisions/bases         number                   -> content         a state of a document, whole
//! revisions/base-users    number                   -> revisions that need it
//! revisions/bin           etag                     -> etag            deletions whose document is still deleted
//! ```
//!
//! [`configuration`] says which documents get revisions, and how many stay. [`versioning`] decides for each write, [`write`] stores and
//! removes, [`administration`] is what administrators ask for, [`reverting`] brings former states back,
//! [`read`] gives revisions back as documents.

mod administration;
mod belongings;
pub(crate) mod check;
mod configuration;
mod contents;
mod delta;
pub(crate) mod imported;
mod includes;
pub(crate) mod key;
mod pairs;
pub(crate) mod read;
mod reverting;
pub(crate) mod stored;
mod trees;
mod versioning;
mod write;

pub use administration::{RevertTo, Reverted, RevisionsWrite};
pub use configuration::{CollectionRevisions, RevisionsConfiguration};
pub use contents::RevisionAttachment;
pub use imported::ImportedRevision;
pub use includes::{IncludedRevision, RevisionClause, RevisionIncludes};
pub use pairs::RevisionPair;
pub use read::{Revision, RevisionPlace, RevisionsOf};
pub(crate) use trees::RevisionTrees;
pub(crate) use versioning::{PutRevisions, Revise, WrittenDocument};
