//! What an operation does with the revisions of a database, and what it came to.

use std::collections::BTreeMap;

use documents::Date;

/// What is done with the documents that have revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionsWork {
    /// Removes the revisions that the configuration does not keep.
    Enforce {
        /// Also revisions that were made by force, of collections without a configuration.
        with_forced: bool,
        /// Only of these collections; empty: of all.
        collections: Vec<String>,
    },
    /// Documents that do not exist but have revisions get into the bin.
    Adopt {
        /// Only of these collections; empty: of all.
        collections: Vec<String>,
    },
    /// Brings each document back to its state at a time.
    Revert {
        /// The time.
        time: Date,
        /// Only of these collections; empty: of all.
        collections: Vec<String>,
    },
}

/// What a change of revisions came to so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionsReport {
    /// What is done.
    pub work: RevisionsWork,
    /// Revisions of the documents that were looked at.
    pub scanned_revisions: u64,
    /// Documents that were looked at.
    pub scanned_documents: u64,
    /// Revisions that were removed, documents that were adopted or reverted.
    pub changed: u64,
    /// What people should know of documents, by their ids; of many only the first.
    pub warnings: BTreeMap<String, String>,
}

impl RevisionsWork {
    /// What is done, in words.
    pub fn description(&self) -> &'static str {
        match self {
            RevisionsWork::Enforce { .. } => "Enforce the configuration of revisions",
            RevisionsWork::Adopt { .. } => "Adopt orphaned revisions",
            RevisionsWork::Revert { .. } => "Revert documents to a time",
        }
    }

    /// The collections that it is limited to; none: all.
    pub(super) fn collections(&self) -> &[String] {
        match self {
            RevisionsWork::Enforce { collections, .. }
            | RevisionsWork::Adopt { collections }
            | RevisionsWork::Revert { collections, .. } => collections,
        }
    }
}
