//! Compaction as clients ask for it: `POST /admin/compact`, with a client that writes and reads meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use json::Value;

use crate::support::Wire;

fn on_disk(folder: &tempfile::TempDir) -> Wire {
    let wire = Wire::start_with(|options| {
        (options.in_memory, options.data_directory) = (false, folder.path().to_owned());
    });
    wire.create("db");
    wire
}

fn text(number: u64) -> String {
    // Which no compression makes much smaller.
    (0..200_u64).map(|n| format!("{:016x}", (n + 977 * number).wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
}

/// Puts documents and deletes most of them.
fn fill(wire: &Wire) {
    for number in 0..300 {
        wire.put(&format!("users/{number}"), &format!(r#"{{"Name":"a","Text":"{}"}}"#, text(number)));
    }
    for number in 20..300 {
        wire.check(&format!("DELETE /databases/db/docs?id=users/{number}"), "", 204, "");
    }
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_i64).unwrap_or_else(|| panic!("{name} of {value:?}")).unsigned_abs()
}

/// Begins a compaction, waits for its end and gives the state.
fn compact(wire: &Wire, body: &str) -> Value {
    let begun = wire.call("POST /admin/compact", body);
    assert_eq!(begun.status, 200, "{}", begun.text());
    assert_eq!(begun.json().get("OperationNodeTag").and_then(Value::as_str), Some("A"));
    let id = number(&begun.json(), "OperationId");
    wire.ended_at(&format!("GET /operations/state?id={id}")).json()
}

#[test]
fn a_compaction_is_an_operation_whose_result_has_the_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let wire = on_disk(&folder);
    fill(&wire);
    let index = r#"{"Indexes":[{"Name":"ByName","Maps":["from d in docs select new { d.Name, d.Text }"]}]}"#;
    assert_eq!(wire.call("PUT /databases/db/admin/indexes", index).status, 201);
    let before = wire.call("GET /databases/db/docs?id=users/7", "").text();
    let state = compact(
        &wire,
        r#"{"DatabaseName":"DB","Documents":true,"Indexes":["ByName","None"],"SkipOptimizeIndexes":false}"#,
    );
    assert_eq!(state.get("Status").and_then(Value::as_str), Some("Completed"), "{state:?}");
    let result = state.get("Result").unwrap();
    let type_name = "Raven.Client.ServerWide.Operations.CompactionResult, Raven.Client";
    assert_eq!(result.get("$type").and_then(Value::as_str), Some(type_name));
    assert_eq!(result.get("Name").and_then(Value::as_str), Some("db"));
    assert!(number(result, "SizeAfterCompactionInMb") <= number(result, "SizeBeforeCompactionInMb"), "{result:?}");
    let (before_bytes, after_bytes) =
        (number(result, "SizeBeforeCompactionInBytes"), number(result, "SizeAfterCompactionInBytes"));
    assert!(0 < after_bytes && after_bytes < before_bytes, "{result:?}");
    assert_eq!(result.get("Processed"), Some(&Value::Bool(true)));
    let of_indexes = result.get("IndexesResults").unwrap();
    assert_eq!(of_indexes.get("ByName").unwrap().get("Name").and_then(Value::as_str), Some("ByName"));
    let missing = of_indexes.get("None").unwrap();
    assert_eq!(missing.get("Skipped"), Some(&Value::Bool(true)));
    assert_eq!(missing.get("Message").and_then(Value::as_str), Some("Index 'None' does not exist."));
    assert_eq!(wire.call("GET /databases/db/docs?id=users/7", "").text(), before);
    wire.put("users/new", r#"{"Name":"b"}"#);
    let query = r#"{"Query":"from index 'ByName' where Name = 'b'","WaitForNonStaleResults":true}"#;
    let found = wire.call("POST /databases/db/queries", query).json();
    assert_eq!(number(&found, "TotalResults"), 1, "{found:?}");
    // Of an index alone.
    let state = compact(&wire, r#"{"DatabaseName":"db","Indexes":["ByName"]}"#);
    assert_eq!(state.get("Result").unwrap().get("Skipped"), Some(&Value::Bool(true)), "{state:?}");
}

#[test]
fn clients_write_and_read_beside_compactions_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut wire = on_disk(&folder);
    fill(&wire);
    let (is_over, written) = (AtomicBool::new(false), [(); 3].map(|()| AtomicU64::new(0)));
    std::thread::scope(|scope| {
        for (writer, written) in written.iter().enumerate() {
            let (wire, is_over) = (&wire, &is_over);
            scope.spawn(move || {
                while !is_over.load(SeqCst) {
                    let next = written.load(SeqCst);
                    // It may wait, and is answered well in the end.
                    wire.put(&format!("w{writer}/{next}"), &format!(r#"{{"Text":"{}"}}"#, text(next)));
                    written.store(next + 1, SeqCst);
                    let read = wire.call(&format!("GET /databases/db/docs?id=w{writer}/{next}"), "");
                    assert_eq!(read.status, 200, "w{writer}/{next}: {}", read.text());
                    if next % 2 == 1 {
                        wire.check(&format!("DELETE /databases/db/docs?id=w{writer}/{next}"), "", 204, "");
                    }
                }
            });
        }
        for _ in 0..5 {
            let state = compact(&wire, r#"{"DatabaseName":"db","Documents":true}"#);
            assert_eq!(state.get("Status").and_then(Value::as_str), Some("Completed"), "{state:?}");
        }
        is_over.store(true, SeqCst);
    });
    let check = |wire: &Wire| {
        for (writer, written) in written.iter().enumerate() {
            for number in 0..written.load(SeqCst) {
                let status = if number % 2 == 1 { 404 } else { 200 };
                let read = wire.call(&format!("GET /databases/db/docs?id=w{writer}/{number}"), "");
                assert_eq!(read.status, status, "w{writer}/{number}");
            }
        }
    };
    check(&wire);
    wire.stop();
    drop(wire);
    let wire = Wire::start_with(|options| {
        (options.in_memory, options.data_directory) = (false, folder.path().to_owned());
    });
    check(&wire);
}

#[test]
fn a_compaction_that_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let wire = on_disk(&folder);
    let post = "POST /admin/compact";
    for (body, exception, reason) in [
        (r#"{"Documents":true}"#, "InvalidOperationException", "DatabaseName is a required field"),
        (r#"{"DatabaseName":"x","Documents":true}"#, "InvalidOperationException", "Cannot compact database x"),
        (r#"{"DatabaseName":"db"}"#, "InvalidOperationException", "Documents is false in compact settings"),
        (r#"{"DatabaseName":"db","Documents":1}"#, "ArgumentException", "'Documents' must be true or false"),
        (r#"{"DatabaseName":"db","Indexes":[1]}"#, "ArgumentException", "'Indexes' must be an array of names"),
        (r#"{"DatabaseName":"db","Documents":true,"X":1}"#, "ArgumentException", "a compaction has no option 'X'"),
        (
            r#"{"DatabaseName":"db","Documents":true,"SkipOptimizeIndexes":"no"}"#,
            "ArgumentException",
            "'SkipOptimizeIndexes' must be true or false",
        ),
    ] {
        wire.check_error(post, body, 400, exception, reason);
    }
    let body = r#"{"DatabaseName":"db","Documents":true}"#;
    let disable = r#"{"DatabaseNames":["db"]}"#;
    assert_eq!(wire.call("POST /admin/databases/disable", disable).status, 200);
    wire.check_error(post, body, 503, "DatabaseDisabledException", "Database 'db' has been disabled");
}

#[test]
fn a_compaction_in_memory_is_an_operation_that_fails() {
    let wire = Wire::with_database();
    let state = compact(&wire, r#"{"DatabaseName":"db","Documents":true}"#);
    assert_eq!(state.get("Status").and_then(Value::as_str), Some("Faulted"), "{state:?}");
    let reason = state.get("Result").and_then(|result| result.get("Message")).and_then(Value::as_str).unwrap();
    assert!(reason.contains("Database 'db' is in memory"), "{reason}");
}
