//! Reads what `encode.rs` writes. Bytes that are no write are refused; they never panic, and take no more memory than some times their
//! size.

use std::sync::Arc;

use super::encode::{VERSION, VERSION_MIN, action, attachment, content, counter, kind, revisions, upload};
use super::{DefinitionChange, OutputWrite, OutputWrites, Stamp, Write};
use crate::commands::batch::Collections;
use crate::commands::command::{Action, Command, CounterRead};
use crate::commands::patch::Patched;
use crate::compare_exchange::{GuardChange, ValueContent, check_key};
use crate::ids::id;
use crate::limits::DOCUMENT_SIZE_MAX;
use crate::wire::content::Content;
use crate::{
    AttachmentAction, AttachmentCommand, Batch, ClusterTransaction, CollectionRevisions, ConstraintChange, ContentHash,
    CounterAction, CounterCommand, CounterOperation, Date, DueKind, Error, Expected, Flags, HiLoRequest,
    ImportedRevision, NewContent, NodeValue, Result, RevertTo, RevisionsConfiguration, RevisionsWrite,
    UniqueConstraint, Upload, UploadId, ValueChange,
};

impl Write {
    /// Reads a write that [`Write::encode`] wrote.
    ///
    /// # Errors
    ///
    /// [`Error::BadWrite`] if the bytes are none, or of another version; [`Error::BadId`] for an id that cannot be one.
    pub fn decode(bytes: &[u8]) -> Result<Write> {
        let mut from = Decoder { rest: bytes, version: VERSION, deletes_by_prefix: false };
        from.version()?;
        let write = match from.byte()? {
            kind::BATCH => {
                let has_results = from.bool()?;
                Write::Batch { batch: from.batch()?, has_results }
            }
            kind::NEXT_HILO => Write::NextHiLo(HiLoRequest {
                tag: from.text()?,
                last_batch_size: from.number()?,
                last_range_at: from.option(|from| Ok(Date::from_ticks(from.number()?)))?,
                separator: from.option(Decoder::char)?,
                last_max: from.number()?,
            }),
            kind::RETURN_HILO => Write::ReturnHiLo { tag: from.text()?, end: from.number()?, last: from.number()? },
            kind::NEXT_IDENTITY => Write::NextIdentity { name: from.text()? },
            kind::SEED_IDENTITY => {
                Write::SeedIdentity { name: from.text()?, value: from.signed()?, is_forced: from.bool()? }
            }
            kind::NEW_ID => Write::NewId { prefix: from.text()? },
            kind::DELETE_UNTIL => Write::DeleteUntil { ids: from.list(Decoder::text)?, etag: from.number()? },
            kind::DELETE_COLLECTION => {
                Write::DeleteCollection { name: from.text()?, etag: from.number()?, count_max: from.size()? }
            }
            kind::CLEAN_TOMBSTONES => Write::CleanTombstones { etag: from.number()?, count_max: from.size()? },
            kind::PUT_CONSTRAINT => Write::Constraint(ConstraintChange::Put(UniqueConstraint {
                name: from.text()?,
                collection: from.text()?,
                fields: from.list(Decoder::text)?,
                is_case_sensitive: from.bool()?,
            })),
            kind::DELETE_CONSTRAINT => Write::Constraint(ConstraintChange::Delete(from.text()?)),
            kind::DEFINITIONS => Write::Definitions(from.list(Decoder::definition)?),
            kind::OUTPUTS => Write::Outputs(OutputWrites {
                only_if: (from.text()?, from.text()?, from.wide()?),
                writes: from.list(Decoder::output)?,
            }),
            kind::UPLOAD => Write::Upload(from.upload()?),
            kind::EXCHANGE => Write::Exchange(from.value()?),
            kind::EXCHANGES => Write::Exchanges(from.list(Decoder::value)?),
            kind::CLUSTER_TRANSACTION => Write::ClusterTransaction(ClusterTransaction {
                documents: from.batch()?,
                values: from.list(Decoder::value)?,
                guards: from.list(Decoder::guard)?,
            }),
            kind::REVISIONS => Write::Revisions(from.revisions()?),
            kind::DUE => Write::Due {
                kind: DueKind::from_number(from.byte()?).ok_or(bad("what is due is of a known kind"))?,
                until: Date::from_ticks(from.number()?),
                count_max: from.size()?,
            },
            _ => return Err(bad("its kind is not known")),
        };
        from.end()?;
        Ok(write)
    }
}

impl Stamp {
    /// Reads a stamp that [`Stamp::encode`] wrote.
    ///
    /// # Errors
    ///
    /// [`Error::BadWrite`] if the bytes are none, or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Stamp> {
        let mut from = Decoder { rest: bytes, version: VERSION, deletes_by_prefix: false };
        from.version()?;
        let stamp = Stamp {
            time: Date::from_ticks(from.number()?),
            id_separator: from.char()?,
            revisions: match from.version {
                1..=3 => Arc::default(),
                _ => Arc::new(from.configuration()?),
            },
        };
        from.end()?;
        Ok(stamp)
    }
}

fn bad(rule: &'static str) -> Error {
    Error::BadWrite { rule }
}

struct Decoder<'b> {
    rest: &'b [u8],
    version: u8,
    /// Whether the batch that is read deletes documents by prefix.
    deletes_by_prefix: bool,
}

impl<'b> Decoder<'b> {
    fn version(&mut self) -> Result<()> {
        self.version = self.byte()?;
        if (VERSION_MIN..=VERSION).contains(&self.version) { Ok(()) } else { Err(bad("its version is not known")) }
    }

    fn end(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(bad("bytes follow its end")) }
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(bad("it ends early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        let (byte, rest) = self.rest.split_first().ok_or(bad("it ends early"))?;
        self.rest = rest;
        Ok(*byte)
    }

    fn bool(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(bad("a truth value is 0 or 1")),
        }
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(bad("a number has 64 bits at most"))
    }

    fn signed(&mut self) -> Result<i64> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn small(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| bad("a number has 32 bits at most"))
    }

    fn size(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| bad("a size is addressable"))
    }

    fn wide(&mut self) -> Result<u128> {
        let bytes = self.take(16)?;
        bytes.try_into().map(u128::from_be_bytes).map_err(|_| bad("it ends early"))
    }

    fn bytes(&mut self) -> Result<&'b [u8]> {
        let size = self.size()?;
        self.take(size)
    }

    fn text(&mut self) -> Result<String> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|_| bad("text is UTF-8"))?;
        Ok(text.to_owned())
    }

    fn char(&mut self) -> Result<char> {
        char::from_u32(self.small()?).ok_or(bad("a separator is a character"))
    }

    fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.bool()? { read(self).map(Some) } else { Ok(None) }
    }

    /// Memory is taken as elements are read, each of which has a byte at least.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.size()?;
        if count > self.rest.len() {
            return Err(bad("it ends early"));
        }
        (0..count).map(|_| read(self)).collect()
    }

    fn definition(&mut self) -> Result<DefinitionChange> {
        Ok(match self.bool()? {
            true => DefinitionChange::Put {
                kind: self.text()?,
                name: self.text()?,
                generation: self.wide()?,
                definition: self.bytes()?.to_vec(),
            },
            false => DefinitionChange::Delete { kind: self.text()?, name: self.text()? },
        })
    }

    fn value(&mut self) -> Result<ValueChange> {
        let (key, index) = (self.text()?, self.option(Decoder::number)?);
        let content =
            self.option(|from| Ok(ValueContent { metadata: from.bytes()?.to_vec(), body: from.bytes()?.to_vec() }))?;
        check_key(&key)?;
        let size = content.as_ref().map_or(0, |content| content.metadata.len().max(content.body.len()));
        if size > DOCUMENT_SIZE_MAX {
            return Err(bad("a compare-exchange value is within its limit"));
        }
        Ok(ValueChange { key, index, content })
    }

    fn guard(&mut self) -> Result<GuardChange> {
        Ok(GuardChange { id: self.text()?, index: self.option(Decoder::number)?, is_deletion: self.bool()? })
    }

    fn output(&mut self) -> Result<OutputWrite> {
        Ok(OutputWrite { batch: self.batch()?, surplus: self.option(|from| Ok((from.text()?, from.number()?)))? })
    }

    fn batch(&mut self) -> Result<Batch> {
        let mut batch = Batch {
            skip_unchanged: self.bool()?,
            ids_are_whole: self.bool()?,
            flags: Flags(self.small()?),
            skips_revisions: self.version > 3 && self.bool()?,
            reads: self.list(|from| Ok((from.text()?, from.option(Decoder::text)?)))?,
            value_reads: match self.version {
                1 | 2 => Vec::new(),
                _ => self.list(|from| Ok((from.text()?, from.number()?)))?,
            },
            ..Batch::default()
        };
        let names = self.list(Decoder::text)?;
        batch.collections = Collections::of(names, &mut batch.held_bytes);
        batch.text = self.bytes()?.to_vec();
        self.deletes_by_prefix = false;
        for command in self.commands(&batch, true)? {
            batch.push(command);
        }
        batch.deletes_by_prefix = self.deletes_by_prefix;
        Ok(batch)
    }

    /// * `is_outer`: whether there may be patches among them, which have commands of their own.
    fn commands(&mut self, batch: &Batch, is_outer: bool) -> Result<Vec<Command>> {
        self.list(|from| from.command(batch, is_outer))
    }

    fn command(&mut self, batch: &Batch, is_outer: bool) -> Result<Command> {
        let action = match self.byte()? {
            kind @ (action::PUT | action::PUT_UNARCHIVED | action::PUT_REVISED) => Action::Put {
                content: self.content(batch)?,
                collection: self.option(|from| from.collection(batch))?,
                has_whole_id: self.bool()?,
                last_modified: match self.version {
                    1 => None,
                    _ => self.option(|from| Ok(Date::from_ticks(from.number()?)))?,
                },
                unarchives: kind == action::PUT_UNARCHIVED,
                forces_revision: kind == action::PUT_REVISED,
            },
            action::FORCE_REVISION => Action::ForceRevision,
            action::DELETE => Action::Delete,
            action::DELETE_PREFIXED => {
                self.deletes_by_prefix = true;
                Action::DeletePrefixed
            }
            action::TRACK_CHANGES => Action::TrackChanges(self.list(|from| Ok((from.text()?, from.text()?)))?),
            action::ATTACHMENT => Action::Attachment(Box::new(self.attachment()?)),
            action::COUNTERS => Action::Counters(self.counters()?),
            action::CHECK_COUNTERS if !is_outer => Action::CheckCounters(self.list(|from| {
                Ok(CounterRead { document_id: from.text()?, name: from.text()?, etag: from.option(Decoder::number)? })
            })?),
            action::PATCHED if is_outer => {
                Action::Patched(Box::new(Patched { commands: self.commands(batch, false)?, report: None }))
            }
            _ => return Err(bad("the kind of a command is not known")),
        };
        let id = self.text()?;
        if matches!(action, Action::Put { .. } | Action::Delete | Action::DeletePrefixed | Action::ForceRevision) {
            id::check(&id)?;
        }
        let expected = match self.byte()? {
            0 => Expected::Any,
            1 => Expected::Missing,
            2 => Expected::Vector(self.text()?),
            _ => return Err(bad("a condition is one of three")),
        };
        Ok(Command { action, id, expected })
    }

    fn upload_id(&mut self) -> Result<UploadId> {
        Ok(UploadId(self.wide()?.to_be_bytes()))
    }

    fn upload(&mut self) -> Result<Upload> {
        Ok(match self.byte()? {
            upload::APPEND => {
                Upload::Append { id: self.upload_id()?, at: self.number()?, bytes: self.bytes()?.to_vec() }
            }
            upload::CANCEL => Upload::Cancel(self.list(Decoder::upload_id)?),
            upload::FREE => Upload::Free,
            _ => return Err(bad("the step of an upload is not known")),
        })
    }

    fn attachment(&mut self) -> Result<AttachmentCommand> {
        let (document_id, name) = (self.text()?, self.text()?);
        let action = match self.byte()? {
            attachment::PUT => AttachmentAction::Put {
                content_type: self.text()?,
                content: Some(self.new_content()?),
                is_imported: self.bool()?,
            },
            attachment::DELETE => AttachmentAction::Delete,
            attachment::MOVE => AttachmentAction::Move { to_id: self.text()?, to_name: self.text()? },
            attachment::COPY => AttachmentAction::Copy { to_id: self.text()?, to_name: self.text()? },
            _ => return Err(bad("what becomes of an attachment is not known")),
        };
        AttachmentCommand::new(&document_id, &name, action)
    }

    fn new_content(&mut self) -> Result<NewContent> {
        let place = self.byte()?;
        match place {
            content::INLINE => Ok(NewContent::inline(self.bytes()?)),
            content::UPLOAD => {
                let id = self.upload_id()?;
                Ok(NewContent::uploaded(id, self.hash()?, self.number()?))
            }
            content::KNOWN => Ok(NewContent::known(self.hash()?)),
            _ => Err(bad("the place of a content is not known")),
        }
    }

    fn hash(&mut self) -> Result<ContentHash> {
        self.bytes()?.try_into().map(ContentHash).map_err(|_| bad("a hash has 256 bits"))
    }

    fn counters(&mut self) -> Result<CounterCommand> {
        let (document_id, has_values) = (self.text()?, self.bool()?);
        CounterCommand::new(&document_id, self.list(Decoder::counter_operation)?, has_values)
    }

    fn counter_operation(&mut self) -> Result<CounterOperation> {
        let name = self.text()?;
        let action = match self.byte()? {
            counter::INCREMENT => CounterAction::Increment(self.signed()?),
            counter::DELETE => CounterAction::Delete,
            counter::GET => CounterAction::Get,
            counter::GET_ALL => CounterAction::GetAll,
            counter::MERGE => CounterAction::Merge(self.list(|from| {
                let database = from.wide()?.to_be_bytes();
                Ok(NodeValue { database, value: from.signed()?, etag: from.number()? })
            })?),
            _ => return Err(bad("the operation on a counter is not known")),
        };
        Ok(CounterOperation { name, action })
    }

    fn configuration(&mut self) -> Result<RevisionsConfiguration> {
        Ok(RevisionsConfiguration {
            default: self.option(Decoder::limits)?,
            collections: self.list(|from| Ok((from.text()?, from.limits()?)))?,
        })
    }

    fn limits(&mut self) -> Result<CollectionRevisions> {
        Ok(CollectionRevisions {
            is_disabled: self.bool()?,
            count_min: self.option(Decoder::number)?,
            age_min: self.option(Decoder::number)?,
            purges_on_delete: self.bool()?,
            delete_count_max: self.option(Decoder::number)?,
        })
    }

    fn revisions(&mut self) -> Result<RevisionsWrite> {
        let date = |from: &mut Self| Ok(Date::from_ticks(from.number()?));
        Ok(match self.byte()? {
            revisions::DELETE => RevisionsWrite::Delete {
                document_ids: self.list(Decoder::text)?,
                vectors: self.list(Decoder::text)?,
                from: self.option(date)?,
                to: self.option(date)?,
                with_forced: self.bool()?,
            },
            revisions::ENFORCE => {
                RevisionsWrite::Enforce { document_ids: self.list(Decoder::text)?, with_forced: self.bool()? }
            }
            revisions::ADOPT => RevisionsWrite::Adopt { document_ids: self.list(Decoder::text)? },
            revisions::REVERT => RevisionsWrite::Revert(self.list(|from| {
                let (id, vector) = (from.text()?, from.option(Decoder::text)?);
                Ok((id, vector.map_or(RevertTo::Deleted, RevertTo::Vector)))
            })?),
            revisions::REVERT_TO_TIME => {
                RevisionsWrite::RevertToTime { document_ids: self.list(Decoder::text)?, time: date(self)? }
            }
            revisions::CLEAN_BIN => RevisionsWrite::CleanBin { before: date(self)?, count_max: self.size()? },
            revisions::IMPORT => RevisionsWrite::Import(self.list(Decoder::imported_revision)?),
            revisions::IMPORT_WITH_CONTENTS => RevisionsWrite::Import(self.list(|from| {
                let revision = from.imported_revision()?;
                Ok(revision.with_contents(from.list(Decoder::new_content)?))
            })?),
            _ => return Err(bad("the change of revisions is not known")),
        })
    }

    fn imported_revision(&mut self) -> Result<ImportedRevision> {
        let (document_id, vector) = (self.text()?, self.text()?);
        let (last_modified, flags) = (Date::from_ticks(self.number()?), Flags(self.small()?));
        let (collection, server, metadata) = (self.text()?, self.small()?, self.small()?);
        let content = self.bytes()?;
        id::check_new(&document_id)?;
        ImportedRevision::of_parts(document_id, vector, last_modified, flags, collection, (server, metadata, content))
    }

    fn content(&mut self, batch: &Batch) -> Result<Content> {
        let content = Content { start: self.size()?, metadata_size: self.small()?, body_size: self.small()? };
        let size = content.metadata_size as usize + content.body_size as usize;
        match content.start.checked_add(size) {
            Some(end) if end <= batch.text.len() => Ok(content),
            _ => Err(bad("a document lies in the text of its batch")),
        }
    }

    fn collection(&mut self, batch: &Batch) -> Result<usize> {
        let place = self.size()?;
        match batch.collections.name(place) {
            Some(_) => Ok(place),
            None => Err(bad("a collection is one of its batch")),
        }
    }
}
