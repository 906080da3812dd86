//! The log of `rookery serve`: what it says at start, of databases, indexes and requests, as text and as JSON.

use std::io::Read;
use std::process::Stdio;

use crate::support::{Program, text};

/// However busy the machine is.
const NEVER_SLOW: &str = "--Limits.SlowRequestInMs=3600000";

/// Runs a server on a folder and gives its log, without the end of the process.
fn log_of(folder: &std::path::Path, flags: &[&str], requests: impl Fn(&Program)) -> String {
    let mut arguments = vec!["serve", "--url", "http://127.0.0.1:0", "--data", text(folder)];
    arguments.extend(flags);
    let mut program = Program::start_with(&arguments, Stdio::piped());
    requests(&program);
    assert!(program.terminate().1);
    let mut log = String::new();
    program.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(!log.contains("Some(") && !log.contains("None"), "{log}");
    log
}

#[track_caller]
fn check(log: &str, expected: &[&str]) {
    let has_all = |line: &str| expected.iter().all(|part| line.contains(part));
    assert!(log.lines().any(has_all), "no line has {expected:?}:\n{log}");
}

fn make(program: &Program) {
    program.request("PUT", "/admin/databases?name=Shop", r#"{"DatabaseName":"Shop"}"#);
    program.request("PUT", "/databases/Shop/docs?id=users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
}

fn query(program: &Program, query: &str) {
    program.request("POST", "/databases/Shop/queries", &format!(r#"{{"Query":"{query}"}}"#));
}

#[test]
fn it_tells_of_the_start_of_databases_and_of_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--Limits.SlowRequestInMs=0", "--License=secret-license"];
    let log = log_of(folder.path(), &flags, |program| {
        make(program);
        query(program, "from Users where Name = 'Ann'");
        program.request("DELETE", "/databases/Shop/indexes?name=Auto/Users/ByName", "");
        program.request("POST", "/admin/databases/disable", r#"{"DatabaseNames":["Shop"]}"#);
    });
    check(&log, &["INFO", "Rookery starts", concat!("version=\"", env!("CARGO_PKG_VERSION"), "\""), "pid="]);
    check(&log, &["databases found", "count=0", text(folder.path())]);
    check(&log, &["setting name=\"Limits.SlowRequestInMs\" value=\"0\" source=\"the flag\""]);
    check(&log, &["the server is ready url=\"http://127.0.0.1:"]);
    check(&log, &["INFO", "database created database=\"Shop\" folder=\"shop\""]);
    check(&log, &["INFO", "index created database=\"Shop\" index=\"Auto/Users/ByName\""]);
    check(&log, &["INFO", "index deleted database=\"Shop\" index=\"Auto/Users/ByName\""]);
    check(&log, &["INFO", "database disabled database=\"Shop\""]);
    check(&log, &["WARN", "slow request method=POST", "query=\"from Users where Name = 'Ann'\" status=200"]);
    // Nobody asked for these.
    assert!(!log.contains("a request failed") && !log.contains("secret-license"), "{log}");
    let log = log_of(folder.path(), &[NEVER_SLOW], |program| {
        program.request("DELETE", "/admin/databases", r#"{"DatabaseNames":["Shop"],"HardDelete":true}"#);
    });
    check(&log, &["databases found", "count=1 names=\"Shop\""]);
    check(&log, &["database deleted database=\"Shop\" files=\"removed\""]);
    assert!(!log.contains("slow request"), "{log}");
}

#[test]
fn failed_requests_are_logged_at_debug_and_all_requests_where_a_setting_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let requests = |program: &Program| {
        make(program);
        query(program, "from Users wher Name = 'Ann'");
        assert!(!program.get("/admin/logs/recent").contains("/databases/Shop/docs"), "they would push others out");
    };
    let log = log_of(folder.path(), &["--log-level", "debug", NEVER_SLOW], requests);
    let failed = ["DEBUG", "a request failed method=POST url=\"/databases/Shop/queries\" status=400 cause=\"request\""];
    check(&log, &[&failed[..], &["reason=\"", "1:", "client=127.0.0.1:", "duration_ms="]].concat());
    assert!(!log.contains("url=\"/databases/Shop/docs?id=users/1\""), "{log}");
    let log = log_of(folder.path(), &["--Log.Access=true", "--log-level=warn", NEVER_SLOW], requests);
    let line = ["INFO request method=PUT url=\"/databases/Shop/docs?id=users/1\" status=201 size="];
    check(&log, &[&line[..], &["client=127.0.0.1:", "duration_ms="]].concat());
    check(&log, &["INFO request method=POST url=\"/databases/Shop/queries\" status=400"]);
    assert!(!log.contains("the server is ready"), "{log}");
}

#[test]
fn its_level_changes_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_of(folder.path(), &["--log-level", "info", "--Log.Access=true", NEVER_SLOW], |program| {
        let set = |level: &str| {
            let body = format!(r#"{{"Logs":{{"MinLevel":"{level}"}}}}"#);
            let answer = program.request("POST", "/admin/logs/configuration", &body);
            assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
        };
        program.get("/databases/before/stats");
        set("Debug");
        program.get("/databases/between/stats");
        set("Off");
        program.get("/databases/after/stats");
    });
    check(&log, &["DEBUG", "a request failed", "/databases/between/stats"]);
    check(&log, &["WARN", "the level of the log was changed, until the server ends before=\"Info\" now=\"Debug\""]);
    for other in ["before", "after"] {
        let is_told =
            |line: &str| line.contains("a request failed") && line.contains(&format!("/databases/{other}/stats"));
        assert!(!log.lines().any(is_told), "{log}");
        // Lines of requests come whatever the level is.
        check(&log, &["INFO request method=GET", &format!("/databases/{other}/stats")]);
    }
    // Off is off.
    assert!(!log.contains("the server stops"), "{log}");
}

#[test]
fn each_line_is_json_where_that_is_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let log = log_of(folder.path(), &["--log-format=json", "--log-level=debug", "--Log.Access=true"], |program| {
        make(program);
        query(program, "from");
    });
    let mut messages = Vec::new();
    for line in log.lines() {
        let value = json::Value::parse(line.as_bytes()).unwrap_or_else(|error| panic!("{error}: {line}"));
        let fields = value.get("fields").unwrap();
        messages.push(fields.get("message").and_then(json::Value::as_str).unwrap().to_owned());
        if messages.last().is_some_and(|message| message == "a request failed") {
            assert_eq!(fields.get("status").and_then(json::Value::as_i64), Some(400), "{line}");
        }
    }
    for message in ["Rookery starts", "database created", "a request failed", "request", "the server stops"] {
        assert!(messages.iter().any(|found| found == message), "{message}: {log}");
    }
}

#[test]
fn a_database_that_cannot_be_opened_is_logged_once_for_many_requests_and_when_it_can() {
    let folder = tempfile::tempdir().unwrap();
    log_of(folder.path(), &[], make);
    let (data, away) = (folder.path().join("databases/shop/data"), folder.path().join("away"));
    std::fs::rename(&data, &away).unwrap();
    let log = log_of(folder.path(), &[], |program| {
        for _ in 0..16 {
            assert!(program.get("/databases/Shop/stats").starts_with("HTTP/1.1 500"));
        }
        std::fs::rename(&away, &data).unwrap();
        assert!(program.get("/databases/Shop/stats").starts_with("HTTP/1.1 200"));
    });
    check(&log, &["ERROR", "a database cannot be opened database=\"Shop\" error=", "it is gone"]);
    assert_eq!(log.matches("cannot be opened").count(), 1, "{log}");
    check(&log, &["INFO", "a database could be opened after all database=\"Shop\" attempts=16"]);
}
