//! Storing and removing revisions inside a write transaction: the record, its base, its vector and its place in the bin change together.

use storage::{Key, Location};

use super::key;
use super::read::{base_content, content_of, keys_of, place_of_vector};
use super::stored::{BASE_USERS_MAX, DELTA_PART_MAX, DELTA_SIZE_MIN, Form, Sizes, Stored};
use super::trees::vector_key;
use super::{CollectionRevisions, delta};
use crate::items::change::{Deletion, Parts};
use crate::items::found::Existing;
use crate::items::kinds::ItemKind;
use crate::items::record::{self, Head, RecordState};
use crate::limits::REVISIONS_PURGED_AT_ONCE;
use crate::{Date, Error, Etag, Flags, Result, Writing};

/// A state of a document to be kept.
#[derive(Clone, Copy)]
pub(crate) struct NewRevision<'p> {
    /// The document's id as it is spelled.
    pub document_id: &'p str,
    pub vector: &'p str,
    pub last_modified: Date,
    pub flags: Flags,
    pub sizes: Sizes,
    /// Server metadata, stored metadata, body.
    pub content: &'p [u8],
    /// True if its place among the revisions is that of its date; else it is the newest.
    pub is_imported: bool,
}

impl Writing<'_, '_> {
    /// Stores a revision in the collection at `place`; false if there is one with its change vector.
    pub(crate) fn store_revision(
        &mut self,
        place: usize,
        document_key: &[u8],
        revision: &NewRevision<'_>,
    ) -> Result<bool> {
        let schema = self.store.schema;
        if place_of_vector(&schema, &*self.tx, revision.vector)?.is_some() {
            return Ok(false);
        }
        let mut revision = *revision;
        let content;
        if revision.flags.has_attachments() {
            let (server, rest) = revision.content.split_at_checked(revision.sizes.server as usize).unwrap_or_default();
            let server = self.hold_contents(server)?;
            if crate::wire::server_metadata::property(&server, crate::attachments::list::PROPERTY).is_none() {
                revision.flags = revision.flags.without(Flags::HAS_ATTACHMENTS);
            }
            revision.sizes.server = server.len() as u32;
            content = [&server, rest].concat();
            revision.content = &content;
        }
        let revision = &revision;
        let etag = self.next_etag()?;
        let newest = self.revision_below(document_key, &key::end_of(document_key))?;
        let date = match &newest {
            Some((newest, _)) if !revision.is_imported => key::date_in(newest)?.max(revision.last_modified),
            _ => revision.last_modified,
        };
        let own_key = key::key_of(document_key, date, etag);
        let before = match &newest {
            Some((newest, location)) if *newest < own_key => Some(*location),
            Some(_) => self.revision_below(document_key, &own_key)?.map(|(_, location)| location),
            None => None,
        };
        let body = self.kept_content(before, etag, revision)?;
        let head = Head {
            etag,
            last_modified: revision.last_modified,
            flags: revision.flags,
            collection: self.collection(place).number,
            id_size: 0,
            vector_size: 0,
            metadata_size: 0,
            server_size: 0,
            body_size: u32::try_from(body.len()).map_err(|_| Error::TooLarge {
                what: "a revision",
                size: body.len(),
                max: u32::MAX as usize,
            })?,
            kind: ItemKind::Revision,
            state: RecordState::Stored,
        };
        let id = key::id_of(revision.document_id, date, etag);
        let parts = Parts { id: &id, vector: revision.vector, server_metadata: &[], content: &body };
        self.store_item(place, head, parts, &own_key, None, None)?;
        schema.revisions.by_vector.put(self.tx, &vector_key(revision.vector, etag), &[])?;
        Ok(true)
    }

    /// The body of the record of a revision; its base is made or counted.
    ///
    /// * `before`: the revision before it.
    fn kept_content(&mut self, before: Option<Location>, etag: Etag, revision: &NewRevision<'_>) -> Result<Vec<u8>> {
        let schema = self.store.schema;
        let trees = schema.revisions;
        let (sizes, content) = (revision.sizes, revision.content);
        if content.len() < DELTA_SIZE_MIN {
            return Ok(Stored { sizes, form: Form::Whole(content) }.encode());
        }
        let shared = match before {
            Some(before) => {
                let record = schema.records.get(&*self.tx, before)?;
                Stored::decode(record.get(Head::decode(record)?.body_at()..).unwrap_or_default())?.base()
            }
            None => None,
        };
        if let Some(base) = shared {
            let users = trees.base_users.get(&*self.tx, base)?.unwrap_or_default();
            if users < BASE_USERS_MAX {
                let whole = base_content(&schema, &*self.tx, base)?;
                if let Some(operations) = delta::encode(whole, content, content.len() / DELTA_PART_MAX) {
                    trees.base_users.put(self.tx, base, users + 1)?;
                    return Ok(Stored { sizes, form: Form::Difference { base, operations: &operations } }.encode());
                }
            }
        }
        schema.records.insert(self.tx, &[Key::Number(trees.bases, etag)], &[content])?;
        trees.base_users.put(self.tx, etag, 1)?;
        let operations = delta::encode(content, content, usize::MAX).unwrap_or_default();
        Ok(Stored { sizes, form: Form::Difference { base: etag, operations: &operations } }.encode())
    }

    /// The revision of a document with the highest key below `end`.
    pub(super) fn revision_below(&self, document_key: &[u8], end: &[u8]) -> Result<Option<(Vec<u8>, Location)>> {
        super::read::revision_below(&self.store.schema, &*self.tx, document_key, end)
    }

    /// True if a document has revisions, or had one that is still there.
    pub(super) fn has_revisions(&self, document_key: &[u8]) -> Result<bool> {
        Ok(self.revision_below(document_key, &key::end_of(document_key))?.is_some())
    }

    /// Removes a revision.
    pub(super) fn remove_revision(&mut self, revision_key: &[u8], location: Location) -> Result<()> {
        let schema = self.store.schema;
        let trees = schema.revisions;
        let existing = Existing::at(&schema, &*self.tx, location, ItemKind::Revision, RecordState::Stored)?;
        let record = schema.records.get(&*self.tx, location)?;
        let base = Stored::decode(record.get(existing.head.body_at()..).unwrap_or_default())?.base();
        let vector = record::vector(&existing.head, record)?.unwrap_or_default().to_owned();
        if existing.head.flags.has_attachments() {
            let (_, sizes, content) = self.content_of_revision(location)?;
            self.release_contents(content.get(..sizes.server as usize).unwrap_or_default())?;
        }
        // It leaves no tombstone, so that nothing of this is stored.
        let deletion = Deletion { etag: existing.head.etag, vector: None, last_modified: self.now, body: Vec::new() };
        self.remove_item(&existing, revision_key, &deletion)?;
        trees.by_vector.delete(self.tx, &vector_key(&vector, existing.head.etag))?;
        trees.bin.delete(self.tx, existing.head.etag)?;
        let Some(base) = base else { return Ok(()) };
        let users = trees.base_users.get(&*self.tx, base)?;
        match users.ok_or(Error::Corrupt { rule: "the revisions that need a base are counted" })? {
            2.. => trees.base_users.put(self.tx, base, users.unwrap_or_default() - 1)?,
            _ => {
                let location = trees.bases.get(&*self.tx, base)?;
                let location = location.ok_or(Error::Corrupt { rule: "the base of a revision exists" })?;
                schema.records.delete(self.tx, Location(location), &[Key::Number(trees.bases, base)])?;
                trees.base_users.delete(self.tx, base)?;
            }
        }
        Ok(())
    }

    /// Removes revisions of a document that its limits let go, the oldest first; gives how many. The last state of a deleted document stays
    /// as long as its deletion does.
    pub(super) fn purge_revisions(&mut self, document_key: &[u8], limits: &CollectionRevisions) -> Result<u64> {
        if limits.count_min.is_none() && limits.age_min.is_none() {
            return Ok(0);
        }
        let count_max = limits.delete_count_max.unwrap_or(REVISIONS_PURGED_AT_ONCE).min(REVISIONS_PURGED_AT_ONCE);
        let surplus = match limits.count_min {
            Some(kept) => {
                let looked_at = usize::try_from(kept.saturating_add(count_max)).unwrap_or(usize::MAX);
                let count = keys_of(&self.store.schema, &*self.tx, document_key, looked_at)?.len() as u64;
                count.saturating_sub(kept)
            }
            None => u64::MAX,
        };
        let surplus = usize::try_from(surplus.min(count_max)).unwrap_or(usize::MAX);
        let mut oldest = keys_of(&self.store.schema, &*self.tx, document_key, surplus)?;
        if let Some(age) = limits.age_min {
            let limit = Date::from_ticks(self.now.ticks().saturating_sub(age));
            let mut is_old = Vec::with_capacity(oldest.len());
            for (key, _) in &oldest {
                is_old.push(key::date_in(key)? < limit);
            }
            let old_count = is_old.into_iter().take_while(|is_old| *is_old).count();
            oldest.truncate(old_count);
        }
        if let Some(last_state) = self.last_state_of_deleted(document_key, &oldest)? {
            oldest.retain(|(key, _)| *key != last_state);
        }
        for (key, location) in &oldest {
            self.remove_revision(key, *location)?;
        }
        Ok(oldest.len() as u64)
    }

    /// The key of the state before the deletion that is the newest revision of a document. `None`: there is none, or the deletion itself is
    /// among `removed`.
    fn last_state_of_deleted(&self, document_key: &[u8], removed: &[(Vec<u8>, Location)]) -> Result<Option<Vec<u8>>> {
        if removed.is_empty() {
            return Ok(None);
        }
        let newest = self.revision_below(document_key, &key::end_of(document_key))?;
        let Some((newest, location)) = newest else { return Ok(None) };
        let head = Head::decode(self.store.schema.records.get(&*self.tx, location)?)?;
        if !head.flags.has(Flags::DELETE_REVISION) || removed.iter().any(|(key, _)| *key == newest) {
            return Ok(None);
        }
        Ok(self.revision_below(document_key, &newest)?.map(|(key, _)| key))
    }

    /// Removes all revisions of a document, [`REVISIONS_PURGED_AT_ONCE`] at a time; gives how many.
    pub(super) fn remove_all_revisions(&mut self, document_key: &[u8]) -> Result<u64> {
        let mut count = 0;
        loop {
            let keys = keys_of(&self.store.schema, &*self.tx, document_key, REVISIONS_PURGED_AT_ONCE as usize)?;
            if keys.is_empty() {
                return Ok(count);
            }
            for (key, location) in keys {
                self.remove_revision(&key, location)?;
                count += 1;
            }
        }
    }

    /// The document of a deletion is there again.
    pub(super) fn leave_bin(&mut self, document_key: &[u8]) -> Result<()> {
        let Some((_, location)) = self.revision_below(document_key, &key::end_of(document_key))? else {
            return Ok(());
        };
        let record = self.store.schema.records.get(&*self.tx, location)?;
        let head = Head::decode(record)?;
        if head.flags.has(Flags::DELETE_REVISION) {
            self.store.schema.revisions.bin.delete(self.tx, head.etag)?;
        }
        Ok(())
    }

    /// The last revision of a document is that of its deletion, and there is no such document.
    pub(super) fn enter_bin(&mut self, document_key: &[u8]) -> Result<()> {
        let Some((_, location)) = self.revision_below(document_key, &key::end_of(document_key))? else {
            return Ok(());
        };
        let head = Head::decode(self.store.schema.records.get(&*self.tx, location)?)?;
        if head.flags.has(Flags::DELETE_REVISION) {
            self.store.schema.revisions.bin.put(self.tx, head.etag, head.etag)?;
        }
        Ok(())
    }

    /// The state that a revision keeps.
    pub(super) fn content_of_revision(&self, location: Location) -> Result<(Head, Sizes, Vec<u8>)> {
        let record = self.store.schema.records.get(&*self.tx, location)?;
        let head = Head::decode(record)?;
        let mut content = Vec::new();
        let body = record.get(head.body_at()..).unwrap_or_default();
        let sizes = content_of(&self.store.schema, &*self.tx, body, &mut content)?;
        Ok((head, sizes, content))
    }
}
