//! The command `Counters`: what it does to the counters of one document, from its form on the wire, and its outcome.

use json::{Kind, Raw, Writer};

use super::value::NodeValue;
use crate::ids::{id, owned};
use crate::{Error, Feature, Result};

/// Operations on the counters of one document, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterCommand {
    pub(crate) document_id: String,
    pub(crate) operations: Vec<CounterOperation>,
    /// Whether the outcome has the values of each database.
    pub(crate) has_values: bool,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterOperation {
    /// The counter; of [`CounterAction::GetAll`] empty.
    pub name: String,
    /// What to do with it.
    pub action: CounterAction,
}

/// What to do with a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterAction {
    /// Adds to it; it is made with this value if there is none.
    Increment(i64),
    /// Deletes it, if there is one.
    Delete,
    /// Gives its value.
    Get,
    /// Gives the values of all counters of the document.
    GetAll,
    /// Merges the values of other databases, as an import brings them; none of them: deletes the counter. Without a document it does
    /// nothing.
    Merge(Vec<NodeValue>),
}

/// The value of a counter, named as the operation names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterDetail {
    /// The document.
    pub document_id: String,
    /// The counter.
    pub name: String,
    /// The sum of the values of all databases.
    pub total: i64,
    /// The value of each database, by node tag and database id, if they are asked for.
    pub values: Option<Vec<(String, i64)>>,
}

impl CounterCommand {
    /// Operations on the counters of a document.
    ///
    /// # Errors
    ///
    /// The id cannot be that of a document, or a name that is written not that of a counter.
    pub fn new(document_id: &str, operations: Vec<CounterOperation>, has_values: bool) -> Result<CounterCommand> {
        id::check_new(document_id)?;
        for operation in &operations {
            match operation.action {
                CounterAction::Increment(_) | CounterAction::Merge(_) => check_name(&operation.name)?,
                CounterAction::Delete | CounterAction::Get | CounterAction::GetAll => {}
            }
        }
        Ok(CounterCommand { document_id: document_id.to_owned(), operations, has_values })
    }

    /// `{"DocumentId","Operations":[{"Type","CounterName","Delta"}]}`.
    ///
    /// # Errors
    ///
    /// It is not that, or as [`Self::new`].
    pub fn of(object: Raw<'_>, has_values: bool) -> Result<CounterCommand> {
        let document_id = object.get("DocumentId").filter(|id| !id.is_null());
        let document_id = document_id.ok_or_else(|| bad("Missing 'DocumentId' property on 'Counters'"))?;
        let document_id = document_id.as_str().ok_or_else(|| bad("'DocumentId' of 'Counters' must be text"))?;
        let mut operations = Vec::new();
        match object.get("Operations").filter(|operations| !operations.is_null()) {
            Some(list) if list.kind() == Kind::Array => {
                for operation in list.elements() {
                    operations.push(CounterOperation::of(operation)?);
                }
            }
            Some(_) => return Err(bad("'Operations' of 'Counters' must be an array")),
            None => {}
        }
        CounterCommand::new(&document_id, operations, has_values)
    }

    /// The document.
    pub fn document_id(&self) -> &str {
        &self.document_id
    }

    /// The operations.
    pub fn operations(&self) -> &[CounterOperation] {
        &self.operations
    }

    /// Whether the outcome has the values of each database.
    pub fn has_values(&self) -> bool {
        self.has_values
    }

    /// True if it changes nothing.
    pub fn is_read_only(&self) -> bool {
        let reads =
            |operation: &CounterOperation| matches!(operation.action, CounterAction::Get | CounterAction::GetAll);
        self.operations.iter().all(reads)
    }

    /// Bytes that it holds in memory, about.
    pub(crate) fn size(&self) -> usize {
        let operation = |operation: &CounterOperation| {
            let values = match &operation.action {
                CounterAction::Merge(values) => size_of_val(values.as_slice()),
                _ => 0,
            };
            size_of::<CounterOperation>() + operation.name.len() + values
        };
        self.document_id.len() + self.operations.iter().map(operation).sum::<usize>()
    }
}

fn bad(rule: impl Into<String>) -> Error {
    Error::BadBatch { rule: rule.into() }
}

impl CounterOperation {
    fn of(operation: Raw<'_>) -> Result<CounterOperation> {
        if operation.kind() != Kind::Object {
            return Err(bad("an operation on a counter must be an object"));
        }
        let text = |name: &str| operation.get(name).and_then(Raw::as_str);
        let kind = text("Type").ok_or_else(|| bad("an operation on a counter must have a text 'Type'"))?;
        let action = match &*kind {
            "Increment" => CounterAction::Increment(delta_of(operation.get("Delta"))?),
            "Delete" => CounterAction::Delete,
            "Get" => CounterAction::Get,
            "GetAll" => {
                return Ok(CounterOperation { name: String::new(), action: CounterAction::GetAll });
            }
            "Put" => return Err(Feature::Etl.missing_for("the counter operation 'Put'").into()),
            _ => {
                let rule =
                    format!("'{kind}' is no operation on a counter; these are Increment, Delete, Get and GetAll");
                return Err(bad(rule));
            }
        };
        let name = match operation.get("CounterName").filter(|name| !name.is_null()) {
            // No counter has the empty name: the answer is null, as clients expect it of names that are null in their lists.
            None if action == CounterAction::Get => String::new(),
            name => name
                .and_then(Raw::as_str)
                .ok_or_else(|| bad("an operation on a counter must have a text 'CounterName'"))?
                .into_owned(),
        };
        Ok(CounterOperation { name, action })
    }
}

/// How much an increment adds; 1 if it does not say.
fn delta_of(delta: Option<Raw<'_>>) -> Result<i64> {
    match delta.filter(|delta| !delta.is_null()) {
        None => Ok(1),
        Some(delta) => delta.as_i64().ok_or_else(|| {
            let found: String = String::from_utf8_lossy(delta.bytes()).chars().take(80).collect();
            bad(format!("'Delta' of a counter must be a whole number of 64 bits, but is: {found}"))
        }),
    }
}

impl CounterDetail {
    /// Writes the element of `Counters` in answers.
    pub fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| {
            json.name("DocumentId").string(&self.document_id).name("CounterName").string(&self.name);
            json.name("TotalValue").signed(self.total).name("CounterValues");
            match &self.values {
                Some(values) => {
                    _ = json.object(|json| {
                        values.iter().for_each(|(database, value)| _ = json.name(database).signed(*value));
                    })
                }
                None => _ = json.null(),
            }
        });
    }

    /// Writes `{"Counters":[…]}`: of each operation that gives a value that, or null for a counter that is not there.
    pub fn write_all<'d>(details: impl Iterator<Item = Option<&'d CounterDetail>>, json: &mut Writer<'_>) {
        json.object(|json| {
            json.name("Counters").array(|json| {
                details.for_each(|detail| match detail {
                    Some(detail) => detail.write(json),
                    None => _ = json.null(),
                });
            });
        });
    }
}

/// Checks the id of a counter that is stored.
pub(crate) fn check_id(id: &str) -> Result<()> {
    let (document_id, name) = owned::split(id);
    id::check(document_id)?;
    check_name(name)
}

/// Checks the name of a counter that is written.
pub(crate) fn check_name(name: &str) -> Result<()> {
    owned::check_name(name).map_err(|rule| Error::BadCounterName { name: name.chars().take(80).collect(), rule })
}
