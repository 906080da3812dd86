//! Writes as values: everything that changes a database is one of these, so that it can be put into a log and applied again.
//!
//! Applying is deterministic: two stores with the same id, node tag and contents come to the same bytes from the same [`Write`] and
//! [`Stamp`]. What is random, such as an id that is a GUID, is chosen when the write is made, and is part of it. Conditions are checked
//! when it is applied.

mod decode;
mod encode;
mod outputs;

pub use outputs::{OutputFate, OutputWrite, OutputWrites};

use std::sync::Arc;

use crate::{
    Batch, ClusterTransaction, ConstraintChange, Date, DueKind, Error, Etag, Exchanged, HiLoRange, HiLoRequest,
    Outcome, Result, Reverted, RevisionsConfiguration, RevisionsWrite, TransactionOutcome, Upload, ValueChange,
    Writing,
};

/// A change of a database.
#[derive(Clone, Debug)]
pub enum Write {
    /// Commands of clients, all or none. Answered by [`Answer::Outcome`].
    Batch {
        /// The commands; patches are resolved.
        batch: Batch,
        /// Whether the outcome has a result for each command.
        has_results: bool,
    },
    /// The next range of hi-lo numbers: [`Answer::Range`].
    NextHiLo(HiLoRequest),
    /// The unused end of a range, from `last` + 1 to `end`, comes back if it is the last one given: [`Answer::Done`].
    ReturnHiLo {
        /// The collection that ids are made for.
        tag: String,
        /// The last number of the range.
        end: u64,
        /// The last number used.
        last: u64,
    },
    /// The next number of an identity: [`Answer::Number`].
    NextIdentity {
        /// Its name.
        name: String,
    },
    /// Sets an identity, lower only by force: [`Answer::Number`], its value afterwards.
    SeedIdentity {
        /// Its name.
        name: String,
        /// The value to set.
        value: i64,
        /// Whether it may become lower.
        is_forced: bool,
    },
    /// An id that nothing else gets: [`Answer::Id`].
    NewId {
        /// What it begins with; ends with `/`.
        prefix: String,
    },
    /// Deletes documents that were not written after `etag`: [`Answer::Deleted`].
    DeleteUntil {
        /// The documents.
        ids: Vec<String>,
        /// The last etag that may be deleted.
        etag: Etag,
    },
    /// Deletes documents of a collection with etags up to `etag`, the oldest first: [`Answer::Count`].
    DeleteCollection {
        /// The collection.
        name: String,
        /// The last etag that may be deleted.
        etag: Etag,
        /// How many at most.
        count_max: usize,
    },
    /// Removes tombstones up to `etag`, the oldest first: [`Answer::Count`].
    CleanTombstones {
        /// The last etag that may be removed.
        etag: Etag,
        /// How many at most.
        count_max: usize,
    },
    /// Puts and deletes definitions, together: [`Answer::Done`].
    Definitions(Vec<DefinitionChange>),
    /// Documents that an index makes of its results: [`Answer::Fates`].
    Outputs(OutputWrites),
    /// A step of storing or removing the contents of attachments: [`Answer::Count`], 1 if [`Upload::Free`] has more to do.
    Upload(Upload),
    /// Changes a compare-exchange value: [`Answer::Exchanged`].
    Exchange(ValueChange),
    /// Changes compare-exchange values, whatever becomes of each: [`Answer::Count`], how many changes were done.
    Exchanges(Vec<ValueChange>),
    /// Changes documents and compare-exchange values together: [`Answer::Transaction`].
    ClusterTransaction(ClusterTransaction),
    /// Changes revisions, or documents by their revisions: [`Answer::Count`].
    Revisions(RevisionsWrite),
    /// Makes or deletes a unique constraint: [`Answer::Count`], how many there were of its name.
    Constraint(ConstraintChange),
    /// Handles documents that are due, the ones that have been due longest first: [`Answer::Count`]. None is due if that is 0.
    Due {
        /// What happens to them.
        kind: DueKind,
        /// The last due time that is handled.
        until: Date,
        /// How many at most.
        count_max: usize,
    },
}

/// Values that the proposing node adds to a write, so that every node of a group computes the same state.
///
/// The node tag and the database's id belong to the store: change vectors that are not stored are made of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The moment that what is written bears.
    pub time: Date,
    /// Of the settings of the node that proposes it: see [`StoreSettings`](crate::StoreSettings).
    pub id_separator: char,
    /// Of the same settings.
    pub revisions: Arc<RevisionsConfiguration>,
}

/// The result of applying a write.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Nothing more to say.
    Done,
    /// Of a batch.
    Outcome(Outcome),
    /// Of hi-lo.
    Range(HiLoRange),
    /// Of an identity.
    Number(i64),
    /// Of a new id.
    Id(String),
    /// How many were deleted, removed or handled.
    Count(u64),
    /// Of each document, whether it was deleted.
    Deleted(Vec<bool>),
    /// Of a change of a compare-exchange value.
    Exchanged(Exchanged),
    /// Of a cluster-wide transaction.
    Transaction(TransactionOutcome),
    /// Of documents that were to be as at a time.
    Reverted(Reverted),
    /// What became of each output.
    Fates(Vec<OutputFate>),
}

/// A change of one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionChange {
    /// Puts it, in place of one of the same name.
    Put {
        /// A word without `/`.
        kind: String,
        /// Its name, in any case.
        name: String,
        /// Tells it from another that had this name: see [`OutputWrites::only_if`].
        generation: u128,
        /// What it says.
        definition: Vec<u8>,
    },
    /// Deletes it, if it is there.
    Delete {
        /// A word without `/`.
        kind: String,
        /// Its name, in any case.
        name: String,
    },
}

impl Writing<'_, '_> {
    /// Applies a write.
    ///
    /// # Errors
    ///
    /// A condition does not hold, or storage fails. The transaction must then be rolled back.
    pub fn apply(&mut self, write: &Write) -> Result<Answer> {
        Ok(match write {
            Write::Batch { batch, has_results: true } => Answer::Outcome(self.run(batch)?),
            Write::Batch { batch, has_results: false } => Answer::Outcome(self.run_silently(batch)?),
            Write::NextHiLo(request) => Answer::Range(self.next_hilo(request)?),
            Write::ReturnHiLo { tag, end, last } => {
                self.return_hilo(tag, *end, *last)?;
                Answer::Done
            }
            Write::NextIdentity { name } => Answer::Number(self.next_identity(name)?),
            Write::SeedIdentity { name, value, is_forced } => {
                Answer::Number(self.seed_identity(name, *value, *is_forced)?)
            }
            Write::NewId { prefix } => Answer::Id(self.new_id(prefix)?),
            Write::DeleteUntil { ids, etag } => {
                Answer::Deleted(ids.iter().map(|id| self.delete_until(id, *etag)).collect::<Result<_>>()?)
            }
            Write::DeleteCollection { name, etag, count_max } => {
                Answer::Count(self.delete_collection(name, *etag, *count_max)? as u64)
            }
            Write::CleanTombstones { etag, count_max } => {
                Answer::Count(self.clean_tombstones(*etag, *count_max)? as u64)
            }
            Write::Definitions(changes) => {
                changes.iter().try_for_each(|change| self.change_definition(change))?;
                Answer::Done
            }
            Write::Outputs(outputs) => Answer::Fates(self.write_outputs(outputs)?),
            Write::Upload(upload) => Answer::Count(self.run_upload(upload)?),
            Write::Exchange(change) => Answer::Exchanged(self.exchange(change)?),
            Write::Exchanges(changes) => Answer::Count(self.exchange_many(changes)?),
            Write::ClusterTransaction(transaction) => Answer::Transaction(self.run_transaction(transaction)?),
            Write::Revisions(write) => self.change_revisions(write)?,
            Write::Constraint(change) => Answer::Count(self.change_constraint(change)?),
            Write::Due { kind, until, count_max } => Answer::Count(self.run_due(*kind, *until, *count_max)?),
        })
    }

    fn change_definition(&mut self, change: &DefinitionChange) -> Result<()> {
        match change {
            DefinitionChange::Put { kind, name, generation, definition } => {
                self.put_definition(kind, name, *generation, definition)
            }
            DefinitionChange::Delete { kind, name } => self.delete_definition(kind, name),
        }
    }
}

impl Write {
    /// Commands with a result for each.
    pub fn batch(batch: Batch) -> Write {
        Write::Batch { batch, has_results: true }
    }

    /// Commands whose results are not needed one by one.
    pub fn silent_batch(batch: Batch) -> Write {
        Write::Batch { batch, has_results: false }
    }

    /// Bytes that it holds in memory, about.
    pub fn size(&self) -> usize {
        size_of::<Write>()
            + match self {
                Write::Batch { batch, .. } => batch.size(),
                Write::NextHiLo(HiLoRequest { tag: name, .. })
                | Write::ReturnHiLo { tag: name, .. }
                | Write::NextIdentity { name }
                | Write::SeedIdentity { name, .. }
                | Write::NewId { prefix: name }
                | Write::DeleteCollection { name, .. } => name.len(),
                Write::DeleteUntil { ids, .. } => ids.iter().map(|id| size_of::<String>() + id.len()).sum(),
                Write::CleanTombstones { .. } | Write::Due { .. } => 0,
                Write::Constraint(ConstraintChange::Delete(name)) => name.len(),
                Write::Constraint(ConstraintChange::Put(constraint)) => {
                    let fields = constraint.fields.iter().map(|field| size_of::<String>() + field.len());
                    constraint.name.len() + constraint.collection.len() + fields.sum::<usize>()
                }
                Write::Definitions(changes) => changes.iter().map(DefinitionChange::size).sum(),
                Write::Outputs(outputs) => outputs.size(),
                Write::Upload(upload) => upload.size(),
                Write::Exchange(change) => change.size(),
                Write::Exchanges(changes) => changes.iter().map(ValueChange::size).sum(),
                Write::ClusterTransaction(transaction) => transaction.size(),
                Write::Revisions(write) => write.size(),
            }
    }
}

impl DefinitionChange {
    fn size(&self) -> usize {
        size_of::<DefinitionChange>()
            + match self {
                DefinitionChange::Put { kind, name, definition, .. } => kind.len() + name.len() + definition.len(),
                DefinitionChange::Delete { kind, name } => kind.len() + name.len(),
            }
    }
}

/// Unreachable for callers: each kind of write has its own form of answer.
const OTHER_FORM: Error = Error::Bug { rule: "a write is answered in the form that belongs to it" };

impl Answer {
    /// The outcome of a batch.
    ///
    /// # Errors
    ///
    /// [`Error::Bug`]: the answer is to a write of another kind.
    pub fn outcome(self) -> Result<Outcome> {
        if let Answer::Outcome(outcome) = self { Ok(outcome) } else { Err(OTHER_FORM) }
    }

    /// The range of ids that a hi-lo request got.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn range(self) -> Result<HiLoRange> {
        if let Answer::Range(range) = self { Ok(range) } else { Err(OTHER_FORM) }
    }

    /// The number of an identity.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn number(self) -> Result<i64> {
        if let Answer::Number(number) = self { Ok(number) } else { Err(OTHER_FORM) }
    }

    /// The new id.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn id(self) -> Result<String> {
        if let Answer::Id(id) = self { Ok(id) } else { Err(OTHER_FORM) }
    }

    /// The number of documents that were deleted or handled, or of tombstones that were removed.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn count(self) -> Result<u64> {
        if let Answer::Count(count) = self { Ok(count) } else { Err(OTHER_FORM) }
    }

    /// What documents that were to be as at a time came to.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn reverted(self) -> Result<Reverted> {
        if let Answer::Reverted(reverted) = self { Ok(reverted) } else { Err(OTHER_FORM) }
    }

    /// For each document, in the order of the write, whether it was deleted.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn deleted(self) -> Result<Vec<bool>> {
        if let Answer::Deleted(deleted) = self { Ok(deleted) } else { Err(OTHER_FORM) }
    }

    /// The outcome of a change of a compare-exchange value.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn exchanged(self) -> Result<Exchanged> {
        if let Answer::Exchanged(exchanged) = self { Ok(exchanged) } else { Err(OTHER_FORM) }
    }

    /// The outcome of a cluster-wide transaction.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn transaction(self) -> Result<TransactionOutcome> {
        if let Answer::Transaction(outcome) = self { Ok(outcome) } else { Err(OTHER_FORM) }
    }

    /// The outcome for the documents of each result of an index, in the order of the write.
    ///
    /// # Errors
    ///
    /// As [`Self::outcome`].
    pub fn fates(self) -> Result<Vec<OutputFate>> {
        if let Answer::Fates(fates) = self { Ok(fates) } else { Err(OTHER_FORM) }
    }
}
