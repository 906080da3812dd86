//! `GET /admin/test/delay`: waits for `value` milliseconds, then answers 200 without a body. With it the tests of clients see their time
//! limits work. It holds a connection, nothing else, and ends with its client.

use std::time::Duration;

use hyper::StatusCode;

use crate::error::{Error, Result};
use crate::limits::DELAY_MAX;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

pub(crate) async fn delay(exchange: Exchange) -> Result<Reply> {
    let delay = Duration::from_millis(exchange.required_number("value")?);
    if delay > DELAY_MAX {
        return Err(Error::Argument(format!(
            "'value' is {} ms, over the limit DELAY_MAX ({} ms)",
            delay.as_millis(),
            DELAY_MAX.as_millis()
        )));
    }
    tokio::time::sleep(delay).await;
    Ok(reply::empty(StatusCode::OK))
}
