//! `POST /databases/{name}/studio/sample-data`: the Northwind documents, with their revisions, attachments, counters, compare-exchange
//! values and indexes, into a database without documents. 204.
//!
//! `operateOnTypes`, several or with commas: of the types of items those that are named; all if there is none. The sample has nothing of
//! the types that are missing above. With revisions the database keeps those of `Orders` from then on.

use database::revisions::RevisionsProperty;
use database::smuggler::{ItemType, ItemTypes};
use hyper::StatusCode;
use json::Value;

use super::indexes;
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::query_string::QueryString;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// A dump.
const NORTHWIND: &[u8] = include_bytes!("../../../../data-sets/northwind.ravendbdump.zst");

/// The definitions of RavenDB's sample whose features are there. `Companies/StockPrices/TradeVolumeByMonth` needs time series.
const INDEXES: &[u8] = include_bytes!("../../../../data-sets/northwind-indexes.json");

/// The configuration of revisions that belongs to the sample's.
const REVISIONS: &str = r#"{"Default":null,"Collections":{"Orders":{"Disabled":false,"MinimumRevisionsToKeep":null,
"MinimumRevisionAgeToKeep":null,"PurgeOnDelete":false,"MaximumRevisionsToDeleteUponDocumentUpdate":null}}}"#;

/// The types of items that are to be made.
fn types_of(query: &QueryString<'_>) -> Result<ItemTypes> {
    let (mut types, mut is_given) = (ItemTypes::none(), false);
    for given in query.all("operateOnTypes") {
        is_given = true;
        for name in given.split(',').map(str::trim) {
            let known = ItemType::all().find(|known| name.eq_ignore_ascii_case(known.name()));
            match known {
                Some(known) => types = types.with(known),
                None if name.eq_ignore_ascii_case("None") => {}
                None => {
                    let known: Vec<_> = ItemType::all().map(ItemType::name).collect();
                    let name: String = name.chars().take(80).collect();
                    return Err(Error::Argument(format!(
                        "'operateOnTypes' has the value '{name}', which is none of: None, {}",
                        known.join(", ")
                    )));
                }
            }
        }
    }
    Ok(if is_given { types } else { ItemType::all().fold(types, ItemTypes::with) })
}

pub(crate) async fn create(exchange: Exchange) -> Result<Reply> {
    let types = types_of(&exchange.query())?;
    let database = exchange.database().clone();
    let databases = exchange.node.databases.clone();
    let make = move || {
        let broken =
            |error: &dyn std::fmt::Display| Error::Encoding(format!("the sample data of this program: {error}"));
        let dump = zstd::decode_all(NORTHWIND).map_err(|error| broken(&error))?;
        database.load_sample_data(&dump, types)?;
        if types.has(ItemType::RevisionDocuments) {
            let limits = Value::parse(REVISIONS.as_bytes()).map_err(|error| broken(&error))?;
            databases.put_revisions_configuration(database.name(), RevisionsProperty::Collections, &limits, None)?;
        }
        if types.has(ItemType::Indexes) {
            let Value::Array(definitions) = Value::parse(INDEXES).map_err(|error| broken(&error))? else {
                return Err(broken(&"no array of indexes"));
            };
            indexes::put_all(&database, &definitions)?;
        }
        Ok(())
    };
    exchange.node.bridge.run(Pool::Short, make).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
