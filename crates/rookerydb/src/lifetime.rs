//! What happens to documents at times that their metadata name.

use std::time::Duration;

use database::documents::DueKind;
use json::Value;

use crate::error::of_database;
use crate::{Database, Result};

/// Something that happens to a document at the time that a property of its metadata names: a date in UTC, such as
/// `2030-01-31T08:00:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lifetime {
    /// `@expires`: it is deleted.
    Expiration,
    /// `@refresh`: it is written again without the property, so that [`Changes`](crate::Changes) tells of it.
    Refresh,
    /// `@archive-at`: it is archived. Queries that need an index do not find it any more, unless the index says that it takes archived
    /// documents.
    Archival,
}

impl Lifetime {
    fn kind(self) -> (DueKind, &'static str) {
        match self {
            Lifetime::Expiration => (DueKind::Expiration, "DeleteFrequencyInSec"),
            Lifetime::Refresh => (DueKind::Refresh, "RefreshFrequencyInSec"),
            Lifetime::Archival => (DueKind::Archival, "ArchiveFrequencyInSec"),
        }
    }
}

impl Database {
    /// Has documents looked for whose time has come, again and again, from now on and whenever the store is open.
    ///
    /// * `every`: the time between two looks, in whole seconds, 1 at least; `None` ends it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid): the time is too short or too long; [`Error::Storage`](crate::Error::Storage).
    pub fn set_lifetime(&self, lifetime: Lifetime, every: Option<Duration>) -> Result<()> {
        let (kind, frequency) = lifetime.kind();
        let mut configuration = Value::object();
        configuration.set("Disabled", every.is_none().into());
        if let Some(every) = every {
            configuration.set(frequency, Value::Number(every.as_secs().to_string()));
        }
        let databases = self.store().databases();
        databases.put_due_configuration(self.name(), kind, &configuration, None).map_err(of_database)?;
        Ok(())
    }
}
