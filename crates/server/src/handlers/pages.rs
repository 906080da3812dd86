//! The icon that browsers ask for by themselves.

use hyper::StatusCode;

use crate::error::Result;
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

/// GET `/favicon.ico`: none, said without an error in the browser's console.
pub(crate) fn icon(_: &Exchange) -> Result<Reply> {
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
