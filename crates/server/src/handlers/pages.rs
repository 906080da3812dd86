//! The icon that browsers ask for by themselves.

use hyper::StatusCode;

use crate::error::Result;
use crate::exchange::Exchange;
use crate::reply::{self, Reply};

/// GET `/favicon.ico`: none, said without an error in the browser's console.
pub(crate) fn icon(_: &Exchange) -> Result<Reply> {
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
