//! What goes on in a server: latencies, slow requests, the log, settings, storage.

use std::sync::Arc;
use std::time::Duration;

use rookery_server::{GivenSetting, LogControl, LogLevel, RecentLog, Setting};

use super::support::Wire;

/// The list under a name.
#[track_caller]
fn list<'a>(value: &'a json::Value, name: &str) -> &'a [json::Value] {
    match value.get(name) {
        Some(json::Value::Array(items)) => items,
        other => panic!("{name}: {other:?}"),
    }
}

fn number(value: &json::Value, path: &[&str]) -> i64 {
    let found = path.iter().try_fold(value, |value, name| value.get(name));
    found.and_then(json::Value::as_i64).unwrap_or_else(|| panic!("{path:?} in {value:?}"))
}

fn text<'a>(value: &'a json::Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(json::Value::as_str)
}

#[test]
fn requests_are_counted_by_duration_reads_and_writes_apart_and_by_database() {
    let wire = Wire::with_database();
    wire.create("other");
    wire.put("users/0", "{}");
    let counts = || {
        let live = wire.call("GET /admin/live", "").json();
        let of_database = number(&list(&live, "Databases")[0], &["Requests"]);
        assert_eq!(text(&list(&live, "Databases")[0], "Name"), Some("db"));
        for kind in ["Reads", "Writes"] {
            let latency = live.get("Latency").and_then(|latency| latency.get(kind)).unwrap();
            let buckets = list(latency, "Buckets").iter().map(|bucket| match bucket {
                json::Value::Array(pair) => pair[1].as_i64().unwrap(),
                other => panic!("{other:?}"),
            });
            assert_eq!(buckets.sum::<i64>(), number(latency, &["Count"]), "{kind}");
        }
        (number(&live, &["Latency", "Reads", "Count"]), number(&live, &["Latency", "Writes", "Count"]), of_database)
    };
    let (reads, writes, of_database) = counts();
    wire.put("users/1", "{}");
    wire.call("GET /databases/db/docs?id=users/1", "");
    wire.call("GET /databases/other/stats", "");
    // Its duration is its client's.
    assert_eq!(wire.call("POST /databases/db/bulk_insert?id=1", "[]").status, 201);
    // The first question itself, and two reads.
    assert_eq!(counts(), (reads + 3, writes + 1, of_database + 3));
    let metrics = wire.call("GET /metrics", "").text();
    assert!(metrics.contains("rookery_http_request_seconds_bucket{kind=\"write\",le=\"+Inf\"} "), "{metrics}");
}

#[test]
fn memory_and_disk_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let wire = Wire::start_with(|options| {
        options.in_memory = false;
        options.data_directory = folder.path().to_owned();
    });
    let live = wire.call("GET /admin/live", "").json();
    assert!(number(&live, &["FreeMemoryInBytes"]) <= number(&live, &["MemoryInBytes"]));
    assert!(number(&live, &["FreeDiskInBytes"]) <= number(&live, &["DiskInBytes"]));
    assert!(number(&live, &["DiskWrittenInBytes"]) >= 0 && number(&live, &["DiskReadInBytes"]) >= 0);
    let in_memory = Wire::start().call("GET /admin/live", "").json();
    assert_eq!(in_memory.get("DiskInBytes"), Some(&json::Value::Null));
}

#[test]
fn slow_requests_are_told_with_the_texts_of_their_queries() {
    let wire = Wire::start_with(|options| options.limits.slow_request = Duration::ZERO);
    wire.create("db");
    wire.create("other");
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    for query in ["from Users", "from Users where Name = 'Ann'"] {
        let answer = wire.call("POST /databases/db/queries", &format!(r#"{{"Query":"{query}"}}"#));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    wire.call("GET /databases/other/docs?id=x", "");
    let slow = wire.call("GET /admin/slow-requests?database=DB", "").json();
    assert_eq!(number(&slow, &["ThresholdInMs"]), 0);
    let results = list(&slow, "Results");
    let told: Vec<_> = results.iter().map(|slow| (text(slow, "Method").unwrap(), text(slow, "Query"))).collect();
    let queries = [Some("from Users where Name = 'Ann'"), Some("from Users")];
    assert_eq!(told, [("POST", queries[0]), ("POST", queries[1]), ("PUT", None)]);
    assert_eq!(text(&results[2], "Url"), Some("/databases/db/docs?id=users/1"));
    // Those of queries have what stands in the address, too.
    let asked = wire.call("GET /databases/db/queries?query=from%20Users&pageSize=1", "");
    assert_eq!(asked.status, 200, "{}", asked.text());
    let slow = wire.call("GET /admin/slow-requests?database=DB", "").json();
    let newest = &list(&slow, "Results")[0];
    assert_eq!(text(newest, "Url"), Some("/databases/db/queries?query=from%20Users&pageSize=1"));
    assert_eq!(text(newest, "Query"), Some("from Users"));
    assert_eq!((number(&results[0], &["Status"]), number(&results[2], &["Status"])), (200, 201));
    let of_other = wire.call("GET /admin/slow-requests?database=other", "").json();
    assert_eq!(number(&list(&of_other, "Results")[0], &["Status"]), 404);
    assert!(list(&wire.call("GET /admin/slow-requests", "").json(), "Results").len() > 4);
    // What is quick is not kept.
    let quick = Wire::start_with(|options| options.limits.slow_request = Duration::from_secs(3600));
    quick.create("db");
    assert!(list(&quick.call("GET /admin/slow-requests", "").json(), "Results").is_empty());
}

#[test]
fn the_log_is_told_by_level_and_text() {
    let log = Arc::new(RecentLog::default());
    let wire = Wire::start_with(|options| options.log = log.clone());
    log.add(LogLevel::Info, "the server is ready".to_owned());
    log.add(LogLevel::Warn, "a request failed url=\"/x\"".to_owned());
    let found = |query: &str| -> Vec<String> {
        let answer = wire.call(&format!("GET /admin/logs/recent{query}"), "").json();
        list(&answer, "Results").iter().map(|line| text(line, "Message").unwrap().to_owned()).collect()
    };
    assert_eq!(found(""), ["a request failed url=\"/x\"", "the server is ready"]);
    assert_eq!(found("?level=warn"), ["a request failed url=\"/x\""]);
    assert_eq!(found("?text=READY"), ["the server is ready"]);
    assert_eq!(found("?after=1"), ["a request failed url=\"/x\""]);
    assert_eq!(found("?pageSize=0"), [""; 0]);
    wire.check_error("GET /admin/logs/recent?level=loud", "", 400, "ArgumentException", "");
    wire.check_error("GET /admin/logs/recent?after=x", "", 400, "ArgumentException", "");
}

#[test]
fn the_level_of_the_log_is_told_and_changed_in_both_forms() {
    let applied = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let wire = Wire::start_with(|options| {
        let applied = applied.clone();
        options.log_control = Arc::new(LogControl::new(Some(LogLevel::Info), move |level| applied.lock().push(level)));
    });
    wire.check(
        "GET /admin/logs/configuration",
        "",
        200,
        r#"{"Logs":{"Path":null,"CurrentMinLevel":"Info","MinLevel":"Info","ArchiveAboveSizeInMb":0,"MaxArchiveDays":null,"MaxArchiveFiles":null,"EnableArchiveFileCompression":false,"CurrentFilters":[],"CurrentLogFilterDefaultAction":"Neutral"},"AuditLogs":{"Path":null,"Level":"Off","ArchiveAboveSizeInMb":0,"MaxArchiveDays":null,"MaxArchiveFiles":null,"EnableArchiveFileCompression":false},"MicrosoftLogs":{"CurrentMinLevel":"Off","MinLevel":"Off"},"AdminLogs":{"CurrentMinLevel":"Off","CurrentFilters":[],"CurrentLogFilterDefaultAction":"Neutral"},"CurrentMode":"Operations","Mode":"Operations","Path":null,"UseUtcTime":true,"RetentionTime":null,"RetentionSize":null,"Compress":false}"#,
    );
    for (body, current, mode) in [
        (r#"{"Logs":{"MinLevel":"Debug"}}"#, "Debug", "Information"),
        (r#"{"Mode":"None"}"#, "Error", "None"),
        (r#"{"Logs":{"MinLevel":"Off"}}"#, "Off", "None"),
    ] {
        wire.check("POST /admin/logs/configuration", body, 204, "");
        let told = wire.call("GET /admin/logs/configuration", "").json();
        let logs = told.get("Logs").unwrap();
        // What was set at the start stays known.
        assert_eq!((text(logs, "CurrentMinLevel"), text(logs, "MinLevel")), (Some(current), Some("Info")), "{body}");
        assert_eq!((text(&told, "CurrentMode"), text(&told, "Mode")), (Some(mode), Some("Operations")), "{body}");
    }
    wire.check("POST /admin/logs/configuration", "{}", 204, "");
    assert_eq!(*applied.lock(), [Some(LogLevel::Debug), Some(LogLevel::Error), None]);
    let persisted = r#"{"Logs":{"MinLevel":"Info"},"Persist":true}"#;
    wire.check_error("POST /admin/logs/configuration", persisted, 501, "RavenException", "Rookery");
    wire.check_error(
        "POST /admin/logs/configuration",
        r#"{"Logs":{"MinLevel":"x"}}"#,
        400,
        "ArgumentException",
        "'Logs.MinLevel'",
    );
    wire.check_error("POST /admin/logs/configuration", "", 400, "", "");
    assert_eq!(applied.lock().len(), 3);
}

#[test]
fn settings_are_told_with_their_source_and_without_secrets() {
    let setting = |name: &str, given| Setting {
        name: name.to_owned(),
        description: "What it does.".to_owned(),
        default: "7".to_owned(),
        given,
    };
    let given = |value: Option<&str>| {
        Some(GivenSetting { value: value.map(str::to_owned), source: "the variable X".to_owned() })
    };
    let wire = Wire::start_with(|options| {
        options.settings =
            vec![setting("Limits.A", None), setting("DataDir", given(Some("x"))), setting("License", given(None))];
    });
    wire.check(
        "GET /admin/configuration/settings",
        "",
        200,
        r#"{"Settings":[{"Metadata":{"Category":"Limits","Keys":["Limits.A"],"Scope":"ServerWideOnly","DefaultValue":"7","Description":"What it does.","IsSecured":false},"ServerValues":{}},{"Metadata":{"Category":"Core","Keys":["DataDir"],"Scope":"ServerWideOnly","DefaultValue":"7","Description":"What it does.","IsSecured":false},"ServerValues":{"DataDir":{"Value":"x","HasValue":true,"HasAccess":true,"PendingValue":null,"Source":"the variable X"}}},{"Metadata":{"Category":"Core","Keys":["License"],"Scope":"ServerWideOnly","DefaultValue":"7","Description":"What it does.","IsSecured":true},"ServerValues":{"License":{"Value":null,"HasValue":true,"HasAccess":false,"PendingValue":null,"Source":"the variable X"}}}]}"#,
    );
}

#[test]
fn the_storage_report_has_documents_and_each_index() {
    let folder = tempfile::tempdir().unwrap();
    let wire = Wire::start_with(|options| {
        options.in_memory = false;
        options.data_directory = folder.path().to_owned();
    });
    wire.create("db");
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    wire.call("POST /databases/db/queries", r#"{"Query":"from Users where Name = 'Ann'"}"#);
    let live_size = || {
        let live = wire.call("GET /admin/live?name=db", "").json();
        number(&list(&live, "Databases")[0], &["SizeInBytes"])
    };
    let before = live_size();
    let report = wire.call("GET /databases/db/debug/storage/report", "").json();
    let areas = list(&report, "Results");
    let names: Vec<_> = areas.iter().map(|area| (text(area, "Name").unwrap(), text(area, "Type").unwrap())).collect();
    assert_eq!(names, [("Documents", "Documents"), ("Auto/Users/ByName", "Index")]);
    for area in areas {
        let data = |name| number(area, &["Report", "DataFile", name]);
        assert_eq!(data("UsedSpaceInBytes") + data("FreeSpaceInBytes"), data("AllocatedSpaceInBytes"));
        assert!(data("UsedSpaceInBytes") > 0);
    }
    // Counted as the live counters are; files may grow in between.
    let size = number(&report, &["SizeInBytes"]);
    let after = live_size();
    assert!(size > 0 && before.min(after) <= size && size <= before.max(after), "{size} between {before} and {after}");
    let documents = areas[0].get("Report").unwrap();
    let journals = list(documents, "Journals");
    assert!(!journals.is_empty() && journals.iter().all(|journal| number(journal, &["AllocatedSpaceInBytes"]) > 0));
    let last = number(documents, &["Flush", "LastTransaction"]);
    assert!(last >= number(documents, &["Flush", "FlushedTransaction"]) && last > 0);
    assert_eq!(number(documents, &["Readers", "OldestTransaction"]), last);
    // The index may just be looking whether there is more.
    let open = || {
        let report = wire.call("GET /databases/db/debug/storage/report", "").json();
        number(list(&report, "Results")[0].get("Report").unwrap(), &["Readers", "Open"])
    };
    testing::wait::until_equal(open, 0);
    // In memory there are no files.
    let wire = Wire::with_database();
    let report = wire.call("GET /databases/db/debug/storage/report", "").json();
    assert_eq!(number(&report, &["SizeInBytes"]), 0);
    let area = &list(&report, "Results")[0];
    assert_eq!(number(area, &["Report", "DataFile", "AllocatedSpaceInBytes"]), 0);
    assert!(list(area.get("Report").unwrap(), "Journals").is_empty());
}
