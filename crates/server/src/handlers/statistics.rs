//! `GET /databases/{name}/stats`, `/stats/detailed`, `/stats/essential`: counts over one database.

use database::Database;
use database::documents::{ItemKind, Statistics};
use hyper::StatusCode;

use super::indexes::ObservedIndex;
use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::monitoring::humane_size;
use crate::routing::exchange::{Exchange, write_origin};

pub(crate) fn basic(exchange: &Exchange) -> Result<Reply> {
    let statistics = exchange.database().read().statistics()?;
    let (indexes, size) = (ObservedIndex::all(exchange.database())?, exchange.database().size()?);
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        write_counts(json, &statistics, &indexes);
        json.name("Indexes").array(|json| indexes.iter().for_each(|index| index.write_summary(json)));
        write_rest(json, exchange.database(), &statistics, &indexes, size);
    }))
}

pub(crate) fn detailed(exchange: &Exchange) -> Result<Reply> {
    let statistics = exchange.database().read().statistics()?;
    let (indexes, size) = (ObservedIndex::all(exchange.database())?, exchange.database().size()?);
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("CountOfIdentities").unsigned(statistics.identity_count);
        let values = statistics.counts[ItemKind::CompareExchange];
        json.name("CountOfCompareExchange").unsigned(values.count);
        json.name("CountOfCompareExchangeTombstones").unsigned(values.tombstone_count);
        json.name("CountOfTimeSeriesDeletedRanges").unsigned(0);
        write_counts(json, &statistics, &indexes);
        json.name("Indexes").array(|json| indexes.iter().for_each(|index| index.write_summary(json)));
        write_rest(json, exchange.database(), &statistics, &indexes, size);
    }))
}

pub(crate) fn essential(exchange: &Exchange) -> Result<Reply> {
    let statistics = exchange.database().read().statistics()?;
    let indexes = ObservedIndex::all(exchange.database())?;
    Ok(reply::object(StatusCode::OK, |json| {
        write_counts(json, &statistics, &indexes);
        json.name("Indexes").array(|json| indexes.iter().for_each(|index| index.write_summary(json)));
    }))
}

/// What does not exist yet counts 0, truthfully.
fn write_counts(json: &mut json::Writer<'_>, statistics: &Statistics, indexes: &[ObservedIndex]) {
    json.name("CountOfIndexes").unsigned(indexes.len() as u64);
    json.name("CountOfDocuments").unsigned(statistics.documents().count);
    json.name("CountOfRevisionDocuments").unsigned(statistics.counts[ItemKind::Revision].count);
    json.name("CountOfTombstones").unsigned(statistics.documents().tombstone_count);
    json.name("CountOfDocumentsConflicts").unsigned(0).name("CountOfConflicts").unsigned(0);
    let counters = statistics.counts[ItemKind::Counter].count;
    json.name("CountOfAttachments").unsigned(statistics.content_reference_count);
    json.name("CountOfCounterEntries").unsigned(counters);
    json.name("CountOfTimeSeriesSegments").unsigned(0);
}

fn write_rest(
    json: &mut json::Writer<'_>,
    database: &Database,
    statistics: &Statistics,
    indexes: &[ObservedIndex],
    size: u64,
) {
    json.name("CountOfUniqueAttachments").unsigned(statistics.content_count);
    json.name("DatabaseChangeVector").string(&statistics.change_vector);
    json.name("DatabaseId").string(database.documents().database_id());
    json.name("NumberOfTransactionMergerQueueOperations").unsigned(database.queued_count() as u64);
    json.name("Is64Bit").bool(true).name("Pager").string("Rookery");
    json.name("LastDocEtag").unsigned(statistics.last_document_etag);
    json.name("LastDatabaseEtag").unsigned(statistics.last_etag);
    let last_indexed = indexes.iter().filter_map(ObservedIndex::last_indexed).max().map(|date| date.to_string());
    json.name("LastIndexingTime").optional_string(last_indexed.as_deref());
    humane_size::write(json.name("SizeOnDisk"), size);
    humane_size::write(json.name("TempBuffersSizeOnDisk"), 0);
}
