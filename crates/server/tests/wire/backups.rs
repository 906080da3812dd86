//! Backups and restores as clients ask for them; the clock is moved by the tests.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use database::backups::DestinationKind;
use database::documents::Date;
use database::{Clock, ManualClock};
use json::Value;

use crate::secured::Secured;
use crate::support::Wire;

struct Server {
    wire: Wire,
    clock: ManualClock,
    place: tempfile::TempDir,
}

impl Server {
    fn start() -> Server {
        Server::start_in(None)
    }

    /// * `data`: the folder of its data; `None`: it keeps them in memory.
    fn start_in(data: Option<&Path>) -> Server {
        let clock = ManualClock::at(Date::parse("2030-01-01T00:00:00Z").unwrap());
        let of_server = clock.clone();
        let wire = Wire::start_with(|options| {
            options.clock = Arc::new(of_server);
            if let Some(data) = data {
                (options.in_memory, options.data_directory) = (false, data.to_owned());
            }
        });
        wire.create("db");
        Server { wire, clock, place: tempfile::tempdir().unwrap() }
    }

    fn local(&self) -> String {
        format!(r#""LocalSettings":{{"FolderPath":"{}"}}"#, self.place.path().display())
    }

    fn add_task(&self, name: &str) -> u64 {
        let body = format!(r#"{{"Name":"{name}","FullBackupFrequency":"0 2 * * *",{}}}"#, self.local());
        let answer = self.wire.call("POST /databases/db/admin/periodic-backup", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        number(&answer.json(), "TaskId")
    }

    /// Waits until nothing runs: moving the clock does.
    fn settle(&self) {
        self.clock.advance(Duration::ZERO);
    }

    fn status(&self, task: u64) -> Value {
        let answer = self.wire.call(&format!("GET /periodic-backup/status?name=db&taskId={task}"), "");
        answer.json().get("Status").unwrap().clone()
    }

    /// Calls a restore, waits for its end and gives the state.
    fn restore(&self, line: &str, body: &str) -> Value {
        let answer = self.wire.call(line, body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let id = number(&answer.json(), "OperationId");
        self.wire.ended_at(&format!("GET /operations/state?id={id}")).json()
    }

    /// Sends what cannot be; the answer has to name why.
    #[track_caller]
    fn refused(&self, line: &str, body: &str, reason: &str) {
        let answer = self.wire.call(line, body);
        assert!(answer.status == 400 && answer.text().contains(reason), "{} {}", answer.status, answer.text());
    }

    fn folder(&self) -> String {
        let mut folders: Vec<_> =
            std::fs::read_dir(self.place.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        folders.last().unwrap().display().to_string()
    }
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_i64).unwrap().unsigned_abs()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap()
}

#[test]
fn one_backup_is_made_and_restored() {
    let server = Server::start();
    server.wire.put("users/1", r#"{"Name":"Ann","@metadata":{"@collection":"Users"}}"#);
    let body = format!(r#"{{"BackupType":"Backup",{}}}"#, server.local());
    let answer = server.wire.call("POST /databases/db/admin/backup", &body);
    assert_eq!((answer.status, text(&answer.json(), "OperationNodeTag")), (200, "A"));
    server.settle();
    let id = number(&answer.json(), "OperationId");
    let state = server.wire.call(&format!("GET /databases/db/operations/state?id={id}"), "").json();
    assert_eq!(text(&state, "Status"), "Completed");
    let result = state.get("Result").unwrap();
    assert_eq!(text(result, "$type"), "Raven.Client.Documents.Operations.Backups.BackupResult, Raven.Client");
    assert_eq!(number(result.get("Documents").unwrap(), "ReadCount"), 1);
    let file = text(result.get("LocalBackup").unwrap(), "FileName");
    assert!(Path::new(&server.folder()).join(file).is_file() && file.ends_with(".ravendb-full-backup"));

    let body = format!(r#"{{"Type":"Local","DatabaseName":"copy","BackupLocation":"{}"}}"#, server.folder());
    assert_eq!(text(&server.restore("POST /admin/restore/verify", &body), "Status"), "Completed");
    server.refused("GET /databases/copy/stats", "", "'copy' does not exist");
    assert_eq!(text(&server.restore("POST /admin/restore/database", &body), "Status"), "Completed");
    assert!(server.wire.call("GET /databases/copy/docs?id=users/1", "").text().contains("Ann"));
    assert_eq!(server.wire.call("POST /admin/restore/database", &body).status, 409);

    let settings = format!(r#"{{"FolderPath":"{}"}}"#, server.place.path().display());
    let points = server.wire.call("POST /admin/restore/points?type=Local", &settings).json();
    let Some(Value::Array(points)) = points.get("List") else { panic!("a list") };
    assert_eq!((points.len(), number(&points[0], "FilesToRestore"), text(&points[0], "DatabaseName")), (1, 1, "db"));
    assert_eq!(text(&points[0], "Location"), server.folder());
    // An operation that has ended can be ended once more, and one that is not there cannot.
    assert_eq!(server.wire.call("POST /admin/operations/kill?id=1", "").status, 204);
    server.refused("POST /admin/operations/kill?id=4711", "", "4711");
}

#[test]
fn a_restored_database_has_its_analyzers_and_the_indexes_that_name_them() {
    let server = Server::start();
    let wire = &server.wire;
    let code = "using Lucene.Net.Analysis; public class Whole : KeywordAnalyzer { }";
    let analyzers = format!(r#"{{"Analyzers":[{{"Name":"Whole","Code":"{code}"}}]}}"#);
    assert_eq!(wire.call("PUT /databases/db/admin/analyzers", &analyzers).status, 201);
    let of_node = analyzers.replace("Whole", "OfNode");
    assert_eq!(wire.call("PUT /admin/analyzers", &of_node).status, 201);
    for name in ["Whole", "OfNode"] {
        let index = format!(
            r#"{{"Indexes":[{{"Name":"{name}","Maps":["from u in docs.Users select new {{ u.Name }}"],"Fields":{{"Name":{{"Analyzer":"{name}"}}}}}}]}}"#
        );
        assert_eq!(wire.call("PUT /databases/db/admin/indexes", &index).status, 201);
    }
    wire.put("users/1", r#"{"Name":"Ann Lee","@metadata":{"@collection":"Users"}}"#);
    let backup = format!(r#"{{"BackupType":"Backup",{}}}"#, server.local());
    assert_eq!(wire.call("POST /databases/db/admin/backup", &backup).status, 200);
    server.settle();
    let body = format!(r#"{{"Type":"Local","DatabaseName":"copy","BackupLocation":"{}"}}"#, server.folder());
    assert_eq!(text(&server.restore("POST /admin/restore/database", &body), "Status"), "Completed");
    for name in ["Whole", "OfNode"] {
        let query = format!(r#"{{"Query":"from index '{name}'","WaitForNonStaleResults":true}}"#);
        assert_eq!(wire.call("POST /databases/copy/queries", &query).status, 200);
        let terms = wire.call(&format!("GET /databases/copy/indexes/terms?name={name}&field=Name"), "").text();
        assert!(terms.contains(r#"["Ann Lee"]"#), "{terms}");
    }
    let record = wire.call("GET /admin/databases?name=copy", "").json();
    assert!(record.get("Analyzers").and_then(|all| all.get("Whole")).is_some());
}

#[test]
fn a_task_runs_by_the_clock_and_is_seen_as_one() {
    let server = Server::start();
    let task = server.add_task("nightly");
    assert_eq!(server.status(task), Value::Null);
    server.wire.put("users/1", r#"{"Name":"Ann"}"#);
    let read = server.wire.call(&format!("GET /databases/db/task?key={task}&type=Backup"), "").json();
    let next = read.get("NextBackup").unwrap();
    assert_eq!((text(next, "DateTime"), text(next, "TimeSpan")), ("2030-01-01T02:00:00.0000000Z", "02:00:00"));
    server.clock.advance(Duration::from_secs(2 * 60 * 60));
    let status = server.status(task);
    assert_eq!(text(&status, "LastFullBackup"), "2030-01-01T02:00:00.0000000Z");
    assert_eq!(text(status.get("LocalBackup").unwrap(), "BackupDirectory"), server.folder());
    assert_eq!(status.get("Error"), Some(&Value::Null));

    let started =
        server.wire.call(&format!("POST /databases/db/admin/backup/database?isFullBackup=false&taskId={task}"), "");
    assert_eq!((started.status, text(&started.json(), "ResponsibleNode")), (200, "A"));
    server.settle();
    assert!(server.status(task).get("LastIncrementalBackup").is_some_and(|date| *date != Value::Null));

    let disabled =
        server.wire.call(&format!("POST /databases/db/admin/tasks/state?key={task}&type=Backup&disable=true"), "");
    assert_eq!((disabled.status, number(&disabled.json(), "TaskId")), (200, task));
    let read = server.wire.call("GET /databases/db/task?taskName=NIGHTLY&type=Backup", "").json();
    assert_eq!((text(&read, "TaskState"), read.get("NextBackup")), ("Disabled", Some(&Value::Null)));
    let list = server.wire.call("GET /databases/db/tasks", "").json();
    assert!(matches!(list.get("OngoingTasks"), Some(Value::Array(tasks)) if tasks.len() == 1));

    assert_eq!(server.wire.call(&format!("DELETE /databases/db/admin/tasks?id={task}&type=Backup"), "").status, 200);
    assert_eq!(server.wire.call(&format!("GET /databases/db/task?key={task}&type=Backup"), "").status, 404);
    assert_eq!(server.wire.call("GET /databases/db/task?key=1&type=RavenEtl", "").status, 404);
    assert_eq!(server.status(task), Value::Null);
}

/// The names and states of backup tasks are those that RavenDB 7.1.5 gives.
#[test]
fn a_disabled_task_may_lack_a_destination_and_tasks_without_a_name_get_one_each() {
    let server = Server::start();
    let put = "POST /databases/db/admin/periodic-backup";
    let frequency = r#""FullBackupFrequency":"0 2 * * *""#;
    let unfinished = [
        format!(r#"{{"Disabled":true,{frequency}}}"#),
        format!(r#"{{"Disabled":true,{frequency},"FtpSettings":{{"Disabled":true,"Url":"ftp://x"}}}}"#),
        format!(r#"{{"Disabled":true,{frequency},"AzureSettings":{{"Disabled":true,"AccountKey":"k"}}}}"#),
    ];
    let ids = unfinished.each_ref().map(|body| {
        let answer = server.wire.call(put, body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        number(&answer.json(), "TaskId")
    });
    let tasks = server.wire.call("GET /databases/db/tasks", "").json();
    let Some(Value::Array(tasks)) = tasks.get("OngoingTasks") else { panic!("{tasks:?}") };
    let names: Vec<&str> = tasks.iter().map(|task| text(task, "TaskName")).collect();
    assert_eq!(names, ["Backup w/o destinations", "Backup w/o destinations #2", "Backup w/o destinations #3"]);
    assert!(tasks.iter().all(|task| text(task, "TaskState") == "Disabled"));

    // It is enabled with a destination, and not before.
    let enable = format!("POST /databases/db/admin/tasks/state?key={}&type=Backup&disable=false", ids[0]);
    server.refused(&enable, "", "no destination");
    server.refused(put, &format!(r#"{{"TaskId":{},{frequency}}}"#, ids[0]), "no destination");
    let begun = server.wire.call(&format!("POST /databases/db/admin/backup/database?taskId={}", ids[0]), "").json();
    let id = number(&begun, "OperationId");
    server.settle();
    let state = server.wire.call(&format!("GET /databases/db/operations/state?id={id}"), "").json();
    assert_eq!(text(&state, "Status"), "Faulted");
    let whole = format!(r#"{{"TaskId":{},"Disabled":true,{frequency},{}}}"#, ids[0], server.local());
    assert_eq!(server.wire.call(put, &whole).status, 200);
    assert_eq!(server.wire.call(&enable, "").status, 200);

    // The same of all databases.
    let put = "PUT /admin/configuration/server-wide/backup";
    let names = unfinished.each_ref().map(|body| text(&server.wire.call(put, body).json(), "Name").to_owned());
    assert_eq!(names, ["Backup w/o destinations", "Backup w/o destinations #2", "Backup w/o destinations #3"]);
    let again = format!(r#"{{"Name":"{}","Disabled":true,{frequency},"BackupType":"Snapshot"}}"#, names[1]);
    assert_eq!(
        text(&server.wire.call(put, &again).json(), "Name"),
        names[1],
        "a given name means the task that has it"
    );
    let all = server.wire.call("GET /admin/configuration/server-wide/tasks?type=Backup", "").json();
    let Some(Value::Array(all)) = all.get("Results") else { panic!("{all:?}") };
    assert_eq!(all.len(), 3);
    let enable =
        "POST /admin/configuration/server-wide/state?type=Backup&disable=false&name=Backup%20w%2Fo%20destinations";
    server.refused(enable, "", "no destination");
}

#[test]
fn a_task_is_delayed() {
    let server = Server::start();
    let task = server.add_task("nightly");
    let delay = format!("POST /admin/backup-task/delay?database=db&taskId={task}&duration=");
    assert_eq!(server.wire.call(&format!("{delay}05:00:00"), "").status, 204);
    server.refused(&format!("{delay}soon"), "", "'duration' must be a time span");
    server.clock.advance(Duration::from_secs(3 * 60 * 60));
    assert_eq!(server.status(task).get("LastFullBackup"), Some(&Value::Null));
    server.clock.advance(Duration::from_secs(2 * 60 * 60));
    assert_eq!(text(&server.status(task), "LastFullBackup"), "2030-01-01T05:00:00.0000000Z");
}

#[test]
fn backups_of_all_databases_are_tasks_of_each_but_the_excluded() {
    let server = Server::start();
    server.wire.create("other");
    let body = format!(
        r#"{{"Name":"all","FullBackupFrequency":"0 2 * * *",{},"ExcludedDatabases":["OTHER"]}}"#,
        server.local()
    );
    let put = server.wire.call("PUT /admin/configuration/server-wide/backup", &body);
    assert_eq!((put.status, text(&put.json(), "Name")), (200, "all"));
    server.wire.create("later");
    server.clock.advance(Duration::from_secs(2 * 60 * 60));
    let mut folders: Vec<String> = std::fs::read_dir(server.place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(folders, ["db", "later"]);
    let tasks = "GET /admin/configuration/server-wide/tasks?type=Backup";
    let list = server.wire.call(tasks, "").json();
    assert!(matches!(list.get("Results"), Some(Value::Array(all)) if all.len() == 1 && text(&all[0], "Name") == "all"));
    let state = "POST /admin/configuration/server-wide/state?type=Backup&name=all&disable=";
    for (disable, expected) in [("true", "Disabled"), ("false", "Enabled")] {
        assert_eq!(server.wire.call(&format!("{state}{disable}"), "").status, 200);
        let task = "GET /databases/db/task?type=Backup&taskName=Server%20Wide%20Backup,%20all";
        let task = server.wire.call(task, "").json();
        assert_eq!(text(&task, "TaskState"), expected);
    }
    let read = server.wire.call("GET /databases/db/tasks", "").json();
    let Some(Value::Array(own)) = read.get("OngoingTasks") else { panic!("an array") };
    assert_eq!(text(&own[0], "TaskName"), "Server Wide Backup, all");
    let id = number(&own[0], "TaskId");
    let delete = format!("DELETE /databases/db/admin/tasks?id={id}&type=Backup");
    server.refused(&delete, "", "server-wide");
    let gone = server.wire.call("DELETE /admin/configuration/server-wide/task?type=Backup&name=ALL", "");
    assert_eq!(gone.status, 200, "{}", gone.text());
    let read = server.wire.call("GET /databases/db/tasks", "").json();
    assert_eq!(read.get("OngoingTasks"), Some(&Value::Array(Vec::new())));
}

#[test]
fn the_keys_of_backups_of_all_databases_are_in_no_record_and_in_no_backup() {
    let server = Server::start();
    let key = "c2VjcmV0IGtleSBvZiB0aGUgb3BlcmF0b3IgMTIzNDU=";
    let body = format!(
        r#"{{"Name":"all","FullBackupFrequency":"0 2 * * *",{},"BackupEncryptionSettings":{{"EncryptionMode":"UseProvidedKey","Key":"{key}"}},
        "S3Settings":{{"Disabled":true,"BucketName":"corp","AwsAccessKey":"AKIAOPERATOR","AwsSecretKey":"OPERATOR-SECRET"}},
        "FtpSettings":{{"Disabled":true,"Url":"ftp://x","Password":"FTP-SECRET"}}}}"#,
        server.local()
    );
    let put = server.wire.call("PUT /admin/configuration/server-wide/backup", &body);
    assert_eq!(put.status, 200, "{}", put.text());
    server.wire.create("later");
    let secrets = ["AKIAOPERATOR", "OPERATOR-SECRET", "FTP-SECRET", key];
    for database in ["db", "later"] {
        let record = server.wire.call(&format!("GET /databases/{database}/admin/record"), "").text();
        assert!(record.contains("Server Wide Backup, all") && record.contains("corp"), "{record}");
        assert!(secrets.iter().all(|secret| !record.contains(secret)), "{record}");
    }
    // A client that gives the record back as it was changes nothing.
    let record = server.wire.call("GET /admin/databases?name=db", "").json();
    let etag = format!("ETag: {}", number(&record, "Etag"));
    let again = server.wire.call_with("PUT /admin/databases?name=db", &[&etag], &record.to_vec());
    assert_eq!(again.status, 201, "{}", again.text());
    // The task has the key when it runs.
    server.clock.advance(Duration::from_secs(2 * 60 * 60));
    let task = server.wire.call("GET /databases/db/tasks", "").json();
    let Some(Value::Array(tasks)) = task.get("OngoingTasks") else { panic!("an array") };
    assert_eq!(tasks[0].get("IsEncrypted"), Some(&Value::Bool(true)));
    let status = server.status(number(&tasks[0], "TaskId"));
    let folder = text(status.get("LocalBackup").unwrap(), "BackupDirectory").to_owned();
    let body = |rest: &str| format!(r#"{{"Type":"Local","DatabaseName":"copy","BackupLocation":"{folder}"{rest}}}"#);
    server.refused("POST /admin/restore/database", &body(""), "the backup is encrypted");
    let with_key = format!(r#","BackupEncryptionSettings":{{"EncryptionMode":"UseProvidedKey","Key":"{key}"}}"#);
    let restored = server.restore("POST /admin/restore/database", &body(&with_key));
    assert_eq!(text(&restored, "Status"), "Completed", "{restored:?}");
    for kind in ["Backup", "Snapshot"] {
        let place = tempfile::tempdir().unwrap();
        let local = place.path().display();
        let body = format!(r#"{{"BackupType":"{kind}","LocalSettings":{{"FolderPath":"{local}"}}}}"#);
        assert_eq!(server.wire.call("POST /databases/db/admin/backup", &body).status, 200);
        server.settle();
        let folder = std::fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
        let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let file = files.find(|file| file.extension().is_none_or(|of_mark| of_mark != "rookery-task")).unwrap();
        let content = zstd::decode_all(std::fs::File::open(file).unwrap()).unwrap();
        assert!(memchr::memmem::find(&content, b"Server Wide Backup, all").is_some(), "{kind}");
        assert!(secrets.iter().all(|secret| memchr::memmem::find(&content, secret.as_bytes()).is_none()), "{kind}");
    }
}

#[test]
fn an_admin_of_a_database_chooses_neither_any_folder_nor_any_address() {
    let data = tempfile::tempdir().unwrap();
    let secured = Secured::start_with(|options| {
        (options.in_memory, options.data_directory) = (false, data.path().to_owned());
    });
    secured.administer("PUT /admin/databases?name=db", "{}", 201);
    let key = secured.key("app", r#""SecurityClearance":"ValidUser","Permissions":{"db":"Admin"}"#);
    let put = "POST /databases/db/admin/periodic-backup";
    let task = |name: &str, place: &str| {
        format!(r#"{{"Name":"{name}","FullBackupFrequency":"0 2 * * *","Restricted":false,{place}}}"#)
    };
    let s3 = |server: &str| {
        format!(
            r#""S3Settings":{{"BucketName":"b","AwsAccessKey":"a","AwsSecretKey":"s","CustomServerUrl":"{server}"}}"#
        )
    };
    let elsewhere = data.path().join("elsewhere").display().to_string();
    let refused = |place: &str, reason: &str| {
        for (line, body) in [(put, task("own", place)), ("POST /databases/db/admin/backup", format!("{{{place}}}"))] {
            let answer = secured.call_with_key(&key, line, &body);
            assert!(answer.status == 400 && answer.text().contains(reason), "{line} {place}: {}", answer.text());
        }
    };
    for folder in ["/etc", elsewhere.as_str(), "../x", "a\\u001b"] {
        refused(&format!(r#""LocalSettings":{{"FolderPath":"{folder}"}}"#), "folder '");
    }
    for server in [
        "http://127.0.0.1:1/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "http://localhost:1/",
        "http://169.254.169.254/",
    ] {
        refused(&s3(server), "only operators");
    }
    let google = r#""GoogleCloudSettings":{"BucketName":"b","GoogleCredentialsJson":"{\"private_key\":\"kkkkkkkk\",\"private_key_id\":\"iiiiiii\",\"client_email\":\"a@b\",\"gcs_base_url\":\"http://127.0.0.1:1\"}"}"#;
    refused(google, "'gcs_base_url'");
    let relative = task("own", r#""LocalSettings":{"FolderPath":"mine"}"#);
    assert_eq!(secured.call_with_key(&key, put, &relative).status, 200);
    let record = secured.call_with_key(&key, "GET /databases/db/admin/record", "").text();
    assert!(record.contains(r#""Restricted":true"#), "{record}");
    // An operator may.
    for place in [format!(r#""LocalSettings":{{"FolderPath":"{elsewhere}"}}"#), s3("http://127.0.0.1:1/")] {
        secured.administer(put, &task(&place[1..8], &place), 200);
    }
}

#[test]
fn only_allowed_kinds_of_destinations_are_taken() {
    let wire = Wire::start_with(|options| options.allowed_destinations = Some(vec![DestinationKind::S3]));
    wire.create("db");
    let body = r#"{"LocalSettings":{"FolderPath":"/tmp/x"}}"#;
    let refused = wire.call("POST /databases/db/admin/backup", body);
    assert!(refused.status == 400 && refused.text().contains("Backup.AllowedDestinations"), "{}", refused.text());
    let restore = r#"{"DatabaseName":"x","BackupLocation":"/tmp/x"}"#;
    assert!(wire.call("POST /admin/restore/database", restore).text().contains("Backup.AllowedDestinations"));
}

#[test]
fn one_backup_of_a_database_without_a_task_waits_at_most() {
    let server = Server::start();
    server.wire.create("other");
    // Nothing answers there, so that it runs until it is killed.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let body = format!(
        r#"{{"S3Settings":{{"BucketName":"b","AwsAccessKey":"a","AwsSecretKey":"s","ForcePathStyle":true,"CustomServerUrl":"http://{}/"}}}}"#,
        silent.local_addr().unwrap()
    );
    let begin = |database: &str| server.wire.call(&format!("POST /databases/{database}/admin/backup"), &body);
    assert_eq!(begin("db").status, 200);
    // The first may wait for its thread yet.
    testing::wait::until_equal(|| begin("db").status, 200);
    begin("db").check_error(
        409,
        "System.InvalidOperationException",
        "a backup of database 'db' waits for its turn already",
    );
    assert_eq!(begin("other").status, 200);
    let kill = |database: &str, id: u64| {
        server.wire.call(&format!("POST /databases/{database}/operations/kill?id={id}"), "").status
    };
    for id in 1..=2 {
        assert_eq!(kill("db", id), 204);
    }
    assert_eq!(kill("other", 1), 204);
}

#[test]
fn what_means_nothing_is_refused_with_the_reason() {
    let server = Server::start();
    let put = "POST /databases/db/admin/periodic-backup";
    let refused = |line: &str, body: &str, message: &str| server.refused(line, body, message);
    let local = server.local();
    refused(put, &format!("{{{local}}}"), "FullBackupFrequency");
    refused(put, r#"{"FullBackupFrequency":"0 2 * * *"}"#, "no destination");
    refused(put, &format!(r#"{{"FullBackupFrequency":"zork",{local}}}"#), "zork");
    refused(put, &format!(r#"{{"FullBackupFrequency":"0 2 * * *","TaskId":77,{local}}}"#), "no backup task 77");
    refused("POST /databases/db/admin/backup/database?taskId=88&isFullBackup=true", "", "no backup task 88");
    refused("POST /databases/db/admin/backup", r#"{"BackupType":"Backup"}"#, "no destination");
    let restore = "POST /admin/restore/database";
    refused(restore, r#"{"DatabaseName":"x","BackupLocation":"/nowhere/at/all"}"#, "doesn't exist");
    refused(restore, r#"{"DatabaseName":"x"}"#, "BackupLocation");
    refused(restore, r#"{"DatabaseName":"x","BackupLocation":"/","Zork":1}"#, "Zork");
    refused(restore, r#"{"DatabaseName":"x","Type":"Zork","BackupLocation":"/"}"#, "Zork");
    // It would be written in clear.
    let encryption = format!(r#""BackupEncryptionSettings":{{"Key":"{}="}}"#, "A".repeat(43));
    let instead = "Set 'EncryptionMode' in it to UseProvidedKey";
    refused(put, &format!(r#"{{"FullBackupFrequency":"0 2 * * *",{encryption},{local}}}"#), instead);
    refused("POST /databases/db/admin/backup", &format!(r#"{{"BackupType":"Backup",{encryption},{local}}}"#), instead);
    let server_wide = format!(r#"{{"Name":"all","FullBackupFrequency":"0 2 * * *",{encryption},{local}}}"#);
    refused("PUT /admin/configuration/server-wide/backup", &server_wide, instead);
    let location = server.place.path().display();
    refused(restore, &format!(r#"{{"DatabaseName":"x","BackupLocation":"{location}",{encryption}}}"#), instead);
    assert_eq!(std::fs::read_dir(server.place.path()).unwrap().count(), 0);
    let empty = format!(r#"{{"DatabaseName":"x","BackupLocation":"{}"}}"#, server.place.path().display());
    refused(restore, &empty, "no file of a backup");
    let deflated =
        format!(r#"{{"BackupType":"Snapshot","SnapshotSettings":{{"CompressionAlgorithm":"Deflate"}},{local}}}"#);
    assert_eq!(server.wire.call("POST /databases/db/admin/backup", &deflated).status, 501);
    let ftp = r#"{"FtpSettings":{"Url":"ftp://example.com"}}"#;
    assert_eq!(server.wire.call("POST /databases/db/admin/backup", ftp).status, 501);
    let data_directory =
        format!(r#"{{"DatabaseName":"x","BackupLocation":"{}","DataDirectory":"/x"}}"#, server.place.path().display());
    assert_eq!(server.wire.call(restore, &data_directory).status, 501);
    assert_eq!(server.wire.call("POST /databases/db/admin/tasks/state?key=1&type=SqlEtl&disable=true", "").status, 501);
}

/// A store that accepts connections, and answers none before the test lets it.
#[test]
fn a_store_that_hangs_does_not_take_administration_with_it() {
    let wire = Wire::start_with(|options| options.limits.short_thread_count = 1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (connected, connections) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            _ = connected.send(());
            // An error: it was released.
            _ = released.recv();
            let mut stream = stream;
            _ = stream.read(&mut [0; 4096]);
            _ = stream.write_all(b"HTTP/1.1 403 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let settings = format!(
        r#"{{"CustomServerUrl":"http://127.0.0.1:{port}","BucketName":"b","AwsAccessKey":"k","AwsSecretKey":"s","AwsRegionName":"r"}}"#
    );
    std::thread::scope(|scope| {
        let points = scope.spawn(|| wire.call("POST /admin/restore/points?type=S3", &settings));
        connections.recv().unwrap();
        wire.create("made-meanwhile");
        drop(release);
        let refused = points.join().unwrap();
        assert_ne!(refused.status, 200, "{}", refused.text());
    });
}

#[test]
fn an_archived_database_is_restored_to_a_time_and_to_a_transaction() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_in(Some(data.path()));
    let put = |number: u64| server.wire.put(&format!("users/{number}"), r#"{"Name":"Ann"}"#);
    put(1);
    let task = |more: &str| {
        format!(r#"{{"Name":"archive","FullBackupFrequency":"0 2 * * *","PointInTime":true,{}{more}}}"#, server.local())
    };
    server.refused("POST /databases/db/admin/periodic-backup", &task(""), "'BackupType' Snapshot");
    let body = task(r#","BackupType":"Snapshot""#);
    let id = number(&server.wire.call("POST /databases/db/admin/periodic-backup", &body).json(), "TaskId");
    let second = Duration::from_secs(1);
    server.clock.advance(second);
    put(2);
    server.clock.advance(second);
    let middle = server.clock.now();
    put(3);
    // The first of these notes the end of what it archives.
    server.clock.advance(5 * second);
    server.clock.advance(5 * second);
    let answer = server.wire.call(&format!("GET /periodic-backup/status?name=db&taskId={id}"), "").json();
    let archive = answer.get("Archive").unwrap();
    assert_eq!(archive.get("IsBehind"), Some(&Value::Bool(false)), "{archive:?}");
    let last = number(archive, "LastTransaction");

    let settings = format!(r#"{{"FolderPath":"{}"}}"#, server.place.path().display());
    let points = server.wire.call("POST /admin/restore/points?type=Local", &settings).json();
    let Some(Value::Array(archives)) = points.get("Archives") else { panic!("a list") };
    assert_eq!((archives.len(), number(&archives[0], "LastTransaction")), (1, last));
    let location = text(&archives[0], "Location");
    assert_eq!(location, server.place.path().display().to_string());

    let request = |name: &str, more: &str| {
        format!(r#"{{"DatabaseName":"{name}","BackupLocation":"{location}","DisableOngoingTasks":true,{more}}}"#)
    };
    let restored = |name: &str, more: &str| {
        let state = server.restore("POST /admin/restore/database", &request(name, more));
        assert_eq!(text(&state, "Status"), "Completed", "{state:?}");
        let statistics = server.wire.call(&format!("GET /databases/{name}/stats"), "").json();
        (number(&statistics, "CountOfDocuments"), state)
    };
    let (count, state) = restored("middle", &format!(r#""RestoreUntil":"{middle}""#));
    let messages = state.get("Result").and_then(|result| result.get("Messages")).unwrap();
    let Value::Array(messages) = messages else { panic!("a list") };
    assert!(messages.iter().any(|line| line.as_str().unwrap().contains("The state is that of transaction")));
    assert_eq!(count, 2);
    assert_eq!(restored("all", &format!(r#""RestoreUntilTransaction":{last},"SourceDatabaseName":"DB""#)).0, 3);

    let refused = |more: &str, reason: &str| {
        server.refused("POST /admin/restore/database", &request("other", more), reason);
    };
    refused(r#""RestoreUntil":"yesterday""#, "a time in UTC");
    refused(r#""RestoreUntil":"2020-01-01T00:00:00Z""#, "no snapshot precedes the state");
    refused(&format!(r#""RestoreUntilTransaction":{}"#, last + 1), "the archive ends with transaction");
    refused(r#""RestoreUntilTransaction":-1"#, "the number of a transaction");
    refused(&format!(r#""RestoreUntil":"{middle}","RestoreUntilTransaction":1"#), "both given");
    refused(&format!(r#""RestoreUntil":"{middle}","LastFileNameToRestore":"x""#), "Leave one of them out");
    refused(&format!(r#""RestoreUntil":"{middle}","SourceDatabaseName":"zoo""#), "none of 'zoo'");
    refused(r#""SourceDatabaseName":"db""#, "has no meaning");
}
