//! `/databases/{name}/operations`

use json::Value;

use super::secured::Secured;
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

/// As in the reference.
#[test]
fn a_deletion_or_patch_of_an_index_that_does_not_exist_is_an_operation_that_fails() {
    let wire = Wire::with_database();
    let delete = r#"{"Query":"from index 'No/Such' where a = 1"}"#;
    let patch = r#"{"Query":{"Query":"from index 'No/Such' where a = 1 update { this.a = 2 }"}}"#;
    for (id, (line, body)) in (1..).zip([("DELETE", delete), ("PATCH", patch)]) {
        let begun = format!(r#"{{"OperationId":{id},"OperationNodeTag":"A"}}"#);
        wire.check(&format!("{line} /databases/db/queries"), body, 200, &begun);
        let state = wire.ended(id).text();
        assert!(state.contains(r#""Status":"Faulted""#), "{state}");
        assert!(state.contains("IndexDoesNotExistException"), "{state}");
        assert!(state.contains("There is no index with 'No/Such' name."), "{state}");
    }
}

#[test]
fn only_operators_see_the_operations_of_the_server() {
    let secured = Secured::start();
    secured.administer("PUT /admin/databases?name=db", "{}", 201);
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().display().to_string();
    let backup = format!(r#"{{"LocalSettings":{{"FolderPath":"{folder}"}}}}"#);
    let wait = |line: &str, body: &str, state: &str| {
        let answer = secured.administer(line, body, 200).json();
        let id = answer.get("OperationId").and_then(Value::as_i64).unwrap();
        let state = format!("{state}?id={id}");
        let ended = testing::wait::until(|| {
            let text = secured.administer(&state, "", 200).text();
            if text.contains("InProgress") { Err(text) } else { Ok(text) }
        });
        assert!(ended.contains("Completed"), "{ended}");
        state
    };
    wait("POST /databases/db/admin/backup", &backup, "GET /databases/db/operations/state");
    let made = std::fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
    let restore = format!(r#"{{"DatabaseName":"copy","BackupLocation":"{}"}}"#, made.display());
    let state = wait("POST /admin/restore/database", &restore, "GET /operations/state");
    let key = secured.key("app", r#""SecurityClearance":"ValidUser","Permissions":{"db":"Admin"}"#);
    assert_eq!(secured.call_with_key(&key, &state, "").status, 404);
    let operator = secured.key("operator", r#""SecurityClearance":"Operator""#);
    assert_eq!(secured.call_with_key(&operator, &state, "").status, 200);
}
