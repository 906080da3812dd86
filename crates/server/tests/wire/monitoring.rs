//! `/admin/monitoring/v1`: what plug-ins of monitoring systems for RavenDB read.

use json::Value;

use super::secured::Secured;
use super::support::Wire;

fn at<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(value, |value, name| value.get(name).unwrap_or_else(|| panic!("{path:?} in {value:?}")))
}

fn number(value: &Value, path: &[&str]) -> i64 {
    at(value, path).as_i64().unwrap_or_else(|| panic!("{path:?} is {:?}", at(value, path)))
}

fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).as_str().unwrap_or_else(|| panic!("{path:?} is {:?}", at(value, path)))
}

fn results(value: &Value) -> &[Value] {
    match at(value, &["Results"]) {
        Value::Array(results) => results,
        other => panic!("{other:?}"),
    }
}

/// A server on a disk with a database of two documents and one index, and one that is disabled.
fn on_disk() -> (Wire, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let wire = Wire::start_with(|options| {
        options.in_memory = false;
        options.data_directory = folder.path().to_owned();
        options.public_url = Some("http://db.example:8080".to_owned());
    });
    ["db", "off"].iter().for_each(|name| wire.create(name));
    wire.call("POST /admin/databases/disable", r#"{"DatabaseNames":["off"]}"#);
    wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    wire.put("users/2", r#"{"Name":"Bob","@metadata":{"@collection":"Users"}}"#);
    let query = r#"{"Query":"from Users where Name = 'Ann'","WaitForNonStaleResults":true}"#;
    assert_eq!(wire.call("POST /databases/db/queries", query).status, 200);
    (wire, folder)
}

#[test]
fn the_server_is_told_as_plug_ins_read_it() {
    let (wire, _folder) = on_disk();
    let told = wire.call("GET /admin/monitoring/v1/server", "").json();
    assert_eq!((text(&told, &["ServerVersion"]), text(&told, &["ServerFullVersion"])), ("7.1", "7.1.5"));
    assert_eq!(number(&told, &["ServerProcessId"]), i64::from(std::process::id()));
    assert_eq!(text(&told, &["Config", "PublicServerUrl"]), "http://db.example:8080");
    assert_eq!(
        at(&told, &["Config", "ServerUrls"]),
        &Value::Array(vec![Value::String(format!("http://{}", wire.address))])
    );
    assert!(number(&told, &["UpTimeInSec"]) >= 0 && number(&told, &["Cpu", "ProcessorCount"]) > 0);
    assert!(number(&told, &["Memory", "AllocatedMemoryInMb"]) <= number(&told, &["Memory", "PhysicalMemoryInMb"]));
    assert!(number(&told, &["Memory", "TotalSwapUsageInMb"]) <= number(&told, &["Memory", "TotalSwapSizeInMb"]));
    assert!((0..=100).contains(&number(&told, &["Disk", "RemainingStorageSpacePercentage"])));
    assert!(
        number(&told, &["Network", "TcpActiveConnections"]) >= 1 && number(&told, &["Network", "TotalRequests"]) >= 7
    );
    assert_eq!(at(&told, &["Certificate", "ServerCertificateExpirationLeftInSec"]), &Value::Null);
    assert_eq!((text(&told, &["Cluster", "NodeTag"]), text(&told, &["Cluster", "NodeState"])), ("A", "Leader"));
    assert_eq!((number(&told, &["Databases", "TotalCount"]), number(&told, &["Databases", "LoadedCount"])), (2, 1));
    // What is not known is not told.
    assert!(at(&told, &["Cpu"]).get("ProcessUsage").is_none() && told.get("Backup").is_none());
    // In memory there is no disk.
    assert!(Wire::start().call("GET /admin/monitoring/v1/server", "").json().get("Disk").is_none());
}

#[test]
fn the_certificate_is_told_with_its_end_and_the_administrators() {
    let secured = Secured::start();
    let told = secured.administer("GET /admin/monitoring/v1/server", "", 200).json();
    // Until 2120.
    assert!(number(&told, &["Certificate", "ServerCertificateExpirationLeftInSec"]) > 90 * 365 * 86400);
    let Value::Array(admins) = at(&told, &["Certificate", "WellKnownAdminCertificates"]) else { panic!("{told:?}") };
    assert!(admins.len() == 3 && admins.iter().all(|admin| admin.as_str().is_some_and(|text| text.len() == 40)));
}

#[test]
fn databases_are_told_with_counts_and_sizes() {
    let (wire, _folder) = on_disk();
    let told = wire.call("GET /admin/monitoring/v1/databases", "").json();
    assert_eq!((text(&told, &["NodeTag"]), text(&told, &["PublicServerUrl"])), ("A", "http://db.example:8080"));
    let [database] = results(&told) else { panic!("only one is open: {told:?}") };
    assert_eq!(text(database, &["DatabaseName"]), "db");
    let stats = wire.call("GET /databases/db/stats", "").json();
    assert_eq!(text(database, &["DatabaseId"]), text(&stats, &["DatabaseId"]));
    assert_eq!((number(database, &["Counts", "Documents"]), number(database, &["Counts", "Attachments"])), (2, 0));
    let indexes = |name: &str| number(database, &["Indexes", name]);
    assert_eq!((indexes("Count"), indexes("AutoCount"), indexes("StaticCount"), indexes("StaleCount")), (1, 1, 0, 0));
    assert_eq!((indexes("ErrorsCount"), indexes("DisabledCount"), indexes("ErroredCount")), (0, 0, 0));
    assert!(number(database, &["Statistics", "RequestsCount"]) >= 3);
    let storage = |name: &str| number(database, &["Storage", name]);
    assert!(storage("DocumentsUsedDataFileInMb") <= storage("DocumentsAllocatedDataFileInMb"));
    assert!(storage("TotalAllocatedStorageFileInMb") > 0 && storage("TotalFreeSpaceInMb") > 0);
}

#[test]
fn indexes_and_collections_are_told_by_database() {
    let (wire, _folder) = on_disk();
    let told = wire.call("GET /admin/monitoring/v1/indexes", "").json();
    let [database] = results(&told) else { panic!("{told:?}") };
    let Value::Array(indexes) = at(database, &["Indexes"]) else { panic!("{told:?}") };
    let [index] = indexes.as_slice() else { panic!("{told:?}") };
    assert_eq!((text(database, &["DatabaseName"]), text(index, &["IndexName"])), ("db", "Auto/Users/ByName"));
    assert_eq!(
        (text(index, &["State"]), text(index, &["Status"]), text(index, &["Type"])),
        ("Normal", "Running", "AutoMap")
    );
    assert_eq!((text(index, &["Priority"]), text(index, &["LockMode"])), ("Normal", "Unlock"));
    assert_eq!((number(index, &["EntriesCount"]), number(index, &["Errors"])), (2, 0));
    assert_eq!(at(index, &["IsInvalid"]), &Value::Bool(false));
    for name in ["TimeSinceLastQueryInSec", "TimeSinceLastIndexingInSec"] {
        let Value::Number(seconds) = at(index, &[name]) else { panic!("{name} in {index:?}") };
        assert!((0.0..600.0).contains(&seconds.parse::<f64>().unwrap()), "{name}: {seconds}");
    }

    let told = wire.call("GET /admin/monitoring/v1/collections", "").json();
    let [database] = results(&told) else { panic!("{told:?}") };
    let Value::Array(collections) = at(database, &["Collections"]) else { panic!("{told:?}") };
    let users = collections.iter().find(|collection| text(collection, &["CollectionName"]) == "Users").unwrap();
    let size = number(users, &["DocumentsSizeInBytes"]);
    assert_eq!((number(users, &["DocumentsCount"]), number(users, &["TombstonesSizeInBytes"])), (2, 0));
    assert!(size > 0 && number(users, &["TotalSizeInBytes"]) == size);
}

#[test]
fn databases_are_chosen_by_name_and_none_is_opened() {
    let (wire, folder) = on_disk();
    wire.create("other");
    let names = |wire: &Wire, query: &str| -> Vec<String> {
        let told = wire.call(&format!("GET /admin/monitoring/v1/collections{query}"), "").json();
        results(&told).iter().map(|database| text(database, &["DatabaseName"]).to_owned()).collect()
    };
    assert_eq!(names(&wire, ""), ["db", "other"]);
    assert_eq!(names(&wire, "?name=OTHER&name=off&name=none"), ["other"]);
    drop(wire);
    let wire = Wire::start_with(|options| {
        options.in_memory = false;
        options.data_directory = folder.path().to_owned();
    });
    assert_eq!(names(&wire, ""), [""; 0]);
    wire.call("GET /databases/db/stats", "");
    assert_eq!(names(&wire, ""), ["db"]);
}
