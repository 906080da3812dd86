//! Expiration, refresh and archival of documents by the clock, which the tests move.

use std::sync::Arc;
use std::time::Duration;

use database::documents::Date;
use database::{Clock, ManualClock};

use crate::support::Wire;

/// A server with a database `db`, and its clock.
fn start() -> (Wire, ManualClock) {
    start_with(|_| ())
}

fn start_with(change: impl FnOnce(&mut rookery_server::Options)) -> (Wire, ManualClock) {
    let clock = ManualClock::at(Date::parse("2030-01-01T00:00:00Z").unwrap());
    let of_server = clock.clone();
    let wire = Wire::start_with(|options| {
        options.clock = Arc::new(of_server);
        change(options);
    });
    wire.create("db");
    (wire, clock)
}

/// The request that configures a task.
fn line(task: &str) -> &'static str {
    match task {
        "expiration" => "POST /databases/db/admin/expiration/config",
        "refresh" => "POST /databases/db/admin/refresh/config",
        "data-archival" => "POST /databases/db/admin/data-archival/config",
        _ => panic!("there is no task '{task}'"),
    }
}

fn configure(wire: &Wire, task: &str, body: &str) {
    let answer = wire.call(line(task), body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().starts_with("{\"RaftCommandIndex\":"), "{}", answer.text());
}

/// Stores a document of `Users` with a property of metadata.
fn put(wire: &Wire, id: &str, property: &str, value: &str) {
    wire.put(id, &format!(r#"{{"N":1,"@metadata":{{"@collection":"Users","{property}":"{value}"}}}}"#));
}

fn has(wire: &Wire, id: &str) -> bool {
    wire.call(&format!("GET /databases/db/docs?id={id}"), "").status == 200
}

fn metadata(wire: &Wire, id: &str) -> json::Value {
    let answer = wire.call(&format!("GET /databases/db/docs?id={id}&metadataOnly=true"), "");
    let answer = json::Value::parse(&answer.body).unwrap();
    let Some(json::Value::Array(results)) = answer.get("Results") else { panic!("there are results") };
    results[0].get("@metadata").unwrap().clone()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn a_document_expires_at_the_first_run_after_its_time() {
    let (wire, clock) = start();
    put(&wire, "soon", "@expires", "2030-01-01T00:01:30Z");
    put(&wire, "late", "@expires", "2030-01-01T01:00:00.5000000+00:00");
    put(&wire, "never", "@other", "2030-01-01T00:01:30Z");
    configure(&wire, "expiration", r#"{"Disabled":false,"DeleteFrequencyInSec":60}"#);
    clock.advance(seconds(60));
    assert!(has(&wire, "soon"), "it is not due");
    clock.advance(seconds(59));
    assert!(has(&wire, "soon"), "it is due, and read until the task runs");
    clock.advance(seconds(1));
    assert!(!has(&wire, "soon") && has(&wire, "late") && has(&wire, "never"));
    clock.advance(seconds(3600));
    assert!(!has(&wire, "late") && has(&wire, "never"));
    // It is deleted as any other document: there is a tombstone with an etag.
    let statistics = wire.call("GET /databases/db/stats", "").text();
    assert!(statistics.contains("\"CountOfTombstones\":2"), "{statistics}");
    let metrics = wire.call("GET /metrics", "").text();
    assert!(metrics.contains("rookery_database_documents_expired_total{database=\"db\"} 2\n"), "{metrics}");
}

#[test]
fn a_put_that_changes_the_time_counts_and_one_without_it_ends_it() {
    let (wire, clock) = start();
    configure(&wire, "expiration", r#"{"Disabled":false,"DeleteFrequencyInSec":10}"#);
    for id in ["moved", "ended", "deleted"] {
        put(&wire, id, "@expires", "2030-01-01T00:00:30Z");
    }
    put(&wire, "moved", "@expires", "2030-01-01T00:00:50Z");
    put(&wire, "ended", "@other", "x");
    assert_eq!(wire.call("DELETE /databases/db/docs?id=deleted", "").status, 204);
    clock.advance(seconds(40));
    assert!(has(&wire, "moved") && has(&wire, "ended"));
    clock.advance(seconds(10));
    assert!(!has(&wire, "moved") && has(&wire, "ended"));
}

#[test]
fn a_refresh_writes_the_document_again_without_its_time() {
    let (wire, clock) = start();
    configure(&wire, "refresh", r#"{"Disabled":false,"RefreshFrequencyInSec":60}"#);
    wire.put(
        "a",
        r#"{"N":1,"@metadata":{"@collection":"Users","@refresh":"2030-01-01T00:00:30Z","@expires":"2040-01-01T00:00:00Z","X":2}}"#,
    );
    let before = metadata(&wire, "a");
    clock.advance(seconds(60));
    let after = metadata(&wire, "a");
    assert_ne!(before.get("@change-vector"), after.get("@change-vector"));
    assert_eq!((after.get("@refresh"), after.get("@flags")), (None, None));
    assert_eq!((before.get("@expires"), before.get("X")), (after.get("@expires"), after.get("X")));
    let etag = after.get("@change-vector").cloned();
    clock.advance(seconds(600));
    assert_eq!(metadata(&wire, "a").get("@change-vector").cloned(), etag, "once is enough");
    let metrics = wire.call("GET /metrics", "").text();
    assert!(metrics.contains("rookery_database_documents_refreshed_total{database=\"db\"} 1\n"), "{metrics}");
}

#[test]
fn without_a_configuration_nothing_happens_and_times_from_before_count() {
    let (wire, clock) = start();
    put(&wire, "a", "@expires", "2020-01-01T00:00:00Z");
    clock.advance(seconds(3600));
    assert!(has(&wire, "a"));
    configure(&wire, "expiration", r#"{"Disabled":true,"DeleteFrequencyInSec":1}"#);
    clock.advance(seconds(3600));
    assert!(has(&wire, "a"));
    configure(&wire, "expiration", r#"{"Disabled":false,"DeleteFrequencyInSec":1}"#);
    clock.advance(seconds(1));
    assert!(!has(&wire, "a"));
    put(&wire, "b", "@expires", "2020-01-01T00:00:00Z");
    configure(&wire, "expiration", r#"{"Disabled":true}"#);
    clock.advance(seconds(3600));
    assert!(has(&wire, "b"));
}

#[test]
fn a_run_handles_at_most_its_maximum_and_more_than_a_transaction() {
    let (wire, clock) = start();
    let commands: Vec<String> = (0..1500)
        .map(|number| {
            let time = format!("2029-01-01T00:{:02}:{:02}Z", number / 60, number % 60);
            format!(r#"{{"Type":"PUT","Id":"u/{number}","Document":{{"@metadata":{{"@expires":"{time}"}}}}}}"#)
        })
        .collect();
    let answer = wire.call("POST /databases/db/bulk_docs", &format!("{{\"Commands\":[{}]}}", commands.join(",")));
    assert_eq!(answer.status, 201, "{}", answer.text());
    configure(&wire, "expiration", r#"{"Disabled":false,"DeleteFrequencyInSec":60,"MaxItemsToProcess":10}"#);
    clock.advance(seconds(60));
    assert!(!has(&wire, "u/9") && has(&wire, "u/10"), "those that have been due longest come first");
    clock.advance(seconds(60));
    assert!(!has(&wire, "u/19") && has(&wire, "u/20"));
    configure(&wire, "expiration", r#"{"Disabled":false,"DeleteFrequencyInSec":60}"#);
    clock.advance(seconds(60));
    assert!(!has(&wire, "u/1499"));
}

#[test]
fn the_record_has_the_configuration_and_a_record_may_bring_one() {
    let (wire, clock) = start();
    configure(&wire, "expiration", r#"{"Disabled":false,"DeleteFrequencyInSec":5,"MaxItemsToProcess":7}"#);
    configure(&wire, "refresh", r#"{"Disabled":true}"#);
    let record = wire.call("GET /admin/databases?name=db", "").text();
    for expected in [
        r#""Expiration":{"Disabled":false,"DeleteFrequencyInSec":5,"MaxItemsToProcess":7}"#,
        r#""Refresh":{"Disabled":true,"RefreshFrequencyInSec":null,"MaxItemsToProcess":null}"#,
        r#""DataArchival":null"#,
    ] {
        assert!(record.contains(expected), "{record}");
    }
    let body = r#"{"DatabaseName":"other","Expiration":{"Disabled":false,"DeleteFrequencyInSec":1}}"#;
    assert_eq!(wire.call("PUT /admin/databases?name=other", body).status, 201);
    let document = r#"{"@metadata":{"@expires":"2030-01-01T00:00:01Z"}}"#;
    assert_eq!(wire.call("PUT /databases/other/docs?id=a", document).status, 201);
    clock.advance(seconds(1));
    assert_eq!(wire.call("GET /databases/other/docs?id=a", "").status, 404);
    let body = r#"{"DatabaseName":"third","Expiration":{"DeleteFrequencyInSec":0}}"#;
    let refused = "'DeleteFrequencyInSec' must be a whole number of seconds from 1 to";
    wire.check_error("PUT /admin/databases?name=third", body, 400, "System.ArgumentException", refused);
}

#[test]
fn what_means_nothing_is_refused_with_its_place() {
    let (wire, _) = start();
    let refused = |task: &str, body: &str, message: &str| {
        wire.check_error(line(task), body, 400, "System.ArgumentException", message);
    };
    refused("expiration", r#"{"DeleteFrequencyInSec":0}"#, "'DeleteFrequencyInSec' must be a whole number of seconds");
    refused("refresh", r#"{"RefreshFrequencyInSec":-1}"#, "'RefreshFrequencyInSec' must be a whole number of seconds");
    refused("data-archival", r#"{"ArchiveFrequencyInSec":"1"}"#, "'ArchiveFrequencyInSec' must be a whole number of");
    refused("refresh", r#"{"MaxItemsToProcess":0}"#, "'MaxItemsToProcess' must be a whole number of at least 1");
    refused("refresh", r#"{"Disabled":1}"#, "'Disabled' must be true or false in 'Refresh'");
    refused("expiration", r#"{"Frequency":1}"#, "there is no 'Frequency', only Disabled, DeleteFrequencyInSec and");
    // The reference stores what is no text, and never finds it due.
    for value in ["\"soon\"", "null", "5", "\"2030-01-01\""] {
        let answer = wire.call("PUT /databases/db/docs?id=x", &format!(r#"{{"@metadata":{{"@expires":{value}}}}}"#));
        assert_eq!(answer.status, 400, "{value}");
        assert!(answer.text().contains("'@expires' in '@metadata' must be a date in UTC such as"), "{}", answer.text());
    }
}

#[test]
fn tasks_go_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |options: &mut rookery_server::Options| {
        options.in_memory = false;
        options.data_directory = folder.path().to_owned();
    };
    let (wire, _) = start_with(in_folder);
    configure(&wire, "expiration", r#"{"Disabled":false,"DeleteFrequencyInSec":86400}"#);
    put(&wire, "a", "@expires", "2030-01-01T00:00:10Z");
    drop(wire);
    let clock = ManualClock::at(Date::parse("2030-01-01T00:00:20Z").unwrap());
    let of_server = clock.clone();
    let wire = Wire::start_with(|options| {
        options.clock = Arc::new(of_server);
        in_folder(options);
    });
    // Nobody asked for the database: the task opens it, a minute after the start.
    clock.advance(seconds(60));
    assert!(!has(&wire, "a"));
    assert!(clock.now() > Date::parse("2030-01-01T00:01:00Z").unwrap());
}

/// Documents `a/0` to `a/3` in `Users`, of which the last two are archived.
fn with_archived() -> (Wire, ManualClock) {
    let (wire, clock) = start();
    configure(&wire, "data-archival", r#"{"Disabled":false,"ArchiveFrequencyInSec":60}"#);
    for number in 0..4 {
        let due = if number < 2 { "2040-01-01T00:00:00Z" } else { "2030-01-01T00:00:30Z" };
        wire.put(
            &format!("a/{number}"),
            &format!(r#"{{"N":{number},"@metadata":{{"@collection":"Users","@archive-at":"{due}"}}}}"#),
        );
    }
    clock.advance(seconds(60));
    (wire, clock)
}

/// The ids of the results of a query, sorted.
#[track_caller]
fn check_query(wire: &Wire, query: &str, expected: &[&str]) {
    let body = format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true}}"#);
    let answer = wire.call("POST /databases/db/queries", &body);
    assert_eq!(answer.status, 200, "{query}: {}", answer.text());
    let value = json::Value::parse(&answer.body).unwrap();
    let Some(json::Value::Array(results)) = value.get("Results") else { panic!("there are results") };
    let id = |result: &json::Value| {
        result.get("@metadata").unwrap().get("@id").and_then(json::Value::as_str).map(str::to_owned)
    };
    let mut ids: Vec<String> = results.iter().filter_map(id).collect();
    ids.sort();
    assert_eq!(ids, expected, "{query}");
}

fn put_index(wire: &Wire, name: &str, behavior: &str, maps: &str) {
    let body = format!(r#"{{"Indexes":[{{"Name":"{name}",{behavior}"Maps":["{maps}"]}}]}}"#);
    let answer = wire.call("PUT /databases/db/admin/indexes", &body);
    assert_eq!(answer.status, 201, "{}", answer.text());
}

fn patch(wire: &Wire, id: &str, script: &str) -> String {
    let body = format!(r#"{{"Patch":{{"Script":"{script}","Values":{{}}}}}}"#);
    wire.call(&format!("PATCH /databases/db/docs?id={id}"), &body).text()
}

#[test]
fn an_archived_document_is_marked_and_stays_so_whatever_a_client_puts() {
    let (wire, _clock) = with_archived();
    let archived = metadata(&wire, "a/2");
    assert_eq!(archived.get("@archived"), Some(&json::Value::Bool(true)));
    assert_eq!(archived.get("@flags"), Some(&"Archived".into()));
    assert_eq!(archived.get("@archive-at"), None);
    let kept = metadata(&wire, "a/0");
    assert_eq!((kept.get("@archived"), kept.get("@flags")), (None, None));
    assert!(kept.get("@archive-at").is_some());
    wire.put("a/2", r#"{"N":20,"@metadata":{"@collection":"Users","@archived":false}}"#);
    assert_eq!(metadata(&wire, "a/2").get("@archived"), Some(&json::Value::Bool(true)));
    wire.put("a/0", r#"{"N":0,"@metadata":{"@collection":"Users","@archived":true}}"#);
    assert_eq!(metadata(&wire, "a/0").get("@archived"), None);
    let metrics = wire.call("GET /metrics", "").text();
    assert!(metrics.contains("rookery_database_documents_archived_total{database=\"db\"} 2\n"), "{metrics}");
}

#[test]
fn queries_by_collection_and_id_give_archived_documents_and_automatic_indexes_do_not() {
    let (wire, clock) = with_archived();
    let all = ["a/0", "a/1", "a/2", "a/3"];
    check_query(&wire, "from Users", &all);
    check_query(&wire, "from @all_docs", &all);
    check_query(&wire, "from Users where id() = 'a/3'", &all[3..]);
    check_query(&wire, "from Users where N >= 0", &all[..2]);
    // One that is archived later leaves the index, and one that is unarchived comes back.
    put(&wire, "a/1", "@archive-at", "2030-01-01T00:01:30Z");
    check_query(&wire, "from Users where N >= 0", &all[..2]);
    clock.advance(seconds(60));
    check_query(&wire, "from Users where N >= 0", &all[..1]);
    assert!(patch(&wire, "a/2", "archived.unarchive(this)").contains("\"Status\":\"Patched\""));
    check_query(&wire, "from Users where N >= 0", &["a/0", "a/2"]);
    let grouped = r#"{"Query":"from Users group by N select count(), N","WaitForNonStaleResults":true}"#;
    let answer = wire.call("POST /databases/db/queries", grouped).text();
    assert!(answer.contains("\"TotalResults\":2,"), "{answer}");
}

#[test]
fn an_index_says_whether_it_takes_archived_documents() {
    let (wire, _clock) = with_archived();
    let map = r#"from u in docs.Users select new { u.N, Archived = MetadataFor(u)[\"@archived\"] }"#;
    put_index(&wire, "Default", "", map);
    for (name, behavior) in [("Others", "ExcludeArchived"), ("All", "IncludeArchived"), ("Only", "ArchivedOnly")] {
        put_index(&wire, name, &format!(r#""ArchivedDataProcessingBehavior":"{behavior}","#), map);
    }
    let all = ["a/0", "a/1", "a/2", "a/3"];
    check_query(&wire, "from index 'Default'", &all[..2]);
    check_query(&wire, "from index 'Others'", &all[..2]);
    check_query(&wire, "from index 'All'", &all);
    check_query(&wire, "from index 'Only'", &all[2..]);
    check_query(&wire, "from index 'All' where Archived = true", &all[2..]);
    let script = r#"map('Users', u => ({ N: u.N, Archived: u['@metadata']['@archived'] }))"#;
    put_index(&wire, "Script", r#""ArchivedDataProcessingBehavior":"IncludeArchived","#, script);
    check_query(&wire, "from index 'Script' where Archived = true", &all[2..]);
    for (name, expected) in [("Default", "null"), ("All", "\"IncludeArchived\""), ("Only", "\"ArchivedOnly\"")] {
        let expected = format!("\"ArchivedDataProcessingBehavior\":{expected}");
        for path in ["indexes", "indexes/stats"] {
            let answer = wire.call(&format!("GET /databases/db/{path}?name={name}"), "").text();
            assert!(answer.contains(&expected), "{path}: {answer}");
        }
    }
    // Another behavior is another index, built beside the one that answers.
    put_index(&wire, "Only", "", map);
    wire.until("GET /databases/db/indexes?namesOnly=true", |names| !names.text().contains("ReplacementOf/"));
    check_query(&wire, "from index 'Only'", &all[..2]);
    for wrong in ["\"Other\"", "\"archivedonly\"", "5"] {
        let body = format!(
            r#"{{"Indexes":[{{"Name":"Wrong","ArchivedDataProcessingBehavior":{wrong},"Maps":["from u in docs.Users select new {{ u.N }}"]}}]}}"#
        );
        let answer = wire.call("PUT /databases/db/admin/indexes", &body);
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert!(answer.text().contains("must be one of ExcludeArchived, IncludeArchived, ArchivedOnly"));
    }
}

#[test]
fn patches_schedule_an_archival_and_end_one() {
    let (wire, clock) = with_archived();
    let patched = |id: &str, script: &str, status: &str| {
        let answer = patch(&wire, id, script);
        assert!(answer.contains(&format!("\"Status\":\"{status}\"")), "{script}: {answer}");
    };
    patched("a/0", "archived.archiveAt(this, '2030-01-01T00:02:00Z')", "Patched");
    assert_eq!(metadata(&wire, "a/0").get("@archive-at"), Some(&"2030-01-01T00:02:00Z".into()));
    clock.advance(seconds(60));
    assert_eq!(metadata(&wire, "a/0").get("@archived"), Some(&json::Value::Bool(true)));
    // As with the reference: one that is archived is not scheduled again, and only `unarchive` of the patched document ends it.
    patched("a/2", "archived.archiveAt(this, '2030-01-01T00:02:00Z')", "NotModified");
    patched("a/2", "this.N = this['@metadata']['@archived'] ? 7 : 8", "Patched");
    patched("a/2", "delete this['@metadata']['@archived']; this.M = 1", "Patched");
    patched("a/3", "const other = load('a/2'); archived.unarchive(other); put('a/2', other)", "NotModified");
    assert_eq!(metadata(&wire, "a/2").get("@archived"), Some(&json::Value::Bool(true)));
    patched("a/2", "archived.unarchive(this)", "Patched");
    let after = metadata(&wire, "a/2");
    assert_eq!((after.get("@archived"), after.get("@flags")), (None, None));
    assert!(wire.call("GET /databases/db/docs?id=a/2", "").text().contains("\"N\":7"));
    patched("a/2", "archived.unarchive(this)", "NotModified");
    for (script, message) in [
        ("archived.archiveAt(this)", "archiveAt(doc, utcDateTimeString) must be called with two args"),
        ("archived.archiveAt('a/2', '2030-01-01T00:00:00Z')", "must take document object as the first argument"),
        ("archived.archiveAt(this, 5)", "must take string as the second argument"),
        ("archived.archiveAt(this, 'soon')", "utcDateTimeString must be a date and time in UTC"),
        ("archived.unarchive()", "unarchive(doc) must be called with a single argument"),
        ("archived.unarchive('a/2')", "unarchive(doc) must take document object as the first argument"),
    ] {
        let answer = patch(&wire, "a/2", script);
        assert!(answer.contains(message), "{script}: {answer}");
    }
    let by_query = r#"{"Query":{"Query":"from Users as u update { archived.unarchive(u) }"}}"#;
    assert_eq!(wire.call("PATCH /databases/db/queries", by_query).status, 200);
}

#[test]
fn what_is_due_next_is_told() {
    let (wire, clock) = start();
    configure(&wire, "refresh", r#"{"Disabled":false,"RefreshFrequencyInSec":1}"#);
    put(&wire, "Users/2", "@expires", "2030-01-02T00:00:00Z");
    put(&wire, "Users/1", "@expires", "2029-01-02T00:00:00.5Z");
    put(&wire, "Users/3", "@refresh", "2029-01-02T00:00:00Z");
    clock.advance(seconds(1));
    wire.check(
        "GET /databases/db/due?pageSize=1",
        "",
        200,
        &format!(
            "{}{}{}",
            r#"{"Now":"DATE","Expiration":{"Configuration":null,"Handled":0,"Due":[{"Id":"Users/1","At":"DATE"}]},"#,
            r#""Refresh":{"Configuration":{"Disabled":false,"RefreshFrequencyInSec":1,"MaxItemsToProcess":null},"Handled":1,"Due":[]},"#,
            r#""DataArchival":{"Configuration":null,"Handled":0,"Due":[]}}"#
        ),
    );
}
