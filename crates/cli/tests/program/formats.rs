//! Golden data folders of each version of the formats that is opened (P16): verified, opened, upgraded.
//!
//! `tests/formats/make` makes them, each from a server that was stopped and from one that was killed. Their names say the version of the
//! trees of documents, which `docs/format-documents.md` describes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use json::Value;

use crate::support::{Program, outcome, rookery, text};

/// The oldest version that is opened; older ones were never released.
const OLDEST: u32 = 2;

/// The folders by name, with the version in it.
fn golden() -> Vec<(String, u32)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<_> = names
        .filter_map(|file| {
            let name = file.strip_suffix(".zip")?.to_owned();
            let version = name.split('-').nth(1).unwrap().parse().unwrap();
            Some((name, version))
        })
        .collect();
    found.sort();
    found
}

/// Their names.
fn names() -> impl Iterator<Item = String> {
    golden().into_iter().map(|(name, _)| name)
}

fn unpack(name: &str) -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/formats/{name}.zip"));
    let data = parent.path().join("data");
    zip::ZipArchive::new(File::open(file).unwrap()).unwrap().extract(&data).unwrap();
    (parent, data)
}

/// What the program says of a folder that no server has open, and whether it finds nothing wrong.
fn check(data: &Path) -> (bool, String) {
    let (is_sound, out, err) = outcome(rookery(&["check", text(data)]));
    (is_sound, out + &err)
}

fn serve(data: &Path) -> Program {
    Program::start_with(&["serve", "--url", "http://127.0.0.1:0", "--data", text(data)], Stdio::null())
}

/// The body of an answer with status 200.
#[track_caller]
fn call(program: &Program, method: &str, target: &str, body: &str) -> Value {
    let answer = program.request(method, target, body);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{method} {target}: {answer}");
    Value::parse(body.as_bytes()).unwrap_or_else(|error| panic!("{method} {target}: {error}: {body}"))
}

fn number(value: &Value, path: &[&str]) -> i64 {
    let found = path.iter().try_fold(value, |value, name| value.get(name));
    found.and_then(Value::as_i64).unwrap_or_else(|| panic!("{path:?} in {value:?}"))
}

fn query(program: &Program, query: &str) -> Value {
    let body =
        format!(r#"{{"Query":"{query}","WaitForNonStaleResults":true,"WaitForNonStaleResultsTimeout":"00:01:00"}}"#);
    call(program, "POST", "/databases/Shop/queries", &body)
}

/// All that `tests/formats/make` stored, and that it can be worked with.
fn verify(program: &Program, name: &str) {
    let stats = call(program, "GET", "/databases/Shop/stats", "");
    assert_eq!((number(&stats, &["CountOfDocuments"]), number(&stats, &["CountOfIndexes"])), (302, 2), "{name}");
    let documents = call(program, "GET", "/databases/Shop/docs?id=orders/1&id=orders/299&id=orders/300", "");
    let Some(Value::Array(found)) = documents.get("Results") else { panic!("{documents:?}") };
    assert_eq!((number(&found[0], &["Total"]), number(&found[1], &["Total"])), (1, 1000), "{name}");
    assert_eq!(found[2], Value::Null, "{name}: a deleted document is there");
    let large = call(program, "GET", "/databases/Shop/docs/size?id=large/1", "");
    assert!(number(&large, &["ActualSize"]) > 200_000, "{name}: {large:?}");
    // The automatic index, and the one that groups: 291 to 298, and 299, which has 1000 now.
    assert_eq!(number(&query(program, "from Orders where Total > 290"), &["TotalResults"]), 9, "{name}");
    let groups = query(program, "from index 'Orders/Totals' where Customer = 'customers/5'");
    let Some(Value::Array(found)) = groups.get("Results") else { panic!("{groups:?}") };
    let of_five = (1..=298).filter(|number| number % 7 == 5).sum::<i64>() + 1000;
    assert_eq!(number(&found[0], &["Total"]), of_five, "{name}");
    // Documents that are due are found by their time: one is long over.
    let body = r#"{"Disabled":false,"DeleteFrequencyInSec":1}"#;
    call(program, "POST", "/databases/Shop/admin/expiration/config", body);
    let is_there = |id: &str| !program.get(&format!("/databases/Shop/docs?id={id}")).starts_with("HTTP/1.1 404");
    testing::wait::until_true(format!("{name}: a document of 2001 expires"), || !is_there("sessions/2"));
    assert!(is_there("sessions/1"), "{name}");
    let next = call(program, "POST", "/databases/Shop/identity/next?name=invoices|", "");
    assert_eq!(number(&next, &["NewIdentityValue"]), 4, "{name}");
    let stored = program.request(
        "PUT",
        "/databases/Shop/docs?id=orders/",
        r#"{"Total":7,"@metadata":{"@collection":"Orders"}}"#,
    );
    assert!(stored.starts_with("HTTP/1.1 201"), "{name}: {stored}");
    assert!(program.get("/databases/Off/stats").starts_with("HTTP/1.1 503"), "{name}: a disabled database is open");
}

#[test]
fn there_is_a_folder_of_each_version() {
    let versions: Vec<u32> = golden().into_iter().map(|(_, version)| version).collect();
    let documentation = include_str!("../../../../docs/format-documents.md");
    let newest = documentation.split_once("`state/version` is ").and_then(|(_, rest)| rest.split_once('.')).unwrap().0;
    for version in OLDEST..=newest.parse().unwrap() {
        assert_eq!(
            versions.iter().filter(|found| **found == version).count(),
            2,
            "version {version}: run tests/formats/make"
        );
    }
}

#[test]
fn older_formats_are_verified_opened_and_upgraded() {
    for name in names() {
        // Verifying opens the folder as a server does, so the server gets another copy.
        let (_parent, data) = unpack(&name);
        let (is_sound, said) = check(&data);
        assert!(
            is_sound && said.contains("no problems") && said.contains("302 documents, 1 tombstone"),
            "{name}: {said}"
        );
        let (_parent, data) = unpack(&name);
        let mut program = serve(&data);
        verify(&program, &name);
        assert!(program.terminate().1, "{name}");
        let (is_sound, said) = check(&data);
        assert!(is_sound, "{name}, after the upgrade: {said}");
        // What is open now is of the newest version, and opens as such.
        let program = serve(&data);
        let stats = call(&program, "GET", "/databases/Shop/stats", "");
        assert_eq!(number(&stats, &["CountOfDocuments"]), 302, "{name}, after the upgrade");
    }
}

/// Killed while it is upgraded, the next start goes on.
#[test]
fn an_upgrade_that_is_killed_goes_on() {
    for name in names() {
        let (_parent, data) = unpack(&name);
        for _ in 0..5 {
            let mut program = serve(&data);
            // The first request opens the database; the process ends somewhere within that.
            let mut stream = program.connect();
            std::io::Write::write_all(&mut stream, b"GET /databases/Shop/stats HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .unwrap();
            program.child.kill().unwrap();
            program.child.wait().unwrap();
        }
        let program = serve(&data);
        verify(&program, &name);
    }
}
