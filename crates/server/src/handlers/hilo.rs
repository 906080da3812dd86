//! `/databases/{name}/hilo`: ranges of numbers from which clients make ids.
//!
//! GET `next`: `tag`, `lastBatchSize`, `lastRangeAt`, `identityPartsSeparator`, `lastMax`; 201. PUT `return`: `tag`, `end`,
//! `last`; 200 without a body.

use database::documents::{Date, HiLoRequest, Write};
use hyper::StatusCode;

use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) async fn next(exchange: Exchange) -> Result<Reply> {
    let query = exchange.query();
    let request = HiLoRequest {
        tag: exchange.required("tag")?.into_owned(),
        last_batch_size: query.number("lastBatchSize")?.unwrap_or(0),
        last_range_at: query.get_nonempty("lastRangeAt").and_then(|text| Date::parse(&text)),
        separator: query.get_nonempty("identityPartsSeparator").and_then(|text| text.chars().next()),
        last_max: query.number("lastMax")?.unwrap_or(0),
    };
    let write = Write::NextHiLo(request);
    let answer = exchange.node.bridge.answer(|done| exchange.database().propose(write, done.into_call_back())).await?;
    let range = answer.range()?;
    Ok(reply::object(StatusCode::CREATED, |json| {
        json.name("Prefix").string(&range.prefix).name("Low").unsigned(range.low).name("High").unsigned(range.high);
        json.name("LastSize").unsigned(range.last_size).name("ServerTag").string(&range.server_tag);
        json.name("LastRangeAt").string(&range.last_range_at.to_string());
    }))
}

pub(crate) async fn give_back(exchange: Exchange) -> Result<Reply> {
    let tag = exchange.required("tag")?.into_owned();
    let (end, last) = (exchange.required_number("end")?, exchange.required_number("last")?);
    let write = Write::ReturnHiLo { tag, end, last };
    exchange.node.bridge.answer(|done| exchange.database().propose(write, done.into_call_back())).await?;
    Ok(reply::empty(StatusCode::OK))
}
