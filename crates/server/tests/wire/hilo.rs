//! `/databases/{name}/hilo`

use super::support::Wire;

#[test]
fn ranges_follow_one_another_and_unused_ends_come_back() {
    let wire = Wire::with_database();
    let next =
        "GET /databases/db/hilo/next?tag=Things&lastBatchSize=0&lastRangeAt=&identityPartsSeparator=%2F&lastMax=0";
    let first = r#"{"Prefix":"Things/","Low":1,"High":32,"LastSize":32,"ServerTag":"A","LastRangeAt":"DATE"}"#;
    wire.check(next, "", 201, first);
    let second = r#"{"Prefix":"Things-","Low":33,"High":64,"LastSize":32,"ServerTag":"A","LastRangeAt":"DATE"}"#;
    wire.check("GET /databases/db/hilo/next?tag=Things&lastBatchSize=32&identityPartsSeparator=-", "", 201, second);
    wire.check("PUT /databases/db/hilo/return?tag=Things&end=64&last=40", "", 200, "");
    assert!(wire.call("GET /databases/db/docs?id=Raven/Hilo/Things", "").text().contains(r#"{"Max":40,"#));
    wire.check_error("GET /databases/db/hilo/next", "", 400, "ArgumentException", "Query string value 'tag'");
    wire.check_error("PUT /databases/db/hilo/return?tag=x", "", 400, "ArgumentException", "Query string value 'end'");
}
