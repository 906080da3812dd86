//! `/databases/{name}/identity`: counters for ids that end with `|`.
//!
//! POST `next`: `name`; `{"NewIdentityValue"}`. POST `seed`: `name`, `value`, `force`; `{"NewSeedValue"}`.
//! GET `debug/identities`: all, as one object.

use database::documents::Writing;
use hyper::StatusCode;

use crate::bridge;
use crate::error::Result;
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

pub(crate) async fn next(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    let work = move |writing: &mut Writing<'_, '_>| writing.next_identity(&name);
    let value = bridge::answer(|done| exchange.database().submit_work(64, work, done.into_call_back())).await?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("NewIdentityValue").signed(value);
    }))
}

pub(crate) async fn seed(exchange: Exchange) -> Result<Reply> {
    let name = exchange.required("name")?.into_owned();
    exchange.required("value")?;
    let value = exchange.query().signed("value")?.unwrap_or_default();
    let is_forced = exchange.query().is_true("force")?;
    let work = move |writing: &mut Writing<'_, '_>| writing.seed_identity(&name, value, is_forced);
    let value = bridge::answer(|done| exchange.database().submit_work(64, work, done.into_call_back())).await?;
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
