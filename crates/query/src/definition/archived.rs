//! Which documents an index takes: those that are archived, others, or all.

use documents::Flags;
use json::Value;

/// The property of a definition that says it.
pub(super) const PROPERTY: &str = "ArchivedDataProcessingBehavior";

/// Which documents an index takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArchivedDocuments {
    /// Those that are not archived.
    #[default]
    Exclude,
    /// All.
    Include,
    /// Those that are archived.
    Only,
}

impl ArchivedDocuments {
    const ALL: [(&str, ArchivedDocuments); 3] = [
        ("ExcludeArchived", ArchivedDocuments::Exclude),
        ("IncludeArchived", ArchivedDocuments::Include),
        ("ArchivedOnly", ArchivedDocuments::Only),
    ];

    /// What a definition says; without that as by default. `Err` tells what it may say.
    pub(super) fn of(given: &Value) -> Result<ArchivedDocuments, String> {
        let name = match given.get(PROPERTY) {
            None | Some(Value::Null) => return Ok(ArchivedDocuments::default()),
            Some(value) => value.as_str(),
        };
        let found = Self::ALL.iter().find(|(known, _)| Some(*known) == name).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let names = Self::ALL.map(|(known, _)| known).join(", ");
            format!("'{PROPERTY}' must be one of {names}")
        })
    }

    /// Whether an index takes a document with these flags.
    pub fn takes(self, flags: Flags) -> bool {
        match self {
            ArchivedDocuments::Exclude => !flags.is_archived(),
            ArchivedDocuments::Include => true,
            ArchivedDocuments::Only => flags.is_archived(),
        }
    }
}
