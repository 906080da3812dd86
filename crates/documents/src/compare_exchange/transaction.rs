//! Cluster-wide transactions: changes of documents and values, applied together if all conditions hold.
//!
//! All conditions are checked first, so that an error names each that does not hold. Then values change, then guards, then documents.

use std::cell::RefCell;
use std::collections::HashMap;

use json::{Kind, Minifier, Raw, Writer};

use super::change::{ValueChange, is_expected};
use super::guard::{self, GuardChange};
use super::key::check_key;
use super::value::ValueContent;
use super::violation::Violation;
use crate::commands::batch::{flag, text};
use crate::commands::command::CommandKind;
use crate::ids::id;
use crate::items::found::Existing;
use crate::items::kinds::ItemKind;
use crate::wire::content::not_an_object;
use crate::{Batch, CommandResult, Date, Error, Expected, Flags, Outcome, Result, Writing};

thread_local! {
    static MINIFIER: RefCell<Minifier> = RefCell::new(Minifier::new());
}

/// The body of a `bulk_docs` request.
#[derive(Clone, Debug)]
pub enum BulkDocs {
    /// A transaction of this database alone.
    Batch(Batch),
    /// With `"TransactionMode":"ClusterWide"`.
    ClusterWide(ClusterTransaction),
}

/// A cluster-wide transaction.
#[derive(Clone, Debug, Default)]
pub struct ClusterTransaction {
    /// Puts and deletions of documents.
    pub(crate) documents: Batch,
    pub(crate) values: Vec<ValueChange>,
    /// One for each document; none if the client declines guards.
    pub(crate) guards: Vec<GuardChange>,
}

/// The outcome of a cluster-wide transaction.
#[derive(Clone, Debug, Default)]
pub struct TransactionOutcome {
    /// The outcome of its commands on documents.
    pub documents: Outcome,
    /// For each of these commands the change vector of what it wrote.
    vectors: Vec<String>,
    /// For each change of a value whether it is a put, the key as given, and the index.
    values: Vec<(bool, String, u64)>,
    /// When it was applied.
    time: Date,
    /// The index of the transaction: at least 1, and not below that of any change.
    pub index: u64,
}

impl BulkDocs {
    /// Reads the body: `{"Commands":[…],"TransactionMode":…}`.
    ///
    /// * `has_guards`: whether a cluster-wide transaction keeps atomic guards.
    ///
    /// # Errors
    ///
    /// The body is not acceptable, or has a command that is unknown, not supported yet, or not possible in such a transaction.
    pub fn parse(body: &[u8], has_guards: bool) -> Result<BulkDocs> {
        MINIFIER.with_borrow_mut(|minifier| {
            let body = minifier.minify(body)?;
            if body.kind() != Kind::Object {
                return Err(not_an_object("the body of a batch", body));
            }
            let (mut commands, mut mode) = (None, None);
            for (name, value) in body.members() {
                if name.is("Commands") {
                    commands = Some(value);
                } else if name.is("TransactionMode") {
                    mode = text("TransactionMode", value)?;
                }
            }
            let commands = commands.filter(|commands| commands.kind() == Kind::Array);
            let commands = commands.ok_or_else(|| Error::BadBatch {
                rule: "the body of a batch must have an array 'Commands'".to_owned(),
            })?;
            match mode.as_deref() {
                Some("ClusterWide") => ClusterTransaction::of(commands, has_guards).map(BulkDocs::ClusterWide),
                None | Some("SingleNode") => {
                    let mut batch = Batch::new();
                    commands.elements().try_for_each(|command| batch.push_command(command).map(drop))?;
                    Ok(BulkDocs::Batch(batch))
                }
                Some(mode) => Err(Error::BadBatch {
                    rule: format!(
                        "'TransactionMode' must be 'SingleNode' or 'ClusterWide', but is '{}'",
                        mode.escape_debug()
                    ),
                }),
            }
        })
    }
}

/// The properties of a command.
#[derive(Default)]
struct Fields<'c> {
    id: Option<std::borrow::Cow<'c, str>>,
    /// The change vector that the client read the document with, or that it must have.
    vector: Option<std::borrow::Cow<'c, str>>,
    original_vector: Option<std::borrow::Cow<'c, str>>,
    document: Option<Raw<'c>>,
    index: Option<Raw<'c>>,
    is_prefixed: bool,
}

impl ClusterTransaction {
    fn of(commands: Raw<'_>, has_guards: bool) -> Result<ClusterTransaction> {
        let documents = Batch::new().with_flags(Flags::FROM_TRANSACTION);
        let mut transaction = ClusterTransaction { documents, ..ClusterTransaction::default() };
        let mut places = HashMap::new();
        for command in commands.elements() {
            transaction.push(command, has_guards, &mut places)?;
        }
        Ok(transaction)
    }

    /// Bytes that it holds in memory, about.
    pub(crate) fn size(&self) -> usize {
        let values = self.values.iter().map(ValueChange::size).sum::<usize>();
        let guards = self.guards.iter().map(|guard| size_of::<GuardChange>() + 2 * guard.id.len() + 64).sum::<usize>();
        self.documents.size() + values + guards
    }

    /// * `guards`: of documents that have one, their place, by key.
    fn push(&mut self, command: Raw<'_>, has_guards: bool, guards: &mut HashMap<Vec<u8>, usize>) -> Result<()> {
        if command.kind() != Kind::Object {
            return Err(not_an_object("a command", command));
        }
        let (mut kind, mut fields) = (None, Fields::default());
        for (name, value) in command.members() {
            match name.escaped() {
                b"Type" => kind = text("Type", value)?,
                b"Id" => fields.id = text("Id", value)?,
                b"ChangeVector" => fields.vector = text("ChangeVector", value)?,
                b"OriginalChangeVector" => fields.original_vector = text("OriginalChangeVector", value)?,
                b"Document" => fields.document = Some(value),
                b"Index" => fields.index = Some(value),
                b"IdPrefixed" => fields.is_prefixed = flag("IdPrefixed", value)?,
                _ => {}
            }
        }
        let bad = |rule: String| Error::BadBatch { rule };
        let kind = kind.ok_or_else(|| bad("Command must have a valid 'Type' property".to_owned()))?;
        let kind = CommandKind::from_wire(&kind).ok_or_else(|| Error::UnknownCommand { kind: kind.into_owned() })?;
        match kind {
            CommandKind::Put | CommandKind::Delete => self.push_document(kind, &fields, has_guards, guards),
            CommandKind::CompareExchangePut | CommandKind::CompareExchangeDelete => {
                self.push_value(kind, &fields, has_guards)
            }
            _ => Err(bad(format!("The command type {} is not supported in cluster transaction.", kind.wire_name()))),
        }
    }

    fn push_document(
        &mut self,
        kind: CommandKind,
        fields: &Fields<'_>,
        has_guards: bool,
        guards: &mut HashMap<Vec<u8>, usize>,
    ) -> Result<()> {
        let bad = |rule: String| Error::BadBatch { rule };
        let id = fields.id.as_deref().unwrap_or_default();
        if fields.is_prefixed {
            return Err(bad("Deleting by prefix is not supported on cluster transaction".to_owned()));
        }
        if id.trim().is_empty() {
            let name = kind.wire_name();
            return Err(bad(format!(
                "The document id of a {name} command cannot be null, empty or white spaces as part of cluster transaction"
            )));
        }
        let is_deletion = kind == CommandKind::Delete;
        // With guards it is the guard that decides.
        let expected = if has_guards { Expected::Any } else { Expected::from_wire(fields.vector.as_deref()) };
        if is_deletion {
            self.documents.delete(id, expected)?;
        } else {
            let document =
                fields.document.ok_or_else(|| bad("PUT command must have a 'Document' property".to_owned()))?;
            self.documents.push_put(id, document, expected)?;
        }
        if !has_guards {
            return Ok(());
        }
        let vector = fields.original_vector.as_deref().or(fields.vector.as_deref());
        let index = match vector {
            Some(vector) => Some(guard::index_in(vector)?),
            None if is_deletion => None,
            None => Some(0),
        };
        match guards.get(&id::lower(id)).and_then(|place| self.guards.get_mut(*place)) {
            // The first command of a document has the condition, the last one says what becomes of it.
            Some(guard) => guard.is_deletion = is_deletion,
            None => {
                check_key(&guard::key_of(id))?;
                guards.insert(id::lower(id), self.guards.len());
                self.guards.push(GuardChange { id: id.to_owned(), index, is_deletion });
            }
        }
        Ok(())
    }

    fn push_value(&mut self, kind: CommandKind, fields: &Fields<'_>, has_guards: bool) -> Result<()> {
        let key = fields.id.as_deref().unwrap_or_default();
        if has_guards && guard::is_guard(key) {
            return Err(Error::GuardKey { key: key.to_owned() });
        }
        let bad = |rule: String| Error::BadBatch { rule };
        let index = match fields.index.filter(|index| !index.is_null()) {
            None => 0,
            Some(index) => index.as_u64().ok_or_else(|| {
                bad(format!("'Index' of a {} command must be a whole number from 0 on", kind.wire_name()))
            })?,
        };
        let content = match kind {
            CommandKind::CompareExchangePut => {
                let missing = || bad("CompareExchangePUT command must have a 'Document' property".to_owned());
                Some(ValueContent::new(fields.document.ok_or_else(missing)?)?)
            }
            _ => None,
        };
        self.values.push(ValueChange::new(key, Some(index), content)?);
        Ok(())
    }
}

impl Writing<'_, '_> {
    /// Applies a transaction.
    ///
    /// # Errors
    ///
    /// [`Error::TransactionConflict`] names all conditions on values and guards that do not hold. [`Error::BadBatch`] if an id or a key
    /// ends with `|` or with the separator of identities. The transaction must then be rolled back, as after any other error.
    pub fn run_transaction(&mut self, transaction: &ClusterTransaction) -> Result<TransactionOutcome> {
        let values = transaction.values.iter().map(|change| change.key.as_str());
        let documents = transaction.documents.commands.iter().map(|command| command.id.as_str());
        values.chain(documents).try_for_each(|id| self.check_ending(id))?;
        let mut violations = Vec::new();
        for change in &transaction.values {
            let stored = self.stored_value(&change.key)?.1;
            let index = stored.map(|stored| stored.head.etag);
            if !is_expected(change.index, index) {
                violations.push(Violation {
                    key: change.key.clone(),
                    document: None,
                    expected: change.index.unwrap_or(0),
                    actual: index,
                    is_deletion: change.content.is_none(),
                });
            }
        }
        for guard in &transaction.guards {
            let key = guard::key_of(&guard.id);
            let index = self.stored_value(&key)?.1.map(|stored| stored.head.etag);
            if !is_expected(guard.index, index) {
                violations.push(Violation {
                    key,
                    document: Some(guard.id.clone()),
                    expected: guard.index.unwrap_or(0),
                    actual: index,
                    is_deletion: guard.is_deletion,
                });
            }
        }
        if !violations.is_empty() {
            return Err(Error::TransactionConflict { violations });
        }
        let mut outcome = TransactionOutcome { time: self.now, ..TransactionOutcome::default() };
        for change in &transaction.values {
            let (key, stored) = self.stored_value(&change.key)?;
            let index = self.apply_value(change, &key, stored)?;
            let index = index.unwrap_or_else(|| self.last_etag().max(1));
            outcome.values.push((change.content.is_some(), change.key.clone(), index));
        }
        for guard in &transaction.guards {
            self.write_guard(guard)?;
        }
        for command in &transaction.documents.commands {
            let result = self.run_command(&transaction.documents, command, &mut outcome.documents)?;
            outcome.vectors.push(match &result {
                CommandResult::Put { change_vector, .. } => change_vector.clone(),
                _ => self.store.names.vector(self.last_etag()),
            });
            outcome.documents.results.push(result);
        }
        self.guard_indexes.clear();
        outcome.documents.last_etag = self.last_etag();
        outcome.index = self.last_etag().max(1);
        Ok(outcome)
    }

    /// Refuses an id or a key whose ending asks the server for the rest of an id. RavenDB's message says 'Document id' for both.
    fn check_ending(&self, id: &str) -> Result<()> {
        let separator = self.id_separator;
        match id.ends_with(['|', separator]) {
            true => Err(Error::BadBatch {
                rule: format!("Document id {id} cannot end with '|' or '{separator}' as part of cluster transaction"),
            }),
            false => Ok(()),
        }
    }

    fn stored_value(&self, key: &str) -> Result<(Vec<u8>, Option<Existing>)> {
        let key = ItemKind::CompareExchange.key(key);
        let stored = self.find_item(ItemKind::CompareExchange, &key)?;
        Ok((key, stored))
    }

    fn write_guard(&mut self, guard: &GuardChange) -> Result<()> {
        let key = guard::key_of(&guard.id);
        let change = match guard.is_deletion {
            true => ValueChange::delete(&key, None)?,
            false => ValueChange::put(&key, &guard::value_of(&guard.id), None)?,
        };
        let (key, stored) = self.stored_value(&key)?;
        let index = self.apply_value(&change, &key, stored)?;
        if let (Some(index), false) = (index, guard.is_deletion) {
            self.guard_indexes.insert(id::lower(&guard.id), index);
        }
        Ok(())
    }
}

impl TransactionOutcome {
    /// Writes the body of the answer of `bulk_docs`: the results of documents come first.
    pub fn write(&self, json: &mut Writer<'_>) {
        let time = self.time.to_string();
        json.object(|json| {
            json.name("Results").array(|json| {
                for (result, vector) in self.documents.results.iter().zip(&self.vectors) {
                    let (kind, name, id) = match result {
                        CommandResult::Put { id, .. } => ("PUT", "@id", id.as_str()),
                        CommandResult::Delete { id, .. } => ("DELETE", "Id", id.as_str()),
                        // A transaction has no other commands on documents.
                        _ => continue,
                    };
                    json.object(|json| {
                        json.name("Type").string(kind).name("@last-modified").string(&time);
                        json.name(name).string(id).name("@change-vector").string(vector);
                    });
                }
                for (is_put, key, index) in &self.values {
                    let kind =
                        if *is_put { CommandKind::CompareExchangePut } else { CommandKind::CompareExchangeDelete };
                    json.object(|json| {
                        json.name("Type").string(kind.wire_name()).name("Key").string(key);
                        json.name("Index").unsigned(*index);
                    });
                }
            });
            json.name("TransactionIndex").unsigned(self.index);
        });
    }
}
