//! `/databases/{name}/operations`

use super::support::Wire;

#[test]
fn operations_have_numbers_and_states() {
    let wire = Wire::with_database();
    wire.check("GET /databases/db/operations/next-operation-id", "", 200, r#"{"Id":1,"NodeTag":"A"}"#);
    wire.check("GET /databases/db/operations/next-operation-id", "", 200, r#"{"Id":2,"NodeTag":"A"}"#);
    wire.check("GET /databases/db/operations/state?id=9", "", 404, "");
    wire.check_error("GET /databases/db/operations/state", "", 500, "ArgumentException", "Query string value 'id'");
    wire.check_error(
        "POST /databases/db/operations/kill?id=9",
        "",
        500,
        "ArgumentException",
        "Operation 9 was not registered",
    );
    wire.check("POST /databases/db/bulk_insert?id=2", "[]", 201, "");
    wire.check("POST /databases/db/operations/kill?id=2", "", 204, "");
    wire.check("GET /operations/next-operation-id", "", 200, r#"{"Id":1,"NodeTag":"A"}"#);
    wire.check("GET /operations/state?id=1", "", 404, "");
}
