//! Stopping and starting indexes, and what may be changed of them without building them anew.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use documents::Write;
use query::definition::IndexSettings;

use super::open::Index;
use super::registry::Indexes;
use crate::{Database, IndexChange, Result};

impl Indexes {
    /// Stops all, or lets them go on; until the server starts anew. Those that are made meanwhile are stopped, too.
    pub fn pause_all(&self, is_paused: bool) {
        let _changing = self.changing.lock();
        self.is_paused.store(is_paused, SeqCst);
        self.open.load_full().iter().for_each(|index| self.set_paused(index, is_paused));
    }

    /// Whether all were stopped.
    pub fn are_paused(&self) -> bool {
        self.is_paused.load(SeqCst)
    }

    /// Stops one, or lets it go on; until the server starts anew.
    pub fn pause(&self, index: &Arc<Index>, is_paused: bool) {
        let _changing = self.changing.lock();
        self.set_paused(index, is_paused);
    }

    /// The same of those that there are and that fit.
    pub fn pause_where(&self, fits: impl Fn(&Index) -> bool, is_paused: bool) {
        let _changing = self.changing.lock();
        self.open.load_full().iter().filter(|index| fits(index)).for_each(|index| self.set_paused(index, is_paused));
    }

    fn set_paused(&self, index: &Arc<Index>, is_paused: bool) {
        index.pause(is_paused);
        if is_paused {
            self.tell(index, IndexChange::Paused);
        } else {
            self.give_turn(index);
        }
    }

    /// Changes what may be changed of an index without building it anew, also of what is built to replace it.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn change(&self, index: &Arc<Index>, change: impl Fn(&mut IndexSettings)) -> Result<()> {
        let _changing = self.changing.lock();
        let database = self.database()?;
        let replacement = if index.is_replacement() { None } else { self.replacement_of(index) };
        for index in [Some(index), replacement.as_ref()].into_iter().flatten() {
            let mut settings = index.settings();
            change(&mut settings);
            self.change_one(&database, index, settings)?;
        }
        Ok(())
    }

    /// The lock `changing` is held.
    pub(super) fn change_one(&self, database: &Database, index: &Arc<Index>, settings: IndexSettings) -> Result<()> {
        let before = index.settings();
        if before == settings || index.is_removed() {
            return Ok(());
        }
        index.set_settings(settings);
        let written = database.write(&Write::Definitions(vec![index.stored().put()]));
        if written.is_err() {
            index.set_settings(before);
        }
        written?;
        if before.is_disabled != settings.is_disabled {
            if settings.is_disabled {
                self.tell(index, IndexChange::Disabled);
            } else {
                self.give_turn(index);
            }
        }
        if before.lock_mode != settings.lock_mode {
            self.tell(index, IndexChange::LockModeChanged);
        }
        if before.priority != settings.priority {
            self.tell(index, IndexChange::PriorityChanged);
        }
        Ok(())
    }

    /// Puts the index that is built to stand in for one in its place, whether it has all that there is or not. False: there is
    /// none.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub fn replace_now(&self, name: &str) -> Result<bool> {
        let replacement = self.by_name(name).and_then(|index| self.replacement_of(&index));
        replacement.map_or(Ok(false), |replacement| self.replace(&replacement).map(|()| true))
    }

    pub(super) fn tell(&self, index: &Index, change: IndexChange) {
        if let Ok(database) = self.database() {
            database.tell_of_index(change, index.name());
        }
    }
}
