//! A batch of commands: one transaction. Made from what clients send, before the write transaction, on any thread.
//!
//! Everything that needs no look at the database happens here: JSON is checked, documents are taken apart, ids are checked,
//! GUIDs are made. What is left for the one writer is to look up, decide and put bytes.

use std::cell::RefCell;

use json::{Kind, Minifier, Raw};

use crate::command::{Action, Command, CommandKind, Expected};
use crate::content::{self, not_an_object};
use crate::{Error, Result, id};

thread_local! {
    static MINIFIER: RefCell<Minifier> = RefCell::new(Minifier::new());
}

/// Commands that are applied together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Stored metadata and bodies of all documents.
    pub(crate) text: Vec<u8>,
    pub(crate) commands: Vec<Command>,
    /// Names of collections, each once.
    pub(crate) collections: Vec<String>,
    pub(crate) skip_unchanged: bool,
    pub(crate) separator: Option<char>,
}

impl Batch {
    /// A batch without commands.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Documents equal to what is stored are not written again.
    pub fn skip_unchanged(mut self, skip: bool) -> Batch {
        self.skip_unchanged = skip;
        self
    }

    /// The separator in ids that the server completes, from the client configuration; `/` otherwise.
    pub fn separator(mut self, separator: char) -> Batch {
        self.separator = Some(separator);
        self
    }

    /// Number of commands.
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    /// Whether there is no command.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Bytes that the batch holds in memory, about.
    pub fn size(&self) -> usize {
        self.text.len() + self.commands.len() * 128
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
        self.commands.push(Command { action: Action::Delete, id: id.to_owned(), expected });
        Ok(())
    }

    /// Adds the deletion of all documents whose id begins with `prefix`.
    ///
    /// # Errors
    ///
    /// The prefix cannot be the start of an id.
    pub fn delete_prefixed(&mut self, prefix: &str) -> Result<()> {
        id::check(prefix)?;
        self.commands.push(Command { action: Action::DeletePrefixed, id: prefix.to_owned(), expected: Expected::Any });
        Ok(())
    }

    /// The body of a `bulk_docs` request: `{"Commands":[…]}`.
    ///
    /// # Errors
    ///
    /// The body is not acceptable, or has a command that is unknown or not supported yet.
    pub fn from_bulk_docs(body: &[u8]) -> Result<Batch> {
        let mut batch = Batch::new();
        MINIFIER.with_borrow_mut(|minifier| {
            let body = minifier.minify(body)?;
            if body.kind() != Kind::Object {
                return Err(not_an_object("the body of a batch", body));
            }
            let mut commands = None;
            for (name, value) in body.members() {
                if name.is("Commands") {
                    commands = Some(value);
                } else if name.is("TransactionMode") && value.text().is_some_and(|mode| mode.is("ClusterWide")) {
                    return Err(Error::Unsupported { feature: "TransactionMode: ClusterWide" });
                }
            }
            let commands = commands.filter(|commands| commands.kind() == Kind::Array);
            let commands =
                commands.ok_or_else(|| Error::BadBatch { rule: "a batch has an array 'Commands'".to_owned() })?;
            commands.elements().try_for_each(|command| batch.push_command(command).map(drop))
        })?;
        Ok(batch)
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
        let collection = collection.map(|name| self.collection(name));
        self.commands.push(Command { action: Action::Put { content, collection }, id, expected });
        Ok(())
    }

    /// The place of a name in the list. Batches touch few collections, mostly the one of the command before.
    fn collection(&mut self, name: String) -> usize {
        match self.collections.iter().rposition(|known| *known == name) {
            Some(place) => place,
            None => {
                self.collections.push(name);
                self.collections.len() - 1
            }
        }
    }

    fn push_command(&mut self, command: Raw<'_>) -> Result<bool> {
        if command.kind() != Kind::Object {
            return Err(not_an_object("a command", command));
        }
        let (mut kind, mut id, mut vector, mut document, mut tracked) = (None, None, None, None, None);
        let mut is_prefixed = false;
        for (name, value) in command.members() {
            match name.escaped() {
                b"Type" => kind = value.as_str(),
                b"Id" => id = value.as_str(),
                b"ChangeVector" => vector = value.as_str(),
                b"Document" => document = Some(value),
                b"IdPrefixed" => is_prefixed = value.as_bool() == Some(true),
                b"TrackedEntities" => tracked = Some(value),
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
            }
            CommandKind::Delete if is_prefixed => self.delete_prefixed(id)?,
            CommandKind::Delete => self.delete(id, expected)?,
            CommandKind::BatchTrackChanges => {
                let tracked = tracked.unwrap_or(Raw::new(b"{}"));
                let entities = tracked
                    .members()
                    .map(|(id, vector)| (id.decode().into_owned(), vector.as_str().unwrap_or_default().into_owned()))
                    .collect();
                let action = Action::TrackChanges(entities);
                self.commands.push(Command { action, id: String::new(), expected: Expected::Any });
            }
            CommandKind::HeartBeat => return Ok(false),
            CommandKind::Patch
            | CommandKind::BatchPatch
            | CommandKind::JsonPatch
            | CommandKind::AttachmentPut
            | CommandKind::AttachmentDelete
            | CommandKind::AttachmentMove
            | CommandKind::AttachmentCopy
            | CommandKind::Counters
            | CommandKind::TimeSeries
            | CommandKind::TimeSeriesWithIncrements
            | CommandKind::TimeSeriesBulkInsert
            | CommandKind::TimeSeriesCopy
            | CommandKind::CompareExchangePut
            | CommandKind::CompareExchangeDelete
            | CommandKind::ForceRevisionCreation => return Err(Error::Unsupported { feature: kind.wire_name() }),
        }
        Ok(true)
    }
}
