//! `/databases/{name}/identity`: counters for ids that end with `|`.
//!
//! POST `next`: `name`; `{"NewIdentityValue"}`. POST `seed`: `name`, `value`, `force`; `{"NewSeedValue"}`.
//! GET `debug/identities`: all, as one object.

use database::documents::Write;
use hyper::StatusCode;

use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) async fn next(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let write = Write::NextIdentity { name };
    let answer = exchange.node.bridge.answer(|done| exchange.database().propose(write, done.into_call_back())).await?;
    let value = answer.number()?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("NewIdentityValue").signed(value);
    }))
}

pub(crate) async fn seed(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    exchange.required("value")?;
    let value = exchange.query().signed("value")?.unwrap_or_default();
    let is_forced = exchange.query().is_true("force")?;
    let write = Write::SeedIdentity { name, value, is_forced };
    let answer = exchange.node.bridge.answer(|done| exchange.database().propose(write, done.into_call_back())).await?;
    let value = answer.number()?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("NewSeedValue").signed(value);
    }))
}

pub(crate) fn all(exchange: &Exchange) -> Result<Reply> {
    let identities = exchange.database().read().identities()?;
    Ok(reply::object(StatusCode::OK, |json| {
        for (name, value) in &identities {
            json.name(name).signed(*value);
        }
    }))
}
