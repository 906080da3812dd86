//! Definitions of a dump: of indexes and subscriptions. They may take the place of those that the database has: then what the dump does not
//! name is removed.
//!
//! An incremental backup behind a snapshot is imported so, since the image has all that was there at its time. Only names that the database
//! has are kept in memory, whatever the dump names.

use std::collections::BTreeSet;

use documents::id;
use json::{Raw, Value};

use crate::limits::AUTOMATIC_INDEX_COUNT_MAX;
use crate::smuggler::indexes::DefinitionRefused;
use crate::smuggler::reader::Part;
use crate::smuggler::{ItemType, indexes, subscriptions};
use crate::{Database, Result};

use super::{Import, ImportWork};

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

impl Import {
    /// Indexes and subscriptions that the database has now and that the dump does not name are removed when their sections end, and
    /// identities become what the dump says, also lower ones.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub(crate) fn replace_definitions(&mut self) -> Result<()> {
        self.work.replacing = Some(Replacing::of(&self.work.database)?);
        Ok(())
    }
}

impl ImportWork {
    pub(super) fn index(&mut self, part: Part<'_>, element: Raw<'_>) -> Result<()> {
        let put = indexes::put(&self.database, element, &self.options, &self.analyzers);
        if let Some(replacing) = &mut self.replacing {
            replacing.note_index(element);
        }
        self.defined(ItemType::Indexes, "index", part, put)
    }

    pub(super) fn subscription(&mut self, part: Part<'_>, element: Raw<'_>) -> Result<()> {
        let put = subscriptions::put(&self.database, element);
        if let Some(replacing) = &mut self.replacing {
            replacing.note_subscription(element);
        }
        self.defined(ItemType::Subscriptions, "subscription", part, put)
    }

    /// A definition that cannot be taken over is reported, and ends nothing: the documents count more.
    fn defined(
        &mut self,
        item_type: ItemType,
        noun: &str,
        part: Part<'_>,
        (name, put): (String, Result<(), DefinitionRefused>),
    ) -> Result<()> {
        match put {
            Ok(()) => Ok(()),
            Err(DefinitionRefused::Failed(error)) => Err(error),
            Err(DefinitionRefused::Definition(rule)) => {
                self.result.counts_mut(item_type).errored += 1;
                let place = part.place();
                self.result.error(&format!("The {noun} '{name}' ({place}) was not imported: {rule}"));
                Ok(())
            }
        }
    }
}
