//! The info packages: what is in them, and what is not.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::Arc;

use rookery_server::{GivenSetting, LogLevel, RecentLog, Setting};

use super::secured::{Secured, call};
use super::support::{Answer, Wire};

/// The files of an answer, by name.
fn unpacked(answer: &Answer) -> BTreeMap<String, String> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/zip"));
    let mut archive = zip::ZipArchive::new(Cursor::new(&answer.body)).unwrap();
    let mut files = BTreeMap::new();
    for place in 0..archive.len() {
        let mut file = archive.by_index(place).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        let name = file.name().unwrap().into_owned();
        assert!(files.insert(name.clone(), text).is_none(), "{name} is there twice");
    }
    files
}

#[test]
fn the_package_of_the_server_has_its_state_and_that_of_open_databases() {
    let (log, folder) = (Arc::new(RecentLog::default()), tempfile::tempdir().unwrap());
    let wire = Wire::start_with(|options| {
        options.in_memory = false;
        options.data_directory = folder.path().to_owned();
        options.log = log.clone();
    });
    log.add(LogLevel::Warn, "the disk is slow".to_owned());
    wire.create("db");
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    wire.call("POST /databases/db/queries", r#"{"Query":"from Users where Name = 'Ann'"}"#);
    wire.create("closed");
    wire.call("POST /admin/databases/disable", r#"{"DatabaseNames":["closed"]}"#);
    let answer = wire.call("GET /admin/debug/info-package", "");
    let disposition = answer.header("content-disposition").unwrap();
    assert!(
        disposition.starts_with("attachment; filename=\"20") && disposition.ends_with(" - Node [A].zip\""),
        "{disposition}"
    );
    let files = unpacked(&answer);
    let has = |name: &str, part: &str| {
        let text = files.get(name).unwrap_or_else(|| panic!("{name} is not in {:?}", files.keys()));
        assert!(text.contains(part), "{name}: {text}");
    };
    has("server-wide/build.version.json", "\"FullVersion\":\"7.1.5\"");
    has("server-wide/metrics.txt", "rookery_database_documents{database=\"db\"} 1");
    has("server-wide/admin.live.json", "\"Name\":\"closed\",\"State\":\"Disabled\"");
    has("server-wide/admin.logs.recent.json", "the disk is slow");
    has("server-wide/health.ready.json", "Ready");
    has("db/stats.json", "\"CountOfDocuments\":1");
    has("db/indexes.json", "Auto/Users/ByName");
    has("db/indexes.stats.json", "Auto/Users/ByName");
    has("db/database-record.json", "\"DatabaseName\":\"db\"");
    has("db/storage.report.json", "AllocatedSpaceInBytes");
    assert!(!files.keys().any(|name| name.starts_with("closed/") || name.ends_with(".error")), "{:?}", files.keys());
    // No document is in it.
    assert!(!files.values().any(|text| text.contains("\"Ann\"")));
}

#[test]
fn the_package_of_a_database_has_no_folder_and_nothing_of_the_server() {
    let wire = Wire::with_database();
    wire.create("other");
    let answer = wire.call("GET /databases/db/debug/info-package", "");
    let files = unpacked(&answer);
    assert!(files.contains_key("stats.json") && files.keys().all(|name| !name.contains('/')), "{:?}", files.keys());
    assert!(!files.values().any(|text| text.contains("other")));
    wire.check_error(
        "GET /databases/none/debug/info-package",
        "",
        400,
        "DatabaseDoesNotExistException",
        "Database 'none'",
    );
}

#[test]
fn no_secret_is_in_a_package() {
    let setting = |name: &str, value: Option<&str>| Setting {
        name: name.to_owned(),
        description: "What it does.".to_owned(),
        default: String::new(),
        given: Some(GivenSetting { value: value.map(str::to_owned), source: "a file".to_owned() }),
    };
    let secured = Secured::start_with(|options| {
        // The program leaves values out; if it did not, the name would.
        options.settings =
            vec![setting("Security.Certificate.Password", Some("pfx-password")), setting("License", None)];
    });
    let record =
        r#"{"DatabaseName":"db","Settings":{"Mail.Password":"mail-password","Indexing.Map.Token":"map-token"}}"#;
    secured.administer("PUT /admin/databases?name=db", record, 201);
    // A package has the databases that are open.
    secured.administer("GET /databases/db/stats", "", 200);
    let key = secured.key("ops", r#""SecurityClearance":"Operator""#);
    let definition =
        r#"{"Name":"app","SecurityClearance":"ValidUser","Password":"zip-password","Permissions":{"db":"Read"}}"#;
    secured.administer("POST /admin/certificates", definition, 200);
    let of_server = secured.call_with_key(&key, "GET /admin/debug/info-package", "");
    let of_database = secured.call_with_key(&key, "GET /databases/db/debug/info-package", "");
    let private_key = secured.server.key.serialize_pem();
    let line_of_key = private_key.lines().nth(1).unwrap();
    for files in [unpacked(&of_server), unpacked(&of_database)] {
        for (name, text) in &files {
            for secret in
                ["pfx-password", "mail-password", "map-token", "zip-password", &key, line_of_key, "PRIVATE KEY"]
            {
                assert!(!text.contains(secret), "{name} has {secret}: {text}");
            }
        }
    }
    let files = unpacked(&of_server);
    // The names are there, so that a reader knows that something was set.
    assert!(
        files["db/database-record.json"].contains(r#""Mail.Password":"(left out)""#),
        "{}",
        files["db/database-record.json"]
    );
    assert!(files["server-wide/admin.configuration.settings.json"].contains("Security.Certificate.Password"));
}

#[test]
fn a_package_has_what_its_caller_may_read() {
    let secured = Secured::start();
    for name in ["db", "other"] {
        secured.administer(&format!("PUT /admin/databases?name={name}"), "{}", 201);
    }
    let admin_of_one = secured.key("one", r#""SecurityClearance":"ValidUser","Permissions":{"db":"Admin"}"#);
    assert_eq!(secured.call_with_key(&admin_of_one, "GET /admin/debug/info-package", "").status, 403);
    assert_eq!(secured.call_with_key(&admin_of_one, "GET /databases/other/debug/info-package", "").status, 403);
    let files = unpacked(&secured.call_with_key(&admin_of_one, "GET /databases/db/debug/info-package", ""));
    assert!(!files.keys().any(|name| name.ends_with(".error")), "{:?}", files.keys());
    // A client that goes away takes the rest back; the server goes on.
    let config = Arc::new(secured.config(Some(&secured.admin), &[&rustls::version::TLS13]));
    let mut stream = secured.connect(&config);
    std::io::Write::write_all(&mut stream, b"GET /admin/debug/info-package HTTP/1.1\r\nHost: db.example\r\n\r\n")
        .unwrap();
    drop(stream);
    assert_eq!(call(secured.connect(&config), "GET /databases", "").unwrap().status, 200);
}
