//! `POST /databases/{name}/studio/sample-data`

use super::support::Wire;

#[test]
fn the_sample_goes_into_an_empty_database_once() {
    let wire = Wire::with_database();
    let line = "POST /databases/db/studio/sample-data";
    wire.check(line, "", 204, "");
    let statistics = wire.call("GET /databases/db/stats", "").json();
    assert_eq!(statistics.get("CountOfDocuments").and_then(json::Value::as_i64), Some(1059));
    assert!(wire.call("GET /databases/db/docs?id=orders/1-A", "").text().contains("companies/85-A"));
    wire.check_error(
        line,
        "",
        400,
        "InvalidOperationException",
        "You cannot create sample data in a database that already contains documents",
    );
}
