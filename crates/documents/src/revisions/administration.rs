//! What administrators ask for: removing revisions, holding documents to their configuration, adopting and reverting, as writes.

use super::imported::ImportedRevision;
use super::key;
use super::write::NewRevision;
use crate::ids::id;
use crate::items::kinds::ItemKind;
use crate::{Answer, Date, Error, Flags, Result, Writing};

/// A change of revisions; see [`Write::Revisions`](crate::Write).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevisionsWrite {
    /// Removes revisions of documents; counts them.
    Delete {
        /// The documents.
        document_ids: Vec<String>,
        /// Only those with these change vectors; empty: any.
        vectors: Vec<String>,
        /// Only those that are not older.
        from: Option<Date>,
        /// Only those that are not newer.
        to: Option<Date>,
        /// Also those that were made by force.
        with_forced: bool,
    },
    /// Removes the revisions of documents that the configuration does not keep; counts them.
    Enforce {
        /// The documents.
        document_ids: Vec<String>,
        /// Also those that were made by force, of collections without a configuration.
        with_forced: bool,
    },
    /// Gives documents that do not exist, but have revisions, one that says so, so that the bin shows them; counts the documents.
    Adopt {
        /// The documents.
        document_ids: Vec<String>,
    },
    /// Brings former states of documents back; counts the documents that changed.
    Revert(Vec<(String, RevertTo)>),
    /// Brings documents back to their states at a time; the answer is [`Answer::Reverted`](crate::Answer).
    RevertToTime {
        /// The documents.
        document_ids: Vec<String>,
        /// The time.
        time: Date,
    },
    /// Removes all revisions of deleted documents of the bin, the ones that were deleted first; counts the documents.
    CleanBin {
        /// Only of documents that were deleted before.
        before: Date,
        /// How many documents at most.
        count_max: usize,
    },
    /// Stores revisions that come from another database; counts those that were not there.
    Import(Vec<ImportedRevision>),
}

/// The state that a document gets back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevertTo {
    /// That of the revision with this change vector.
    Vector(String),
    /// It is deleted.
    Deleted,
}

/// What documents that were to be as at a time came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reverted {
    /// How many documents changed.
    pub changed: u64,
    /// Those without a revision of the time, where older ones were removed: they got the oldest one back that is there.
    pub to_oldest: Vec<String>,
}

impl RevisionsWrite {
    /// Bytes that it holds in memory, about.
    pub(crate) fn size(&self) -> usize {
        let of_texts = |texts: &[String]| texts.iter().map(|text| size_of::<String>() + text.len()).sum::<usize>();
        match self {
            RevisionsWrite::Delete { document_ids, vectors, .. } => of_texts(document_ids) + of_texts(vectors),
            RevisionsWrite::Enforce { document_ids, .. }
            | RevisionsWrite::Adopt { document_ids }
            | RevisionsWrite::RevertToTime { document_ids, .. } => of_texts(document_ids),
            RevisionsWrite::CleanBin { .. } => 0,
            RevisionsWrite::Revert(reverts) => reverts
                .iter()
                .map(|(id, to)| {
                    let vector = if let RevertTo::Vector(vector) = to { vector.len() } else { 0 };
                    2 * size_of::<String>() + id.len() + vector
                })
                .sum(),
            RevisionsWrite::Import(revisions) => revisions.iter().map(ImportedRevision::size).sum(),
        }
    }
}

impl Writing<'_, '_> {
    /// Applies a change of revisions; gives what it counts, but for a change to a time.
    ///
    /// # Errors
    ///
    /// [`Error::BadRevision`] for a revision that is not there; storage fails. The transaction must then be rolled back.
    pub(crate) fn change_revisions(&mut self, write: &RevisionsWrite) -> Result<Answer> {
        let mut count = 0;
        match write {
            RevisionsWrite::Delete { document_ids, vectors, from, to, with_forced } => {
                for document_id in document_ids {
                    let document_key = id::lower(document_id);
                    let candidates = match vectors.as_slice() {
                        [] => self.revisions_of_document(&document_key)?,
                        vectors => {
                            let mut found = Vec::new();
                            for vector in vectors {
                                found.extend(self.revision_of_document(&document_key, vector)?);
                            }
                            found.sort();
                            found.dedup();
                            found
                        }
                    };
                    for (revision_key, location) in candidates {
                        let head = self.head_at(location)?;
                        let is_within = from.is_none_or(|from| head.last_modified >= from)
                            && to.is_none_or(|to| head.last_modified <= to);
                        if is_within && (*with_forced || !head.flags.has(Flags::FORCE_CREATED)) {
                            self.remove_revision(&revision_key, location)?;
                            count += 1;
                        }
                    }
                    self.enter_bin_again(&document_key)?;
                }
            }
            RevisionsWrite::Enforce { document_ids, with_forced } => {
                for document_id in document_ids {
                    count += self.enforce_revisions(document_id, *with_forced)?;
                }
            }
            RevisionsWrite::Adopt { document_ids } => {
                for document_id in document_ids {
                    count += u64::from(self.adopt_revisions(document_id)?);
                }
            }
            RevisionsWrite::Revert(reverts) => {
                for (document_id, to) in reverts {
                    count += u64::from(self.revert(document_id, to)?);
                }
            }
            RevisionsWrite::RevertToTime { document_ids, time } => {
                return Ok(Answer::Reverted(self.revert_to_time(document_ids, *time)?));
            }
            RevisionsWrite::CleanBin { before, count_max } => {
                for document_key in self.bin_before(*before, *count_max)? {
                    self.remove_all_revisions(&document_key)?;
                    count += 1;
                }
            }
            RevisionsWrite::Import(revisions) => {
                for revision in revisions {
                    count += u64::from(self.import_revision(revision)?);
                }
            }
        }
        Ok(Answer::Count(count))
    }

    pub(super) fn head_at(&self, location: storage::Location) -> Result<crate::items::record::Head> {
        crate::items::record::Head::decode(self.store.schema.records.get(&*self.tx, location)?)
    }

    /// Another revision may have become the last one of a deleted document.
    fn enter_bin_again(&mut self, document_key: &[u8]) -> Result<()> {
        match self.find_item(ItemKind::Document, document_key)? {
            Some(_) => Ok(()),
            None => self.enter_bin(document_key),
        }
    }

    /// Keys of documents of the bin that were deleted before a time.
    fn bin_before(&self, before: Date, count_max: usize) -> Result<Vec<Vec<u8>>> {
        let schema = &self.store.schema;
        let mut cursor = schema.revisions.bin.cursor(&*self.tx);
        let (mut keys, mut entry) = (Vec::new(), cursor.seek(0)?);
        while let Some((etag, _)) = entry.filter(|_| keys.len() < count_max) {
            let location = schema.kinds[ItemKind::Revision].by_etag.get(&*self.tx, etag)?;
            let location = location.ok_or(Error::Corrupt { rule: "the bin leads to revisions" })?;
            let record = schema.records.get(&*self.tx, storage::Location(location))?;
            let head = crate::items::record::Head::decode(record)?;
            if head.last_modified >= before {
                break;
            }
            keys.push(id::lower(key::document_id(crate::items::record::id(&head, record)?)));
            entry = cursor.next()?;
        }
        Ok(keys)
    }

    fn enforce_revisions(&mut self, document_id: &str, with_forced: bool) -> Result<u64> {
        let document_key = id::lower(document_id);
        let Some((_, location)) = self.revision_below(&document_key, &key::end_of(&document_key))? else {
            return Ok(0);
        };
        let number = self.head_at(location)?.collection;
        let place = self.collection_by_number(number)?;
        let limits = self.revisions.of(&self.collection(place).name).copied();
        let mut count = 0;
        match limits {
            Some(limits) if limits.is_disabled => {}
            Some(limits) => loop {
                // The bound for one change of a document does not concern this.
                let removed = self
                    .purge_revisions(&document_key, &super::CollectionRevisions { delete_count_max: None, ..limits })?;
                count += removed;
                if removed == 0 {
                    break;
                }
            },
            None => {
                for (revision_key, location) in self.revisions_of_document(&document_key)? {
                    if with_forced || !self.head_at(location)?.flags.has(Flags::FORCE_CREATED) {
                        self.remove_revision(&revision_key, location)?;
                        count += 1;
                    }
                }
            }
        }
        self.enter_bin_again(&document_key)?;
        if count > 0 && !self.has_revisions(&document_key)? {
            self.drop_revisions_flag(document_id)?;
        }
        Ok(count)
    }

    /// The document has no revisions any more.
    fn drop_revisions_flag(&mut self, document_id: &str) -> Result<()> {
        let mut found = self.find(document_id)?;
        match found.document.take() {
            Some(document) if document.head.flags.has(Flags::HAS_REVISIONS) => {
                let record = self.store.schema.records.get(&*self.tx, document.location)?;
                let server = crate::items::record::server_metadata(&document.head, record).to_vec();
                let flags = document.head.flags.without(Flags::HAS_REVISIONS);
                self.replace_without_revising(found, &document, &server, flags, self.now)?;
            }
            _ => self.spare_key = found.key,
        }
        Ok(())
    }

    fn adopt_revisions(&mut self, document_id: &str) -> Result<bool> {
        let document_key = id::lower(document_id);
        if self.find_item(ItemKind::Document, &document_key)?.is_some() {
            return Ok(false);
        }
        let Some((_, location)) = self.revision_below(&document_key, &key::end_of(&document_key))? else {
            return Ok(false);
        };
        let (head, sizes, content) = self.content_of_revision(location)?;
        if head.flags.has(Flags::DELETE_REVISION) {
            return Ok(false);
        }
        let metadata_at = sizes.server as usize;
        let metadata = content.get(metadata_at..metadata_at + sizes.metadata as usize);
        let content = super::versioning::deletion_content(metadata);
        let place = self.collection_by_number(head.collection)?;
        let vector_etag = self.next_etag()?;
        let vector = self.store.names.vector(vector_etag);
        let record = self.store.schema.records.get(&*self.tx, location)?;
        let spelled = key::document_id(crate::items::record::id(&head, record)?).to_owned();
        let revision = NewRevision {
            document_id: &spelled,
            vector: &vector,
            last_modified: self.now,
            flags: Flags::HAS_REVISIONS.with(Flags::DELETE_REVISION),
            sizes: super::stored::Sizes { server: 0, metadata: content.len() as u32 - 2, body: 2 },
            content: &content,
            is_imported: false,
        };
        self.store_revision(place, &document_key, &revision)?;
        self.enter_bin(&document_key)?;
        Ok(true)
    }

    fn import_revision(&mut self, revision: &ImportedRevision) -> Result<bool> {
        let document_key = id::lower(&revision.document_id);
        let place = self.collection_or_new(&revision.collection)?;
        let document = self.find_item(ItemKind::Document, &document_key)?;
        // What was the last of a deleted document is so no more.
        self.leave_bin(&document_key)?;
        for content in &revision.contents {
            self.link_content(content)?;
        }
        let stored = self.store_revision(
            place,
            &document_key,
            &NewRevision {
                document_id: &revision.document_id,
                vector: &revision.vector,
                last_modified: revision.last_modified,
                flags: revision.flags,
                sizes: revision.sizes,
                content: &revision.content,
                is_imported: true,
            },
        )?;
        // It holds them itself now, unless it was there before.
        for content in &revision.contents {
            self.release_content(content.hash())?;
        }
        if document.is_none() {
            self.enter_bin(&document_key)?;
        }
        Ok(stored)
    }
}
