//! `GET /databases/{name}/collections/stats` and `/detailed`: what each collection holds.

use database::documents::ItemKind;
use hyper::StatusCode;

use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::monitoring::humane_size;
use crate::routing::exchange::Exchange;

pub(crate) fn basic(exchange: &Exchange) -> Result<Reply> {
    let snapshot = exchange.database().read();
    let (collections, attachments) = (snapshot.collections()?, snapshot.content_reference_count()?);
    Ok(reply::object(StatusCode::OK, |json| {
        write_counts(json, &collections, attachments);
        json.name("Collections").object(|json| {
            for collection in &collections {
                json.name(&collection.name).unsigned(collection.documents().count);
            }
        });
    }))
}

pub(crate) fn detailed(exchange: &Exchange) -> Result<Reply> {
    let snapshot = exchange.database().read();
    let (collections, attachments) = (snapshot.collections()?, snapshot.content_reference_count()?);
    Ok(reply::object(StatusCode::OK, |json| {
        write_counts(json, &collections, attachments);
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
    let counters = collection.counts[ItemKind::Counter];
    let revisions = collection.counts[ItemKind::Revision];
    let counters_size = counters.size + counters.tombstone_size;
    let size = documents.size + documents.tombstone_size + revisions.size + counters_size;
    humane_size::write(json.name("Size"), size);
    humane_size::write(json.name("DocumentsSize"), documents.size);
    json.name("CountOfTombstones").unsigned(documents.tombstone_count);
    humane_size::write(json.name("TombstonesSize"), documents.tombstone_size);
    for (count_name, size_name, count, size) in [
        ("CountOfRevisions", "RevisionsSize", revisions.count, revisions.size),
        ("CountOfTimeSeriesDeletedRanges", "TimeSeriesDeletedRangesSize", 0, 0),
        ("CountOfCounterEntries", "CounterEntriesSize", counters.count, counters_size),
        ("CountOfTimeSeriesSegments", "TimeSeriesSegmentsSize", 0, 0),
    ] {
        json.name(count_name).unsigned(count);
        humane_size::write(json.name(size_name), size);
    }
}

/// * `attachments`: also those of revisions.
fn write_counts(
    json: &mut json::Writer<'_>,
    collections: &[database::documents::CollectionStatistics],
    attachments: u64,
) {
    json.name("CountOfDocuments").unsigned(collections.iter().map(|collection| collection.documents().count).sum());
    json.name("CountOfDocumentsConflicts").unsigned(0).name("CountOfConflicts").unsigned(0);
    let revisions = collections.iter().map(|collection| collection.counts[ItemKind::Revision].count);
    json.name("CountOfRevisionDocuments").unsigned(revisions.sum());
    json.name("CountOfTombstones")
        .unsigned(collections.iter().map(|collection| collection.documents().tombstone_count).sum());
    json.name("CountOfTimeSeriesDeletedRanges").unsigned(0).name("CountOfAttachments").unsigned(attachments);
    let counters = collections.iter().map(|collection| collection.counts[ItemKind::Counter].count);
    json.name("CountOfCounterEntries").unsigned(counters.sum()).name("CountOfTimeSeriesSegments").unsigned(0);
}
