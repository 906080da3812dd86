//! Unique constraints: no two documents of a collection may have the same values in certain fields. Checked in the write transaction.
//!
//! ```text
//! definitions:  constraint/<name, lower-cased>             ->  the definition, as JSON
//! constraints:  number (4 bytes, big-endian), values       ->  key of the document that has them
//! ```
//!
//! Invariant: the tree has an entry for each document of a constrained collection that has a value in each field, and no other. Documents
//! that an index makes are left out: their ids are all that their index controls.
//!
//! What a write finds taken is looked at again when all of it is done ([`pending`](Unique::pending)): documents may exchange their values
//! in one transaction.

pub(crate) mod duplicate;
mod key;
mod write;

pub(crate) use write::Changed;

use json::{Path, Value, Writer};
use storage::{Reader, Tree};

use crate::definitions::DEFINITIONS;
use crate::{Error, Result, Snapshot};

/// The kind of definitions that constraints are stored as.
const CONSTRAINT: &str = "constraint";

/// The name of the tree, which is made with the first constraint.
pub(crate) const CONSTRAINTS: &[u8] = b"constraints";

/// A unique constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueConstraint {
    /// By which it is found, in any case.
    pub name: String,
    /// The collection, in any case.
    pub collection: String,
    /// Paths into its documents. Their values together are unique.
    pub fields: Vec<String>,
    /// Whether texts that differ in case alone differ.
    pub is_case_sensitive: bool,
}

/// A change of the constraints of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstraintChange {
    /// Makes one, or replaces the one of its name. Refused if documents break it ([`Error::Duplicates`]).
    Put(UniqueConstraint),
    /// Deletes the one of this name; [`Answer::Count`](crate::Answer::Count) says whether there was one.
    Delete(String),
}

/// A constraint as a write uses it.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub constraint: UniqueConstraint,
    /// Which entries of the tree are its.
    pub number: u32,
    paths: Vec<Path>,
}

/// The constraints of one job, and what it found taken.
#[derive(Debug, Default)]
pub(crate) struct Unique {
    /// `None`: not looked for yet.
    prepared: Option<Vec<Prepared>>,
    /// The tree, if there is any constraint.
    tree: Option<Tree>,
    pending: Vec<Pending>,
}

/// A document that has values which another one had when it was written.
#[derive(Debug)]
struct Pending {
    entry: Vec<u8>,
    document: Vec<u8>,
    constraint: String,
    fields: Vec<String>,
}

impl UniqueConstraint {
    /// The name of one that was given none: `Users/Email,Tenant`.
    pub fn default_name(collection: &str, fields: &[String]) -> String {
        format!("{collection}/{}", fields.join(","))
    }

    /// Checks what a client gave.
    ///
    /// # Errors
    ///
    /// [`Error::BadConstraint`].
    pub fn check(&self) -> Result<()> {
        let bad = |rule: String| Err(Error::BadConstraint { rule });
        if self.name.trim().is_empty() || self.name.len() > crate::limits::CONSTRAINT_NAME_SIZE_MAX {
            return bad(format!(
                "a constraint needs a name, of {} bytes at most (the limit CONSTRAINT_NAME_SIZE_MAX)",
                crate::limits::CONSTRAINT_NAME_SIZE_MAX
            ));
        }
        if self.collection.trim().is_empty() || self.collection.starts_with('@') {
            return bad(format!("'{}' is no collection whose documents can be constrained", self.collection));
        }
        if self.fields.is_empty() || self.fields.len() > crate::limits::CONSTRAINT_FIELDS_MAX {
            return bad(format!(
                "a constraint has from 1 to {} fields (the limit CONSTRAINT_FIELDS_MAX)",
                crate::limits::CONSTRAINT_FIELDS_MAX
            ));
        }
        if self.fields.iter().any(|field| field.trim().is_empty()) {
            return bad("a field of a constraint has no name".to_owned());
        }
        Ok(())
    }

    /// One as [`Self::write`] writes it; `None`: it is none.
    pub fn from_json(value: &Value) -> Option<UniqueConstraint> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(Value::Array(fields)) = value.get("Fields") else { return None };
        Some(UniqueConstraint {
            name: text("Name")?,
            collection: text("Collection")?,
            fields: fields.iter().map(|field| field.as_str().map(str::to_owned)).collect::<Option<_>>()?,
            is_case_sensitive: value.get("CaseSensitive")?.as_bool()?,
        })
    }

    /// Writes `{"Name","Collection","Fields","CaseSensitive"}`.
    pub fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| {
            json.name("Name").string(&self.name).name("Collection").string(&self.collection);
            json.name("Fields").array(|json| self.fields.iter().for_each(|field| _ = json.string(field)));
            json.name("CaseSensitive").bool(self.is_case_sensitive);
        });
    }

    fn encode(&self, number: u32) -> Vec<u8> {
        let mut value = Value::object();
        value.set("Number", i64::from(number).into());
        value.set("Name", self.name.as_str().into());
        value.set("Collection", self.collection.as_str().into());
        value.set("Fields", Value::Array(self.fields.iter().map(|field| field.as_str().into()).collect()));
        value.set("CaseSensitive", self.is_case_sensitive.into());
        value.to_vec()
    }
}

impl Prepared {
    fn new(constraint: UniqueConstraint, number: u32) -> Prepared {
        let paths = constraint.fields.iter().map(|field| Path::new(field)).collect();
        Prepared { constraint, number, paths }
    }

    fn decode(bytes: &[u8]) -> Option<Prepared> {
        let value = Value::parse(bytes).ok()?;
        let constraint = UniqueConstraint::from_json(&value)?;
        let number = value.get("Number")?.as_i64().and_then(|number| u32::try_from(number).ok())?;
        Some(Prepared::new(constraint, number))
    }

    /// All of a database, by name.
    pub fn all(reader: &impl Reader) -> Result<Vec<Prepared>> {
        let Some(tree) = Tree::open(reader, DEFINITIONS)? else { return Ok(Vec::new()) };
        let stored = crate::definitions::all_of(tree, reader, CONSTRAINT)?;
        let corrupt = || Error::Corrupt { rule: "a stored constraint can be read" };
        stored.iter().map(|bytes| Prepared::decode(bytes).ok_or_else(corrupt)).collect()
    }
}

impl Snapshot<'_> {
    /// All unique constraints, by name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn constraints(&self) -> Result<Vec<UniqueConstraint>> {
        let (_, _, tx) = self.parts();
        Ok(Prepared::all(tx)?.into_iter().map(|prepared| prepared.constraint).collect())
    }
}
