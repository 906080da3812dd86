//! Numbers of documents, bytes and indexes.

use database::Index;

use crate::Result;
use crate::error::{of_database, of_documents};

/// Numbers of one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Documents.
    pub document_count: u64,
    /// The documents of each collection, by its name.
    pub collections: Vec<(String, u64)>,
    /// Indexes, those that queries created among them.
    pub index_count: usize,
    /// The number of the last write.
    pub last_etag: u64,
    /// Bytes of its files; in memory, of the pages that it uses.
    pub size: u64,
}

impl Statistics {
    pub(crate) fn of(database: &database::Database) -> Result<Statistics> {
        let size = database.size().map_err(of_database)?;
        let snapshot = database.read();
        let statistics = snapshot.statistics().map_err(of_documents)?;
        let collections = snapshot.collections().map_err(of_documents)?;
        Ok(Statistics {
            document_count: statistics.documents().count,
            collections: collections.iter().map(|of| (of.name.clone(), of.documents().count)).collect(),
            index_count: database.indexes().all().len(),
            last_etag: statistics.last_etag,
            size,
        })
    }
}

/// Numbers of one index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStatistics {
    /// Its name.
    pub name: String,
    /// Entries: documents, or several for each, or groups.
    pub entry_count: u64,
    /// Documents that it could not take.
    pub error_count: u64,
    /// True if it lacks something that was written.
    pub is_stale: bool,
    /// True if a query created it.
    pub is_automatic: bool,
}

impl IndexStatistics {
    /// * `last`: the last etag of the documents.
    pub(crate) fn of(index: &Index, last: u64) -> Result<IndexStatistics> {
        let statistics = index.statistics().map_err(of_database)?;
        Ok(IndexStatistics {
            name: index.name().to_owned(),
            entry_count: statistics.entry_count,
            error_count: statistics.failed_count,
            is_stale: index.indexed_to() < last,
            is_automatic: index.definition().as_automatic().is_some(),
        })
    }
}
