//! Entry points for the benchmarks in `bench/micro` only.

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HOST, HeaderName, IF_MATCH, IF_NONE_MATCH, ORIGIN,
    TRANSFER_ENCODING,
};

use crate::Route;
use crate::messages::compression;
use crate::routing::{dispatch, routes};

/// The headers that are looked for in requests, but for those of WebSockets.
pub const HEADERS_READ: [HeaderName; 11] = [
    HOST,
    ORIGIN,
    TRANSFER_ENCODING,
    EXPECT,
    ACCEPT_ENCODING,
    CONTENT_ENCODING,
    CONTENT_TYPE,
    IF_MATCH,
    IF_NONE_MATCH,
    dispatch::TOPOLOGY_ETAG,
    dispatch::CLIENT_CONFIGURATION_ETAG,
];

/// The route of a request.
pub fn route(method: &str, path: &str) -> Option<&'static Route> {
    routes::find(method, path).map(|found| found.route)
}

/// Whether an answer may be compressed.
pub fn accepts_compression(headers: &HeaderMap) -> bool {
    compression::asked_for(headers).is_some()
}
