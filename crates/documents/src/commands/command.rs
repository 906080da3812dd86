//! The commands of a batch, as clients name them.

use super::patch::{PatchCommand, Patched};
use crate::wire::content::Content;
use crate::{AttachmentCommand, CounterCommand, Date, Etag};

/// One command of a batch, checked and taken apart.
#[derive(Clone, Debug)]
pub struct Command {
    /// The action.
    pub(crate) action: Action,
    /// The document; for a deletion by prefix the prefix. May ask for completion.
    pub(crate) id: String,
    /// The condition.
    pub(crate) expected: Expected,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// `collection` is the place of the name in the batch's list; None: no collection.
    Put {
        content: Content,
        collection: Option<usize>,
        /// The id is used as it is, however it ends.
        has_whole_id: bool,
        /// What the document bears in place of the time of the write.
        last_modified: Option<Date>,
        /// The document is no longer archived, if it was.
        unarchives: bool,
        /// The state that it replaces becomes a revision.
        forces_revision: bool,
    },
    /// The state of the document becomes a revision.
    ForceRevision,
    Delete,
    DeletePrefixed,
    /// Ids with the change vectors that they must still have.
    TrackChanges(Vec<(String, String)>),
    Attachment(Box<AttachmentCommand>),
    Counters(CounterCommand),
    /// Counters that patches read, with the etags that they must still have when the batch begins. Stands among the commands of a patch.
    CheckCounters(Vec<CounterRead>),
    /// To be resolved before it is run.
    Patch(Box<PatchCommand>),
    Patched(Box<Patched>),
}

/// A counter that a patch read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CounterRead {
    pub document_id: String,
    pub name: String,
    /// `None`: there was none.
    pub etag: Option<Etag>,
}

/// The precondition of a write (optimistic concurrency).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Anything.
    Any,
    /// There is no such document.
    Missing,
    /// It has this change vector.
    Vector(String),
}

impl Expected {
    /// As clients write it: nothing for no check, empty text for a document that must not exist.
    pub fn from_wire(text: Option<&str>) -> Expected {
        match text {
            None => Expected::Any,
            Some("") => Expected::Missing,
            Some(vector) => Expected::Vector(vector.to_owned()),
        }
    }

    pub(crate) fn as_wire(&self) -> &str {
        match self {
            Expected::Any | Expected::Missing => "",
            Expected::Vector(vector) => vector,
        }
    }
}

/// Every type of command that clients send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the name of a command on the wire")]
pub enum CommandKind {
    Put,
    Delete,
    Patch,
    BatchPatch,
    JsonPatch,
    AttachmentPut,
    AttachmentDelete,
    AttachmentMove,
    AttachmentCopy,
    Counters,
    TimeSeries,
    TimeSeriesWithIncrements,
    TimeSeriesBulkInsert,
    TimeSeriesCopy,
    CompareExchangePut,
    CompareExchangeDelete,
    ForceRevisionCreation,
    BatchTrackChanges,
    HeartBeat,
}

const KINDS: [(CommandKind, &str); 19] = [
    (CommandKind::Put, "PUT"),
    (CommandKind::Delete, "DELETE"),
    (CommandKind::Patch, "PATCH"),
    (CommandKind::BatchPatch, "BatchPATCH"),
    (CommandKind::JsonPatch, "JsonPatch"),
    (CommandKind::AttachmentPut, "AttachmentPUT"),
    (CommandKind::AttachmentDelete, "AttachmentDELETE"),
    (CommandKind::AttachmentMove, "AttachmentMOVE"),
    (CommandKind::AttachmentCopy, "AttachmentCOPY"),
    (CommandKind::Counters, "Counters"),
    (CommandKind::TimeSeries, "TimeSeries"),
    (CommandKind::TimeSeriesWithIncrements, "TimeSeriesWithIncrements"),
    (CommandKind::TimeSeriesBulkInsert, "TimeSeriesBulkInsert"),
    (CommandKind::TimeSeriesCopy, "TimeSeriesCopy"),
    (CommandKind::CompareExchangePut, "CompareExchangePUT"),
    (CommandKind::CompareExchangeDelete, "CompareExchangeDELETE"),
    (CommandKind::ForceRevisionCreation, "ForceRevisionCreation"),
    (CommandKind::BatchTrackChanges, "BatchTrackChanges"),
    (CommandKind::HeartBeat, "HeartBeat"),
];

impl CommandKind {
    /// The kind that clients call so.
    pub fn from_wire(name: &str) -> Option<CommandKind> {
        KINDS.iter().find(|(_, wire)| wire.eq_ignore_ascii_case(name)).map(|(kind, _)| *kind)
    }

    /// The name on the wire.
    pub fn wire_name(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, wire)| wire)
    }
}
