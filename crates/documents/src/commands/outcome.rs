//! The outcome of a batch, and its form in the answer of `bulk_docs`.

use json::Writer;

use crate::{AttachmentDetails, CounterDetail, Date, EMPTY_COLLECTION, Etag, Flags, PatchReport};

/// The outcome of a batch.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// One per command, in order.
    pub results: Vec<CommandResult>,
    /// The last etag of the database after the batch.
    pub last_etag: Etag,
    /// Documents stored or deleted.
    pub changed_count: u64,
    /// Operations on counters that were done.
    pub counter_count: u64,
    /// Attachments that were stored, moved or copied.
    pub attachment_count: u64,
    /// Documents stored. One that was equal to what is stored is not.
    pub stored_count: u64,
    /// The id, completed, of the last document that a command of a batch without results for each command stores.
    pub last_id: Option<String>,
}

/// The outcome of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandResult {
    /// A document was stored, or was equal to what is stored and left alone.
    Put {
        /// The id, completed.
        id: String,
        /// The collection; None: the document names none.
        collection: Option<String>,
        /// The document's change vector.
        change_vector: String,
        /// When it was stored.
        last_modified: Date,
        /// The document's flags.
        flags: Flags,
    },
    /// A document was deleted, or was not there.
    Delete {
        /// The id as given.
        id: String,
        /// Whether there was one.
        deleted: bool,
    },
    /// Documents were deleted by prefix.
    DeletePrefixed {
        /// The prefix.
        prefix: String,
        /// How many.
        count: u64,
    },
    /// A document was patched, or left alone.
    Patch {
        /// The report of the patch.
        report: Box<PatchReport>,
        /// The stored version, if the patch wrote the document.
        written: Option<WrittenPatch>,
    },
    /// Several documents were patched.
    PatchMany,
    /// The documents were as expected.
    TrackChanges,
    /// The state of a document became a revision, or is one already.
    Revision {
        /// The document as it is spelled.
        id: String,
        /// Whether there was none of this state.
        is_created: bool,
        /// That of the document.
        change_vector: String,
        /// When the document was stored.
        last_modified: Date,
        /// The document's flags.
        flags: Flags,
    },
    /// An attachment was stored.
    AttachmentPut {
        /// The attachment.
        details: AttachmentDetails,
        /// The change vector of its document.
        document_change_vector: String,
    },
    /// An attachment was deleted, or was not there.
    AttachmentDelete {
        /// The document as given.
        id: String,
        /// The attachment as given.
        name: String,
        /// The change vector of its document; None: there is no such document.
        document_change_vector: Option<String>,
    },
    /// An attachment was copied.
    AttachmentCopy {
        /// The copy.
        details: AttachmentDetails,
        /// The change vector of the document that has it.
        document_change_vector: String,
    },
    /// An attachment was moved.
    AttachmentMove {
        /// The document that had it, as given.
        id: String,
        /// The name that it had, as given.
        name: String,
        /// The attachment where it is now.
        details: AttachmentDetails,
        /// The change vector of the document that had it.
        document_change_vector: String,
        /// The change vector of the document that has it.
        destination_change_vector: String,
    },
    /// Counters of a document were read or changed.
    Counters {
        /// The document as given.
        id: String,
        /// That of the last write of the command; None: it wrote nothing.
        change_vector: Option<String>,
        /// The counters that were raised or read; None for one that is not there.
        counters: Vec<Option<CounterDetail>>,
        /// That of the document, if names were added or removed.
        document_change_vector: Option<String>,
    },
}

/// A document that a patch wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPatch {
    /// Its change vector.
    pub change_vector: String,
    /// When it was stored.
    pub last_modified: Date,
    /// The collection; None: the document names none.
    pub collection: Option<String>,
}

/// The date of what was not written.
pub const NO_DATE: &str = "0001-01-01T00:00:00.0000000";

impl CommandResult {
    /// Writes the element of `Results` in the answer of `bulk_docs`.
    pub fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| match self {
            CommandResult::Put { id, collection, change_vector, last_modified, flags } => {
                json.name("Type").string("PUT").name("@id").string(id);
                json.name("@collection").string(collection.as_deref().unwrap_or(EMPTY_COLLECTION));
                json.name("@change-vector").string(change_vector);
                json.name("@last-modified").string(&last_modified.to_string());
                if !flags.is_empty() {
                    json.name("@flags").string(&flags.to_string());
                }
            }
            CommandResult::Delete { id, deleted } => {
                json.name("Id").string(id).name("Type").string("DELETE").name("Deleted").bool(*deleted);
                if *deleted {
                    json.name("ChangeVector").null();
                }
            }
            CommandResult::DeletePrefixed { prefix, count } => {
                json.name("Id").string(prefix).name("Type").string("DELETE").name("Deleted").bool(*count > 0);
            }
            CommandResult::Patch { report, written } => {
                json.name("Id").string(&report.id);
                json.name("ChangeVector").optional_string(written.as_ref().map(|written| &*written.change_vector));
                let date = written.as_ref().map(|written| written.last_modified.to_string());
                json.name("LastModified").string(date.as_deref().unwrap_or(NO_DATE));
                json.name("Type").string(if report.is_json { "JsonPatch" } else { "PATCH" });
                json.name("PatchStatus").string(report.status.wire_name());
                if !report.is_json {
                    json.name("Debug").null();
                }
                if let Some(document) = &report.document {
                    json.name("ModifiedDocument").raw(document);
                }
            }
            CommandResult::PatchMany => {
                json.name("Type").string("BatchPATCH");
            }
            CommandResult::TrackChanges => {
                json.name("Type").string("BatchTrackChanges");
            }
            CommandResult::Revision { id, is_created, change_vector, last_modified, flags } => {
                json.name("RevisionCreated").bool(*is_created).name("Type").string("ForceRevisionCreation");
                if *is_created {
                    json.name("@id").string(id).name("@change-vector").string(change_vector);
                    json.name("@last-modified").string(&last_modified.to_string());
                    json.name("@flags").string(&flags.to_string());
                }
            }
            CommandResult::AttachmentPut { details, document_change_vector } => {
                json.name("Id").string(&details.document_id).name("Type").string("AttachmentPUT");
                json.name("Name").string(&details.name);
                details.write(json);
                json.name("DocumentChangeVector").string(document_change_vector);
            }
            CommandResult::AttachmentDelete { id, name, document_change_vector } => {
                json.name("Id").string(id).name("Type").string("AttachmentDELETE").name("@id").string(id);
                json.name("Name").string(name);
                if let Some(vector) = document_change_vector {
                    json.name("DocumentChangeVector").string(vector);
                }
            }
            CommandResult::AttachmentCopy { details, document_change_vector } => {
                json.name("Id").string(&details.document_id).name("Type").string("AttachmentCOPY");
                json.name("Name").string(&details.name);
                details.write(json);
                json.name("DocumentChangeVector").string(document_change_vector);
            }
            CommandResult::AttachmentMove { id, name, details, document_change_vector, destination_change_vector } => {
                json.name("Id").string(id).name("Type").string("AttachmentMOVE").name("Name").string(name);
                json.name("DestinationId").string(&details.document_id);
                json.name("DestinationName").string(&details.name);
                details.write(json);
                json.name("DocumentChangeVector").string(document_change_vector);
                json.name("DestinationDocumentChangeVector").string(destination_change_vector);
            }
            CommandResult::Counters { id, change_vector, counters, document_change_vector } => {
                json.name("Id").string(id).name("ChangeVector").optional_string(change_vector.as_deref());
                json.name("Type").string("Counters").name("CountersDetail");
                CounterDetail::write_all(counters.iter().map(Option::as_ref), json);
                json.name("DocumentChangeVector").optional_string(document_change_vector.as_deref());
            }
        });
    }
}

impl Outcome {
    /// Writes the body of the answer of `bulk_docs`.
    pub fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| {
            json.name("Results").array(|json| self.results.iter().for_each(|result| result.write(json)));
        });
    }
}
