//! The copy of an environment, dense, checked and closed.

use std::path::{Path, PathBuf};

use documents::{DocumentStore, StoreOptions};
use storage::limits::PAGE_SIZE;
use storage::{Durability, Environment, Options, Statistics};

use crate::limits::COMPACTION_JOURNAL_SIZE;
use crate::{Error, Result};

/// The folder inside of an environment's where its copy is made.
const FOLDER: &str = "compacted";

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Items and tombstones of documents, or entries of the trees of an index, that were copied, and of how many; 0: that is not known.
    Copied(u64, u64),
    /// Pages of the copy that were checked, and of how many.
    Checked(u64, u64),
}

/// A copy that may take the place of what it was made of. Dropped, it is removed.
#[derive(Debug)]
pub struct Copy {
    folder: PathBuf,
    pages_before: u64,
    pages_after: u64,
}

/// Pages of the data file, free ones included.
fn pages(statistics: &Statistics) -> u64 {
    statistics.used_pages + statistics.free_pages
}

impl Copy {
    /// Copies documents. `None`: it was cut short.
    ///
    /// * `goes_on`: called once in a while; false cuts the copy short.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoom`]; the copy is damaged; storage fails. Nothing of the copy is left.
    pub fn of_documents(store: &DocumentStore, goes_on: &mut dyn FnMut(Step) -> bool) -> Result<Option<Copy>> {
        let counts = store.read().statistics()?.counts.total();
        let total = counts.count + counts.tombstone_count;
        Copy::make(store.environment(), "the documents", goes_on, |target, goes_on| {
            if !store.copy_into(&target, |copied| goes_on(Step::Copied(copied, total)))? {
                return Ok(None);
            }
            let copy = DocumentStore::open(target, StoreOptions::default())?;
            if !is_same(store, &copy)? {
                let rule = "the copy has other documents than the database, which is a mistake of this program. Nothing was changed";
                return Err(Error::BadCompaction { rule: rule.to_owned() });
            }
            Ok(Some(copy.into_environment()))
        })
    }

    /// Copies an index, which must not be written meanwhile. Else as [`Self::of_documents`].
    pub(crate) fn of_index(
        index: &query::index::Index,
        name: &str,
        goes_on: &mut dyn FnMut(Step) -> bool,
    ) -> Result<Option<Copy>> {
        Copy::make(index.environment(), &format!("the index '{name}'"), goes_on, |target, goes_on| {
            let is_whole = index.copy_into(&target, |copied| goes_on(Step::Copied(copied, 0)))?;
            Ok(is_whole.then_some(target))
        })
    }

    fn make(
        environment: &Environment,
        what: &str,
        goes_on: &mut dyn FnMut(Step) -> bool,
        fill: impl FnOnce(Environment, &mut dyn FnMut(Step) -> bool) -> Result<Option<Environment>>,
    ) -> Result<Option<Copy>> {
        remove_rest(environment.path())?;
        let before = environment.statistics()?;
        check_room(environment.path(), what, before.used_pages * PAGE_SIZE as u64)?;
        let folder = environment.path().join(FOLDER);
        let mut copy = Copy { folder, pages_before: pages(&before), pages_after: 0 };
        // Lazy while it is made: nothing of it counts before it is closed, which makes all of it durable.
        let options = Options { durability: Durability::Lazy, ..Options::default() };
        let target = Environment::open(&copy.folder, options)?;
        let Some(target) = fill(target, goes_on)? else { return Ok(None) };
        let used = target.statistics()?.used_pages;
        let checked = target.verify_while(&mut |reached| goes_on(Step::Checked(reached, used)))?;
        let Some(report) = checked else { return Ok(None) };
        if !report.problems.is_empty() {
            let rule = format!("the copy of {what} is damaged: {}", report.problems.join("; "));
            return Err(Error::BadCompaction { rule });
        }
        copy.pages_after = pages(&target.statistics()?);
        target.close()?;
        Ok(Some(copy))
    }

    /// Pages of the data file of what was copied, free ones included.
    pub fn pages_before(&self) -> u64 {
        self.pages_before
    }

    /// Pages of the data file of the copy.
    pub fn pages_after(&self) -> u64 {
        self.pages_after
    }

    /// Whether anything is gained by it.
    pub fn is_smaller(&self) -> bool {
        self.pages_after < self.pages_before
    }

    /// Puts it in the place of what it was made of, which takes no writes any more and is to be opened again.
    ///
    /// * `environment`: what it was made of.
    ///
    /// # Errors
    ///
    /// As [`Environment::replace_by`]. What it was made of takes no writes any more then, either.
    pub fn put_in_place(self, environment: &Environment) -> Result<()> {
        Ok(environment.replace_by(&self.folder)?)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Err(error) = remove_folder(&self.folder) {
            tracing::warn!(%error, "the rest of a copy could not be removed; it is removed when the database is opened again");
        }
    }
}

/// Compares a copy with what it was made of, as far as counts tell.
fn is_same(before: &DocumentStore, after: &DocumentStore) -> Result<bool> {
    let (before, after) = (before.read(), after.read());
    Ok(before.last_etag()? == after.last_etag()?
        && before.statistics()?.counts == after.statistics()?.counts
        && before.identities()? == after.identities()?
        && before.change_vector()? == after.change_vector()?)
}

/// Removes what a compaction left in the folder of an environment, which is open here.
pub(crate) fn remove_rest(environment: &Path) -> Result<()> {
    remove_folder(&environment.join(FOLDER))
}

fn remove_folder(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", folder, error)),
        _ => Ok(()),
    }
}

/// Refuses a copy for which there may be no room. It is smaller than what is in use, beside its journals.
fn check_room(folder: &Path, what: &str, used: u64) -> Result<()> {
    let found =
        rustix::fs::statvfs(folder).map_err(|error| Error::io("measure the device of", folder, error.into()))?;
    let free = found.f_bavail * found.f_frsize;
    let needed = used.saturating_add(used.min(COMPACTION_JOURNAL_SIZE));
    if free >= needed {
        return Ok(());
    }
    Err(Error::NoRoom { what: what.to_owned(), needed, free, folder: folder.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_without_room_is_refused_before_it_is_begun() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_room(folder.path(), "x", 8192).is_ok());
        let refused = check_room(folder.path(), "the documents", u64::MAX / 2);
        assert!(matches!(refused, Err(Error::NoRoom { needed, free, .. }) if free < needed), "{refused:?}");
    }
}
