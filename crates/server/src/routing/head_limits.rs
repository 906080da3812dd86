//! Limits of the head of a request: its target, its parameters, its headers.

use hyper::header::HeaderMap;
use hyper::{StatusCode, Uri};

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::messages::query_string::QueryString;

/// The limits of a head, also of one inside of another request.
pub(crate) fn check(limits: &Limits, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    let limit = |status, name, limit: usize, what| Err(Error::Limit { status, name, limit: limit as u64, what });
    let target_size = uri.path_and_query().map_or(0, |path| path.as_str().len());
    if target_size > limits.request_line_size {
        let size = limits.request_line_size >> 10;
        return limit(StatusCode::URI_TOO_LONG, "Limits.RequestLineInKb", size, "The request target");
    }
    if QueryString::new(uri.query().unwrap_or_default()).count() > limits.query_parameter_count {
        let count = limits.query_parameter_count;
        return limit(StatusCode::URI_TOO_LONG, "Limits.QueryParameterCount", count, "The number of query parameters");
    }
    if headers.len() > limits.header_count {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return limit(status, "Limits.HeaderCount", limits.header_count, "The number of headers");
    }
    let mut block_size = target_size;
    for (name, value) in headers {
        if value.len() > limits.header_line_size {
            let size = limits.header_line_size >> 10;
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return limit(status, "Limits.HeaderLineInKb", size, "A header");
        }
        block_size += name.as_str().len() + value.len() + 4;
    }
    if block_size > limits.header_block_size {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return limit(status, "Limits.HeaderBlockInKb", limits.header_block_size >> 10, "The request head");
    }
    Ok(())
}
