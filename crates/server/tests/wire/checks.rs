//! The check of an open database: `POST /databases/{name}/admin/check`.

use json::Value;

use super::support::Wire;

#[test]
fn a_check_is_an_operation_that_tells_of_each_part() {
    let wire = Wire::with_database();
    for number in 0..10 {
        wire.put(&format!("users/{number}"), r#"{"Name":"a"}"#);
    }
    let index = r#"{"Indexes":[{"Name":"ByName","Maps":["from d in docs select new { d.Name }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
    let query = r#"{"Query":"from index 'ByName'","WaitForNonStaleResults":true}"#;
    assert_eq!(wire.call("POST /databases/db/queries", query).status, 200);
    let begun = wire.call("POST /databases/db/admin/check", "");
    assert_eq!(begun.status, 200, "{}", begun.text());
    let id = begun.json().get("OperationId").and_then(Value::as_i64).unwrap();
    let state = wire.ended(id).json();
    assert_eq!(state.get("Status").and_then(Value::as_str), Some("Completed"), "{state:?}");
    let result = state.get("Result").unwrap();
    assert_eq!(result.get("ProblemCount").and_then(Value::as_i64), Some(0), "{result:?}");
    let Some(Value::Array(parts)) = result.get("Parts") else { panic!("{result:?}") };
    let told: Vec<_> = parts
        .iter()
        .map(|part| (part.get("Index").and_then(Value::as_str), part.get("Items").and_then(Value::as_i64)))
        .collect();
    assert_eq!(told, [(None, Some(10)), (Some("ByName"), Some(10))]);
    wire.check_error("POST /databases/none/admin/check", "", 400, "DatabaseDoesNotExistException", "Database 'none'");
}
