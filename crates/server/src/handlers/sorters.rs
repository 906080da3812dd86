//! `/databases/{name}/admin/sorters`, and `/admin/sorters` for all databases of the node: custom sorters. None is served.
//!
//! PUT: `{"Sorters":[{"Name","Code"}]}`, with a class in C# as `Code`; 400 for code that is wrong, else 501. DELETE: `name`; 204: there is
//! none.

use hyper::StatusCode;
use json::Value;
use query::sorters::{SorterRefused, refuse_sorter};

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

const PROPERTY: &str = "Sorters";

pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let sorters = match exchange.read_whole_object().await?.remove(PROPERTY) {
        Some(Value::Array(sorters)) => sorters,
        Some(_) => return Err(Error::Argument(format!("'{PROPERTY}' must be an array of definitions"))),
        None => {
            let message = format!("Request should have a property name '{PROPERTY}' which is mandatory.");
            return Err(Error::Argument(message));
        }
    };
    // Parsing takes its time.
    exchange.node.bridge.run(Pool::Short, move || sorters.iter().try_for_each(refuse)).await?;
    Ok(reply::empty(StatusCode::CREATED))
}

fn refuse(sorter: &Value) -> Result<()> {
    let text = |key: &str| {
        let text = sorter.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| Error::Argument(format!("Sorter must have a '{key}' field.")))
    };
    Err(match refuse_sorter(text("Name")?, text("Code")?) {
        SorterRefused::NotServed(missing) => Error::MissingFeature(missing),
        refused => Error::Sorter(refused),
    })
}

pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    exchange.required("name")?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
