//! Finding the route of a request in the real table, and what we read of its headers among those that the Node.js client
//! sends: CPU and allocations.
use crate::Effort;
use http::{HeaderMap, HeaderName, HeaderValue};
use micro::allocations;
use micro::round::{OURS, compare, emit, side};
use rookery_server::{ROUTES, bench};
use std::hint::black_box;

/// A request of the published client.
const HEADERS: [(&str, &str); 8] = [
    ("accept", "application/json"),
    ("accept-encoding", "gzip"),
    ("connection", "keep-alive"),
    ("content-type", "application/json; charset=utf-8"),
    ("host", "localhost:8080"),
    ("if-none-match", "\"A:5951-pITDlhlRaEeJh16dDBREzg\""),
    ("raven-client-version", "7.1.4"),
    ("topology-etag", "\"1\""),
];

pub fn run(effort: Effort) {
    let requests: Vec<(&str, String)> =
        ROUTES.iter().map(|route| (route.method, route.path.replace('*', "Northwind"))).collect();
    let find = |count| {
        for n in 0..count {
            let (method, path) = &requests[n % requests.len()];
            assert!(black_box(bench::route(black_box(method), black_box(path))).is_some());
        }
    };
    measure("route match", effort, find);

    let mut headers = HeaderMap::new();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let names = bench::HEADERS_READ;
    let get = |count| (0..count).for_each(|n| _ = black_box(headers.get(black_box(&names[n % names.len()]))));
    measure("header access", effort, get);
    let encoding = |count| (0..count).for_each(|_| _ = black_box(bench::accepts_compression(black_box(&headers))));
    measure("header accept-encoding", effort, encoding);
}

fn measure(figure: &str, effort: Effort, mut work: impl FnMut(usize)) {
    // The first one fills what is made once.
    work(1000);
    let count = allocations::during(|| work(1000));
    emit(OURS, 0, &format!("{figure} allocations"), count as f64 / 1000.0, "");
    compare(figure, effort.rounds, effort.operations, vec![side(OURS, work)]);
}
