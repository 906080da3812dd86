//! Settings of the document store of one database.

/// The configuration of a [`DocumentStore`](crate::DocumentStore), as far as it changes how documents are written. Each write
/// has it in its stamp.
///
/// The store keeps none of it: whoever opens the store configures it, from the record of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// Stands between the parts of an id that the server completes: `users|` becomes `users/1`. Never `|`.
    pub id_separator: char,
    /// Which documents get revisions.
    pub revisions: std::sync::Arc<crate::RevisionsConfiguration>,
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings { id_separator: '/', revisions: std::sync::Arc::default() }
    }
}
