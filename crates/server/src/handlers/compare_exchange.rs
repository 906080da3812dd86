//! `/databases/{name}/cmpxchg`: values that change only if their index is the expected one.
//!
//! | call | parameters | answers |
//! | --- | --- | --- |
//! | GET | `key`* | 200 `{Results:[{Key, Value, Index}]}`; one key that is not there: 404 |
//! | GET | `startsWith`, `start`, `pageSize` | 200 in the order of lower-cased keys |
//! | PUT | `key`, `index` (0: there must be none); body `{Object, @metadata}` | 200 `{Index, Value, Successful}` |
//! | DELETE | `key`, `index` | 200 `{Index, Value, Successful}` |
//!
//! An index that is not the expected one is no error: the answer has the stored value and its index.

use std::borrow::Cow;

use bytes::Bytes;
use database::documents::{CompareExchangeValue, Exchanged, Snapshot, ValueChange, Write};
use database::queries::Deadline;
use hyper::StatusCode;

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::SHORT_WORK_SIZE;
use crate::messages::answers::{self, AnswerWriter, Out};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// The maximum number of keys whose values are looked up on the network thread.
const SHORT_KEY_COUNT: usize = 8;

/// Values by a few keys, answered at once if they are small.
pub(crate) fn get_few(exchange: &Exchange) -> Result<Option<Reply>> {
    let keys = keys(exchange);
    if keys.is_empty() || keys.len() > SHORT_KEY_COUNT {
        return Ok(None);
    }
    let snapshot = exchange.database().read();
    let mut values = Vec::with_capacity(keys.len());
    for key in &keys {
        values.push(snapshot.compare_exchange_value(key)?);
    }
    if let [None] = values.as_slice() {
        return Ok(Some(reply::empty(StatusCode::NOT_FOUND)));
    }
    if values.iter().flatten().map(|value| value.json().bytes().len()).sum::<usize>() > SHORT_WORK_SIZE {
        return Ok(None);
    }
    let mut body = Vec::new();
    body.extend_from_slice(BEFORE);
    for (place, (key, value)) in keys.iter().zip(&values).enumerate() {
        separate(&mut body, place);
        write_value(&mut body, key, value.as_ref());
    }
    body.extend_from_slice(AFTER);
    Ok(Some(reply::ok(body)))
}

/// Every other form of GET.
pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    answers::produce(exchange, Pool::Reads, |exchange, out| {
        let snapshot = exchange.database().read();
        let keys = keys(exchange);
        if keys.is_empty() { page(exchange, &snapshot, out) } else { by_keys(&keys, &snapshot, out) }
    })
    .await
}

fn keys(exchange: &Exchange) -> Vec<Cow<'_, str>> {
    exchange.query().all("key").filter(|key| !key.is_empty()).collect()
}

const BEFORE: &[u8] = b"{\"Results\":[";
const AFTER: &[u8] = b"]}";

fn by_keys(keys: &[Cow<'_, str>], snapshot: &Snapshot<'_>, out: &mut AnswerWriter) -> Result<Option<Reply>> {
    if let [key] = keys
        && snapshot.compare_exchange_value(key)?.is_none()
    {
        return Ok(Some(reply::empty(StatusCode::NOT_FOUND)));
    }
    out.begin(reply::ok(Bytes::new()), snapshot)?;
    out.buffer().extend_from_slice(BEFORE);
    for (place, key) in keys.iter().enumerate() {
        separate(out.buffer(), place);
        write_value(out.buffer(), key, snapshot.compare_exchange_value(key)?.as_ref());
        out.part_done()?;
    }
    out.buffer().extend_from_slice(AFTER);
    Ok(None)
}

fn page(exchange: &Exchange, snapshot: &Snapshot<'_>, out: &mut AnswerWriter) -> Result<Option<Reply>> {
    let query = exchange.query();
    let (start, count) = (query.page_start()?, query.page_size()?);
    let prefix = query.get("startsWith").unwrap_or_default();
    let caller = out.caller();
    let deadline = Deadline::new(Some(exchange.node.limits.query_run_time), move || caller.is_gone());
    out.begin(reply::ok(Bytes::new()), snapshot)?;
    out.buffer().extend_from_slice(BEFORE);
    let (mut passed, mut written) = (0, 0);
    for value in snapshot.compare_exchange_values(&prefix) {
        let value = value?;
        deadline.look()?;
        if written == count {
            break;
        }
        if passed < start {
            passed += 1;
        } else {
            separate(out.buffer(), usize::from(written > 0));
            let key = database::documents::id::lower_text(value.key());
            write_value(out.buffer(), &key, Some(&value));
            written += 1;
        }
        out.part_done()?;
        if out.is_sent() {
            deadline.lift();
        }
    }
    out.buffer().extend_from_slice(AFTER);
    Ok(None)
}

fn separate(buffer: &mut Vec<u8>, place: usize) {
    if place > 0 {
        buffer.push(b',');
    }
}

/// Appends an element of `Results`.
///
/// * `key`: as the answer spells it.
fn write_value(buffer: &mut Vec<u8>, key: &str, value: Option<&CompareExchangeValue<'_>>) {
    json::Writer::new(buffer).object(|json| {
        json.name("Key").string(key).name("Value");
        match value {
            Some(value) => _ = json.raw(value.json().bytes()).name("Index").unsigned(value.index()),
            None => _ = json.null().name("Index").signed(-1),
        }
    });
}

pub(crate) async fn put(mut exchange: Exchange) -> Result<Reply> {
    let (key, index) = (exchange.required("key")?.into_owned(), index(&exchange)?);
    let body = exchange.read_body().await?;
    let size = body.len();
    let parse = move || Ok(ValueChange::put(&key, &body, Some(index))?);
    let change = exchange.node.bridge.run_sized(size, parse).await?;
    exchange_value(&exchange, change).await
}

pub(crate) async fn delete(exchange: Exchange) -> Result<Reply> {
    let change = ValueChange::delete(&exchange.required("key")?, Some(index(&exchange)?))?;
    exchange_value(&exchange, change).await
}

fn index(exchange: &Exchange) -> Result<u64> {
    exchange.required("index")?;
    let index = exchange.query().signed("index")?.unwrap_or_default();
    u64::try_from(index).map_err(|_| Error::Argument("Index must be a non-negative number".to_owned()))
}

async fn exchange_value(exchange: &Exchange, change: ValueChange) -> Result<Reply> {
    let write = Write::Exchange(change);
    let answer = exchange.node.bridge.answer(|done| exchange.database().propose(write, done.into_call_back())).await?;
    let Exchanged { is_done, index, value } = answer.exchanged()?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Index").unsigned(index).name("Value");
        match &value {
            Some(value) => _ = json.raw(value),
            None => _ = json.null(),
        }
        json.name("Successful").bool(is_done);
    }))
}
