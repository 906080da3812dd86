//! What a batch came to, and how `bulk_docs` says so.

use json::Writer;

use crate::{Date, EMPTY_COLLECTION, Etag};

/// What a batch came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// One per command, in order.
    pub results: Vec<CommandResult>,
    /// The last etag of the database after the batch.
    pub last_etag: Etag,
    /// Documents stored or deleted.
    pub changed_count: u64,
    /// Documents stored. One that was equal to what is stored is not.
    pub stored_count: u64,
}

/// What one command came to.
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
    /// The documents were as expected.
    TrackChanges,
}

impl CommandResult {
    /// Writes the element of `Results` in the answer of `bulk_docs`.
    pub fn write(&self, json: &mut Writer<'_>) {
        json.object(|json| match self {
            CommandResult::Put { id, collection, change_vector, last_modified } => {
                json.name("Type").string("PUT").name("@id").string(id);
                json.name("@collection").string(collection.as_deref().unwrap_or(EMPTY_COLLECTION));
                json.name("@change-vector").string(change_vector);
                json.name("@last-modified").string(&last_modified.to_string());
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
            CommandResult::TrackChanges => {
                json.name("Type").string("BatchTrackChanges");
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
