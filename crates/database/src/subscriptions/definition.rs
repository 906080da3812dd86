//! What is stored of a subscription: its definition, which rarely changes, and its progress, a small row that each acknowledgement writes.

use documents::{Date, DefinitionChange, Etag, Snapshot, Write, id};
use json::Value;
use query::definition::ArchivedDocuments;

use crate::{Error, Result};

/// Kinds of definitions: `documents/definitions.rs`. Progress is found by the id, so that a subscription may get another name.
const DEFINITION: &str = "subscription";
const PROGRESS: &str = "subscription-progress";
const LAST_ID: &str = "subscription-id";
const LAST_ID_NAME: &str = "last";

/// A subscription: a query whose documents are sent to a worker, each at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// A number that no other subscription of the database gets.
    pub id: u64,
    /// By which it is found, in any case.
    pub name: String,
    /// The query: [`Query::parse_subscription`].
    pub query: String,
    /// It takes no workers.
    pub is_disabled: bool,
    /// The node that clients ask to serve it; kept for them.
    pub mentor_node: Option<String>,
    /// Whether no other node may serve it.
    pub pins_mentor_node: bool,
    /// What it does with archived documents.
    pub archived: ArchivedDocuments,
}

/// How far a subscription has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionProgress {
    /// Documents with greater etags are sent.
    pub etag: Etag,
    /// The same as clients have it; `None`: all documents are sent.
    pub change_vector: Option<String>,
    /// The last acknowledgement of a batch.
    pub acknowledged: Option<Date>,
    /// When a worker connected last.
    pub connected: Option<Date>,
}

impl Subscription {
    fn encode(&self) -> Vec<u8> {
        let mut value = Value::object();
        value.set("Id", Value::Number(self.id.to_string()));
        value.set("Name", self.name.as_str().into());
        value.set("Query", self.query.as_str().into());
        value.set("Disabled", Value::Bool(self.is_disabled));
        value.set("MentorNode", self.mentor_node.as_deref().map_or(Value::Null, Value::from));
        value.set("PinToMentorNode", Value::Bool(self.pins_mentor_node));
        value.set("ArchivedDataProcessingBehavior", self.archived.wire_name().into());
        value.to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<Subscription> {
        let value = Value::parse(bytes).ok()?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let flag = |name: &str| value.get(name).and_then(Value::as_bool);
        Some(Subscription {
            id: value.get("Id")?.as_i64().and_then(|id| u64::try_from(id).ok())?,
            name: text("Name")?,
            query: text("Query")?,
            is_disabled: flag("Disabled")?,
            mentor_node: text("MentorNode"),
            pins_mentor_node: flag("PinToMentorNode")?,
            archived: ArchivedDocuments::from_wire(&text("ArchivedDataProcessingBehavior")?)?,
        })
    }

    pub(super) fn put(&self) -> DefinitionChange {
        put(DEFINITION, self.name.clone(), self.encode())
    }

    /// Deletes the definition, not the progress.
    pub(super) fn remove(&self) -> DefinitionChange {
        DefinitionChange::Delete { kind: DEFINITION.to_owned(), name: self.name.clone() }
    }

    pub(super) fn remove_progress(&self) -> DefinitionChange {
        DefinitionChange::Delete { kind: PROGRESS.to_owned(), name: self.id.to_string() }
    }

    /// All of a database, by name.
    ///
    /// # Errors
    ///
    /// Storage fails; what is stored is none.
    pub(crate) fn all(snapshot: &Snapshot<'_>) -> Result<Vec<Subscription>> {
        let stored = snapshot.definitions(DEFINITION)?;
        stored.iter().map(|bytes| Subscription::decode(bytes).ok_or_else(corrupt)).collect()
    }

    /// The one of this name, in any case.
    ///
    /// # Errors
    ///
    /// As [`Self::all`].
    pub(super) fn find(snapshot: &Snapshot<'_>, name: &str) -> Result<Option<Subscription>> {
        let stored = snapshot.definition(DEFINITION, name)?;
        stored.map(|bytes| Subscription::decode(&bytes).ok_or_else(corrupt)).transpose()
    }
}

/// The ids of subscriptions that the database has given out end with this one.
pub(super) fn last_id(snapshot: &Snapshot<'_>) -> Result<u64> {
    let Some(bytes) = snapshot.definition(LAST_ID, LAST_ID_NAME)? else { return Ok(0) };
    Ok(u64::from_be_bytes(bytes.try_into().map_err(|_| corrupt())?))
}

pub(super) fn put_last_id(id: u64) -> DefinitionChange {
    put(LAST_ID, LAST_ID_NAME.to_owned(), id.to_be_bytes().to_vec())
}

impl SubscriptionProgress {
    pub(super) fn put(&self, id: u64) -> DefinitionChange {
        let mut value = Value::object();
        value.set("Etag", Value::Number(self.etag.to_string()));
        value.set("ChangeVector", self.change_vector.as_deref().map_or(Value::Null, Value::from));
        for (name, date) in [("Acknowledged", self.acknowledged), ("Connected", self.connected)] {
            value.set(name, date.map_or(Value::Null, |date| Value::Number(date.ticks().to_string())));
        }
        put(PROGRESS, id.to_string(), value.to_vec())
    }

    /// The write that stores it.
    pub(super) fn write(&self, id: u64) -> Write {
        Write::Definitions(vec![self.put(id)])
    }

    /// That of a subscription; what was never stored is at the beginning.
    ///
    /// # Errors
    ///
    /// As [`Subscription::all`].
    pub(crate) fn of(snapshot: &Snapshot<'_>, id: u64) -> Result<SubscriptionProgress> {
        let Some(bytes) = snapshot.definition(PROGRESS, &id.to_string())? else { return Ok(Self::default()) };
        let value = Value::parse(&bytes).map_err(|_| corrupt())?;
        let number = |name: &str| value.get(name).and_then(Value::as_i64).and_then(|number| u64::try_from(number).ok());
        Ok(SubscriptionProgress {
            etag: number("Etag").ok_or_else(corrupt)?,
            change_vector: value.get("ChangeVector").and_then(Value::as_str).map(str::to_owned),
            acknowledged: number("Acknowledged").map(Date::from_ticks),
            connected: number("Connected").map(Date::from_ticks),
        })
    }

    /// The state from which a subscription begins that clients give as text.
    ///
    /// * `text`: a change vector, `LastDocument`, or `BeginningOfTime`; `None` is that, too.
    /// * `is_of_revisions`: whether it reads revisions, which have numbers of their own beside their change vectors.
    ///
    /// # Errors
    ///
    /// [`Error::BadSubscription`], or storage fails.
    pub(super) fn begin(
        snapshot: &Snapshot<'_>,
        text: Option<&str>,
        is_of_revisions: bool,
    ) -> Result<SubscriptionProgress> {
        let (etag, change_vector) = match text.map(str::trim) {
            None | Some("" | "BeginningOfTime") => (0, None),
            Some("LastDocument") => (snapshot.last_etag()?, Some(snapshot.change_vector()?)),
            Some(vector) => {
                let parsed = documents::ChangeVector::parse(vector).map_err(|_| {
                    bad(format!(
                        "'{}' is no change vector from which a subscription could begin. Give one of a document, LastDocument or \
                         BeginningOfTime",
                        vector.chars().take(100).collect::<String>()
                    ))
                })?;
                let revision = if is_of_revisions { snapshot.revision_by_vector(vector)? } else { None };
                let etag = revision.map_or_else(|| parsed.etag_of(snapshot.database_id()), |revision| revision.etag());
                (etag, Some(vector.to_owned()))
            }
        };
        Ok(SubscriptionProgress { etag, change_vector, ..SubscriptionProgress::default() })
    }
}

fn put(kind: &str, name: String, definition: Vec<u8>) -> DefinitionChange {
    DefinitionChange::Put { kind: kind.to_owned(), name, generation: 0, definition }
}

/// Whether two names are those of one subscription.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    id::lower_text(one) == id::lower_text(other)
}

pub(super) fn bad(rule: String) -> Error {
    Error::BadSubscription { rule }
}

fn corrupt() -> Error {
    Error::Corrupt { rule: "a stored subscription can be read" }
}
