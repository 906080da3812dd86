//! `POST /databases/{name}/studio/sample-data`: the Northwind documents and indexes, into a database without documents. 204.
//!
//! `operateOnTypes`, several or with commas: of the types `Documents` and `Indexes` those that are named; both if there is none. The
//! sample has nothing of the other types.

use std::io::Read;

use hyper::StatusCode;
use json::Value;

use super::indexes;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::query_string::QueryString;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// One document a line, with its id and collection in `@metadata`.
const NORTHWIND: &[u8] = include_bytes!("../../../../data-sets/northwind.jsonl.zst");

/// The definitions of RavenDB's sample whose features are there. `Companies/StockPrices/TradeVolumeByMonth` needs time series,
/// `Product/Rating` counters, `Products/ByUnitOnStock` compare exchange: they come with those.
const INDEXES: &[u8] = include_bytes!("../../../../data-sets/northwind-indexes.json");

/// All types that clients may name.
const TYPES: [&str; 19] = [
    "None",
    "Documents",
    "Indexes",
    "RevisionDocuments",
    "Attachments",
    "CounterGroups",
    "TimeSeries",
    "CompareExchange",
    "Identities",
    "Tombstones",
    "Conflicts",
    "LegacyAttachments",
    "LegacyDocumentDeletions",
    "LegacyAttachmentDeletions",
    "Unknown",
    "Subscriptions",
    "CompareExchangeTombstones",
    "ReplicationHubCertificates",
    "TimeSeriesDeletedRanges",
];

/// What is to be made.
#[derive(Clone, Copy)]
struct Parts {
    documents: bool,
    indexes: bool,
}

impl Parts {
    fn from_query(query: &QueryString<'_>) -> Result<Parts> {
        let (mut parts, mut is_given) = (Parts { documents: false, indexes: false }, false);
        for given in query.all("operateOnTypes") {
            is_given = true;
            for name in given.split(',').map(str::trim) {
                let known = TYPES.iter().find(|known| name.eq_ignore_ascii_case(known));
                let known = known.ok_or_else(|| {
                    let known = TYPES.join(", ");
                    Error::Argument(format!("'operateOnTypes' has the value '{name}', which is none of: {known}"))
                })?;
                parts.documents |= *known == "Documents";
                parts.indexes |= *known == "Indexes";
            }
        }
        Ok(if is_given { parts } else { Parts { documents: true, indexes: true } })
    }
}

pub(crate) async fn create(exchange: Exchange) -> Result<Reply> {
    let parts = Parts::from_query(&exchange.query())?;
    let database = exchange.database().clone();
    exchange
        .node
        .bridge
        .run(Pool::Short, move || {
            let broken =
                |error: &dyn std::fmt::Display| Error::Encoding(format!("the sample data of this program: {error}"));
            let mut lines = Vec::new();
            if parts.documents {
                zstd::Decoder::with_buffer(NORTHWIND)
                    .and_then(|mut decoder| decoder.read_to_end(&mut lines))
                    .map_err(|error| broken(&error))?;
            }
            // Without a line it looks whether there are documents, no more.
            database.load_sample_data(&lines)?;
            if parts.indexes {
                let Value::Array(definitions) = Value::parse(INDEXES).map_err(|error| broken(&error))? else {
                    return Err(broken(&"no array of indexes"));
                };
                indexes::put_all(&database, &definitions)?;
            }
            Ok(())
        })
        .await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
