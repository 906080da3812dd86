//! Definitions of a dump that take the place of those that the database has: what the dump does not name is removed.
//!
//! An incremental backup behind a snapshot is imported so, since the image has all that was there at its time. Only names that the database
//! has are kept in memory, whatever the dump names.

use std::collections::BTreeSet;

use documents::id;
use json::{Raw, Value};

use crate::limits::AUTOMATIC_INDEX_COUNT_MAX;
use crate::smuggler::{ItemType, indexes};
use crate::{Database, Result};

/// The definitions of a database that a dump has not named yet.
#[derive(Debug)]
pub(super) struct Replacing {
    /// Names of indexes, lower-cased.
    indexes: BTreeSet<String>,
    /// Names of subscriptions, lower-cased.
    subscriptions: BTreeSet<String>,
    /// The automatic indexes of the dump. One that is covered by an index which goes has to be made behind that.
    automatic: Vec<Value>,
}

impl Replacing {
    /// # Errors
    ///
    /// Storage fails.
    pub fn of(database: &Database) -> Result<Replacing> {
        let all = database.indexes().all();
        let exported = all.iter().filter(|index| indexes::is_exported(index.definition()));
        let subscriptions = database.subscriptions()?;
        Ok(Replacing {
            indexes: exported.map(|index| id::lower_text(&index.definition().name())).collect(),
            subscriptions: subscriptions.iter().map(|state| id::lower_text(&state.subscription.name)).collect(),
            automatic: Vec::new(),
        })
    }

    /// * `element`: of `Indexes`.
    pub fn note_index(&mut self, element: Raw<'_>) {
        if let Some(name) = element.get("IndexDefinition").and_then(|given| given.get("Name")).and_then(Raw::as_str) {
            self.indexes.remove(&id::lower_text(&name));
        }
        if self.automatic.len() < AUTOMATIC_INDEX_COUNT_MAX {
            self.automatic.extend(indexes::automatic_in(element));
        }
    }

    /// * `element`: of `Subscriptions`.
    pub fn note_subscription(&mut self, element: Raw<'_>) {
        if let Some(name) = element.get("SubscriptionName").and_then(Raw::as_str) {
            self.subscriptions.remove(&id::lower_text(&name));
        }
    }

    /// Removes what a section that ends here did not name.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn end_section(&mut self, section: ItemType, database: &Database) -> Result<()> {
        match section {
            ItemType::Indexes => {
                let unnamed = std::mem::take(&mut self.indexes);
                if unnamed.is_empty() {
                    return Ok(());
                }
                database.indexes().retain(|definition| !unnamed.contains(&id::lower_text(&definition.name())))?;
                for given in std::mem::take(&mut self.automatic) {
                    indexes::ensure_again(database, &given)?;
                }
                Ok(())
            }
            ItemType::Subscriptions => {
                let unnamed = std::mem::take(&mut self.subscriptions);
                unnamed.iter().try_for_each(|name| database.delete_subscription(name).map(drop))
            }
            _ => Ok(()),
        }
    }
}
