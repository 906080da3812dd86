//! The record of a database in a dump.

use documents::{ConstraintChange, UniqueConstraint, Write};
use json::{Value, Writer};

use super::{SmugglerOptions, SmugglerResult};
use crate::analyzers::ANALYZERS;
use crate::backups::PERIODIC_BACKUPS;
use crate::{Database, Error, Result};

/// The part with the unique constraints, which RavenDB passes over.
const UNIQUE_CONSTRAINTS: &str = "UniqueConstraints";

/// The part with the name of the file that an incremental backup goes on from, which RavenDB passes over.
const GOES_ON_FROM: &str = "BackupGoesOnFrom";

/// Writes the record of a database, as far as it can be taken over by another one.
///
/// * `more`: parts that [`PARTS`] lacks.
/// * `goes_on_from`: the file before, if it is the record of an incremental backup.
pub(crate) fn write(
    json: &mut Writer<'_>,
    name: &str,
    record: &Value,
    constraints: &[UniqueConstraint],
    options: &SmugglerOptions,
    more: &[&str],
    goes_on_from: Option<&str>,
) {
    json.object(|json| {
        json.name("DatabaseName").string(name).name("Encrypted").bool(false);
        for (part, default) in PARTS {
            json.name(part);
            match record.get(part).filter(|_| options.has_record_type(part)) {
                Some(value) => value.write(json),
                None => _ = json.raw(default.as_bytes()),
            }
        }
        for part in more {
            if let Some(value) = record.get(part).filter(|value| **value != Value::Null) {
                value.write(json.name(part));
            }
        }
        if !constraints.is_empty() {
            json.name(UNIQUE_CONSTRAINTS)
                .array(|json| constraints.iter().for_each(|constraint| constraint.write(json)));
        }
        if let Some(file) = goes_on_from {
            json.name(GOES_ON_FROM).string(file);
        }
        // RavenDB reads an array here, and no object.
        json.name("Settings").array(|_| {});
    });
}

/// Makes the unique constraints of a record in a database, once all documents are stored. One that they break is a warning: the documents
/// count more.
///
/// # Errors
///
/// Storage fails.
pub(crate) fn make_constraints(record: &Value, database: &Database, result: &mut SmugglerResult) -> Result<()> {
    let Some(Value::Array(all)) = record.get(UNIQUE_CONSTRAINTS) else { return Ok(()) };
    for value in all {
        let Some(constraint) = UniqueConstraint::from_json(value) else {
            result.warn(&format!(
                "'{UNIQUE_CONSTRAINTS}' of the record of the database has an element that is no constraint."
            ));
            continue;
        };
        let name = constraint.name.clone();
        let made = match constraint.check() {
            Ok(()) => database.write(&Write::Constraint(ConstraintChange::Put(constraint))).map(drop),
            Err(error) => Err(error.into()),
        };
        match made {
            Ok(()) => {}
            Err(Error::Documents(
                error @ (documents::Error::Duplicates { .. } | documents::Error::BadConstraint { .. }),
            )) => result.warn(&format!("The unique constraint '{name}' was not taken over: {error}")),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Deletes all unique constraints of a database.
///
/// # Errors
///
/// Storage fails.
pub(super) fn drop_constraints(database: &Database) -> Result<()> {
    let constraints = database.read().constraints()?;
    for constraint in constraints {
        database.write(&Write::Constraint(ConstraintChange::Delete(constraint.name)))?;
    }
    Ok(())
}

/// The file that the backup with this record goes on from; `None`: it is a full one, or none of ours.
pub(crate) fn goes_on_from(record: &Value) -> Option<String> {
    record.get(GOES_ON_FROM).and_then(Value::as_str).map(str::to_owned)
}

/// What the dump of a backup has more: the tasks, whose settings have the secrets of destinations. An export is given away more easily.
pub(crate) const OF_BACKUPS: &[&str] = &[PERIODIC_BACKUPS];

/// Takes over the parts of a record in the dump of a backup, for a new database.
pub(crate) fn restored(dumped: &Value) -> Value {
    let mut record = Value::object();
    for part in PARTS.iter().map(|(part, _)| part).chain(OF_BACKUPS) {
        if let Some(value) = dumped.get(part).filter(|value| **value != Value::Null) {
            record.set(part, value.clone());
        }
    }
    record
}

/// The parts that can be taken over: the name in options and in the record, and the value where there is none.
const PARTS: [(&str, &str); 9] = [
    ("LockMode", "\"Unlock\""),
    (ANALYZERS, "{}"),
    ("Client", "null"),
    ("Expiration", "null"),
    ("Refresh", "null"),
    ("DataArchival", "null"),
    ("Revisions", "null"),
    ("RevisionsForConflicts", "null"),
    ("RevisionsBin", "null"),
];
