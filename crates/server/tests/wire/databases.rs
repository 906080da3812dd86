//! `/databases` and `/admin/databases`

use super::support::Wire;

#[test]
fn databases_are_created_listed_and_deleted() {
    let wire = Wire::start();
    wire.check("GET /databases?namesOnly=true", "", 200, r#"{"Databases":[]}"#);
    let created = wire.call("PUT /admin/databases?name=Shop&replicationFactor=1&?raft-request-id=7", "{}");
    assert_eq!(created.status, 201);
    let body = created.json();
    for key in ["RaftCommandIndex", "Name", "Topology", "NodesAddedTo"] {
        assert!(body.get(key).is_some(), "{key}");
    }
    for key in ["Members", "Promotables", "Rehabs", "DemotionReasons", "PromotablesStatus", "Stamp", "PriorityOrder"] {
        assert!(body.get("Topology").unwrap().get(key).is_some(), "{key}");
    }
    wire.create("archive");
    wire.check("GET /databases?namesOnly=true", "", 200, r#"{"Databases":["archive","Shop"]}"#);
    wire.check("GET /databases?namesOnly=true&start=1&pageSize=5", "", 200, r#"{"Databases":["Shop"]}"#);
    assert!(wire.call("GET /databases", "").text().contains(r#""Name":"Shop","Disabled":false"#));
    let deleted = wire.call("DELETE /admin/databases", r#"{"DatabaseNames":["shop","none"],"HardDelete":true}"#);
    assert_eq!(deleted.status, 200);
    assert!(deleted.text().ends_with(r#","PendingDeletes":[]}"#), "{}", deleted.text());
    wire.check("GET /databases?namesOnly=true", "", 200, r#"{"Databases":["archive"]}"#);
    let nothing = r#"{"DatabaseNames":["none"],"HardDelete":true}"#;
    wire.check("DELETE /admin/databases", nothing, 200, r#"{"RaftCommandIndex":-1,"PendingDeletes":[]}"#);
}

#[test]
fn names_are_unique_and_follow_their_rules() {
    let wire = Wire::with_database();
    let put = "PUT /admin/databases?name=DB";
    wire.check_error(put, "{}", 409, ".ConcurrencyException", "Database 'DB' already exists!");
    for bad in ["a%2Fb", "..", "%20", "a%00b", &"x".repeat(129), "a;b"] {
        wire.check_error(&format!("PUT /admin/databases?name={bad}"), "{}", 400, ".BadRequestException", "");
    }
    wire.check_error("PUT /admin/databases", "{}", 400, ".BadRequestException", "");
}

#[test]
fn a_record_has_all_keys_and_keeps_what_was_sent() {
    let wire = Wire::start();
    let body = r#"{"DatabaseName":"db","Settings":{"Indexing.Static.SearchEngineType":"Lucene"},"LockMode":null}"#;
    assert_eq!(wire.call("PUT /admin/databases?name=db", body).status, 201);
    let record = wire.call("GET /admin/databases?name=DB", "");
    assert_eq!(record.status, 200);
    let record = record.json();
    for key in ["Indexes", "AutoIndexes", "Sorters", "PeriodicBackups", "Client", "Etag"] {
        assert!(record.get(key).is_some(), "{key}");
    }
    assert_eq!(record.get("LockMode").and_then(|mode| mode.as_str()), Some("Unlock"));
    wire.check("PUT /databases/db/admin/configuration/settings", r#"{"a.b":"c"}"#, 204, "");
    let settings = wire.call("GET /databases/db/admin/record", "").json();
    assert_eq!(
        settings.get("Settings").and_then(|settings| settings.get("a.b")).and_then(|value| value.as_str()),
        Some("c")
    );
    let missing = wire.check(
        "GET /admin/databases?name=none",
        "",
        404,
        r#"{"Type":"Error","Message":"Database none wasn't found"}"#,
    );
    assert_eq!(missing.header("database-missing"), Some("none"));
}

#[test]
fn an_update_needs_the_current_etag() {
    let wire = Wire::with_database();
    let etag = wire.call("GET /admin/databases?name=db", "").json().get("Etag").unwrap().as_i64().unwrap();
    let put = "PUT /admin/databases?name=db";
    let stale = wire.call_with(put, &["ETag: \"999\""], b"{}");
    stale.check_error(409, ".ConcurrencyException", "");
    let current = format!("ETag: \"{etag}\"");
    assert_eq!(wire.call_with(put, &[&current], br#"{"EtagForBackup":1}"#).status, 201);
    let created = wire.call_with("PUT /admin/databases?name=other", &["ETag: \"undefined\""], b"{}");
    assert_eq!(created.status, 201);
}

#[test]
fn a_disabled_database_refuses_until_it_is_enabled() {
    let wire = Wire::with_database();
    let names = r#"{"DatabaseNames":["db","none"]}"#;
    let expected = r#"{"Status":[{"Name":"db","Success":true,"Disabled":true,"Reason":"Database state=True was propagated on the cluster"},{"Name":"none","Success":false,"Reason":"database not found"}]}"#;
    wire.check("POST /admin/databases/disable", names, 200, expected);
    wire.check_error(
        "GET /databases/db/stats",
        "",
        503,
        "DatabaseDisabledException",
        "Database 'db' has been disabled",
    );
    let enabled = wire.call("POST /admin/databases/enable", r#"{"DatabaseNames":["db"]}"#);
    assert!(enabled.text().contains(r#""Success":true,"Disabled":false"#), "{}", enabled.text());
    assert_eq!(wire.call("GET /databases/db/stats", "").status, 200);
}

#[test]
fn lists_of_names_hold_names() {
    let wire = Wire::with_database();
    for names in [r#"[["db"]]"#, "[1]", "[null]", r#"["db",{}]"#, r#""db""#] {
        for line in [
            "POST /admin/databases/set-lock",
            "POST /admin/databases/disable",
            "POST /admin/databases/enable",
            "DELETE /admin/databases",
        ] {
            let body = format!(r#"{{"DatabaseNames":{names},"Mode":"PreventDeletesError"}}"#);
            let message = "'DatabaseNames' must be an array of strings";
            wire.check_error(line, &body, 400, "ArgumentException", message);
        }
    }
    assert_eq!(wire.call("GET /databases/db/stats", "").status, 200);
    let record = wire.call("GET /admin/databases?name=db", "").text();
    assert!(record.contains(r#""LockMode":"Unlock""#), "{record}");
}

#[test]
fn what_a_record_cannot_set_up_yet_is_refused_by_name() {
    let wire = Wire::with_database();
    let etag = wire.call("GET /admin/databases?name=db", "").json().get("Etag").unwrap().as_i64().unwrap();
    let current = format!("ETag: \"{etag}\"");
    for (record, property, feature) in [
        (r#"{"Encrypted":true}"#, "Encrypted", "encrypted databases"),
        (r#"{"Sharding":{"Shards":{"0":{}}}}"#, "Sharding", "sharding"),
        (r#"{"TimeSeries":{"Disabled":false}}"#, "TimeSeries", "time series"),
        (r#"{"Indexes":{"X":{}}}"#, "Indexes", "indexes in the record of a database"),
        (r#"{"QueueSinks":[{}]}"#, "QueueSinks", "ETL and connection strings"),
        (r#"{"ExternalReplications":[{}]}"#, "ExternalReplications", "replication"),
        (r#"{"ConflictSolverConfig":{"ResolveToLatest":true}}"#, "ConflictSolverConfig", "replication"),
    ] {
        let message = format!(
            "Rookery {} does not support '{property}' in the record of a database yet (missing feature: {feature})",
            env!("CARGO_PKG_VERSION")
        );
        wire.check_error("PUT /admin/databases?name=other", record, 501, "RavenException", &message);
        let update = wire.call_with("PUT /admin/databases?name=db", &[&current], record.as_bytes());
        update.check_error(501, "RavenException", &message);
    }
    wire.check("GET /databases?namesOnly=true", "", 200, r#"{"Databases":["db"]}"#);
    let elsewhere = r#"{"Topology":{"Members":["A","B"]}}"#;
    let message = "There is no node 'B' in the cluster, only 'A'";
    wire.check_error("PUT /admin/databases?name=other", elsewhere, 400, "InvalidOperationException", message);
    // A record as it was read can be sent back.
    let record = wire.call("GET /admin/databases?name=db", "").body;
    let update = wire.call_with("PUT /admin/databases?name=db", &[&current], &record);
    assert_eq!(update.status, 201, "{}", update.text());
    let none = "PUT /admin/databases?name=other&replicationFactor=0";
    wire.check_error(none, "{}", 400, "ArgumentException", "Replication factor must be greater than 0.");
}

#[test]
fn a_property_that_no_record_has_is_refused_by_name_unless_it_configures_nothing() {
    let wire = Wire::with_database();
    let current = || {
        let etag = wire.call("GET /admin/databases?name=db", "").json().get("Etag").unwrap().as_i64().unwrap();
        format!("ETag: \"{etag}\"")
    };
    let wrong = r#"{"DatabaseName":"other","Revision":{"Default":{}}}"#;
    let message = "The record of a database has no property 'Revision'. Remove it, or correct its name";
    wire.check_error("PUT /admin/databases?name=other", wrong, 400, "System.ArgumentException", message);
    let update = wire.call_with("PUT /admin/databases?name=db", &[&current()], wrong.as_bytes());
    update.check_error(400, "System.ArgumentException", message);
    wire.check("GET /databases?namesOnly=true", "", 200, r#"{"Databases":["db"]}"#);
    // The clients for Python, Node.js and Go have such names, and C#'s had some in former versions.
    let empty =
        r#"{"DocumentCompression":null,"TruncatedClusterTransactionCommand":0,"DataDirectory":null,"Shards":[]}"#;
    let created = wire.call("PUT /admin/databases?name=other", empty);
    assert_eq!(created.status, 201, "{}", created.text());
    let update = wire.call_with("PUT /admin/databases?name=db", &[&current()], empty.as_bytes());
    assert_eq!(update.status, 201, "{}", update.text());
    for name in ["db", "other"] {
        let record = wire.call(&format!("GET /admin/databases?name={name}"), "").text();
        let has = |property: &str| record.contains(&format!("\"{property}\":"));
        assert!(has("DocumentsCompression") && !has("DocumentCompression") && !has("Shards"), "{record}");
    }
}

#[test]
fn a_deletion_says_where() {
    let wire = Wire::with_database();
    let elsewhere = r#"{"DatabaseNames":["db"],"FromNodes":["B"]}"#;
    let message = "The databases are not on node 'B', only on 'A'";
    wire.check_error("DELETE /admin/databases", elsewhere, 400, "InvalidOperationException", message);
    let shard = r#"{"DatabaseNames":["db"],"ShardNumber":0}"#;
    wire.check_error("DELETE /admin/databases", shard, 501, "RavenException", "Rookery");
    assert_eq!(wire.call("GET /databases/db/stats", "").status, 200);
    let here =
        r#"{"DatabaseNames":["db"],"FromNodes":["A"],"ShardNumber":null,"TimeToWaitForConfirmation":"00:00:05"}"#;
    assert_eq!(wire.call("DELETE /admin/databases", here).status, 200);
    wire.check("GET /databases?namesOnly=true", "", 200, r#"{"Databases":[]}"#);
}

#[test]
fn a_locked_database_is_not_deleted() {
    let wire = Wire::with_database();
    wire.check("POST /admin/databases/set-lock", r#"{"DatabaseNames":["db"],"Mode":"PreventDeletesError"}"#, 204, "");
    let delete = r#"{"DatabaseNames":["db"],"HardDelete":true}"#;
    let message = "Database 'db' cannot be deleted because of the set lock mode";
    wire.check_error("DELETE /admin/databases", delete, 400, "InvalidOperationException", message);
    wire.check("POST /admin/databases/set-lock", r#"{"DatabaseNames":["db"],"Mode":"Unlock"}"#, 204, "");
    assert_eq!(wire.call("DELETE /admin/databases", delete).status, 200);
    wire.check_error(
        "POST /admin/databases/set-lock",
        "{}",
        400,
        "ArgumentException",
        "The body must have a lock mode",
    );
}

#[test]
fn the_same_request_is_not_applied_twice() {
    let wire = Wire::start();
    let first = wire.call("PUT /admin/databases?name=db&raft-request-id=abc", "{}");
    let again = wire.call("PUT /admin/databases?name=db&raft-request-id=abc", "{}");
    assert_eq!((again.status, again.text()), (201, first.text()));
}

#[test]
fn a_repeated_request_is_not_applied_after_other_changes() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Wire::start_with(|options| {
            options.in_memory = false;
            options.data_directory = folder.path().to_owned();
        })
    };
    let names = r#"{"DatabaseNames":["db"],"HardDelete":true,"Mode":"PreventDeletesError"}"#;
    let wire = start();
    let created = wire.call("PUT /admin/databases?name=db&raft-request-id=q1", "{}");
    assert_eq!(created.status, 201);
    for (id, line) in [
        ("q2", "POST /admin/databases/set-lock"),
        ("q3", "POST /admin/databases/disable"),
        ("", "POST /admin/databases/enable"),
        ("", "POST /admin/databases/set-lock"),
    ] {
        let body = if id.is_empty() { names.replace("PreventDeletesError", "Unlock") } else { names.to_owned() };
        let answer = wire.call(&format!("{line}?raft-request-id={id}"), &body);
        assert!(matches!(answer.status, 200 | 204), "{}", answer.text());
    }
    wire.check("PUT /databases/db/admin/configuration/settings?raft-request-id=q4", r#"{"A":"1"}"#, 204, "");
    wire.check("PUT /databases/db/admin/configuration/settings", r#"{"A":"2"}"#, 204, "");
    wire.check("PUT /databases/db/admin/configuration/client?raft-request-id=q5", r#"{"B":1}"#, 204, "");
    wire.check("PUT /databases/db/admin/configuration/client", r#"{"B":2}"#, 204, "");
    wire.check("PUT /admin/configuration/client?raft-request-id=q6", r#"{"C":1}"#, 204, "");
    wire.check("PUT /admin/configuration/client", r#"{"C":2}"#, 204, "");
    let index = |answer: &super::support::Answer| answer.json().get("RaftCommandIndex").unwrap().as_i64();
    let before = wire.call("GET /admin/databases?name=db", "").text();
    drop(wire);

    let wire = start();
    let again = wire.call("PUT /admin/databases?name=db&raft-request-id=q1", "{}");
    assert_eq!((again.status, index(&again)), (201, index(&created)));
    for line in ["set-lock?raft-request-id=q2", "disable?raft-request-id=q3"] {
        assert!(matches!(wire.call(&format!("POST /admin/databases/{line}"), names).status, 200 | 204));
    }
    wire.check("PUT /databases/db/admin/configuration/settings?raft-request-id=q4", r#"{"A":"1"}"#, 204, "");
    wire.check("PUT /databases/db/admin/configuration/client?raft-request-id=q5", r#"{"B":1}"#, 204, "");
    wire.check("PUT /admin/configuration/client?raft-request-id=q6", r#"{"C":1}"#, 204, "");
    assert_eq!(wire.call("GET /admin/databases?name=db", "").text(), before);
    assert!(wire.call("GET /configuration/client", "").text().starts_with(r#"{"C":2"#));

    let deleted = wire.call("DELETE /admin/databases?raft-request-id=q7", names);
    assert_eq!(wire.call("PUT /admin/databases?name=db", "{}").status, 201);
    drop(wire);
    let wire = start();
    let again = wire.call("DELETE /admin/databases?raft-request-id=q7", names);
    assert_eq!((again.status, index(&again)), (200, index(&deleted)));
    assert_eq!(wire.call("GET /databases/db/stats", "").status, 200);
    let long = format!("PUT /admin/databases?name=x&raft-request-id={}", "q".repeat(129));
    wire.check_error(&long, "{}", 400, ".BadRequestException", "the raft-request-id has 129 bytes");
}

#[test]
fn a_setting_of_the_server_is_none_of_a_database() {
    let wire = Wire::with_database();
    let settings = "PUT /databases/db/admin/configuration/settings";
    for name in ["Limits.Connections", "Log.Level", "Mcp.WritesAllowed", "Security.AllowedHosts", "ServerUrl"] {
        let message = format!("Configuration '{name}' can only be set at server level");
        let body = format!(r#"{{"{name}":"5"}}"#);
        wire.check_error(settings, &body, 400, "InvalidOperationException", &message);
    }
}

#[test]
fn where_a_database_is_kept_cannot_be_changed() {
    let wire = Wire::with_database();
    let settings = "PUT /databases/db/admin/configuration/settings";
    let message = "Database 'db' was created in memory and stays there";
    wire.check_error(settings, r#"{"RunInMemory":"false"}"#, 400, "InvalidOperationException", message);
    wire.check(settings, r#"{"RunInMemory":"true"}"#, 204, "");
}

#[test]
fn a_database_that_is_not_open_is_opened_once_for_all_who_ask() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Wire::start_with(|options| {
            options.in_memory = false;
            options.data_directory = folder.path().to_owned();
            // One opener has the only thread; the others must not need it.
            (options.limits.blocking_thread_count, options.limits.blocking_queue_count) = (1, 0);
        })
    };
    let wire = start();
    wire.create("db");
    wire.put("a", "{}");
    drop(wire);
    let wire = start();
    std::thread::scope(|scope| {
        let get = || wire.call("GET /databases/DB/docs?id=a", "").status;
        let all: Vec<_> = (0..16).map(|_| scope.spawn(get)).collect();
        assert!(all.into_iter().all(|one| one.join().unwrap() == 200));
    });
    wire.check_error("GET /databases/none/docs?id=a", "", 400, "DatabaseDoesNotExistException", "");
}

#[test]
fn a_database_that_cannot_be_opened_says_why_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Wire::start_with(|options| {
            options.in_memory = false;
            options.data_directory = folder.path().to_owned();
        })
    };
    start().create("db");
    std::fs::remove_dir_all(folder.path().join("databases/db")).unwrap();
    let wire = start();
    for _ in 0..2 {
        wire.check_error("GET /databases/db/stats", "", 500, "InvalidDataException", "'data' is damaged: it is gone");
    }
    assert_eq!(wire.call("GET /databases", "").status, 200);
}

#[test]
fn settings_about_its_place_that_cannot_be_obeyed_are_refused() {
    let wire = Wire::with_database();
    for (settings, status) in [
        (r#"{"DataDir":"/elsewhere"}"#, 501),
        (r#"{"datadir":"/elsewhere"}"#, 501),
        (r#"{"RunInMemory":"maybe"}"#, 400),
        (r#"{"RunInMemory":5}"#, 400),
        (r#"{"RunInMemory":"True","DataDir":null,"Indexing.MapBatchSize":"5"}"#, 201),
    ] {
        let created = wire.call("PUT /admin/databases?name=new", &format!(r#"{{"Settings":{settings}}}"#));
        assert_eq!(created.status, status, "{settings}: {}", created.text());
        let put = wire.call("PUT /databases/db/admin/configuration/settings", settings);
        assert_eq!(put.status, if status == 201 { 204 } else { status }, "{settings}: {}", put.text());
    }
}

/// Statuses and messages of malformed settings, those of a server and unknown ones are the reference's; those without an effect are 501.
#[test]
fn settings_are_of_their_kind_and_have_an_effect() {
    let wire = Wire::with_database();
    for (name, value, refused) in [
        ("Nonsense", "1", None),
        ("Indexing.Nonsense", "5", None),
        ("Indexing.MapTimeoutInSec", "5", None),
        ("Patching.MaxStepsForScript", "10000", None),
        (
            "Indexing.MapTimeoutInSec",
            "x",
            Some((400, "Could not set 'Indexing.MapTimeoutInSec' configuration setting")),
        ),
        (
            "indexing.maptimeoutinsec",
            "x",
            Some((400, "Could not set 'indexing.maptimeoutinsec' configuration setting")),
        ),
        ("Indexing.Static.SearchEngineType", "Nope", Some((400, "Could not set 'Indexing.Static.SearchEngineType'"))),
        ("ServerUrl", "http://x", Some((400, "Configuration 'ServerUrl' can only be set at server level."))),
        ("Patching.MaxStepsForScript", "5", Some((501, "the setting 'Patching.MaxStepsForScript'"))),
        ("Indexing.Analyzers.Default", "StandardAnalyzer", Some((501, "the setting 'Indexing.Analyzers.Default'"))),
    ] {
        let settings = format!(r#"{{"{name}":"{value}"}}"#);
        let created = wire.call("PUT /admin/databases?name=new", &format!(r#"{{"Settings":{settings}}}"#));
        let put = wire.call("PUT /databases/db/admin/configuration/settings", &settings);
        match refused {
            None => {
                assert_eq!((created.status, put.status), (201, 204), "{settings}: {}", created.text());
                let record = wire.call("GET /admin/databases?name=new", "").json();
                let kept = record.get("Settings").and_then(|settings| settings.get(name)?.as_str());
                assert_eq!(kept, Some(value), "{name}");
                let delete = r#"{"DatabaseNames":["new"],"HardDelete":true}"#;
                assert_eq!(wire.call("DELETE /admin/databases", delete).status, 200);
            }
            Some((status, message)) => {
                for answer in [created, put] {
                    assert!(
                        answer.status == status && answer.text().contains(message),
                        "{settings}: {}",
                        answer.text()
                    );
                }
            }
        }
    }
}

#[test]
fn properties_of_a_record_are_of_their_kind() {
    let wire = Wire::start();
    for (record, message) in [
        (r#"{"Disabled":"x"}"#, "'Disabled' must be true or false"),
        (r#"{"Encrypted":5}"#, "'Encrypted' must be true or false"),
        (r#"{"Settings":5}"#, "'Settings' must be an object"),
        (r#"{"LockMode":"Nope"}"#, "'LockMode' must be Unlock,"),
        (r#"{"DatabaseState":"Nope"}"#, "'DatabaseState' must be Normal"),
    ] {
        wire.check_error("PUT /admin/databases?name=db", record, 400, "System.ArgumentException", message);
    }
}

#[test]
fn clients_do_not_learn_where_files_are() {
    let folder = std::env::temp_dir().join(format!("rookery-wire-{}", std::process::id()));
    let wire = Wire::start_with(|options| {
        options.in_memory = false;
        options.data_directory = folder.clone();
    });
    wire.create("db");
    let toggle = |what: &str| wire.call(&format!("POST /admin/databases/{what}"), r#"{"DatabaseNames":["db"]}"#);
    assert_eq!(toggle("disable").status, 200);
    let files = folder.join("databases/db");
    std::fs::remove_dir_all(&files).unwrap();
    std::fs::write(&files, "no folder").unwrap();
    assert_eq!(toggle("enable").status, 200);
    let answer = wire.call("PUT /databases/db/docs?id=a", "{}");
    answer.check_error(500, "InvalidDataException", "'data' is damaged");
    assert!(!answer.text().contains(folder.to_str().unwrap()), "{}", answer.text());
    drop(wire);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_only_node_has_each_database_already() {
    let wire = Wire::with_database();
    let refused = |line: &str, message: &str| wire.check_error(line, "", 400, "InvalidOperationException", message);
    let add = "PUT /admin/databases/node?name=";
    refused(&format!("{add}DB"), "Database db already exists on all the nodes of the cluster");
    refused(&format!("{add}db&node=A"), "Can't add node A to db topology because it is already part of it");
    refused(&format!("{add}db&node=B"), "Can't add node B to database 'db' topology, because node B (which");
    wire.check_error(&format!("{add}none"), "", 400, "DatabaseDoesNotExistException", "Database 'none'");
    wire.check_error("PUT /admin/databases/node", "", 400, "ArgumentException", "Query string value 'name'");
    let promoted = wire.call("POST /admin/databases/promote?name=DB&node=A", "");
    assert!(promoted.text().starts_with(r#"{"Name":"db","RaftCommandIndex":"#), "{}", promoted.text());
    refused("POST /admin/databases/promote?name=db&node=B", "There is no node 'B' in the cluster, only 'A'");
    wire.check_error(
        "POST /admin/databases/promote?name=db",
        "",
        400,
        "ArgumentException",
        "Query string value 'node'",
    );
    wire.check_error("POST /admin/databases/promote?name=none&node=A", "", 400, "DatabaseDoesNotExistException", "");
}

#[test]
fn the_only_order_of_one_node_is_accepted() {
    let wire = Wire::with_database();
    let reorder = "POST /admin/databases/reorder?name=db";
    let priority = || {
        let record = wire.call("GET /admin/databases?name=db", "").json();
        String::from_utf8(record.get("Topology").unwrap().get("PriorityOrder").unwrap().to_vec()).unwrap()
    };
    assert_eq!(priority(), "[]");
    wire.check(reorder, r#"{"MembersOrder":["A"],"Fixed":true}"#, 204, "");
    assert_eq!(priority(), r#"["A"]"#);
    wire.check(reorder, r#"{"MembersOrder":["A"]}"#, 204, "");
    assert_eq!(priority(), "[]");
    let wrong = "The reordered list doesn't correspond to the existing nodes of the database group";
    for order in [r#"["B"]"#, r#"["A","B"]"#, r#"["A","A"]"#, "[]", "null"] {
        let body = format!(r#"{{"MembersOrder":{order}}}"#);
        wire.check_error(reorder, &body, 400, "ArgumentException", wrong);
    }
    let none = "POST /admin/databases/reorder?name=none";
    wire.check_error(none, r#"{"MembersOrder":["A"]}"#, 400, "DatabaseDoesNotExistException", "Database 'none'");
}

#[test]
fn a_record_has_the_definitions_that_indexes_had() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Wire::start_with(|options| {
            options.in_memory = false;
            options.data_directory = folder.path().to_owned();
        })
    };
    let define = |wire: &Wire, field: &str| {
        let map = format!("from u in docs.Users select new {{ u.{field} }}");
        let body = format!(r#"{{"Indexes":[{{"Name":"I","Maps":["{map}"]}}]}}"#);
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &body).status, 201);
    };
    // The fields of the definitions of the index, the newest first.
    let fields = |wire: &Wire| -> Vec<String> {
        let record = wire.call("GET /admin/databases?name=db", "").json();
        let history = record.get("IndexesHistory").unwrap();
        let Some(json::Value::Array(entries)) = history.get("I") else { return Vec::new() };
        assert!(entries.iter().all(|entry| entry.get("CreatedAt").unwrap().as_str().unwrap().ends_with('Z')));
        let maps = entries.iter().map(|entry| entry.get("Definition").unwrap().get("Maps").unwrap().to_vec());
        let field = |map: Vec<u8>| String::from_utf8(map).unwrap().split(['.', ' ']).nth(9).unwrap().to_owned();
        maps.map(field).collect()
    };
    let mut wire = start();
    wire.create("db");
    assert_eq!(fields(&wire), Vec::<String>::new());
    for field in ["A", "B", "B", "C"] {
        define(&wire, field);
    }
    assert_eq!(fields(&wire), ["C", "B", "A"]);
    wire.check("RESET /databases/db/indexes?name=I", "", 204, "");
    wire.stop();
    drop(wire);
    let wire = start();
    assert_eq!(fields(&wire), ["C", "B", "A"]);
    // Given back, it stays what it is.
    let record = wire.call("GET /admin/databases?name=db", "");
    let etag = format!("ETag: \"{}\"", record.json().get("Etag").unwrap().as_i64().unwrap());
    let given = wire.call_with("PUT /admin/databases?name=db", &[&etag], &record.body);
    assert_eq!(given.status, 201, "{}", given.text());
    (0..9).for_each(|number| define(&wire, &format!("D{number}")));
    assert_eq!(fields(&wire), ["D8", "D7", "D6", "D5", "D4", "D3", "D2", "D1", "D0", "C"]);
    wire.call("DELETE /databases/db/indexes?name=I", "");
    assert_eq!(fields(&wire), Vec::<String>::new());
}
