//! A batch of commands: one transaction. Made from what clients send, before the write transaction, on any thread.
//!
//! Everything that needs no look at the database happens here: JSON is checked, documents are taken apart, ids are checked,
//! GUIDs are made. What is left for the one writer is to look up, decide and put bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use json::{Kind, Minifier, Raw};

use super::attachments::attachment_command;
use super::command::{Action, Command, CommandKind, Expected};
use super::patch::{PatchCommand, PatchForm};
use crate::due;
use crate::ids::id;
use crate::wire::content::{self, FoundMetadata, not_an_object};
use crate::{CounterCommand, Date, Error, Feature, Flags, JsonPatchRequest, PatchRequest, Result};

thread_local! {
    static MINIFIER: RefCell<Minifier> = RefCell::new(Minifier::new());
}

/// Commands that are applied together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Stored metadata and bodies of all documents.
    pub(crate) text: Vec<u8>,
    pub(crate) commands: Vec<Command>,
    /// Bytes of the commands, with what they point to.
    pub(crate) held_bytes: usize,
    pub(crate) collections: Collections,
    pub(crate) skip_unchanged: bool,
    /// The ids read while the batch was made, each with its change vector (`None`: missing). The batch runs only if all are unchanged.
    pub(crate) reads: Vec<(String, Option<String>)>,
    /// The same for compare-exchange values: keys and indexes (0: missing).
    pub(crate) value_reads: Vec<(String, u64)>,
    /// Ids that end as if they were to be completed are used as they are.
    pub(crate) ids_are_whole: bool,
    /// Of the documents that it writes.
    pub(crate) flags: Flags,
    /// See [`Self::without_revisions`].
    pub(crate) skips_revisions: bool,
    /// Reports of its patches have the documents as they were.
    pub(crate) keeps_originals: bool,
    /// See [`Self::deletes_by_prefix`].
    pub(crate) deletes_by_prefix: bool,
}

/// Names of collections, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collections {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Collections {
    /// Those with these names, in this order.
    pub fn of(names: Vec<String>, held_bytes: &mut usize) -> Collections {
        let mut collections = Collections::default();
        for (place, name) in names.into_iter().enumerate() {
            *held_bytes += Self::size_of(&name);
            collections.places.insert(name.clone(), place);
            collections.names.push(name);
        }
        collections
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Bytes that a name takes here.
    fn size_of(name: &str) -> usize {
        2 * (size_of::<String>() + name.len()) + size_of::<usize>()
    }

    pub fn name(&self, place: usize) -> Option<&str> {
        self.names.get(place).map(String::as_str)
    }

    /// The place of a name. Batches touch few collections, mostly the one of the command before.
    fn place(&mut self, name: &str, held_bytes: &mut usize) -> usize {
        if self.names.last().is_some_and(|last| last == name) {
            return self.names.len() - 1;
        }
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        *held_bytes += Self::size_of(name);
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

impl Batch {
    /// A batch without commands.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// A batch that an index writes: its documents have the flags that say so, ids are used as they are, and what is stored
    /// already is not written again.
    pub fn of_index() -> Batch {
        Batch { flags: Flags::OF_INDEX, ids_are_whole: true, skip_unchanged: true, ..Batch::default() }
    }

    /// Documents equal to what is stored are not written again.
    pub fn skip_unchanged(mut self, skip: bool) -> Batch {
        self.skip_unchanged = skip;
        self
    }

    /// The documents that it writes have these flags in place of those of another writer.
    pub fn with_flags(mut self, flags: Flags) -> Batch {
        self.flags = flags;
        self
    }

    /// Its documents make no revisions, whatever is configured.
    pub fn without_revisions(mut self, skips: bool) -> Batch {
        self.skips_revisions = skips;
        self
    }

    /// Reports of its patches have the documents as they were, for a dry run.
    pub fn keeping_originals(mut self) -> Batch {
        self.keeps_originals = true;
        self
    }

    /// A batch for each of its commands, in order.
    pub fn singles(&self) -> impl Iterator<Item = Batch> {
        self.commands.iter().map(|command| {
            let (skip_unchanged, ids_are_whole, flags) = (self.skip_unchanged, self.ids_are_whole, self.flags);
            let skips_revisions = self.skips_revisions;
            let mut single = Batch { skip_unchanged, ids_are_whole, flags, skips_revisions, ..Batch::default() };
            let mut command = command.clone();
            if let Action::Put { content, collection, .. } = &mut command.action {
                single.text.extend_from_slice(content.bytes(&self.text));
                content.start = 0;
                let name = collection.and_then(|place| self.collections.name(place));
                *collection = name.map(|name| single.collections.place(name, &mut single.held_bytes));
            }
            single.deletes_by_prefix = matches!(command.action, Action::DeletePrefixed);
            single.push(command);
            single
        })
    }

    /// The id of its first command; empty: there is none.
    pub fn first_id(&self) -> &str {
        self.commands.first().map_or("", |command| &command.id)
    }

    /// Number of commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Number of operations on counters.
    pub fn counter_operation_count(&self) -> u64 {
        let of_counters = |command: &Command| match &command.action {
            Action::Counters(counters) => counters.operations.len() as u64,
            _ => 0,
        };
        self.commands.iter().map(of_counters).sum()
    }

    /// Whether there is no command.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Bytes that the batch holds in memory, about.
    pub fn size(&self) -> usize {
        self.text.len() + self.held_bytes
    }

    /// True if it deletes documents by prefix: then its size does not bound how much it changes.
    pub fn deletes_by_prefix(&self) -> bool {
        self.deletes_by_prefix
    }

    /// Adds the storing of one document, given as JSON. An id that ends with `/` or `|` is completed.
    ///
    /// # Errors
    ///
    /// The JSON is not acceptable or no object, or the id cannot be one.
    pub fn put(&mut self, id: &str, document: &[u8], expected: Expected) -> Result<()> {
        MINIFIER.with_borrow_mut(|minifier| {
            let document = minifier.minify(document)?;
            self.push_put(id, document, expected)
        })
    }

    /// Adds the deletion of one document.
    ///
    /// # Errors
    ///
    /// The id cannot be one.
    pub fn delete(&mut self, id: &str, expected: Expected) -> Result<()> {
        id::check(id)?;
        self.push(Command { action: Action::Delete, id: id.to_owned(), expected });
        Ok(())
    }

    /// Adds the deletion of all documents whose id begins with `prefix`.
    ///
    /// # Errors
    ///
    /// The prefix cannot be the start of an id.
    pub fn delete_prefixed(&mut self, prefix: &str) -> Result<()> {
        id::check(prefix)?;
        self.deletes_by_prefix = true;
        self.push(Command { action: Action::DeletePrefixed, id: prefix.to_owned(), expected: Expected::Any });
        Ok(())
    }

    /// Adds the patch of one document. The batch has to be [resolved](Self::resolve) before it is run.
    ///
    /// # Errors
    ///
    /// The id cannot be one.
    pub fn patch(&mut self, id: &str, expected: Expected, request: PatchRequest) -> Result<()> {
        id::check(id)?;
        let form = PatchForm::Script(request);
        self.push_patch(PatchCommand { form, ids: vec![(id.to_owned(), expected)], is_of_many: false });
        Ok(())
    }

    /// Adds a JSON Patch of one document, which has to be there. The batch has to be [resolved](Self::resolve) before it is run.
    ///
    /// # Errors
    ///
    /// The id cannot be one.
    pub fn json_patch(&mut self, id: &str, expected: Expected, request: JsonPatchRequest) -> Result<()> {
        id::check(id)?;
        let form = PatchForm::Json(request);
        self.push_patch(PatchCommand { form, ids: vec![(id.to_owned(), expected)], is_of_many: false });
        Ok(())
    }

    /// Adds one patch of several documents: `[{"Id","ChangeVector"}]`.
    fn patch_many(&mut self, request: PatchRequest, ids: Option<Raw<'_>>) -> Result<()> {
        let bad = || Error::BadBatch { rule: "BatchPATCH command must have an array 'Ids'".to_owned() };
        let mut patched = Vec::new();
        for element in ids.filter(|ids| ids.kind() == Kind::Array).ok_or_else(bad)?.elements() {
            let id = element.get("Id").map_or(Ok(None), |id| text("Id", id))?.unwrap_or_default();
            let vector = element.get("ChangeVector").map_or(Ok(None), |vector| text("ChangeVector", vector))?;
            id::check(&id)?;
            patched.push((id.into_owned(), Expected::from_wire(vector.as_deref())));
        }
        self.push_patch(PatchCommand { form: PatchForm::Script(request), ids: patched, is_of_many: true });
        Ok(())
    }

    fn push_patch(&mut self, patch: PatchCommand) {
        let ids = patch.ids.iter().map(|(id, expected)| size_of_val(id) + id.len() + expected.as_wire().len());
        self.held_bytes += patch.form.size() + ids.sum::<usize>();
        self.push(Command { action: Action::Patch(Box::new(patch)), id: String::new(), expected: Expected::Any });
    }

    /// One element of a bulk insert, as cut out of the stream. False: it only kept the connection alive. Its client never
    /// learns the ids, so that none is made from an identity.
    ///
    /// # Errors
    ///
    /// The element is not acceptable, or a command that is unknown or not supported yet.
    pub fn push_bulk_element(&mut self, element: &[u8]) -> Result<bool> {
        let is_command = MINIFIER.with_borrow_mut(|minifier| {
            let element = minifier.minify(element)?;
            self.push_command(element)
        })?;
        if let Some(command) = self.commands.pop_if(|command| is_command && command.id.ends_with('|')) {
            return Err(Error::BadId { id: command.id, rule: "Document ids cannot end with '|' in a bulk insert" });
        }
        Ok(is_command)
    }

    /// As [`put`](Self::put), for a document that is minified already.
    ///
    /// # Errors
    ///
    /// It is no object, or the id cannot be one.
    pub fn push_put(&mut self, id: &str, document: Raw<'_>, expected: Expected) -> Result<()> {
        let id = if id.is_empty() { id::random_guid() } else { id.to_owned() };
        id::check(&id)?;
        let (content, collection) = content::split(&mut self.text, document)?;
        due::check(content.metadata(&self.text))?;
        let collection = collection.map(|name| self.collections.place(&name, &mut self.held_bytes));
        let action = Action::Put {
            content,
            collection,
            has_whole_id: false,
            last_modified: None,
            unarchives: false,
            forces_revision: false,
        };
        self.push(Command { action, id, expected });
        Ok(())
    }

    /// Adds a document that comes from another database, minified: its id is whole, however it ends, and it keeps its date.
    ///
    /// # Errors
    ///
    /// It is no object, or the id cannot be one.
    pub fn push_imported(&mut self, id: &str, document: &FoundMetadata<'_>, last_modified: Option<Date>) -> Result<()> {
        id::check_new(id)?;
        self.push_whole(id, document, last_modified)
    }

    /// Adds a former state of a document, minified.
    pub(crate) fn push_restored(&mut self, id: &str, document: Raw<'_>) -> Result<()> {
        id::check(id)?;
        self.push_whole(id, &FoundMetadata::of(document), None)
    }

    fn push_whole(&mut self, id: &str, document: &FoundMetadata<'_>, last_modified: Option<Date>) -> Result<()> {
        let (content, collection) = content::split_found(&mut self.text, document)?;
        due::check(content.metadata(&self.text))?;
        let collection = collection.map(|name| self.collections.place(&name, &mut self.held_bytes));
        // It is archived if those of its batch are, whatever it replaces.
        let unarchives = !self.flags.is_archived();
        let action =
            Action::Put { content, collection, has_whole_id: true, last_modified, unarchives, forces_revision: false };
        self.push(Command { action, id: id.to_owned(), expected: Expected::Any });
        Ok(())
    }

    /// Adds operations on the counters of a document.
    pub fn push_counters(&mut self, counters: CounterCommand) {
        self.held_bytes += counters.size();
        let id = counters.document_id.clone();
        self.push(Command { action: Action::Counters(counters), id, expected: Expected::Any });
    }

    pub(crate) fn push(&mut self, command: Command) {
        self.held_bytes += size_of::<Command>() + command.id.len() + command.expected.as_wire().len();
        self.commands.push(command);
    }

    /// Adds a command; false: it only kept the connection alive.
    pub(crate) fn push_command(&mut self, command: Raw<'_>) -> Result<bool> {
        if command.kind() != Kind::Object {
            return Err(not_an_object("a command", command));
        }
        let (mut kind, mut id, mut vector, mut document, mut tracked) = (None, None, None, None, None);
        let (mut ids, mut counters, mut json_patch) = (None, None, None);
        let (mut is_prefixed, mut is_from_etl, mut returns_document) = (false, false, false);
        let mut forces_revision = false;
        for (name, value) in command.members() {
            match name.escaped() {
                b"Type" => kind = text("Type", value)?,
                b"Id" => id = text("Id", value)?,
                // Nothing of another kind may pass for "no condition".
                b"ChangeVector" => vector = text("ChangeVector", value)?,
                b"Document" => document = Some(value),
                b"IdPrefixed" => is_prefixed = flag("IdPrefixed", value)?,
                b"TrackedEntities" => tracked = Some(value),
                b"Ids" => ids = Some(value),
                b"Counters" => counters = Some(value),
                b"JsonPatch" => json_patch = Some(value),
                b"ReturnDocument" => returns_document = flag("ReturnDocument", value)?,
                b"FromEtl" => is_from_etl = flag("FromEtl", value)?,
                b"ForceRevisionCreationStrategy" => {
                    let strategy = text("ForceRevisionCreationStrategy", value)?;
                    forces_revision = match strategy.as_deref() {
                        None | Some("None") => false,
                        Some("Before") => true,
                        Some(other) => {
                            let shown: String = other.chars().take(80).collect();
                            let rule =
                                format!("'ForceRevisionCreationStrategy' must be None or Before, but is: {shown}");
                            return Err(Error::BadBatch { rule });
                        }
                    };
                }
                _ => {}
            }
        }
        let kind =
            kind.ok_or_else(|| Error::BadBatch { rule: "Command must have a valid 'Type' property".to_owned() })?;
        let kind =
            CommandKind::from_wire(&kind).ok_or_else(|| Error::UnknownCommand { kind: kind.clone().into_owned() })?;
        let expected = Expected::from_wire(vector.as_deref());
        let id = id.as_deref().unwrap_or_default();
        match kind {
            CommandKind::Put => {
                let missing = || Error::BadBatch { rule: "PUT command must have a 'Document' property".to_owned() };
                self.push_put(id, document.ok_or_else(missing)?, expected)?;
                if let Some(Command { action: Action::Put { forces_revision: forces, .. }, .. }) =
                    self.commands.last_mut()
                {
                    *forces = forces_revision;
                }
            }
            // There is no document that it could be about.
            CommandKind::Delete if is_prefixed && expected != Expected::Any => {
                return Err(Error::BadBatch { rule: "a deletion by prefix has no 'ChangeVector'".to_owned() });
            }
            CommandKind::Delete if is_prefixed => self.delete_prefixed(id)?,
            CommandKind::Delete => self.delete(id, expected)?,
            CommandKind::BatchTrackChanges => {
                let tracked =
                    tracked.filter(|tracked| tracked.kind() == Kind::Object).ok_or_else(|| Error::BadBatch {
                        rule: "BatchTrackChanges command must have an object 'TrackedEntities'".to_owned(),
                    })?;
                let mut entities = Vec::new();
                for (id, vector) in tracked.members() {
                    let entity =
                        (id.decode().into_owned(), text("TrackedEntities", vector)?.unwrap_or_default().into_owned());
                    self.held_bytes += entity.0.len() + entity.1.len() + size_of_val(&entity);
                    entities.push(entity);
                }
                self.push(Command {
                    action: Action::TrackChanges(entities),
                    id: String::new(),
                    expected: Expected::Any,
                });
            }
            CommandKind::HeartBeat => return Ok(false),
            CommandKind::Patch => {
                let request = PatchRequest::of(command, "PATCH command must have a 'Patch' property")?;
                self.patch(id, expected, request)?;
            }
            CommandKind::BatchPatch => {
                let request = PatchRequest::of(command, "BatchPATCH command must have a 'Patch' property")?;
                self.patch_many(request, ids)?;
            }
            CommandKind::JsonPatch => {
                let request = JsonPatchRequest::of(json_patch, returns_document)?;
                self.json_patch(id, expected, request)?;
            }
            CommandKind::AttachmentPut
            | CommandKind::AttachmentDelete
            | CommandKind::AttachmentMove
            | CommandKind::AttachmentCopy => self.push_attachment(attachment_command(kind, command)?, expected),
            CommandKind::Counters => {
                let missing = || Error::BadBatch { rule: "Counters command must have an object 'Counters'".to_owned() };
                let counters = counters.filter(|counters| counters.kind() == Kind::Object).ok_or_else(missing)?;
                if is_from_etl {
                    return Err(Feature::Etl.missing_for("'FromEtl'").into());
                }
                self.push_counters(CounterCommand::of(counters, false)?);
            }
            CommandKind::TimeSeries
            | CommandKind::TimeSeriesWithIncrements
            | CommandKind::TimeSeriesBulkInsert
            | CommandKind::TimeSeriesCopy => return Err(missing(kind, Feature::TimeSeries)),
            CommandKind::CompareExchangePut | CommandKind::CompareExchangeDelete => {
                let name = kind.wire_name();
                let rule = format!(
                    "the command '{name}' needs a cluster-wide transaction: set 'TransactionMode' to 'ClusterWide'"
                );
                return Err(Error::BadBatch { rule });
            }
            CommandKind::ForceRevisionCreation => {
                id::check(id)?;
                self.push(Command { action: Action::ForceRevision, id: id.to_owned(), expected });
            }
        }
        Ok(true)
    }
}

/// Why a command is refused that needs a missing feature.
fn missing(kind: CommandKind, feature: Feature) -> Error {
    feature.missing_for(format!("the command '{}'", kind.wire_name())).into()
}

/// A property of a command that is text, or null.
pub(crate) fn text<'c>(name: &str, value: Raw<'c>) -> Result<Option<Cow<'c, str>>> {
    match value.kind() {
        Kind::Null => Ok(None),
        Kind::String => Ok(value.as_str()),
        _ => Err(wrong_kind(name, "text", value)),
    }
}

/// A property of a command that is true or false, or null.
pub(crate) fn flag(name: &str, value: Raw<'_>) -> Result<bool> {
    match value.kind() {
        Kind::Null => Ok(false),
        Kind::Bool => Ok(value.as_bool() == Some(true)),
        _ => Err(wrong_kind(name, "true or false", value)),
    }
}

fn wrong_kind(name: &str, expected: &str, value: Raw<'_>) -> Error {
    let found: String = String::from_utf8_lossy(value.bytes()).chars().take(80).collect();
    Error::BadBatch { rule: format!("'{name}' of a command must be {expected}, or null, but is: {found}") }
}
