//! The audit log: what is in it, and what is not.

use std::io::{BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use json::Value;
use rookery_server::{AUDIT_RETENTION, AuditOptions};
use rustls::version::TLS13;
use testing::wait;

use super::secured::Secured;
use super::support::{Wire, read_answer};

/// The records of the log, when there are at least so many of an event.
fn records(folder: &Path, event: &str, count: usize) -> Vec<Value> {
    wait::until(|| {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let text: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        // What the thread has not written to its end yet has no end of a line.
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let records: Vec<Value> = lines.map(|line| Value::parse(line.as_bytes()).unwrap()).collect();
        let found = records.iter().filter(|record| get(record, "Event") == event).count();
        if found >= count { Ok(records) } else { Err(text) }
    })
}

fn get<'a>(record: &'a Value, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn options(folder: &Path) -> AuditOptions {
    AuditOptions { folder: folder.to_owned(), retention: AUDIT_RETENTION }
}

#[test]
fn connections_refusals_and_changes_are_recorded_with_who_made_them() {
    let folder = tempfile::tempdir().unwrap();
    let secured = Secured::start_with(|server| server.audit = Some(options(folder.path())));
    secured.administer("PUT /admin/databases?name=shop", "{}", 201);
    let key = secured.key("reader", r#""SecurityClearance":"ValidUser","Permissions":{"shop":"Read"}"#);
    assert_eq!(secured.call_with_key(&key, "GET /databases/shop/stats", "").status, 200);
    assert_eq!(secured.call_with_key(&key, "PUT /databases/shop/docs?id=a", "{}").status, 403);
    assert_eq!(secured.call_with_key("rookery_secret", "GET /databases/shop/stats", "").status, 401);
    let index = r#"{"Indexes":[{"Name":"ByName","Maps":["from d in docs select new { d.Name }"]}]}"#;
    secured.administer("PUT /databases/shop/admin/indexes", index, 201);
    secured.administer("PUT /databases/shop/docs?id=a", "{}", 201);
    secured.administer("DELETE /admin/api-keys?name=reader", "", 204);

    let records = records(folder.path(), "Changed", 4);
    let of = |event: &str| -> Vec<(&str, &str, i64)> {
        let of_event = records.iter().filter(|record| get(record, "Event") == event);
        let status = |record: &Value| record.get("Status").and_then(Value::as_i64).unwrap_or_default();
        of_event.map(|record| (get(record, "Method"), get(record, "Url"), status(record))).collect()
    };
    assert_eq!(
        of("Changed"),
        [
            ("PUT", "/admin/databases?name=shop", 201),
            ("POST", "/admin/api-keys", 201),
            ("PUT", "/databases/shop/admin/indexes", 201),
            ("DELETE", "/admin/api-keys?name=reader", 204)
        ]
    );
    assert_eq!(of("Refused"), [("PUT", "/databases/shop/docs?id=a", 403), ("GET", "/databases/shop/stats", 401)]);
    let principals = |event: &str| -> Vec<&str> {
        records.iter().filter(|record| get(record, "Event") == event).map(|record| get(record, "Principal")).collect()
    };
    assert_eq!(principals("Refused"), ["the API key 'reader'", "an API key that is not accepted"]);
    assert!(
        principals("Changed").iter().all(|principal| principal.starts_with("the certificate 'CN=admin' (")),
        "{records:?}"
    );
    let connected = principals("Connected");
    assert!(connected.contains(&"the API key 'reader'") && !connected.contains(&"nothing"), "{connected:?}");
    let text = format!("{records:?}");
    assert!(!text.contains(&key) && !text.contains("rookery_secret") && !text.contains("ByName"), "{text}");
    assert!(records.iter().all(|record| get(record, "Client").starts_with("127.0.0.1:")), "{records:?}");
}

#[test]
fn signing_in_to_the_studio_and_out_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let secured = Secured::start_with(|server| server.audit = Some(options(folder.path())));
    let key = secured.key("app", r#""SecurityClearance":"Operator""#);
    let cookie = secured.sign_in(&key);
    assert_eq!(secured.call_with_cookie(&cookie, "PUT /admin/databases?name=shop", "{}").status, 201);
    for _ in 0..2 {
        // The second time there is no session.
        assert_eq!(secured.call_with_cookie(&cookie, "POST /studio/sign-out", "").status, 204);
    }
    secured.administer("PUT /admin/databases?name=last", "{}", 201);
    let records = records(folder.path(), "Changed", 3);
    for event in ["SignedIn", "SignedOut"] {
        let of_event = records.iter().filter(|record| get(record, "Event") == event);
        let principals: Vec<&str> = of_event.map(|record| get(record, "Principal")).collect();
        assert_eq!(principals, ["the API key 'app'"], "{event}: {records:?}");
    }
    let created = records.iter().find(|record| get(record, "Url").contains("shop")).unwrap();
    assert_eq!(get(created, "Principal"), "the API key 'app'");
    let (_, token) = cookie.split_once('=').unwrap();
    let text = format!("{records:?}");
    assert!(!text.contains(token) && !text.contains(&key), "{text}");
}

#[test]
fn a_client_that_nobody_knows_does_not_fill_it() {
    let folder = tempfile::tempdir().unwrap();
    let secured = Secured::start_with(|server| {
        server.audit = Some(options(folder.path()));
        server.limits.failed_attempt_count = 2;
    });
    let long = format!("GET /databases?{}", "x".repeat(10_000));
    for attempt in 1..=4 {
        let mut stream = secured.connect(&Arc::new(secured.config(None, &[&TLS13])));
        let head = format!("{long} HTTP/1.1\r\nHost: db.example\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let answer = read_answer(&mut BufReader::new(stream), false).unwrap();
        // Its connection ends, so that each further one costs it a handshake.
        assert_eq!((answer.status, answer.header("connection").is_some()), (403, attempt > 2), "{attempt}");
        assert_eq!(
            secured.call_with_key("rookery_x", "GET /databases", "").status,
            if attempt > 2 { 429 } else { 401 }
        );
    }
    secured.administer("PUT /admin/databases?name=last", "{}", 201);
    let records = records(folder.path(), "Changed", 1);
    let of = |event: &str, principal: &str| {
        let is_of = |record: &&Value| get(record, "Event") == event && get(record, "Principal") == principal;
        records.iter().filter(is_of).count()
    };
    for principal in ["nothing", "an API key that is not accepted"] {
        assert_eq!((of("Refused", principal), of("HeldBack", principal), of("Connected", principal)), (2, 1, 0));
    }
    assert!(records.iter().all(|record| get(record, "Url").len() <= 200), "{records:?}");
}

#[test]
fn who_goes_away_before_the_answer_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let secured = Secured::start_with(|server| server.audit = Some(options(folder.path())));
    let config = Arc::new(secured.config(Some(&secured.admin), &[&TLS13]));
    let names: Vec<String> = (0..20).map(|number| format!("left-{number}")).collect();
    for name in &names {
        let mut stream = secured.connect(&config);
        let head =
            format!("PUT /admin/databases?name={name} HTTP/1.1\r\nHost: db.example\r\nContent-Length: 2\r\n\r\n{{}}");
        stream.write_all(head.as_bytes()).unwrap();
        // It is dropped with what the server has sent behind the handshake, which resets it.
    }
    let is_there =
        |name: &str| secured.call(Some(&secured.admin), &format!("GET /databases/{name}/stats"), "").status == 200;
    // Requests that arrived are carried out, although their clients are gone.
    let made: Vec<&String> = names.iter().filter(|name| is_there(name)).collect();
    secured.administer("PUT /admin/databases?name=last", "{}", 201);
    let is_recorded = |name: &str| {
        records(folder.path(), "Changed", 1).iter().any(|record| {
            matches!(get(record, "Event"), "Changed" | "Abandoned")
                && get(record, "Url").ends_with(&format!("name={name}"))
        })
    };
    for name in made {
        wait::until_true(format!("the log says who made {name}"), || is_recorded(name));
    }
}

#[test]
fn without_https_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let wire = Wire::start_with(|server| server.audit = Some(options(folder.path())));
    wire.create("db");
    let records = records(folder.path(), "Changed", 1);
    assert!(records.iter().all(|record| get(record, "Principal").contains("no HTTPS")), "{records:?}");
}
