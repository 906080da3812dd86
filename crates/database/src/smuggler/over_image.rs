//! Imports of dumps into a database that an image of storage made: what the image has beyond the dumps must neither be in the way nor stay.

use documents::{ValueChange, Write};
use query::definition::LockMode;

use super::record;
use crate::limits::BULK_BATCH_COUNT_MAX;
use crate::{Database, Result};

/// Makes way for the dumps. Unique constraints are deleted, since documents may break those that were dropped after the image; the last
/// dump has those that hold. Indexes lose their locks, since they may have been changed; the last dump has the locks as well.
///
/// # Errors
///
/// Storage fails.
pub(crate) fn prepare(database: &Database) -> Result<()> {
    record::drop_constraints(database)?;
    for index in database.indexes().all().iter() {
        database.indexes().change(index, |settings| settings.lock_mode = LockMode::Unlock)?;
    }
    Ok(())
}

/// Removes the guards of the image whose documents are gone or have no guard any more: dumps have neither guards nor their tombstones, and
/// RavenDB would not read them.
///
/// # Errors
///
/// Storage fails.
pub(crate) fn remove_orphaned_guards(database: &Database) -> Result<()> {
    let snapshot = database.read();
    let mut orphaned = snapshot.orphaned_guards();
    loop {
        let mut changes = Vec::new();
        for guard in orphaned.by_ref().take(BULK_BATCH_COUNT_MAX) {
            let guard = guard?;
            changes.push(ValueChange::delete(guard.key(), Some(guard.index()))?);
        }
        if changes.is_empty() {
            return Ok(());
        }
        database.write_blocking(&Write::Exchanges(changes))?;
    }
}
