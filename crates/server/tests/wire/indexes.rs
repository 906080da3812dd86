//! `/databases/{name}/indexes`: those that queries make, how they are told, deleted and built anew.

use super::support::{Answer, Wire};

fn with_index() -> Wire {
    let wire = Wire::with_database();
    wire.put("users/1", r#"{"Name":"Ann","Age":33,"@metadata":{"@collection":"Users"}}"#);
    wire.put("users/2", r#"{"Name":null,"Age":7,"@metadata":{"@collection":"Users"}}"#);
    ask(&wire, "from Users where Name = 'Ann'");
    wire
}

#[track_caller]
fn ask(wire: &Wire, text: &str) -> json::Value {
    let body = format!(r#"{{"Query":"{text}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn results(answer: &Answer) -> Vec<json::Value> {
    match answer.json().get("Results") {
        Some(json::Value::Array(results)) => results.clone(),
        _ => panic!("{}", answer.text()),
    }
}

fn names(wire: &Wire) -> Vec<String> {
    let names = results(&wire.call("GET /databases/db/indexes?namesOnly=true", ""));
    names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_database_without_indexes_says_so() {
    let wire = Wire::with_database();
    for line in ["GET /databases/db/indexes", "GET /databases/db/indexes/stats", "GET /databases/db/indexes/errors"] {
        let answer = wire.call(line, "");
        assert!(answer.text().ends_with(r#""Results":[]}"#), "{}", answer.text());
    }
    wire.check("GET /databases/db/indexes?name=x", "", 404, "");
    wire.check("GET /databases/db/indexes/stats?name=x", "", 404, "");
    wire.check("GET /databases/db/indexes/status", "", 200, r#"{"Status":"Running","Indexes":[]}"#);
    let exception = "Indexes.IndexDoesNotExistException";
    for line in [
        "GET /databases/db/indexes/errors?name=x",
        "GET /databases/db/indexes/staleness?name=x",
        "GET /databases/db/indexes/terms?name=x&field=y",
        "RESET /databases/db/indexes?name=x",
    ] {
        wire.check_error(line, "", 500, exception, "There is no index with 'x' name.");
    }
    wire.check("DELETE /databases/db/indexes?name=x", "", 404, "");
    wire.check_error("PUT /databases/db/admin/indexes", "{}", 501, "RavenException", "Rookery");
}

#[test]
fn the_index_of_a_query_is_told_in_the_form_that_clients_know() {
    let wire = with_index();
    let [definition] = results(&wire.call("GET /databases/db/indexes?name=auto/users/byname", "")).try_into().unwrap();
    let text = String::from_utf8(definition.to_vec()).unwrap();
    let start = r#"{"Name":"Auto/Users/ByName","SourceType":"Documents","Type":"AutoMap","LockMode":"Unlock","#;
    assert!(text.starts_with(start) && text.contains(r#""Maps":["Users:[<Name:Name>]"],"Fields":{"Name":{"#), "{text}");
    let [statistics] = results(&wire.call("GET /databases/db/indexes/stats", "")).try_into().unwrap();
    let text = String::from_utf8(statistics.to_vec()).unwrap();
    assert!(text.contains(r#""MapAttempts":2,"MapSuccesses":2,"MapErrors":0"#), "{text}");
    assert!(text.contains(r#""Users":{"LastProcessedDocumentEtag":2,"LastProcessedTombstoneEtag":0"#), "{text}");
    assert!(text.contains(r#""IsStale":false"#) && text.contains(r#""EntriesCount":2"#), "{text}");
    wire.check(
        "GET /databases/db/indexes/staleness?name=Auto/Users/ByName",
        "",
        200,
        r#"{"IsStale":false,"StalenessReasons":[]}"#,
    );
    let terms = wire.call("GET /databases/db/indexes/terms?name=Auto/Users/ByName&field=Name&fromValue=&pageSize=", "");
    assert!(terms.text().ends_with(r#""Terms":["NULL_VALUE","ann"]}"#), "{}", terms.text());
    let terms = wire.call("GET /databases/db/indexes/terms?name=Auto/Users/ByName&field=Name&fromValue=ann", "");
    assert!(terms.text().ends_with(r#""Terms":[]}"#), "{}", terms.text());
    let status = r#"{"Status":"Running","Indexes":[{"Name":"Auto/Users/ByName","Status":"Running"}]}"#;
    wire.check("GET /databases/db/indexes/status", "", 200, status);
    let database = wire.call("GET /databases/db/stats", "").text();
    assert!(
        database.contains(r#""CountOfIndexes":1"#) && database.contains(r#""Name":"Auto/Users/ByName""#),
        "{database}"
    );
}

#[test]
fn an_index_is_used_widened_and_replaced() {
    let wire = with_index();
    ask(&wire, "from users where Name = 'x' order by Name desc");
    assert_eq!(names(&wire), ["Auto/Users/ByName"], "it covers that");
    let wider = ask(&wire, "from Users where Age > 1");
    assert_eq!(wider.get("IndexName").and_then(json::Value::as_str), Some("Auto/Users/ByAgeAndName"));
    assert_eq!(ask(&wire, "from Users where Name = null").get("TotalResults").and_then(json::Value::as_i64), Some(1));
    let start = std::time::Instant::now();
    while names(&wire) != ["Auto/Users/ByAgeAndName"] {
        assert!(start.elapsed().as_secs() < 20, "the narrow one goes: {:?}", names(&wire));
    }
    ask(&wire, "from @all_docs where Age > 1");
    ask(&wire, "from Pets where Age > 1");
    assert_eq!(names(&wire), ["Auto/AllDocs/ByAge", "Auto/Pets/ByAge", "Auto/Users/ByAgeAndName"]);
}

#[test]
fn an_index_is_deleted_and_built_anew() {
    let wire = with_index();
    wire.check("RESET /databases/db/indexes?name=Auto/Users/ByName", "", 204, "");
    let found = ask(&wire, "from index 'Auto/Users/ByName' where Name = 'ann'");
    assert_eq!(found.get("TotalResults").and_then(json::Value::as_i64), Some(1));
    wire.check("DELETE /databases/db/indexes?name=Auto/Users/ByName", "", 204, "");
    assert!(names(&wire).is_empty());
    wire.check("DELETE /databases/db/indexes?name=Auto/Users/ByName", "", 404, "");
    let version = env!("CARGO_PKG_VERSION");
    let message = format!("Rookery {version} does not support the mode 'SideBySide' of resetting an index yet");
    let mode = "RESET /databases/db/indexes?name=Auto/Users/ByName&mode=SideBySide";
    wire.check_error(mode, "", 501, "RavenException", &message);
}
