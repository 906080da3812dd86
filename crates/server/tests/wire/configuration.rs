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

#[test]
fn the_configuration_of_the_traffic_watch_is_kept_and_given_back() {
    let wire = Wire::start();
    let (get, post) = ("GET /admin/traffic-watch/configuration", "POST /admin/traffic-watch/configuration");
    let rest = r#""MinimumResponseSizeInBytes":0,"MinimumRequestSizeInBytes":0,"MinimumDurationInMs":0,"HttpMethods""#;
    let first = format!(
        r#"{{"TrafficWatchMode":"Off","Databases":null,"StatusCodes":null,{rest}:null,"ChangeTypes":null,"CertificateThumbprints":null}}"#
    );
    wire.check(get, "", 200, &first);
    let set = r#"{"TrafficWatchMode":"ToLogFile","Databases":["db"],"StatusCodes":[200],"MinimumResponseSizeInBytes":0,"MinimumRequestSizeInBytes":5,"MinimumDurationInMs":11,"HttpMethods":["GET"],"ChangeTypes":["BulkDocs"],"CertificateThumbprints":[]}"#;
    wire.check(post, &set.replace(r#""CertificateThumbprints":[]"#, r#""Persist":false"#), 204, "");
    wire.check(get, "", 200, set);
    for (bad, message) in [
        (r#"{"TrafficWatchMode":"off"}"#, "'TrafficWatchMode' cannot be 'off', only one of: None, Off, ToLogFile"),
        (r#"{"ChangeTypes":["Foo"]}"#, "'ChangeTypes' cannot be 'Foo', only one of"),
        (r#"{"MinimumDurationInMs":"x"}"#, "'MinimumDurationInMs' must be a whole number"),
        (r#"{"StatusCodes":["x"]}"#, "'StatusCodes' must be an array of whole numbers"),
        (r#"{"HttpMethods":"GET"}"#, "'HttpMethods' must be an array of strings"),
    ] {
        wire.check_error(post, bad, 400, "ArgumentException", message);
    }
    let long = format!(r#"{{"Databases":["{}"]}}"#, "x".repeat(64 << 10));
    assert!(wire.call(post, &long).text().contains("TRAFFIC_WATCH_SIZE_MAX"));
    let persist = wire.call(post, r#"{"Persist":true}"#);
    assert_eq!((persist.status, persist.text().contains("'Persist'")), (501, true), "{}", persist.text());
    wire.check(get, "", 200, set);
    wire.check(post, "{}", 204, "");
    let none = format!(
        r#"{{"TrafficWatchMode":"None","Databases":[],"StatusCodes":[],{rest}:[],"ChangeTypes":[],"CertificateThumbprints":[]}}"#
    );
    wire.check(get, "", 200, &none);
}

#[test]
fn a_delay_is_waited_for() {
    let wire = Wire::start();
    let start = std::time::Instant::now();
    wire.check("GET /admin/test/delay?value=200", "", 200, "");
    assert!(start.elapsed() >= std::time::Duration::from_millis(200));
    let argument = "ArgumentException";
    wire.check_error("GET /admin/test/delay", "", 400, argument, "Query string value 'value'");
    wire.check_error("GET /admin/test/delay?value=-5", "", 400, argument, "");
    wire.check_error("GET /admin/test/delay?value=600001", "", 400, argument, "'value' is 600001 ms, over the limit");
}
