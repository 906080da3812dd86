//! Which documents an index or a subscription takes: those that are archived, others, or all.

use documents::Flags;
use json::Value;

/// The property of a definition that says it.
pub(super) const PROPERTY: &str = "ArchivedDataProcessingBehavior";

/// Which documents an index or a subscription takes.
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
        name.and_then(Self::from_wire).ok_or_else(|| {
            let names = Self::ALL.map(|(known, _)| known).join(", ");
            format!("'{PROPERTY}' must be one of {names}")
        })
    }

    /// What clients call so.
    pub fn from_wire(name: &str) -> Option<ArchivedDocuments> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The name on the wire.
    pub fn wire_name(self) -> &'static str {
        Self::ALL.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| name)
    }

    /// Whether it takes a document with these flags.
    pub fn takes(self, flags: Flags) -> bool {
        match self {
            ArchivedDocuments::Exclude => !flags.is_archived(),
            ArchivedDocuments::Include => true,
            ArchivedDocuments::Only => flags.is_archived(),
        }
    }
}
