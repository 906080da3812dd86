//! A [`Write`] as bytes, for a log.
//!
//! ```text
//!  version 1 byte · kind 1 byte · fields in the order of the enum
//!  number   LEB128, 7 bits a byte, the lowest first; signed ones in zigzag
//!  text     number of bytes, the bytes; so are lists: number of elements, the elements
//!  option   0, or 1 and the value
//! ```
//!
//! The report of a patch is not encoded: only the proposing node answers the client, and it has the write itself.

use super::{DefinitionChange, OutputWrite, OutputWrites, Stamp, Write};
use crate::attachments::content::ContentSource;
use crate::commands::command::{Action, Command};
use crate::compare_exchange::GuardChange;
use crate::{
    AttachmentAction, AttachmentCommand, Batch, CollectionRevisions, ConstraintChange, CounterAction, CounterCommand,
    Error, Expected, NewContent, Result, RevertTo, RevisionsConfiguration, RevisionsWrite, Upload, ValueChange,
};

/// The version that is written.
pub(super) const VERSION: u8 = 4;

/// The oldest version that is read. In version 1 puts have no date of their own; before version 3 no batch has read compare-exchange
/// values; before version 4 no stamp configures revisions, and no batch skips them.
pub(super) const VERSION_MIN: u8 = 1;

/// The kinds of writes, as numbers that are stored: never reuse one.
pub(super) mod kind {
    pub const BATCH: u8 = 1;
    pub const NEXT_HILO: u8 = 2;
    pub const RETURN_HILO: u8 = 3;
    pub const NEXT_IDENTITY: u8 = 4;
    pub const SEED_IDENTITY: u8 = 5;
    pub const NEW_ID: u8 = 6;
    pub const DELETE_UNTIL: u8 = 7;
    pub const DELETE_COLLECTION: u8 = 8;
    pub const CLEAN_TOMBSTONES: u8 = 9;
    pub const DEFINITIONS: u8 = 10;
    pub const OUTPUTS: u8 = 11;
    pub const DUE: u8 = 12;
    pub const UPLOAD: u8 = 30;
    pub const EXCHANGE: u8 = 20;
    pub const EXCHANGES: u8 = 21;
    pub const CLUSTER_TRANSACTION: u8 = 22;
    pub const REVISIONS: u8 = 50;
    pub const PUT_CONSTRAINT: u8 = 40;
    pub const DELETE_CONSTRAINT: u8 = 41;
}

/// The kinds of commands, as numbers that are stored.
pub(super) mod action {
    pub const PUT: u8 = 1;
    pub const DELETE: u8 = 2;
    pub const DELETE_PREFIXED: u8 = 3;
    pub const TRACK_CHANGES: u8 = 4;
    pub const PATCHED: u8 = 5;
    pub const COUNTERS: u8 = 10;
    pub const CHECK_COUNTERS: u8 = 11;
    pub const ATTACHMENT: u8 = 12;
    /// As `PUT`, of a document that is no longer archived.
    pub const PUT_UNARCHIVED: u8 = 6;
    /// As `PUT`, and the state that it replaces becomes a revision.
    pub const PUT_REVISED: u8 = 30;
    pub const FORCE_REVISION: u8 = 31;
}

/// The changes of revisions, as numbers that are stored.
pub(super) mod revisions {
    pub const DELETE: u8 = 1;
    pub const ENFORCE: u8 = 2;
    pub const ADOPT: u8 = 3;
    pub const REVERT: u8 = 4;
    pub const IMPORT: u8 = 5;
    pub const CLEAN_BIN: u8 = 6;
    pub const IMPORT_WITH_CONTENTS: u8 = 7;
    pub const REVERT_TO_TIME: u8 = 8;
}

/// The steps of uploads, as numbers that are stored.
pub(super) mod upload {
    pub const APPEND: u8 = 1;
    pub const CANCEL: u8 = 2;
    pub const FREE: u8 = 3;
}

/// What becomes of an attachment, as numbers that are stored.
pub(super) mod attachment {
    pub const PUT: u8 = 1;
    pub const DELETE: u8 = 2;
    pub const MOVE: u8 = 3;
    pub const COPY: u8 = 4;
}

/// The places of contents, as numbers that are stored.
pub(super) mod content {
    pub const INLINE: u8 = 1;
    pub const UPLOAD: u8 = 2;
    pub const KNOWN: u8 = 3;
}

/// The operations on counters, as numbers that are stored.
pub(super) mod counter {
    pub const INCREMENT: u8 = 1;
    pub const DELETE: u8 = 2;
    pub const GET: u8 = 3;
    pub const GET_ALL: u8 = 4;
    pub const MERGE: u8 = 5;
}

impl Write {
    /// Appends the write as bytes that [`Write::decode`] reads.
    ///
    /// # Errors
    ///
    /// [`Error::BadBatch`] for a patch that is not resolved.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<()> {
        let mut out = Encoder { out };
        out.byte(VERSION);
        match self {
            Write::Batch { batch, has_results } => {
                out.byte(kind::BATCH);
                out.bool(*has_results);
                out.batch(batch)?;
            }
            Write::NextHiLo(request) => {
                out.byte(kind::NEXT_HILO);
                out.text(&request.tag);
                out.number(request.last_batch_size);
                out.option(request.last_range_at, |out, date| out.number(date.ticks()));
                out.option(request.separator, |out, separator| out.number(separator.into()));
                out.number(request.last_max);
            }
            Write::ReturnHiLo { tag, end, last } => {
                out.byte(kind::RETURN_HILO);
                out.text(tag);
                out.number(*end);
                out.number(*last);
            }
            Write::NextIdentity { name } => {
                out.byte(kind::NEXT_IDENTITY);
                out.text(name);
            }
            Write::SeedIdentity { name, value, is_forced } => {
                out.byte(kind::SEED_IDENTITY);
                out.text(name);
                out.signed(*value);
                out.bool(*is_forced);
            }
            Write::NewId { prefix } => {
                out.byte(kind::NEW_ID);
                out.text(prefix);
            }
            Write::DeleteUntil { ids, etag } => {
                out.byte(kind::DELETE_UNTIL);
                out.list(ids, |out, id| out.text(id));
                out.number(*etag);
            }
            Write::DeleteCollection { name, etag, count_max } => {
                out.byte(kind::DELETE_COLLECTION);
                out.text(name);
                out.number(*etag);
                out.number(*count_max as u64);
            }
            Write::CleanTombstones { etag, count_max } => {
                out.byte(kind::CLEAN_TOMBSTONES);
                out.number(*etag);
                out.number(*count_max as u64);
            }
            Write::Constraint(ConstraintChange::Put(constraint)) => {
                out.byte(kind::PUT_CONSTRAINT);
                out.text(&constraint.name);
                out.text(&constraint.collection);
                out.list(&constraint.fields, |out, field| out.text(field));
                out.bool(constraint.is_case_sensitive);
            }
            Write::Constraint(ConstraintChange::Delete(name)) => {
                out.byte(kind::DELETE_CONSTRAINT);
                out.text(name);
            }
            Write::Definitions(changes) => {
                out.byte(kind::DEFINITIONS);
                out.list(changes, Encoder::definition);
            }
            Write::Outputs(OutputWrites { only_if: (kind, name, generation), writes }) => {
                out.byte(kind::OUTPUTS);
                out.text(kind);
                out.text(name);
                out.wide(*generation);
                out.number(writes.len() as u64);
                for OutputWrite { batch, surplus } in writes {
                    out.batch(batch)?;
                    out.option(surplus.as_ref(), |out, (name, first)| {
                        out.text(name);
                        out.number(*first);
                    });
                }
            }
            Write::Upload(upload) => {
                out.byte(kind::UPLOAD);
                out.upload(upload);
            }
            Write::Exchange(change) => {
                out.byte(kind::EXCHANGE);
                out.value(change);
            }
            Write::Exchanges(changes) => {
                out.byte(kind::EXCHANGES);
                out.list(changes, Encoder::value);
            }
            Write::ClusterTransaction(transaction) => {
                out.byte(kind::CLUSTER_TRANSACTION);
                out.batch(&transaction.documents)?;
                out.list(&transaction.values, Encoder::value);
                out.list(&transaction.guards, Encoder::guard);
            }
            Write::Revisions(write) => {
                out.byte(kind::REVISIONS);
                out.revisions(write);
            }
            Write::Due { kind: due, until, count_max } => {
                out.byte(kind::DUE);
                out.byte(due.number());
                out.number(until.ticks());
                out.number(*count_max as u64);
            }
        }
        Ok(())
    }
}

impl Stamp {
    /// Appends the stamp as bytes that [`Stamp::decode`] reads.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut out = Encoder { out };
        out.byte(VERSION);
        out.number(self.time.ticks());
        out.number(self.id_separator.into());
        out.configuration(&self.revisions);
    }
}

struct Encoder<'o> {
    out: &'o mut Vec<u8>,
}

impl Encoder<'_> {
    fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    fn bool(&mut self, value: bool) {
        self.byte(value.into());
    }

    fn number(&mut self, mut number: u64) {
        while number > 0x7f {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    fn wide(&mut self, number: u128) {
        self.out.extend_from_slice(&number.to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.bool(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u64);
        list.iter().for_each(|element| write(self, element));
    }

    fn definition(&mut self, change: &DefinitionChange) {
        match change {
            DefinitionChange::Put { kind, name, generation, definition } => {
                self.bool(true);
                self.text(kind);
                self.text(name);
                self.wide(*generation);
                self.bytes(definition);
            }
            DefinitionChange::Delete { kind, name } => {
                self.bool(false);
                self.text(kind);
                self.text(name);
            }
        }
    }

    fn value(&mut self, change: &ValueChange) {
        self.text(&change.key);
        self.option(change.index, Encoder::number);
        self.option(change.content.as_ref(), |out, content| {
            out.bytes(&content.metadata);
            out.bytes(&content.body);
        });
    }

    fn guard(&mut self, guard: &GuardChange) {
        self.text(&guard.id);
        self.option(guard.index, Encoder::number);
        self.bool(guard.is_deletion);
    }

    fn configuration(&mut self, configuration: &RevisionsConfiguration) {
        fn limits(out: &mut Encoder<'_>, limits: &CollectionRevisions) {
            out.bool(limits.is_disabled);
            out.option(limits.count_min, Encoder::number);
            out.option(limits.age_min, Encoder::number);
            out.bool(limits.purges_on_delete);
            out.option(limits.delete_count_max, Encoder::number);
        }
        self.option(configuration.default.as_ref(), limits);
        self.list(&configuration.collections, |out, (name, configured)| {
            out.text(name);
            limits(out, configured);
        });
    }

    fn revisions(&mut self, write: &RevisionsWrite) {
        let texts = |out: &mut Self, texts: &[String]| out.list(texts, |out, text| out.text(text));
        match write {
            RevisionsWrite::Delete { document_ids, vectors, from, to, with_forced } => {
                self.byte(revisions::DELETE);
                texts(self, document_ids);
                texts(self, vectors);
                self.option(*from, |out, date| out.number(date.ticks()));
                self.option(*to, |out, date| out.number(date.ticks()));
                self.bool(*with_forced);
            }
            RevisionsWrite::Enforce { document_ids, with_forced } => {
                self.byte(revisions::ENFORCE);
                texts(self, document_ids);
                self.bool(*with_forced);
            }
            RevisionsWrite::Adopt { document_ids } => {
                self.byte(revisions::ADOPT);
                texts(self, document_ids);
            }
            RevisionsWrite::Revert(reverts) => {
                self.byte(revisions::REVERT);
                self.list(reverts, |out, (id, to)| {
                    out.text(id);
                    let vector = if let RevertTo::Vector(vector) = to { Some(vector.as_str()) } else { None };
                    out.option(vector, Encoder::text);
                });
            }
            RevisionsWrite::RevertToTime { document_ids, time } => {
                self.byte(revisions::REVERT_TO_TIME);
                texts(self, document_ids);
                self.number(time.ticks());
            }
            RevisionsWrite::CleanBin { before, count_max } => {
                self.byte(revisions::CLEAN_BIN);
                self.number(before.ticks());
                self.number(*count_max as u64);
            }
            RevisionsWrite::Import(imported) => {
                let has_contents = imported.iter().any(|revision| !revision.contents.is_empty());
                self.byte(if has_contents { revisions::IMPORT_WITH_CONTENTS } else { revisions::IMPORT });
                self.list(imported, |out, revision| {
                    out.text(&revision.document_id);
                    out.text(&revision.vector);
                    out.number(revision.last_modified.ticks());
                    out.number(revision.flags.0.into());
                    out.text(&revision.collection);
                    out.number(revision.sizes.server.into());
                    out.number(revision.sizes.metadata.into());
                    out.bytes(&revision.content);
                    if has_contents {
                        out.list(&revision.contents, |out, content| out.new_content(content));
                    }
                });
            }
        }
    }

    fn batch(&mut self, batch: &Batch) -> Result<()> {
        self.bool(batch.skip_unchanged);
        self.bool(batch.ids_are_whole);
        self.number(batch.flags.0.into());
        self.bool(batch.skips_revisions);
        self.list(&batch.reads, |out, (id, vector)| {
            out.text(id);
            out.option(vector.as_deref(), Encoder::text);
        });
        self.list(&batch.value_reads, |out, (key, index)| {
            out.text(key);
            out.number(*index);
        });
        self.list(batch.collections.names(), |out, name| out.text(name));
        self.bytes(&batch.text);
        self.commands(&batch.commands)
    }

    fn counters(&mut self, counters: &CounterCommand) {
        self.text(&counters.document_id);
        self.bool(counters.has_values);
        self.list(&counters.operations, |out, operation| {
            out.text(&operation.name);
            match &operation.action {
                CounterAction::Increment(delta) => {
                    out.byte(counter::INCREMENT);
                    out.signed(*delta);
                }
                CounterAction::Delete => out.byte(counter::DELETE),
                CounterAction::Get => out.byte(counter::GET),
                CounterAction::GetAll => out.byte(counter::GET_ALL),
                CounterAction::Merge(values) => {
                    out.byte(counter::MERGE);
                    out.list(values, |out, value| {
                        out.wide(u128::from_be_bytes(value.database));
                        out.signed(value.value);
                        out.number(value.etag);
                    });
                }
            }
        });
    }

    fn upload(&mut self, upload: &Upload) {
        match upload {
            Upload::Append { id, at, bytes } => {
                self.byte(upload::APPEND);
                self.wide(u128::from_be_bytes(id.0));
                self.number(*at);
                self.bytes(bytes);
            }
            Upload::Cancel(ids) => {
                self.byte(upload::CANCEL);
                self.list(ids, |out, id| out.wide(u128::from_be_bytes(id.0)));
            }
            Upload::Free => self.byte(upload::FREE),
        }
    }

    fn attachment(&mut self, command: &AttachmentCommand) -> Result<()> {
        self.text(&command.document_id);
        self.text(&command.name);
        match &command.action {
            AttachmentAction::Put { content_type, content, is_imported } => {
                let missing =
                    || Error::BadBatch { rule: "a batch whose contents were not given cannot be logged".to_owned() };
                self.byte(attachment::PUT);
                self.text(content_type);
                self.new_content(content.as_ref().ok_or_else(missing)?);
                self.bool(*is_imported);
            }
            AttachmentAction::Delete => self.byte(attachment::DELETE),
            AttachmentAction::Move { to_id, to_name } => {
                self.byte(attachment::MOVE);
                self.text(to_id);
                self.text(to_name);
            }
            AttachmentAction::Copy { to_id, to_name } => {
                self.byte(attachment::COPY);
                self.text(to_id);
                self.text(to_name);
            }
        }
        Ok(())
    }

    fn new_content(&mut self, new: &NewContent) {
        match &new.source {
            // The hash and the size follow from the bytes.
            ContentSource::Inline(bytes) => {
                self.byte(content::INLINE);
                self.bytes(bytes);
            }
            ContentSource::Upload(id) => {
                self.byte(content::UPLOAD);
                self.wide(u128::from_be_bytes(id.0));
                self.bytes(&new.hash.0);
                self.number(new.size);
            }
            ContentSource::Known => {
                self.byte(content::KNOWN);
                self.bytes(&new.hash.0);
            }
        }
    }

    fn commands(&mut self, commands: &[Command]) -> Result<()> {
        self.number(commands.len() as u64);
        commands.iter().try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &Command) -> Result<()> {
        match &command.action {
            Action::Put { content, collection, has_whole_id, last_modified, unarchives, forces_revision } => {
                self.byte(match (unarchives, forces_revision) {
                    (_, true) => action::PUT_REVISED,
                    (true, false) => action::PUT_UNARCHIVED,
                    (false, false) => action::PUT,
                });
                self.number(content.start as u64);
                self.number(content.metadata_size.into());
                self.number(content.body_size.into());
                self.option(*collection, |out, place| out.number(place as u64));
                self.bool(*has_whole_id);
                self.option(*last_modified, |out, date| out.number(date.ticks()));
            }
            Action::ForceRevision => self.byte(action::FORCE_REVISION),
            Action::Delete => self.byte(action::DELETE),
            Action::DeletePrefixed => self.byte(action::DELETE_PREFIXED),
            Action::TrackChanges(entities) => {
                self.byte(action::TRACK_CHANGES);
                self.list(entities, |out, (id, vector)| {
                    out.text(id);
                    out.text(vector);
                });
            }
            Action::Attachment(attachment) => {
                self.byte(action::ATTACHMENT);
                self.attachment(attachment)?;
            }
            Action::Counters(counters) => {
                self.byte(action::COUNTERS);
                self.counters(counters);
            }
            Action::CheckCounters(reads) => {
                self.byte(action::CHECK_COUNTERS);
                self.list(reads, |out, read| {
                    out.text(&read.document_id);
                    out.text(&read.name);
                    out.option(read.etag, Encoder::number);
                });
            }
            Action::Patched(patched) => {
                self.byte(action::PATCHED);
                self.commands(&patched.commands)?;
            }
            Action::Patch(_) => {
                let rule = "a batch with patches must be resolved before it is logged".to_owned();
                return Err(Error::BadBatch { rule });
            }
        }
        self.text(&command.id);
        match &command.expected {
            Expected::Any => self.byte(0),
            Expected::Missing => self.byte(1),
            Expected::Vector(vector) => {
                self.byte(2);
                self.text(vector);
            }
        }
        Ok(())
    }
}
