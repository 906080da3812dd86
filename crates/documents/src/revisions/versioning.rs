//! Which revisions a write makes: decided before a document is written, stored with it.

use json::{Raw, Writer};
use storage::Location;

use super::key;
use super::read::place_of_vector;
use super::stored::Sizes;
use super::write::NewRevision;
use super::{CollectionRevisions, read};
use crate::counters;
use crate::ids::id;
use crate::items::found::{CurrentItem, Existing};
use crate::items::kinds::ItemKind;
use crate::items::record::{self, Head};
use crate::wire::server_metadata::property;
use crate::{CommandResult, Error, Flags, HILO_COLLECTION, Result, Writing};

/// The server metadata that names the counters of a document, and what stands for it in a revision.
const COUNTERS: &str = "@counters";
pub(super) const COUNTERS_SNAPSHOT: &str = "@counters-snapshot";

/// What a write of a document does with its revisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Revise {
    /// Whether the written document has the flag of revisions.
    pub has_revisions: bool,
    /// The state that is replaced becomes a revision, with these flags more.
    pub of_old: Option<Flags>,
    /// The written state becomes a revision.
    pub of_new: bool,
    /// Of the collection, if it is configured.
    pub limits: Option<CollectionRevisions>,
}

/// What a put says of revisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PutRevisions {
    /// The state that it replaces becomes a revision, whatever is configured.
    pub forces_before: bool,
    /// It comes from elsewhere with its revisions.
    pub is_imported: bool,
    /// It has the bytes that are stored.
    pub is_unchanged: bool,
}

/// A document that is being written.
pub(crate) struct WrittenDocument<'p> {
    pub id: &'p str,
    pub vector: &'p str,
    pub head: Head,
    pub server_metadata: &'p [u8],
    /// Stored metadata, then body.
    pub content: &'p [u8],
}

impl Writing<'_, '_> {
    /// Decides for a document that is put.
    ///
    /// * `flags`: that it is written with.
    pub(crate) fn decide_revisions(
        &mut self,
        (id, found): (&str, &CurrentItem),
        collection: &str,
        flags: Flags,
        asked: PutRevisions,
    ) -> Result<Revise> {
        let PutRevisions { forces_before, is_imported, is_unchanged } = asked;
        let before = found.document.as_ref();
        let had_revisions = before.is_some_and(|document| document.head.flags.has(Flags::HAS_REVISIONS));
        let mut revise = Revise { has_revisions: flags.has(Flags::HAS_REVISIONS), ..Revise::default() };
        if forces_before {
            let document = before.ok_or_else(|| Error::BadRevision {
                rule: format!(
                    "Can't force revision creation - the document was not saved on the server yet. document: {id}."
                ),
            })?;
            let vector = self.vector_of(document);
            if place_of_vector(&self.store.schema, &*self.tx, &vector)?.is_none() {
                revise.of_old = Some(Flags::FORCE_CREATED);
            }
            revise.has_revisions = true;
        }
        // Revisions of what is imported are imported with it.
        if is_imported || self.skips_revisions || flags.has(Flags::ARTIFICIAL) || collection == HILO_COLLECTION {
            return Ok(revise);
        }
        match self.revisions.enabled(collection).copied() {
            Some(limits) if limits.count_min == Some(0) => {
                revise.has_revisions &= forces_before;
                revise.limits = had_revisions.then_some(limits);
            }
            Some(limits) => {
                let is_kept = match before.filter(|_| had_revisions) {
                    Some(document) => self.is_state_kept(document, &found.key)?,
                    None => false,
                };
                // A state that is stored again is kept once.
                let is_new_one = !(had_revisions && is_unchanged);
                if before.is_some() && !is_kept && is_new_one && revise.of_old.is_none() {
                    revise.of_old = Some(Flags::FROM_OLD_DOCUMENT);
                }
                revise.of_new = !(is_kept && is_unchanged);
                revise.has_revisions = true;
                revise.limits = Some(limits);
            }
            None if before.is_none() && self.any_revisions()? => {
                revise.has_revisions |= self.has_revisions(&found.key)?;
            }
            None => {}
        }
        Ok(revise)
    }

    /// Keeps the state of a document before something that belongs to it changes, if it is not kept.
    ///
    /// * `is_imported`: what changes comes from elsewhere.
    pub(crate) fn revise_before_change(&mut self, document: &Existing, key: &[u8], is_imported: bool) -> Result<()> {
        let revise = self.decide_rewrite(document, is_imported)?;
        self.revise_old(&revise, Some(document), key)
    }

    /// Whether the stored state of a document is its newest revision. That it has revisions does not say so: a state that was written while
    /// the configuration was disabled, or that was imported, may be none.
    fn is_state_kept(&self, document: &Existing, key: &[u8]) -> Result<bool> {
        if place_of_vector(&self.store.schema, &*self.tx, &self.vector_of(document))?.is_some() {
            return Ok(true);
        }
        // The same state stored again, or imported beside its revisions, has another change vector.
        let Some((_, location)) = self.revision_below(key, &key::end_of(key))? else { return Ok(false) };
        let (head, sizes, content) = self.content_of_revision(location)?;
        let record = self.store.schema.records.get(&*self.tx, document.location)?;
        let (server, rest) = content.split_at_checked(sizes.server as usize).unwrap_or_default();
        let attachments = |server_metadata: &[u8]| property(server_metadata, crate::attachments::list::PROPERTY);
        Ok(!head.flags.has(Flags::DELETE_REVISION)
            && sizes.metadata == document.head.metadata_size
            && Some(rest) == record.get(document.head.metadata_at()..)
            && attachments(server) == attachments(record::server_metadata(&document.head, record)))
    }

    /// Whether any document has revisions, so that databases without them pay for no lookups.
    fn any_revisions(&self) -> Result<bool> {
        Ok(self.store.schema.kinds[ItemKind::Revision].by_etag.last(&*self.tx)?.is_some())
    }

    /// Decides for a document that the server writes again, with other metadata.
    ///
    /// * `is_imported`: a part of it that comes from elsewhere.
    pub(crate) fn decide_rewrite(&mut self, document: &Existing, is_imported: bool) -> Result<Revise> {
        let had_revisions = document.head.flags.has(Flags::HAS_REVISIONS);
        let mut revise = Revise { has_revisions: had_revisions, ..Revise::default() };
        if is_imported
            || self.skips_revisions
            || self.revisions.is_empty()
            || document.head.flags.has(Flags::ARTIFICIAL)
        {
            return Ok(revise);
        }
        let place = self.collection_by_number(document.head.collection)?;
        let limits = self.revisions.enabled(&self.collection(place).name).copied();
        if let Some(limits) = limits.filter(|limits| limits.count_min != Some(0)) {
            let is_kept = had_revisions && {
                let record = self.store.schema.records.get(&*self.tx, document.location)?;
                self.is_state_kept(document, &id::lower(record::id(&document.head, record)?))?
            };
            revise.of_old = (!is_kept).then_some(Flags::FROM_OLD_DOCUMENT);
            revise = Revise { has_revisions: true, of_new: true, limits: Some(limits), ..revise };
        }
        Ok(revise)
    }

    /// Keeps the state that is about to be replaced, if it was decided so.
    pub(crate) fn revise_old(&mut self, revise: &Revise, document: Option<&Existing>, key: &[u8]) -> Result<()> {
        match (revise.of_old, document) {
            (Some(flags), Some(document)) => self.revise_stored(document, key, flags).map(drop),
            _ => Ok(()),
        }
    }

    /// Keeps the state that was written, if it was decided so, and removes what the limits let go.
    ///
    /// * `is_new`: there was no such document.
    pub(crate) fn revise_new(
        &mut self,
        revise: &Revise,
        place: usize,
        key: &[u8],
        written: &WrittenDocument<'_>,
        is_new: bool,
    ) -> Result<()> {
        if is_new && self.any_revisions()? {
            self.leave_bin(key)?;
        }
        if revise.of_new {
            self.revise(place, key, written, Flags::NONE)?;
        }
        if let Some(limits) = &revise.limits {
            self.purge_revisions(key, limits)?;
        }
        Ok(())
    }

    /// Does the same for a document that is stored.
    pub(crate) fn revise_written(&mut self, revise: &Revise, key: &[u8]) -> Result<()> {
        if revise.of_new
            && let Some(document) = self.find_item(ItemKind::Document, key)?
        {
            self.revise_stored(&document, key, Flags::NONE)?;
        }
        if let Some(limits) = &revise.limits {
            self.purge_revisions(key, limits)?;
        }
        Ok(())
    }

    /// Keeps the stored state of a document; false if that is kept already.
    fn revise_stored(&mut self, document: &Existing, key: &[u8], flags: Flags) -> Result<bool> {
        let record = self.store.schema.records.get(&*self.tx, document.location)?.to_vec();
        let head = document.head;
        let vector = self.vector_of(document);
        let written = WrittenDocument {
            id: record::id(&head, &record)?,
            vector: &vector,
            head,
            server_metadata: record::server_metadata(&head, &record),
            content: record.get(head.metadata_at()..).unwrap_or_default(),
        };
        let place = self.collection_by_number(head.collection)?;
        self.revise(place, key, &written, flags)
    }

    fn revise(&mut self, place: usize, key: &[u8], written: &WrittenDocument<'_>, flags: Flags) -> Result<bool> {
        let head = &written.head;
        let server = match head.flags.has_counters() {
            true => self.with_counters_snapshot(key, written.server_metadata)?,
            false => written.server_metadata.to_vec(),
        };
        let sizes = Sizes { server: server.len() as u32, metadata: head.metadata_size, body: head.body_size };
        let revision = NewRevision {
            document_id: written.id,
            vector: written.vector,
            last_modified: head.last_modified,
            flags: head.flags.with(Flags::HAS_REVISIONS).with(Flags::REVISION).with(flags),
            sizes,
            content: &[&server, written.content].concat(),
            is_imported: false,
        };
        self.store_revision(place, key, &revision)
    }

    /// Server metadata with the values of the counters in the place of their names.
    fn with_counters_snapshot(&self, document_key: &[u8], server_metadata: &[u8]) -> Result<Vec<u8>> {
        let all = counters::read::all(&self.store.schema, &self.store.names, &*self.tx, document_key)?;
        let mut snapshot = Vec::new();
        Writer::new(&mut snapshot).object(|json| {
            all.iter().for_each(|counter| _ = json.name(counter.name()).signed(counter.total()));
        });
        let text = [b"{", server_metadata, b"}"].concat();
        let mut properties: Vec<(String, &[u8])> = Raw::new(&text)
            .members()
            .map(|(name, value)| (name.decode().into_owned(), value.bytes()))
            .filter(|(name, _)| name != COUNTERS)
            .collect();
        properties.push((COUNTERS_SNAPSHOT.to_owned(), &snapshot));
        properties.sort();
        let mut out = Vec::new();
        Writer::new(&mut out).object(|json| {
            properties.iter().for_each(|(name, value)| _ = json.name(name).raw(value));
        });
        Ok(out.strip_prefix(b"{").and_then(|out| out.strip_suffix(b"}")).unwrap_or_default().to_vec())
    }

    /// Keeps the state of a document that is about to be deleted, with all that belongs to it, if it is not kept.
    pub(crate) fn revise_before_deletion(&mut self, document: &Existing, key: &[u8]) -> Result<()> {
        let flags = document.head.flags;
        if self.revisions.is_empty() || self.skips_revisions || flags.has(Flags::ARTIFICIAL) {
            return Ok(());
        }
        let place = self.collection_by_number(document.head.collection)?;
        let limits = self.revisions.enabled(&self.collection(place).name);
        if limits.is_some_and(|limits| !limits.purges_on_delete && limits.count_min != Some(0))
            && !(flags.has(Flags::HAS_REVISIONS) && self.is_state_kept(document, key)?)
        {
            self.revise_stored(document, key, Flags::FROM_OLD_DOCUMENT)?;
        }
        Ok(())
    }

    /// Keeps that a document is deleted, or lets its revisions go.
    ///
    /// * `document`: is still stored. `vector`: of the deletion.
    pub(crate) fn revise_deletion(&mut self, document: &Existing, key: &[u8], vector: &str) -> Result<()> {
        let flags = document.head.flags;
        let has_revisions = flags.has(Flags::HAS_REVISIONS);
        if !has_revisions && (self.revisions.is_empty() || flags.has(Flags::ARTIFICIAL)) {
            return if self.any_revisions()? { self.enter_bin(key) } else { Ok(()) };
        }
        let place = self.collection_by_number(document.head.collection)?;
        let limits = self.revisions.enabled(&self.collection(place).name).copied();
        match &limits {
            Some(limits) if limits.purges_on_delete || limits.count_min == Some(0) => {
                self.remove_all_revisions(key)?;
                return Ok(());
            }
            None if !has_revisions || !self.has_revisions(key)? => return self.enter_bin(key),
            _ if self.skips_revisions => return self.enter_bin(key),
            _ => {}
        }
        let record = self.store.schema.records.get(&*self.tx, document.location)?;
        let id = record::id(&document.head, record)?.to_owned();
        let content = deletion_content(record.get(document.head.metadata_at()..document.head.body_at()));
        let revision = NewRevision {
            document_id: &id,
            vector,
            last_modified: self.now,
            flags: Flags::HAS_REVISIONS.with(Flags::DELETE_REVISION),
            sizes: Sizes { server: 0, metadata: content.len() as u32 - 2, body: 2 },
            content: &content,
            is_imported: false,
        };
        self.store_revision(place, key, &revision)?;
        self.enter_bin(key)?;
        if let Some(limits) = &limits {
            self.purge_revisions(key, limits)?;
        }
        Ok(())
    }

    /// Keeps the state of a document, whatever is configured.
    ///
    /// # Errors
    ///
    /// [`Error::BadRevision`] if there is no such document.
    pub(crate) fn force_revision(&mut self, id: &str) -> Result<CommandResult> {
        let mut found = self.find(id)?;
        let Some(mut document) = found.document.take() else {
            let rule = format!("Failed to create revision for document {id} because document doesn't exits.");
            return Err(Error::BadRevision { rule });
        };
        let key = found.key.clone();
        let vector = self.vector_of(&document);
        let is_created = place_of_vector(&self.store.schema, &*self.tx, &vector)?.is_none();
        if is_created && !document.head.flags.has(Flags::HAS_REVISIONS) {
            let record = self.store.schema.records.get(&*self.tx, document.location)?;
            let server = record::server_metadata(&document.head, record).to_vec();
            let flags = document.head.flags.with(Flags::HAS_REVISIONS);
            self.replace_server_metadata(found, &document, &server, flags, self.now)?;
            let written = self.find_item(ItemKind::Document, &key)?;
            document = written.ok_or(Error::Bug { rule: "a document that was written is there" })?;
        } else {
            self.spare_key = found.key;
        }
        if is_created {
            self.revise_stored(&document, &key, Flags::FORCE_CREATED)?;
        }
        let record = self.store.schema.records.get(&*self.tx, document.location)?;
        Ok(CommandResult::Revision {
            id: record::id(&document.head, record)?.to_owned(),
            is_created,
            change_vector: self.vector_of(&document),
            last_modified: document.head.last_modified,
            flags: document.head.flags,
        })
    }

    /// The place of a revision of a document by its change vector.
    pub(super) fn revision_of_document(&self, key: &[u8], vector: &str) -> Result<Option<(Vec<u8>, Location)>> {
        let schema = &self.store.schema;
        let Some(location) = place_of_vector(schema, &*self.tx, vector)? else { return Ok(None) };
        let record = schema.records.get(&*self.tx, location)?;
        let own_key = ItemKind::Revision.key(record::id(&Head::decode(record)?, record)?);
        Ok((key::document_key(&own_key) == key).then_some((own_key, location)))
    }

    /// All revisions of a document, the oldest first.
    pub(super) fn revisions_of_document(&self, key: &[u8]) -> Result<Vec<(Vec<u8>, Location)>> {
        read::keys_of(&self.store.schema, &*self.tx, key, usize::MAX)
    }
}

/// The content of a revision that says that the document was deleted: its collection, and an empty body.
pub(super) fn deletion_content(metadata: Option<&[u8]>) -> Vec<u8> {
    let text = [b"{", metadata.unwrap_or_default(), b"}"].concat();
    let mut content = Vec::new();
    if let Some(collection) = Raw::new(&text).get("@collection") {
        content.extend_from_slice(b"\"@collection\":");
        content.extend_from_slice(collection.bytes());
    }
    content.extend_from_slice(b"{}");
    content
}
