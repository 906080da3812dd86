//! Client configuration, of the server and of databases.

use super::support::Wire;

#[test]
fn nothing_is_configured_at_first() {
    let wire = Wire::with_database();
    wire.check("GET /databases/db/configuration/client", "", 200, r#"{"Etag":-2,"Configuration":null}"#);
    wire.check("GET /configuration/client", "", 404, "");
}

#[test]
fn a_new_configuration_is_announced_to_clients_that_hold_an_older_one() {
    let wire = Wire::with_database();
    let body = r#"{"MaxNumberOfRequestsPerSession":7,"Disabled":false}"#;
    wire.check("PUT /databases/db/admin/configuration/client", body, 204, "");
    let configuration = wire.call("GET /databases/db/configuration/client", "").json();
    let etag = configuration.get("Etag").and_then(json::Value::as_i64).unwrap();
    assert!(etag > 0);
    let announced = |header: &str| {
        let answer = wire.call_with("GET /databases/db/docs?id=x", &[header], b"");
        answer.header("refresh-client-configuration") == Some("true")
    };
    assert!(announced("Client-Configuration-Etag: 0"));
    assert!(announced("Client-Configuration-Etag: \"None\""));
    assert!(!announced(&format!("Client-Configuration-Etag: \"{etag}\"")));
    assert!(!announced("X: y"));
    wire.check("PUT /admin/configuration/client", r#"{"ReadBalanceBehavior":"RoundRobin"}"#, 204, "");
    assert_eq!(wire.call("GET /configuration/client", "").status, 200);
    let merged = wire.call("GET /databases/db/configuration/client", "").text();
    assert!(merged.contains("RoundRobin") && merged.contains(":7"), "{merged}");
}

#[test]
fn ids_are_completed_with_the_configured_separator() {
    let wire = Wire::with_database();
    wire.check("PUT /databases/db/admin/configuration/client", r#"{"IdentityPartsSeparator":"-"}"#, 204, "");
    for separator in [r#""|""#, r#""""#, r#""ab""#, "1"] {
        let body = format!(r#"{{"IdentityPartsSeparator":{separator}}}"#);
        for line in ["PUT /databases/db/admin/configuration/client", "PUT /admin/configuration/client"] {
            wire.check_error(line, &body, 400, "ArgumentException", "'IdentityPartsSeparator' must be one character");
        }
    }
    let put = wire.call("PUT /databases/db/docs?id=users%7C", "{}").text();
    assert!(put.starts_with(r#"{"Id":"users-1","#), "{put}");
    let batch = r#"{"Commands":[{"Type":"PUT","Id":"users|","Document":{}}]}"#;
    let put = wire.call("POST /databases/db/bulk_docs", batch).text();
    assert!(put.contains(r#""@id":"users-2""#), "{put}");
    let bulk = r#"[{"Type":"PUT","Id":"bulk-","Document":{}},{"Type":"PUT","Id":"bulk/","Document":{}}]"#;
    wire.check("POST /databases/db/bulk_insert", bulk, 201, "");
    let stored = wire.call("GET /databases/db/docs?startsWith=bulk&metadataOnly=true", "").text();
    assert!(stored.contains(r#""@id":"bulk-0000000000000000003-A""#), "{stored}");
    assert!(stored.contains(r#""@id":"bulk/0000000000000000004-A""#), "{stored}");
}

#[test]
fn a_body_that_is_cut_or_empty_changes_nothing() {
    let wire = Wire::with_database();
    let body = r#"{"ReadBalanceBehavior":"RoundRobin","MaxNumberOfRequestsPerSession":7}"#;
    let zstd = zstd::encode_all(body.as_bytes(), 3).unwrap();
    let server = "PUT /admin/configuration/client";
    let database = "PUT /databases/db/admin/configuration/client";
    let settings = "PUT /databases/db/admin/configuration/settings";
    for line in [server, database, settings] {
        wire.check(line, body, 204, "");
    }
    let lines =
        ["GET /configuration/client", "GET /databases/db/configuration/client", "GET /databases/db/admin/record"];
    let before = lines.map(|line| wire.call(line, "").text());
    for line in [server, database, settings] {
        for cut in 1..zstd.len() {
            let refused = wire.call_with(line, &["Content-Encoding: zstd"], &zstd[..cut]);
            refused.check_error(400, "InvalidDataException", "The request body cannot be decoded");
        }
        wire.check_error(line, "", 400, "EndOfStreamException", "");
    }
    assert_eq!(lines.map(|line| wire.call(line, "").text()), before);
}
