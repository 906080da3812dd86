//! `GET /databases/{name}/collections/stats` and `/detailed`: what each collection holds.

use hyper::StatusCode;

use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::monitoring::humane_size;
use crate::routing::exchange::Exchange;

pub(crate) fn basic(exchange: &Exchange) -> Result<Reply> {
    let snapshot = exchange.database().read();
    let collections = snapshot.collections()?;
    Ok(reply::object(StatusCode::OK, |json| {
        write_counts(json, &collections);
        json.name("Collections").object(|json| {
            for collection in &collections {
                json.name(&collection.name).unsigned(collection.documents().count);
            }
        });
    }))
}

pub(crate) fn detailed(exchange: &Exchange) -> Result<Reply> {
    let snapshot = exchange.database().read();
    let collections = snapshot.collections()?;
    Ok(reply::object(StatusCode::OK, |json| {
        write_counts(json, &collections);
        json.name("Collections").object(|json| {
            for collection in &collections {
                json.name(&collection.name).object(|json| write_collection(json, collection));
            }
        });
    }))
}

fn write_collection(json: &mut json::Writer<'_>, collection: &database::documents::CollectionStatistics) {
    let documents = collection.documents();
    json.name("Name").string(&collection.name).name("CountOfDocuments").unsigned(documents.count);
    humane_size::write(json.name("Size"), documents.size + documents.tombstone_size);
    humane_size::write(json.name("DocumentsSize"), documents.size);
    json.name("CountOfTombstones").unsigned(documents.tombstone_count);
    humane_size::write(json.name("TombstonesSize"), documents.tombstone_size);
    for (count, size) in [
        ("CountOfRevisions", "RevisionsSize"),
        ("CountOfTimeSeriesDeletedRanges", "TimeSeriesDeletedRangesSize"),
        ("CountOfCounterEntries", "CounterEntriesSize"),
        ("CountOfTimeSeriesSegments", "TimeSeriesSegmentsSize"),
    ] {
        json.name(count).unsigned(0);
        humane_size::write(json.name(size), 0);
    }
}

fn write_counts(json: &mut json::Writer<'_>, collections: &[database::documents::CollectionStatistics]) {
    json.name("CountOfDocuments").unsigned(collections.iter().map(|collection| collection.documents().count).sum());
    json.name("CountOfDocumentsConflicts").unsigned(0).name("CountOfConflicts").unsigned(0);
    json.name("CountOfRevisionDocuments").unsigned(0);
    json.name("CountOfTombstones")
        .unsigned(collections.iter().map(|collection| collection.documents().tombstone_count).sum());
    json.name("CountOfTimeSeriesDeletedRanges").unsigned(0).name("CountOfAttachments").unsigned(0);
    json.name("CountOfCounterEntries").unsigned(0).name("CountOfTimeSeriesSegments").unsigned(0);
}
