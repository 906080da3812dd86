//! Unique constraints: no two documents of a collection have the same values in some fields.

use database::documents::{ConstraintChange, UniqueConstraint as Constraint, Write};

use crate::error::{of_database, of_documents};
use crate::{Database, Result};

/// A unique constraint of a collection, which each write keeps.
///
/// ```
/// use rookerydb::{Error, UniqueConstraint};
/// use serde_json::json;
///
/// # fn main() -> rookerydb::Result<()> {
/// # let shop = rookerydb::Store::in_memory()?.database("Shop")?;
/// shop.put_unique_constraint(&UniqueConstraint::new("Users", ["Email"]))?;
/// let users = shop.collection("Users");
/// users.put("users/1", &json!({ "Email": "ann@example.com" }))?;
/// let taken = users.put("users/2", &json!({ "Email": "ANN@example.com" }));
/// assert!(matches!(taken, Err(Error::NotUnique { other, .. }) if other == "users/1"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueConstraint {
    /// By which it is found, in any case.
    pub name: String,
    /// The collection, in any case.
    pub collection: String,
    /// Paths into its documents, such as `Address.Street`. Their values together are unique; a document that lacks one of them is not
    /// constrained.
    pub fields: Vec<String>,
    /// Whether texts that differ in case alone differ.
    pub is_case_sensitive: bool,
}

impl UniqueConstraint {
    /// One that is called by its collection and fields, without regard to case.
    pub fn new(collection: impl Into<String>, fields: impl IntoIterator<Item = impl Into<String>>) -> UniqueConstraint {
        let (collection, fields) = (collection.into(), fields.into_iter().map(Into::into).collect::<Vec<_>>());
        let name = Constraint::default_name(&collection, &fields);
        UniqueConstraint { name, collection, fields, is_case_sensitive: false }
    }
}

impl Database {
    /// Makes a unique constraint, or replaces the one of its name, and returns when it holds.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid): it cannot be one, or documents break it, and which; [`Error::Busy`](crate::Error::Busy),
    /// [`Error::Storage`](crate::Error::Storage).
    pub fn put_unique_constraint(&self, constraint: &UniqueConstraint) -> Result<()> {
        let UniqueConstraint { name, collection, fields, is_case_sensitive } = constraint.clone();
        let constraint = Constraint { name, collection, fields, is_case_sensitive };
        constraint.check().map_err(of_documents)?;
        self.open()?.write(&Write::Constraint(ConstraintChange::Put(constraint))).map_err(of_database)?;
        Ok(())
    }

    /// Deletes a unique constraint. True if there was one of this name.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`](crate::Error::Busy), [`Error::Storage`](crate::Error::Storage).
    pub fn delete_unique_constraint(&self, name: &str) -> Result<bool> {
        let write = Write::Constraint(ConstraintChange::Delete(name.to_owned()));
        let answer = self.open()?.write(&write).map_err(of_database)?;
        Ok(answer.count().map_err(of_documents)? > 0)
    }

    /// All unique constraints, by name.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage).
    pub fn unique_constraints(&self) -> Result<Vec<UniqueConstraint>> {
        let all = self.open()?.read().constraints().map_err(of_documents)?;
        let of = |Constraint { name, collection, fields, is_case_sensitive }| UniqueConstraint {
            name,
            collection,
            fields,
            is_case_sensitive,
        };
        Ok(all.into_iter().map(of).collect())
    }
}
