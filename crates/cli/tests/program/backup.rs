//! `rookery backup` and `rookery restore`.

use std::path::{Path, PathBuf};

use crate::support::{Program, outcome, rookery, text};

struct Server {
    program: Program,
    folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let program = Program::start(&["serve", "--url", "http://127.0.0.1:0", "--data", text(&data)]);
        let server = Server { program, folder };
        server.import(3);
        server
    }

    fn import(&self, count: usize) {
        let people = self.folder.path().join("people.jsonl");
        let lines: String = (0..count).map(|number| format!("{{\"Name\":\"Ada {number}\"}}\n")).collect();
        std::fs::write(&people, lines).unwrap();
        self.succeeds(&["import", "-d", "People", text(&people)]);
    }

    fn call(&self, command: &[&str]) -> (bool, String, String) {
        let mut called = rookery(command);
        called.args(["--url", self.program.url.as_str()]);
        outcome(called)
    }

    #[track_caller]
    fn succeeds(&self, command: &[&str]) -> String {
        let (has_succeeded, out, err) = self.call(command);
        assert!(has_succeeded, "{out}{err}");
        out
    }

    #[track_caller]
    fn fails(&self, command: &[&str], reason: &str) {
        let (has_succeeded, out, err) = self.call(command);
        assert!(!has_succeeded && err.contains(reason), "{out}{err}");
    }
}

fn only_folder(place: &Path) -> String {
    let folders: Vec<_> = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders[0].display().to_string()
}

#[test]
fn a_backup_is_made_listed_verified_and_restored() {
    let server = Server::start();
    let place = server.folder.path().join("backups");
    let made = server.succeeds(&["backup", "run", "-d", "People", "--to", text(&place)]);
    let folder = only_folder(&place);
    assert!(made.starts_with("3 documents in ") && made.contains(&folder), "{made}");
    let list = server.succeeds(&["backup", "list", text(&place)]);
    assert!(list.contains("People") && list.contains("full") && list.contains(&folder), "{list}");
    let verified = server.succeeds(&["backup", "verify", &folder]);
    assert_eq!(verified, "The backup can be restored: it has 3 documents.\n");
    let restored = server.succeeds(&["restore", &folder, "-d", "Copy"]);
    assert_eq!(restored, "The database 'Copy' is restored, with 3 documents.\n");
    let found = server.succeeds(&["query", "-d", "Copy", "-f", "csv", "from People select Name"]);
    assert!(found.contains("Ada 2"), "{found}");
    server.fails(&["restore", &folder, "-d", "Copy"], "already exists");
    server.fails(&["restore", "/nowhere/at/all", "-d", "Other"], "doesn't exist");
    let status = server.succeeds(&["backup", "status", "-d", "People"]);
    assert_eq!(status, "The database 'People' has no backup tasks.\n");
}

#[test]
fn a_task_is_run_and_its_status_shown() {
    let server = Server::start();
    let place = server.folder.path().join("backups");
    let body = format!(
        r#"{{"Name":"nightly","FullBackupFrequency":"0 2 * * *","LocalSettings":{{"FolderPath":"{}"}}}}"#,
        place.display()
    );
    let answer = server.program.request("POST", "/databases/People/admin/periodic-backup", &body);
    assert!(answer.contains("TaskId"), "{answer}");
    server.succeeds(&["backup", "run", "-d", "People", "--task", "nightly"]);
    let said = server.succeeds(&["backup", "run", "-d", "People", "--task", "nightly"]);
    assert!(said.starts_with("Nothing has changed"), "{said}");
    server.import(1);
    let said = server.succeeds(&["backup", "run", "-d", "People", "--task", "nightly"]);
    assert!(said.contains("incremental-backup"), "{said}");
    let status = server.succeeds(&["backup", "status", "-d", "People"]);
    assert!(status.contains("nightly") && status.contains("enabled") && !status.contains("never"), "{status}");
    let expected = "there is no backup task 'weekly'; the database has 'nightly'";
    server.fails(&["backup", "run", "-d", "People", "--task", "weekly"], expected);
}

#[test]
fn the_status_of_a_failed_task_has_the_whole_reason() {
    let server = Server::start();
    let file = server.folder.path().join("a file where the folder of the backups should be");
    std::fs::write(&file, "").unwrap();
    let body = format!(
        r#"{{"Name":"nightly","FullBackupFrequency":"0 2 * * *","LocalSettings":{{"FolderPath":"{}"}}}}"#,
        file.display()
    );
    assert!(server.program.request("POST", "/databases/People/admin/periodic-backup", &body).contains("TaskId"));
    server.fails(&["backup", "run", "-d", "People", "--task", "nightly"], "a file where the folder");
    let (has_succeeded, status, err) = server.call(&["backup", "status", "-d", "People"]);
    assert!(!has_succeeded && err.is_empty(), "{err}");
    let reason = status.lines().find(|line| line.starts_with("nightly failed: ")).unwrap_or_else(|| panic!("{status}"));
    assert!(reason.contains(text(&file)) && !reason.contains('…'), "{status}");
}

/// Definitions of server-wide backups are of the server, not of the database.
#[test]
fn a_restore_names_the_server_wide_backups_that_are_missing() {
    let server = Server::start();
    let place = server.folder.path().join("backups");
    let server_wide = format!(
        r#"{{"Name":"all","FullBackupFrequency":"0 2 * * *","LocalSettings":{{"FolderPath":"{}"}}}}"#,
        place.join("all").display()
    );
    let put = server.program.request("PUT", "/admin/configuration/server-wide/backup", &server_wide);
    assert!(put.starts_with("HTTP/1.1 200"), "{put}");
    let own = server_wide.replace("\"all\"", "\"own\"");
    assert!(server.program.request("POST", "/databases/People/admin/periodic-backup", &own).contains("TaskId"));
    let dump = place.join("one");
    server.succeeds(&["backup", "run", "-d", "People", "--to", text(&dump)]);
    let folder = only_folder(&dump);
    let here = server.succeeds(&["restore", &folder, "-d", "Here"]);
    assert!(here.contains("write to its places: 'own'.") && !here.contains("server-wide"), "{here}");
    let gone = server.program.request("DELETE", "/admin/configuration/server-wide/task?type=Backup&name=all", "");
    assert!(gone.starts_with("HTTP/1.1 200"), "{gone}");
    let elsewhere = server.succeeds(&["restore", &folder, "-d", "Elsewhere", "--disable-tasks"]);
    let expected = "The server-wide backups of the original do not cover the database on this server: 'all'.";
    assert!(elsewhere.contains(expected) && !elsewhere.contains("'own'"), "{elsewhere}");
}

#[test]
fn a_backup_that_is_cut_off_says_so() {
    let server = Server::start();
    let place = server.folder.path().join("backups");
    server.succeeds(&["backup", "run", "-d", "People", "--to", text(&place)]);
    let folder = only_folder(&place);
    let backup_file = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "ravendb-full-backup");
    let file = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(backup_file).unwrap();
    let content = std::fs::read(&file).unwrap();
    for size in [content.len() / 2, 0] {
        std::fs::write(&file, &content[..size]).unwrap();
        server.fails(&["backup", "verify", &folder], "cannot be restored: the file is empty or cut off");
    }
}

#[test]
fn an_encrypted_backup_needs_its_key() {
    let server = Server::start();
    let (place, key) = (server.folder.path().join("backups"), server.folder.path().join("key"));
    std::fs::write(&key, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n").unwrap();
    server.succeeds(&["backup", "run", "-d", "People", "--to", text(&place), "--key-file", text(&key)]);
    let folder = only_folder(&place);
    server.fails(&["backup", "verify", &folder], "encrypted");
    server.succeeds(&["backup", "verify", &folder, "--key-file", text(&key)]);
    std::fs::write(&key, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap();
    server.fails(&["restore", &folder, "-d", "Copy", "--key-file", text(&key)], "key");
}

#[test]
fn a_database_comes_back_as_it_was_at_a_time() {
    let server = Server::start();
    let place = server.folder.path().join("backups");
    let body = format!(
        r#"{{"Name":"archive","FullBackupFrequency":"0 2 * * *","BackupType":"Snapshot","PointInTime":true,"LocalSettings":{{"FolderPath":"{}"}}}}"#,
        place.display()
    );
    let answer = server.program.request("POST", "/databases/People/admin/periodic-backup", &body);
    assert!(answer.contains("TaskId"), "{answer}");
    // The server's own clock decides when something is archived.
    let archived = |is_enough: &dyn Fn(u64, u64) -> bool| {
        testing::wait::until(|| {
            let (_, list, _) = server.call(&["backup", "list", text(&place)]);
            let range = list.lines().find(|line| line.starts_with("any second from ")).map(transactions);
            let range = range.filter(|(first, last)| is_enough(*first, *last));
            range.map(|(first, last)| (first.to_string(), last.to_string())).ok_or(list)
        })
    };
    archived(&|_, _| true);
    server.import(4);
    let (first, last) = archived(&|first, last| last > first);
    let place = text(&place);
    let restored =
        server.succeeds(&["restore", place, "-d", "Before", "--until-transaction", &first, "--disable-tasks"]);
    assert!(restored.starts_with("The database 'Before' is restored, with 3 documents.\n"), "{restored}");
    assert!(restored.contains(&format!("The state is that of transaction {first}, of ")), "{restored}");
    let verified = server.succeeds(&["backup", "verify", place, "--until-transaction", &last, "--of", "People"]);
    assert!(verified.starts_with("The backup can be restored: it has 7 documents.\n"), "{verified}");
    let after = ["restore", place, "-d", "After", "--until", "2999-01-01T00:00:00Z", "--disable-tasks"];
    let restored = server.succeeds(&after);
    assert!(restored.contains("with 7 documents"), "{restored}");
    assert!(restored.contains(". The archive ends there, before the time that was asked for.\n"), "{restored}");
    server.fails(&["restore", place, "-d", "Other", "--until", "yesterday"], "a time in UTC");
    server
        .fails(&["restore", place, "-d", "Other", "--until", "2020-01-01T00:00:00Z"], "no snapshot precedes the state");
}

/// The numbers in `.., transactions 4 to 9  ..`.
fn transactions(line: &str) -> (u64, u64) {
    let (_, rest) = line.split_once("transactions ").unwrap();
    let mut words = rest.split_whitespace();
    let (first, last) = (words.next().unwrap(), words.nth(1).unwrap());
    (first.parse().unwrap(), last.parse().unwrap())
}
