//! Revisions of a dump, with the contents that they alone hold.

use documents::{EMPTY_COLLECTION, ImportedRevision, RevisionsWrite, Write};
use json::Raw;

use super::ImportWork;
use crate::Result;
use crate::attachments::ContentUpload;
use crate::limits::{BULK_BATCH_COUNT_MAX, BULK_BATCH_SIZE_MAX};
use crate::smuggler::ItemType;
use crate::smuggler::metadata::DumpedMetadata;
use crate::smuggler::reader::Part;

impl ImportWork {
    pub(super) fn store_revision(
        &mut self,
        part: Part<'_>,
        document: Raw<'_>,
        metadata: &DumpedMetadata<'_>,
    ) -> Result<()> {
        if !self.options.has_collection(metadata.collection.as_deref().unwrap_or(EMPTY_COLLECTION)) {
            self.result.counts_mut(ItemType::RevisionDocuments).left_out += 1;
            return Ok(());
        }
        match ImportedRevision::of(document) {
            Ok(revision) => {
                let has_contents = metadata.has_attachments && self.is_stored(ItemType::Attachments);
                let contents = if has_contents { self.contents.of_revision(document) } else { Vec::new() };
                let revision = revision.with_contents(contents);
                self.revisions_size += revision.size();
                self.revisions.push(revision);
                let is_full =
                    self.revisions.len() >= BULK_BATCH_COUNT_MAX || self.revisions_size >= BULK_BATCH_SIZE_MAX;
                // Documents come before their revisions.
                if is_full { self.send() } else { Ok(()) }
            }
            Err(error) => self.refuse(ItemType::RevisionDocuments, part, error.to_string()),
        }
    }

    /// Sends revisions on their way, when there is room.
    pub(super) fn send_revisions(&mut self) -> Result<()> {
        let revisions = std::mem::take(&mut self.revisions);
        self.revisions_size = 0;
        if revisions.is_empty() {
            return Ok(());
        }
        self.report();
        self.flight.begin()?;
        let flight = self.flight.clone();
        let uploads = self.contents.take_revision_uploads();
        let write = Write::Revisions(RevisionsWrite::Import(revisions));
        self.database.propose_blocking(write, move |answer| {
            flight.land(answer, |_, _| uploads.into_iter().for_each(ContentUpload::linked));
        });
        Ok(())
    }
}
