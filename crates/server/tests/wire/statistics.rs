//! `/databases/{name}/stats` and the health check.

use super::support::Wire;
use testing::random::Random;

#[test]
fn statistics_count_and_have_the_keys_that_clients_need() {
    let wire = Wire::with_database();
    wire.put("users/1", "{}");
    wire.put("users/2", "{}");
    wire.call("DELETE /databases/db/docs?id=users/2", "");
    let basic = wire.call("GET /databases/db/stats", "").json();
    let detailed = wire.call("GET /databases/db/stats/detailed", "").json();
    let essential = wire.call("GET /databases/db/stats/essential", "").json();
    for statistics in [&basic, &detailed, &essential] {
        let number = |name: &str| statistics.get(name).and_then(json::Value::as_i64);
        assert_eq!((number("CountOfDocuments"), number("CountOfTombstones")), (Some(1), Some(1)));
        assert_eq!(statistics.get("Indexes"), Some(&json::Value::Array(Vec::new())));
    }
    for key in
        ["DatabaseChangeVector", "DatabaseId", "LastDocEtag", "LastDatabaseEtag", "SizeOnDisk", "Pager", "Is64Bit"]
    {
        assert!(basic.get(key).is_some() && detailed.get(key).is_some(), "{key}");
    }
    for key in ["CountOfIdentities", "CountOfCompareExchange", "CountOfCompareExchangeTombstones"] {
        assert!(detailed.get(key).is_some(), "{key}");
    }
    assert_eq!(basic.get("LastDatabaseEtag").and_then(json::Value::as_i64), Some(3));
}

/// Tools divide by it, and take 0 for a database that could not be read.
#[test]
fn a_database_in_memory_has_a_size() {
    let wire = Wire::with_database();
    let size = |route: &str| {
        let statistics = wire.call(&format!("GET /databases/db/{route}"), "").json();
        statistics.get("SizeOnDisk").unwrap().get("SizeInBytes").unwrap().as_i64().unwrap()
    };
    let empty = size("stats");
    assert!(empty > 0);
    wire.put("large", &format!(r#"{{"Text":"{}"}}"#, "x".repeat(1 << 20)));
    assert!(size("stats") >= empty + (1 << 20) && size("stats/detailed") >= empty + (1 << 20));
}

#[test]
fn a_health_check_is_empty() {
    let wire = Wire::with_database();
    let healthy = wire.check("GET /databases/db/healthcheck", "", 204, "");
    assert_eq!(healthy.header("content-type"), None);
    wire.check_error("GET /databases/none/healthcheck", "", 400, "DatabaseDoesNotExistException", "Database 'none'");
}

/// Directories stand where the next files of the journal are to be.
#[test]
fn a_database_that_refuses_writes_is_not_healthy() {
    let folder = tempfile::tempdir().unwrap();
    let wire = Wire::start_with(|options| {
        options.in_memory = false;
        options.data_directory = folder.path().to_owned();
    });
    wire.create("db");
    wire.put("a", "{}");
    wire.check("GET /databases/db/healthcheck", "", 204, "");
    wire.check("GET /health/ready", "", 200, r#"{"Status":"Ready"}"#);
    let files = folder.path().join("databases/db");
    let names = std::fs::read_dir(&files).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let last = names.filter_map(|name| u64::from_str_radix(name.strip_prefix("journal-")?, 16).ok()).max().unwrap();
    (1..4).for_each(|next| std::fs::create_dir(files.join(format!("journal-{:016x}", last + next))).unwrap());
    let refused = (0..1000).map(|number| {
        // Digits that no compression of the journal makes much smaller.
        let mut random = Random::new(number);
        let digits: String = std::iter::repeat_with(|| format!("{:x}", random.next())).take(16_000).collect();
        wire.call("PUT /databases/db/docs?id=large", &format!(r#"{{"Text":"{digits}"}}"#))
    });
    let refused = refused.into_iter().find(|answer| answer.status == 503).expect("a write that is refused");
    let failure = "the database refuses writes until it is opened again, because a write failed";
    refused.check_error(503, "DatabaseLoadFailureException", failure);
    wire.check_error("GET /databases/db/healthcheck", "", 503, "DatabaseLoadFailureException", failure);
    let ready = wire.call("GET /health/ready", "");
    let start = format!(r#"{{"Status":"NotReady","RefusingWrites":1,"Databases":[{{"Name":"db","Reason":"{failure}"#);
    assert!(ready.status == 503 && ready.text().starts_with(&start), "{} {}", ready.status, ready.text());
    assert!(!ready.text().contains(folder.path().to_str().unwrap()), "{}", ready.text());
    // The process lives: nothing is gained by ending it.
    wire.check("GET /health/live", "", 200, r#"{"Status":"Alive"}"#);
    assert_eq!(wire.call("GET /databases/db/docs?id=a", "").status, 200);
}

#[test]
fn live_counters_are_those_of_all_databases() {
    let wire = Wire::with_database();
    wire.create("off");
    wire.call("POST /admin/databases/disable", r#"{"DatabaseNames":["off"]}"#);
    wire.put("users/1", r#"{"@metadata":{"@collection":"Users"}}"#);
    let live = wire.call("GET /admin/live", "").json();
    let Some(json::Value::Array(databases)) = live.get("Databases") else { panic!("{live:?}") };
    assert_eq!(databases.len(), 2);
    let number = |key: &str| databases[0].get(key).unwrap().as_i64().unwrap();
    assert_eq!((number("Documents"), number("Indexes"), number("StaleIndexes"), number("LastEtag")), (1, 0, 0, 1));
    assert_eq!(databases[1].get("State").unwrap().as_str(), Some("Disabled"));
    assert!(live.get("Requests").unwrap().as_i64().unwrap() >= 4);
    let one = wire.call("GET /admin/live?name=DB", "").json();
    assert!(matches!(one.get("Databases"), Some(json::Value::Array(databases)) if databases.len() == 1));
}
