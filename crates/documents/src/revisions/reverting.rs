//! Bringing documents back: to one of their revisions, or to their state at a time. What the state is, is decided in the transaction that
//! brings it back: other writes may remove revisions before it.

use json::Raw;
use storage::Location;

use super::administration::{RevertTo, Reverted};
use super::belongings::Belongings;
use super::key;
use super::read::keys_of;
use crate::commands::patch::whole;
use crate::ids::id;
use crate::items::found::Existing;
use crate::items::kinds::ItemKind;
use crate::items::record;
use crate::{Batch, Date, Error, Expected, Flags, Result, Writing};

/// What makes a document as it was at a time.
enum Goal {
    /// It is so.
    Reached,
    Deleted,
    Revision(Location),
    /// The revision is later, but older ones are gone.
    Oldest(Location),
}

impl Writing<'_, '_> {
    /// Brings documents back to their states at a time.
    pub(crate) fn revert_to_time(&mut self, document_ids: &[String], time: Date) -> Result<Reverted> {
        let mut reverted = Reverted::default();
        for document_id in document_ids {
            let document_key = id::lower(document_id);
            let is_changed = match self.goal_at(&document_key, time)? {
                Goal::Reached => false,
                Goal::Deleted => self.delete(document_id, &Expected::Any)?,
                Goal::Revision(location) => self.revert_to(&document_key, location)?,
                Goal::Oldest(location) => {
                    reverted.to_oldest.push(document_id.clone());
                    self.revert_to(&document_key, location)?
                }
            };
            reverted.changed += u64::from(is_changed);
        }
        Ok(reverted)
    }

    /// Brings a document back; false if nothing changed.
    ///
    /// # Errors
    ///
    /// [`Error::BadRevision`] for a revision that is not there.
    pub(super) fn revert(&mut self, document_id: &str, to: &RevertTo) -> Result<bool> {
        let vector = match to {
            RevertTo::Deleted => return self.delete(document_id, &Expected::Any),
            RevertTo::Vector(vector) => vector,
        };
        let document_key = id::lower(document_id);
        let missing = || Error::BadRevision {
            rule: format!("Revision with the cv \"{vector}\" doesn't exist (id: '{document_id}')"),
        };
        let (_, location) = self.revision_of_document(&document_key, vector)?.ok_or_else(missing)?;
        self.revert_to(&document_key, location)
    }

    fn goal_at(&mut self, document_key: &[u8], time: Date) -> Result<Goal> {
        let current = self.find_item(ItemKind::Document, document_key)?;
        let end = key::key_of(document_key, Date::from_ticks(time.ticks().saturating_add(1)), 0);
        if let Some((_, location)) = self.revision_below(document_key, &end)? {
            let is_deletion = self.head_at(location)?.flags.has(Flags::DELETE_REVISION);
            return Ok(match &current {
                None if is_deletion => Goal::Reached,
                Some(_) if is_deletion => Goal::Deleted,
                Some(current) if self.is_as(current, document_key, location)? => Goal::Reached,
                _ => Goal::Revision(location),
            });
        }
        // There was no such document, or the revisions of that time are gone: the first one that is there tells.
        let Some(current) = current else { return Ok(Goal::Reached) };
        let Some((_, oldest)) = keys_of(&self.store.schema, &*self.tx, document_key, 1)?.pop() else {
            return Ok(Goal::Reached);
        };
        let head = self.head_at(oldest)?;
        let is_made_later = head.flags.has(Flags::FROM_OLD_DOCUMENT) || head.flags.has(Flags::FORCE_CREATED);
        if !is_made_later && !self.may_have_lost_revisions(document_key, head.collection)? {
            return Ok(Goal::Deleted);
        }
        match head.flags.has(Flags::DELETE_REVISION) || self.is_as(&current, document_key, oldest)? {
            true => Ok(Goal::Reached),
            false => Ok(Goal::Oldest(oldest)),
        }
    }

    /// Whether limits of its collection may have removed revisions of a document.
    fn may_have_lost_revisions(&mut self, document_key: &[u8], collection: u32) -> Result<bool> {
        let place = self.collection_by_number(collection)?;
        let Some(limits) = self.revisions.of(&self.collection(place).name).copied() else { return Ok(false) };
        let Some(kept) = limits.count_min.filter(|_| limits.age_min.is_none()) else {
            return Ok(limits.age_min.is_some());
        };
        let looked_at = usize::try_from(kept).unwrap_or(usize::MAX);
        Ok(keys_of(&self.store.schema, &*self.tx, document_key, looked_at)?.len() as u64 >= kept)
    }

    /// Whether a document has the state of a revision.
    fn is_as(&self, current: &Existing, document_key: &[u8], revision: Location) -> Result<bool> {
        let schema = &self.store.schema;
        let stored = schema.records.get(&*self.tx, revision)?;
        let vector = record::vector(&self.head_at(revision)?, stored)?.unwrap_or_default();
        if crate::change_vector::is_same(vector, &self.vector_of(current)) {
            return Ok(true);
        }
        let (_, sizes, content) = self.content_of_revision(revision)?;
        let (server, content) = content.split_at_checked(sizes.server as usize).unwrap_or_default();
        let record = schema.records.get(&*self.tx, current.location)?;
        Ok(sizes.metadata == current.head.metadata_size
            && record.get(current.head.metadata_at()..) == Some(content)
            && Belongings::of_revision(server) == self.belongings_of(document_key)?)
    }

    fn revert_to(&mut self, document_key: &[u8], location: Location) -> Result<bool> {
        let (head, sizes, content) = self.content_of_revision(location)?;
        let record = self.store.schema.records.get(&*self.tx, location)?;
        let spelled = key::document_id(record::id(&head, record)?).to_owned();
        if head.flags.has(Flags::DELETE_REVISION) {
            return self.delete(&spelled, &Expected::Any);
        }
        let (server, content) = content.split_at_checked(sizes.server as usize).unwrap_or_default();
        let (metadata, body) = content.split_at_checked(sizes.metadata as usize).unwrap_or_default();
        let archived = head.flags.is_archived();
        let flags = if archived { Flags::REVERTED.with(Flags::ARCHIVED) } else { Flags::REVERTED };
        let mut batch = Batch::new().with_flags(flags);
        batch.push_restored(&spelled, Raw::new(&whole(metadata, body)))?;
        self.restore(document_key, &spelled, batch, server)?;
        Ok(true)
    }
}
