//! `GET /databases/{name}/indexes/progress`: what the indexes that lack something still have to take, counted in documents.
//!
//! 200, `{"Results":[{"Name","Type","SourceType","IsStale","IndexRunningStatus","ProcessedPerSecond","Collections"}]}`. Documents are
//! counted one by one up to a limit; of more than that the count is estimated from etags.

use database::documents::{ItemCounts, ItemKind, Snapshot};
use hyper::StatusCode;
use query::definition::IndexSource;
use query::index::Progress;

use super::control::status_name;
use super::state::ObservedIndex;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::{COUNTED_ITEMS_MAX, COUNTED_TOMBSTONES_MAX};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// What an index has to take from a source, and how much there is in all.
struct Left {
    documents: u64,
    tombstones: u64,
    document_total: u64,
    tombstone_total: u64,
}

pub(crate) async fn progress(exchange: Exchange) -> Result<Reply> {
    let node = exchange.node.clone();
    let read = move || {
        let seen = ObservedIndex::all(exchange.database())?;
        let documents = exchange.database().read();
        let mut stale = Vec::new();
        for seen in seen.iter().filter(|seen| seen.is_stale()) {
            let mut collections: Vec<(&IndexSource, &Progress, Left)> = Vec::new();
            for (source, progress, _) in seen.sources() {
                // A collection that is mapped and loaded from is told as it is mapped.
                if !collections.iter().any(|(other, ..)| other.name() == source.name()) {
                    collections.push((source, progress, left(source, progress, &documents)?));
                }
            }
            stale.push((seen, collections));
        }
        Ok(reply::object(StatusCode::OK, |json| {
            json.name("Results").array(|json| {
                for (seen, collections) in &stale {
                    let index = seen.index();
                    json.object(|json| {
                        json.name("IsStale").bool(true).name("IndexRunningStatus").string(status_name(index));
                        json.name("ProcessedPerSecond").double(seen.speed());
                        json.name("Collections").object(|json| {
                            for (source, progress, left) in collections {
                                json.name(source.name()).object(|json| write(json, progress, left));
                            }
                        });
                        json.name("Name").string(index.name()).name("Type").string(index.wire_type());
                        json.name("SourceType").string(index.definition().source_type());
                    });
                }
            });
        }))
    };
    node.bridge.run(Pool::Reads, read).await
}

fn write(json: &mut json::Writer<'_>, progress: &Progress, left: &Left) {
    json.name("LastProcessedItemEtag").unsigned(progress.items);
    json.name("LastProcessedTombstoneEtag").unsigned(progress.tombstones);
    json.name("LastProcessedTimeSeriesDeletedRangeEtag").unsigned(0);
    json.name("NumberOfItemsToProcess").unsigned(left.documents);
    json.name("NumberOfTombstonesToProcess").unsigned(left.tombstones);
    json.name("NumberOfTimeSeriesDeletedRangesToProcess").unsigned(0);
    json.name("TotalNumberOfItems").unsigned(left.document_total);
    json.name("TotalNumberOfTombstones").unsigned(left.tombstone_total);
    json.name("TotalNumberOfTimeSeriesDeletedRanges").unsigned(0);
}

/// Items of a source after an etag, up to [`COUNTED_ITEMS_MAX`].
fn count_after(documents: &Snapshot<'_>, source: &IndexSource, etag: u64) -> database::documents::Result<u64> {
    let collection = source.collection.as_deref();
    match (source.kind, collection) {
        (ItemKind::Document, None) => documents.after(etag).skip_documents(COUNTED_ITEMS_MAX),
        (ItemKind::Document, Some(name)) => documents.collection_after(name, etag)?.skip_documents(COUNTED_ITEMS_MAX),
        (ItemKind::Attachment | ItemKind::Counter | ItemKind::CompareExchange | ItemKind::Revision, _) => {
            let items = documents.items(&[source.kind], collection, etag)?;
            items.take(COUNTED_ITEMS_MAX as usize).try_fold(0, |count, item| item.map(|_| count + 1))
        }
    }
}

fn left(source: &IndexSource, progress: &Progress, documents: &Snapshot<'_>) -> Result<Left> {
    let failed = |error: database::documents::Error| Error::from(database::Error::from(error));
    let collection = source.collection.as_deref();
    let counts = match collection {
        None => Some(documents.statistics().map_err(failed)?.counts),
        Some(name) => documents.collection(name).map_err(failed)?.map(|found| found.counts),
    };
    let ItemCounts { count: document_total, tombstone_count: tombstone_total, .. } =
        counts.map(|counts| counts[source.kind]).unwrap_or_default();
    let last = documents.last_etags(source.kind, collection).map_err(failed)?;
    let to_remove = documents.deletions(&[source.kind], collection, progress.tombstones).map_err(failed)?;
    // An index that begins has all of them before it.
    let left_documents = match progress.items {
        0 => document_total,
        etag => {
            let counted = count_after(documents, source, etag).map_err(failed)?;
            estimated(counted, COUNTED_ITEMS_MAX, etag, last.items, document_total)
        }
    };
    let left_tombstones = match progress.tombstones {
        0 => tombstone_total,
        etag => {
            let mut counted = 0;
            for tombstone in to_remove.take(COUNTED_TOMBSTONES_MAX as usize) {
                tombstone.map_err(failed)?;
                counted += 1;
            }
            estimated(counted, COUNTED_TOMBSTONES_MAX, etag, last.tombstones, tombstone_total)
        }
    };
    Ok(Left { documents: left_documents, tombstones: left_tombstones, document_total, tombstone_total })
}

/// What was counted; if that reached the limit, so many of all as etags that are left, and the limit at least.
fn estimated(counted: u64, limit: u64, etag: u64, last: u64, total: u64) -> u64 {
    if counted < limit {
        return counted;
    }
    let share = last.saturating_sub(etag) as f64 / last.max(1) as f64;
    ((total as f64 * share) as u64).clamp(counted, total.max(counted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_is_counted_is_estimated() {
        assert_eq!(estimated(7, 8, 10, 100, 50), 7);
        assert_eq!(estimated(8, 8, 50, 100, 80), 40);
        assert_eq!(estimated(8, 8, 99, 100, 80), 8);
        assert_eq!(estimated(8, 8, 0, 0, 0), 8);
    }
}
