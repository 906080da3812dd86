//! `/databases/{name}/cmpxchg`, cluster-wide transactions in `bulk_docs`, and loads for their sessions.

use std::sync::Arc;
use std::time::Duration;

use database::ManualClock;
use database::documents::Date;

use super::support::Wire;

const BULK: &str = "POST /databases/db/bulk_docs";

fn put(wire: &Wire, key: &str, index: u64, body: &str) -> String {
    let answer = wire.call(&format!("PUT /databases/db/cmpxchg?key={key}&index={index}"), body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

fn cluster_wide(commands: &str) -> String {
    format!("{{\"Commands\":[{commands}],\"TransactionMode\":\"ClusterWide\"}}")
}

fn put_command(id: &str, original: &str) -> String {
    format!(
        r#"{{"Type":"PUT","Id":"{id}","ChangeVector":null,"OriginalChangeVector":{original},"Document":{{"N":1,"@metadata":{{"@collection":"Users"}}}}}}"#
    )
}

#[test]
fn a_value_is_put_read_and_deleted_by_its_index() {
    let wire = Wire::with_database();
    assert_eq!(
        put(&wire, "K1", 0, r#"{"Object": {"V": 1}}"#),
        r#"{"Index":1,"Value":{"Object":{"V":1}},"Successful":true}"#
    );
    assert_eq!(put(&wire, "k1", 0, r#"{"Object":2}"#), r#"{"Index":1,"Value":{"Object":{"V":1}},"Successful":false}"#);
    assert_eq!(put(&wire, "no", 9, r#"{"Object":2}"#), r#"{"Index":0,"Value":null,"Successful":false}"#);
    let with_metadata = r#"{"Object":"é","@metadata":{"a":1}}"#;
    assert_eq!(
        put(&wire, "k1", 1, with_metadata),
        format!(r#"{{"Index":2,"Value":{with_metadata},"Successful":true}}"#)
    );
    let element = |key: &str| format!(r#"{{"Key":"{key}","Value":{with_metadata},"Index":2}}"#);
    wire.check("GET /databases/db/cmpxchg?key=K1", "", 200, &format!(r#"{{"Results":[{}]}}"#, element("K1")));
    let missing = r#"{"Key":"zz","Value":null,"Index":-1}"#;
    let several = format!(r#"{{"Results":[{},{missing},{}]}}"#, element("K1"), element("k1"));
    wire.check("GET /databases/db/cmpxchg?key=K1&key=zz&key=k1", "", 200, &several);
    wire.check("GET /databases/db/cmpxchg?key=zz", "", 404, "");
    let both = "GET /databases/db/cmpxchg?key=zz&key=zy";
    wire.check(both, "", 200, &format!(r#"{{"Results":[{missing},{}]}}"#, missing.replace("zz", "zy")));
    let stored = format!(r#"{{"Index":2,"Value":{with_metadata},"Successful":false}}"#);
    wire.check("DELETE /databases/db/cmpxchg?key=k1&index=1", "", 200, &stored);
    let deleted = format!(r#"{{"Index":3,"Value":{with_metadata},"Successful":true}}"#);
    wire.check("DELETE /databases/db/cmpxchg?key=K1&index=2", "", 200, &deleted);
    wire.check(
        "DELETE /databases/db/cmpxchg?key=K1&index=3",
        "",
        200,
        r#"{"Index":0,"Value":null,"Successful":false}"#,
    );
    wire.check("GET /databases/db/cmpxchg?key=k1", "", 404, "");
    let statistics = wire.call("GET /databases/db/stats/detailed", "").json();
    let number = |name: &str| statistics.get(name).and_then(json::Value::as_i64);
    assert_eq!((number("CountOfCompareExchange"), number("CountOfCompareExchangeTombstones")), (Some(0), Some(1)));
    assert_eq!(number("CountOfDocuments"), Some(0));
}

#[test]
fn values_are_listed_by_prefix_in_pages() {
    let wire = Wire::with_database();
    for key in ["b/1", "a/2", "A/3", "a/1"] {
        put(&wire, key, 0, r#"{"Object":0}"#);
    }
    let element = |key: &str, index: u64| format!(r#"{{"Key":"{key}","Value":{{"Object":0}},"Index":{index}}}"#);
    let check = |parameters: &str, elements: &[String]| {
        let line = format!("GET /databases/db/cmpxchg{parameters}");
        wire.check(&line, "", 200, &format!(r#"{{"Results":[{}]}}"#, elements.join(",")));
    };
    let all = [element("a/1", 4), element("a/2", 2), element("a/3", 3), element("b/1", 1)];
    check("", &all);
    check("?startsWith=A/", &all[..3]);
    check("?startsWith=a/&start=1&pageSize=1", &all[1..2]);
    check("?pageSize=2", &all[..2]);
    check("?startsWith=x", &[]);
    check("?key=a/1&startsWith=b", &all[..1]);
    let inner = r#"{"Requests":[{"Url":"/databases/db/cmpxchg","Query":"?key=a/1"},{"Url":"/databases/db/cmpxchg","Query":"?key=no"}]}"#;
    let expected = format!(
        r#"{{"Results":[{{"Result":{{"Results":[{}]}},"StatusCode":200,"Headers":{{}}}},{{"Result":null,"StatusCode":404,"Headers":{{}}}}]}}"#,
        all[0]
    );
    wire.check("POST /databases/db/multi_get", inner, 200, &expected);
}

#[test]
fn what_cannot_be_a_value_is_refused() {
    let wire = Wire::with_database();
    let line = |parameters: &str| format!("PUT /databases/db/cmpxchg?{parameters}");
    let check = |parameters: &str, body: &str, exception: &str, message: &str| {
        wire.check_error(&line(parameters), body, 400, exception, message);
    };
    check("key=a", "{}", "ArgumentException", "Query string value 'index'");
    check("index=0", "{}", "ArgumentException", "Query string value 'key'");
    check("key=a&index=-1", "{}", "ArgumentException", "Index must be a non-negative number");
    check("key=a&index=0", "[1]", "InvalidStartOfObjectException", "a compare-exchange value must be a JSON object");
    check("key=a&index=0", "{", "EndOfStreamException", "");
    let expires = r#"{"Object":1,"@metadata":{"@expires":"soon"}}"#;
    check("key=a&index=0", expires, "InvalidOperationException", "'@expires' in '@metadata' must be a date");
    let long = format!("key={}&index=0", "x".repeat(513));
    check(&long, "{}", "CompareExchangeKeyTooBigException", "Compare Exchange key cannot exceed 512 bytes");
    wire.check_error("DELETE /databases/db/cmpxchg?key=a", "", 400, "ArgumentException", "Query string value 'index'");
}

#[test]
fn a_transaction_over_values_and_documents_is_answered_as_clients_read_it() {
    let wire = Wire::with_database();
    let value = r#"{"Type":"CompareExchangePUT","Id":"k1","Document":{"Object":1},"Index":0}"#;
    let body = cluster_wide(&format!("{value},{}", put_command("users/1", "null")));
    let answer = wire.call(BULK, &body);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let answer = answer.json();
    let results: Vec<&json::Value> = match answer.get("Results") {
        Some(json::Value::Array(results)) => results.iter().collect(),
        other => panic!("{other:?}"),
    };
    let text = |result: &json::Value, name: &str| result.get(name).and_then(json::Value::as_str).map(str::to_owned);
    assert_eq!(
        (text(results[0], "Type").as_deref(), text(results[0], "@id").as_deref()),
        (Some("PUT"), Some("users/1"))
    );
    let vector = text(results[0], "@change-vector").unwrap();
    assert!(vector.starts_with("A:3-") && vector.contains(", TRXN:2-"), "{vector}");
    assert_eq!(
        String::from_utf8(results[1].to_vec()).unwrap(),
        r#"{"Type":"CompareExchangePUT","Key":"k1","Index":1}"#
    );
    assert_eq!(answer.get("TransactionIndex").and_then(json::Value::as_i64), Some(3));
    let document = wire.call("GET /databases/db/docs?id=users/1", "").text();
    assert!(document.contains(r#""@flags":"FromClusterTransaction""#) && document.contains(&vector), "{document}");
    // A condition that does not hold: nothing of it is applied.
    let conflict = cluster_wide(&format!("{value},{}", put_command("users/2", "null")));
    let refused = wire.call(BULK, &conflict);
    let message = "Failed to execute cluster transaction due to the following issues: Concurrency check failed for putting the key 'k1'. Requested index: 0, actual index: 1";
    refused.check_error(409, "ClusterTransactionConcurrencyException", message);
    let violation = r#""ConcurrencyViolations":[{"Type":"CompareExchange","Id":"k1","Expected":0,"Actual":1}]"#;
    assert!(refused.text().contains(violation), "{}", refused.text());
    wire.check("GET /databases/db/docs?id=users/2", "", 404, "");
    let stale = wire.call(BULK, &cluster_wide(&put_command("users/1", "null")));
    let violation = r#"[{"Type":"Document","Id":"rvn-atomic/users/1","Expected":0,"Actual":2}]"#;
    assert!(stale.status == 409 && stale.text().contains(violation), "{}", stale.text());
    let own = wire.call(BULK, &cluster_wide(&put_command("users/1", &format!("\"{vector}\""))));
    assert_eq!(own.status, 201, "{}", own.text());
    let unguarded = wire.call(
        "POST /databases/db/bulk_docs?disableAtomicDocumentWrites=true",
        &cluster_wide(&put_command("users/1", "null")),
    );
    assert_eq!(unguarded.status, 201, "{}", unguarded.text());
    wire.check(BULK, &cluster_wide(""), 201, &format!(r#"{{"Results":[],"TransactionIndex":{}}}"#, 6));
}

/// RavenDB's answers: clients from 5.2 on send back what a guard needs. Who says no version gets one, which is ours.
#[test]
fn guards_are_for_clients_that_know_them() {
    let wire = Wire::with_database();
    let versions = [("7.1.5.0", true), ("5.2", true), ("5.1.0.0", false), ("4.0.0", false), ("", true), ("x", true)];
    for (place, (version, has_guard)) in versions.into_iter().enumerate() {
        let header = format!("Raven-Client-Version: {version}");
        let headers: &[&str] = if version.is_empty() { &[] } else { &[&header] };
        let id = format!("users/{place}");
        let put = || wire.call_with(BULK, headers, cluster_wide(&put_command(&id, "null")).as_bytes());
        assert_eq!(put().status, 201, "{version}");
        let guard = wire.call(&format!("GET /databases/db/cmpxchg?key=rvn-atomic/{id}"), "").text();
        assert_eq!(guard.contains("rvn-atomic"), has_guard, "{version}: {guard}");
        assert_eq!(put().status, if has_guard { 409 } else { 201 }, "{version}");
    }
}

#[test]
fn transactions_refuse_other_commands_and_guards() {
    let wire = Wire::with_database();
    let check = |command: &str, exception: &str, message: &str| {
        wire.check_error(BULK, &cluster_wide(command), 400, exception, message);
    };
    check(
        r#"{"Type":"AttachmentPUT","Id":"a","Name":"b"}"#,
        "InvalidOperationException",
        "The command type AttachmentPUT is not supported in cluster transaction.",
    );
    check(&put_command("users/", "null"), "InvalidOperationException", "Document id users/ cannot end with '|' or '/'");
    check(
        r#"{"Type":"CompareExchangePUT","Id":"rvn-atomic/users/2","Document":{"Object":1},"Index":0}"#,
        "CompareExchangeInvalidKeyException",
        "You cannot manipulate the atomic guard 'rvn-atomic/users/2' via the cluster-wide session",
    );
    let put =
        |key: &str| format!(r#"{{"Type":"CompareExchangePUT","Id":"{key}","Document":{{"Object":1}},"Index":0}}"#);
    let refused = |id: &str, separator: char| {
        let message = format!("Document id {id} cannot end with '|' or '{separator}' as part of cluster transaction");
        check(&put(id), "InvalidOperationException", &message);
        check(&put_command(id, "null"), "InvalidOperationException", &message);
    };
    ["a/", "a|"].iter().for_each(|id| refused(id, '/'));
    wire.check("PUT /databases/db/admin/configuration/client", r#"{"IdentityPartsSeparator":":"}"#, 204, "");
    ["a:", "a|"].iter().for_each(|id| refused(id, ':'));
    assert_eq!(wire.call(BULK, &cluster_wide(&put("a/"))).status, 201);
    let single = r#"{"Commands":[{"Type":"CompareExchangePUT","Id":"a","Document":{"Object":1},"Index":0}]}"#;
    wire.check_error(
        BULK,
        single,
        400,
        "InvalidOperationException",
        "the command 'CompareExchangePUT' needs a cluster-wide transaction",
    );
}

#[test]
fn sessions_load_guards_of_missing_documents_and_values_by_path() {
    let wire = Wire::with_database();
    wire.call(BULK, &cluster_wide(&put_command("users/1", "null")));
    let missing = "GET /databases/db/docs?id=users/1&id=users/9&txMode=ClusterWide";
    let answer = wire.call(missing, "");
    assert!(answer.text().matches("@metadata").count() == 1 && !answer.text().contains("null"), "{}", answer.text());
    assert!(!answer.text().contains("CompareExchangeValueIncludes"), "{}", answer.text());
    wire.call("DELETE /databases/db/docs?id=users/1", "");
    let guard = r#"{"Results":[],"Includes":{},"CompareExchangeValueIncludes":{"rvn-atomic/users/1":{"Key":"rvn-atomic/users/1","Index":1,"Value":{"Object":{"Id":"users/1"}},"ChangeVector":"TRXN:1-"#;
    let answer = wire.call("GET /databases/db/docs?id=USERS/1&txMode=ClusterWide", "");
    assert!(answer.status == 200 && answer.text().starts_with(guard), "{}", answer.text());
    let of_body = wire.call("POST /databases/db/docs?txMode=ClusterWide", r#"{"Ids":["users/1"]}"#);
    assert!(of_body.text().starts_with(guard), "{}", of_body.text());
    wire.check("GET /databases/db/docs?id=users/1", "", 404, "");
    wire.check("GET /databases/db/docs?id=no&txMode=ClusterWide", "", 200, r#"{"Results":[],"Includes":{}}"#);
    put(&wire, "k1", 0, r#"{"Object":1}"#);
    wire.put("orders/1", r#"{"Key":"k1","Keys":["K1","nix"]}"#);
    let load = |paths: &str| wire.call(&format!("GET /databases/db/docs?id=orders/1{paths}"), "");
    let one = load("&cmpxchg=Key");
    let expected =
        r#""Includes":{},"CompareExchangeValueIncludes":{"k1":{"Key":"k1","Index":4,"Value":{"Object":1}}}}"#;
    assert!(one.text().ends_with(expected), "{}", one.text());
    let several = load("&cmpxchg=Keys&cmpxchg=Nope").text();
    let expected = r#"{"K1":{"Key":"K1","Index":4,"Value":{"Object":1}},"nix":{"Key":"nix","Index":-1,"Value":null}}}"#;
    assert!(several.ends_with(expected), "{several}");
    // The etag is another one when the value is.
    let header = format!("If-None-Match: {}", one.header("etag").unwrap());
    let line = "GET /databases/db/docs?id=orders/1&cmpxchg=Key";
    assert_eq!(wire.call_with(line, &[&header], b"").status, 304);
    put(&wire, "k1", 4, r#"{"Object":2}"#);
    assert_eq!(wire.call_with(line, &[&header], b"").status, 200);
}

#[test]
fn values_expire_by_the_clock_without_a_configuration() {
    let clock = ManualClock::at(Date::parse("2030-01-01T00:00:00Z").unwrap());
    let of_server = clock.clone();
    let wire = Wire::start_with(|options| options.clock = Arc::new(of_server));
    wire.create("db");
    put(&wire, "a", 0, r#"{"Object":1,"@metadata":{"@expires":"2030-01-01T00:05:00Z"}}"#);
    put(&wire, "b", 0, r#"{"Object":1}"#);
    clock.advance(Duration::from_secs(4 * 60));
    assert_eq!(wire.call("GET /databases/db/cmpxchg?key=a", "").status, 200);
    clock.advance(Duration::from_secs(2 * 60));
    assert_eq!(wire.call("GET /databases/db/cmpxchg?key=a", "").status, 404);
    assert_eq!(wire.call("GET /databases/db/cmpxchg?key=b", "").status, 200);
}

/// Two orders, and three values.
fn with_orders() -> Wire {
    let wire = Wire::with_database();
    wire.put("orders/1", r#"{"Key":"k1","Keys":["K1","nix"],"N":5,"@metadata":{"@collection":"Orders"}}"#);
    wire.put("orders/2", r#"{"Key":"none","N":7,"@metadata":{"@collection":"Orders"}}"#);
    put(&wire, "k1", 0, r#"{"Object":1.50}"#);
    put(&wire, "obj", 0, r#"{"Object":{"Name":"k1","Deep":{"A":[1,2]}}}"#);
    put(&wire, "seven", 0, r#"{"Object":7}"#);
    wire
}

fn query(wire: &Wire, text: &str) -> json::Value {
    let mut body = Vec::new();
    json::Writer::new(&mut body).object(|json| {
        json.name("Query").string(text).name("WaitForNonStaleResults").bool(true);
    });
    let answer = wire.call("POST /databases/db/queries", &String::from_utf8(body).unwrap());
    assert_eq!(answer.status, 200, "{text}: {}", answer.text());
    answer.json()
}

fn text_of(value: Option<&json::Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| String::from_utf8(value.to_vec()).unwrap())
}

#[test]
fn queries_compare_with_values_select_and_include_them() {
    let wire = with_orders();
    let ids = |text: &str| -> Vec<String> {
        let Some(json::Value::Array(results)) = query(&wire, text).get("Results").cloned() else { panic!("{text}") };
        let id = |result: &json::Value| result.get("@metadata").and_then(|metadata| metadata.get("@id")).cloned();
        results.iter().map(|result| id(result).unwrap().as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("from Orders where Key = cmpxchg('OBJ').Name"), ["orders/1"]);
    assert_eq!(ids("from Orders where N = cmpxchg('seven')"), ["orders/2"]);
    assert_eq!(ids("from Orders where N < cmpxchg('seven')"), ["orders/1"]);
    assert_eq!(
        ids("from Orders where N between cmpxchg('k1') and cmpxchg('seven') order by N as long"),
        ["orders/1", "orders/2"]
    );
    assert_eq!(ids("from Orders where Key = cmpxchg('nix')"), Vec::<String>::new());
    assert_eq!(ids("from Orders filter N = cmpxchg('seven')"), ["orders/2"]);
    put(&wire, "id", 0, r#"{"Object":"ORDERS/2"}"#);
    assert_eq!(ids("from Orders where id() = cmpxchg('id')"), ["orders/2"]);
    let array = r#"{"Query":"from Orders where Key = cmpxchg('obj').Deep.A"}"#;
    wire.check_error(
        "POST /databases/db/queries",
        array,
        400,
        "InvalidQueryException",
        "The compare-exchange value 'obj' is an array",
    );
    let includes = |text: &str| text_of(query(&wire, text).get("CompareExchangeValueIncludes"));
    let k1 = r#"{"Key":"k1","Index":3,"Value":{"Object":1.50}}"#;
    let none = r#""none":{"Key":"none","Index":-1,"Value":null}"#;
    assert_eq!(includes("from Orders include cmpxchg('Key')"), format!(r#"{{"k1":{k1},{none}}}"#));
    assert_eq!(includes("from Orders as o where o.N = 5 include cmpxchg(o.Key)"), format!(r#"{{"k1":{k1}}}"#));
    let keys = r#"{"K1":{"Key":"K1","Index":3,"Value":{"Object":1.50}},"nix":{"Key":"nix","Index":-1,"Value":null}}"#;
    assert_eq!(includes("from Orders as o include cmpxchg('o.Keys'), cmpxchg('Nope')"), keys);
    assert_eq!(includes("from Orders include cmpxchg('Nope')"), "nothing");
    let by_script = "declare function f(o) { includes.cmpxchg(o.Key); return o; } from Orders as o where id() = 'orders/1' select f(o)";
    assert_eq!(includes(by_script), format!(r#"{{"k1":{k1}}}"#));
    let first = |text: &str| -> json::Value {
        let Some(json::Value::Array(results)) = query(&wire, text).get("Results").cloned() else { panic!("{text}") };
        results[0].clone()
    };
    let selected = first("from Orders as o where id() = 'orders/1' select { A: cmpxchg(o.Key), B: cmpxchg('nix') }");
    assert_eq!((text_of(selected.get("A")), text_of(selected.get("B"))), ("1.5".to_owned(), "null".to_owned()));
    let selected = first("from Orders as o select cmpxchg('obj') as X, o.N");
    assert_eq!(text_of(selected.get("X")), r#"{"Name":"k1","Deep":{"A":[1,2]}}"#);
    // The etag is another one when a value changed.
    let line = "GET /databases/db/queries?query=from%20Orders%20filter%20N%20%3D%20cmpxchg('seven')";
    let before = wire.call(line, "");
    put(&wire, "seven", 5, r#"{"Object":5}"#);
    let header = format!("If-None-Match: {}", before.header("etag").unwrap());
    let after = wire.call_with(line, &[&header], b"");
    assert!(after.status == 200 && after.text().contains("orders/1"), "{} {}", after.status, after.text());
}

#[test]
fn patches_read_values() {
    let wire = with_orders();
    let patch =
        r#"{"Patch":{"Script":"this.Got = cmpxchg('obj').Name; this.None = cmpxchg('nix'); this.N = cmpxchg('K1')"}}"#;
    let answer = wire.call("PATCH /databases/db/docs?id=orders/1", patch).text();
    assert!(answer.contains(r#""N":1.5"#) && answer.contains(r#""Got":"k1","None":null"#), "{answer}");
    let wrong = r#"{"Patch":{"Script":"cmpxchg(5)"}}"#;
    wire.check_error(
        "PATCH /databases/db/docs?id=orders/1",
        wrong,
        400,
        "InvalidOperationException",
        "cmpxchg(key) must be called with a single string argument",
    );
}

#[test]
fn an_index_follows_the_values_that_it_loads() {
    let wire = with_orders();
    let maps = [
        r#"from o in docs.Orders select new { Name = LoadCompareExchangeValue(o.Key) }"#,
        r#"map('Orders', o => ({ Name: cmpxchg(o.Key) }))"#,
    ];
    for (place, map) in maps.iter().enumerate() {
        let mut body = Vec::new();
        json::Writer::new(&mut body).object(|json| {
            json.name("Indexes").array(|json| {
                json.object(|json| {
                    json.name("Name").string(&format!("I{place}"));
                    json.name("Maps").array(|json| _ = json.string(map));
                });
            });
        });
        let answer = wire.call("PUT /databases/db/admin/indexes", &String::from_utf8(body).unwrap());
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let count = |index: usize, value: &str| {
        let found = query(&wire, &format!("from index 'I{index}' where Name = {value}"));
        found.get("TotalResults").and_then(json::Value::as_i64).unwrap()
    };
    for index in 0..maps.len() {
        assert_eq!((count(index, "1.5"), count(index, "'x'")), (1, 0), "{index}");
    }
    put(&wire, "K1", 3, r#"{"Object":"x"}"#);
    put(&wire, "NONE", 0, r#"{"Object":"x"}"#);
    for index in 0..maps.len() {
        assert_eq!((count(index, "1.5"), count(index, "'x'")), (0, 2), "{index}");
    }
    assert_eq!(wire.call("DELETE /databases/db/cmpxchg?key=k1&index=6", "").status, 200);
    for index in 0..maps.len() {
        assert_eq!(count(index, "'x'"), 1, "{index}");
    }
    wire.put("orders/3", r#"{"Key":"none","@metadata":{"@collection":"Orders"}}"#);
    assert_eq!(count(0, "'x'"), 2);
    let statistics = wire.call("GET /databases/db/indexes/stats?name=I0", "").text();
    assert!(statistics.contains(r#""ReferencedCollections":[]"#), "{statistics}");
}
