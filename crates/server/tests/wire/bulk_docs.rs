//! `POST /databases/{name}/bulk_docs`

use super::support::Wire;

#[test]
fn commands_are_answered_in_order() {
    let wire = Wire::with_database();
    wire.put("users/2", "{}");
    let commands = r#"{"Commands":[
        {"Type":"PUT","Id":"users/1","ChangeVector":null,"Document":{"Name":"Kim","@metadata":{"@collection":"Users"}}},
        {"Document":{"N":1},"Id":"users/","Type":"PUT"},
        {"Type":"DELETE","Id":"Users/2","ChangeVector":null},
        {"Type":"DELETE","Id":"users/none"}]}"#;
    let expected = concat!(
        r#"{"Results":[{"Type":"PUT","@id":"users/1","@collection":"Users","@change-vector":"A:2-ID","@last-modified":"DATE"},"#,
        r#"{"Type":"PUT","@id":"users/0000000000000000003-A","@collection":"@empty","@change-vector":"A:3-ID","@last-modified":"DATE"},"#,
        r#"{"Id":"Users/2","Type":"DELETE","Deleted":true,"ChangeVector":null},"#,
        r#"{"Id":"users/none","Type":"DELETE","Deleted":false}]}"#
    );
    wire.check("POST /databases/db/bulk_docs", commands, 201, expected);
    wire.check("POST /databases/db/bulk_docs", r#"{"Commands":[]}"#, 201, r#"{"Results":[]}"#);
}

#[test]
fn a_batch_is_applied_whole_or_not_at_all() {
    let wire = Wire::with_database();
    wire.put("users/1", "{}");
    let conflict = r#"{"Commands":[{"Type":"PUT","Id":"users/77","Document":{}},{"Type":"PUT","Id":"users/1","ChangeVector":"","Document":{}}]}"#;
    wire.check_error(
        "POST /databases/db/bulk_docs",
        conflict,
        409,
        ".ConcurrencyException",
        "Document users/1 has change vector",
    );
    wire.check("GET /databases/db/docs?id=users/77", "", 404, "");
}

#[test]
fn other_commands_are_refused_by_name() {
    let wire = Wire::with_database();
    let batch = |command: &str| format!("{{\"Commands\":[{command}]}}");
    for kind in ["TimeSeries", "TimeSeriesCopy"] {
        let body = batch(&format!("{{\"Type\":\"{kind}\",\"Id\":\"a\"}}"));
        wire.check_error(
            "POST /databases/db/bulk_docs",
            &body,
            501,
            "RavenException",
            &format!("Rookery {} does not support the command '{kind}' yet", env!("CARGO_PKG_VERSION")),
        );
    }
    let unknown = batch(r#"{"Type":"FLY","Id":"a"}"#);
    wire.check_error(
        "POST /databases/db/bulk_docs",
        &unknown,
        400,
        "InvalidCommandTypeException",
        "Invalid command type: FLY",
    );
    let revision = batch(r#"{"Type":"PUT","Id":"a","Document":{},"ForceRevisionCreationStrategy":"Before"}"#);
    let message = "Can't force revision creation - the document was not saved on the server yet. document: a.";
    wire.check_error("POST /databases/db/bulk_docs", &revision, 400, "InvalidOperationException", message);
    let number = revision.replace("\"Before\"", "5");
    let message = "'ForceRevisionCreationStrategy' of a command must be text";
    wire.check_error("POST /databases/db/bulk_docs", &number, 400, "InvalidOperationException", message);
    let plain = batch(r#"{"Type":"PUT","Id":"a","Document":{},"ForceRevisionCreationStrategy":"None"}"#);
    assert_eq!(wire.call("POST /databases/db/bulk_docs", &plain).status, 201);
}

#[test]
fn waiting_is_refused_where_there_would_be_something_to_wait_for() {
    let wire = Wire::with_database();
    let body = r#"{"Commands":[{"Type":"PUT","Id":"a","Document":{}}]}"#;
    let replicas = |count: &str| format!("POST /databases/db/bulk_docs?numberOfReplicasToWaitFor={count}");
    wire.check_error(&replicas("1"), body, 501, "RavenException", "Rookery");
    wire.check("GET /databases/db/docs?id=a", "", 404, "");
    for line in [
        &replicas("0"),
        &replicas("majority"),
        &replicas(""),
        "POST /databases/db/bulk_docs?waitForIndexesTimeout=00:00:15&waitForIndexThrow=true&waitForSpecificIndex=x",
    ] {
        assert_eq!(wire.call(line, body).status, 201, "{line}");
    }
}

#[test]
fn a_deletion_by_prefix_says_whether_there_was_anything() {
    let wire = Wire::with_database();
    wire.put("a/1", "{}");
    let body =
        r#"{"Commands":[{"Type":"DELETE","Id":"a/","IdPrefixed":true},{"Type":"DELETE","Id":"a/","IdPrefixed":true}]}"#;
    let expected =
        r#"{"Results":[{"Id":"a/","Type":"DELETE","Deleted":true},{"Id":"a/","Type":"DELETE","Deleted":false}]}"#;
    wire.check("POST /databases/db/bulk_docs", body, 201, expected);
}
