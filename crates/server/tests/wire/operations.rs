//! `/databases/{name}/operations`

use super::support::Wire;

#[test]
fn operations_have_numbers_and_states() {
    let wire = Wire::with_database();
    wire.check("GET /databases/db/operations/next-operation-id", "", 200, r#"{"Id":1,"NodeTag":"A"}"#);
    wire.check("GET /databases/db/operations/next-operation-id", "", 200, r#"{"Id":2,"NodeTag":"A"}"#);
    wire.check("GET /databases/db/operations/state?id=9", "", 404, "");
    wire.check_error("GET /databases/db/operations/state", "", 400, "ArgumentException", "Query string value 'id'");
    wire.check_error(
        "POST /databases/db/operations/kill?id=9",
        "",
        400,
        "ArgumentException",
        "Operation 9 was not registered",
    );
    wire.check("POST /databases/db/bulk_insert?id=2", "[]", 201, "");
    wire.check("POST /databases/db/operations/kill?id=2", "", 204, "");
    wire.check("GET /operations/next-operation-id", "", 200, r#"{"Id":1,"NodeTag":"A"}"#);
    wire.check("GET /operations/state?id=1", "", 404, "");
}

#[test]
fn operations_are_listed_the_newest_first() {
    let wire = Wire::with_database();
    wire.check("GET /databases/db/operations", "", 200, r#"{"Results":[]}"#);
    wire.check("POST /databases/db/bulk_insert?id=2", "[]", 201, "");
    wire.check("POST /databases/db/bulk_insert?id=3", "[]", 201, "");
    let list = wire.call("GET /databases/db/operations", "").json();
    let Some(json::Value::Array(results)) = list.get("Results") else { panic!("{list:?}") };
    let ids: Vec<_> = results.iter().map(|result| result.get("Id").unwrap().as_i64().unwrap()).collect();
    assert_eq!(ids, [3, 2]);
    let text = |key: &str| results[0].get(key).unwrap().as_str().unwrap().to_owned();
    assert!(text("StartTime") <= text("EndTime") && text("Description").contains("nsert"), "{list:?}");
    assert_eq!(results[0].get("State").unwrap().get("Status").unwrap().as_str(), Some("Completed"));
}
