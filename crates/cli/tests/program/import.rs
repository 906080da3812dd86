//! `rookery import`: what becomes of a file, and of what `rookery dump` writes.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Program, outcome, rookery, text};

fn import(program: &Program, database: &str, file: &Path, more: &[&str]) -> Command {
    let mut command = rookery(&["import", "--url", &program.url, "-d", database]);
    command.args(more).arg(file);
    command
}

/// The lines of a dump without what every write makes anew.
fn dumped(folder: &Path) -> Vec<String> {
    let (is_content, out, err) = outcome(rookery(&["dump", text(folder)]));
    assert!(is_content, "{err}");
    let written = |line: &str| {
        let mut value = json::Value::parse(line.as_bytes()).unwrap();
        if let json::Value::Object(members) = &mut value
            && let Some((_, json::Value::Object(metadata))) = members.iter_mut().find(|(name, _)| name == "@metadata")
        {
            metadata.retain(|(name, _)| name != "@change-vector" && name != "@last-modified");
        }
        String::from_utf8(value.to_vec()).unwrap()
    };
    out.lines().map(written).collect()
}

#[test]
fn what_dump_writes_import_takes_back() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let serve = |data: &Path| Program::start(&["serve", "--url", "http://127.0.0.1:0", "--data", text(data)]);
    let mut program = serve(&one);
    program.request("PUT", "/admin/databases?name=Shop", "{\"DatabaseName\":\"Shop\"}");
    let put = |id: &str, body: &str| {
        let answer = program.request("PUT", &format!("/databases/Shop/docs?id={id}"), body);
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    };
    put("plain/1", "{\"a\":1}");
    put("o/1", "{\"a\":1,\"@metadata\":{\"@collection\":\"Os\",\"X\":[1,{\"y\":1.0}]}}");
    put("empty", "{}");
    put("odd/%22%C3%A4%20%7Cx", "{\"@identity\":{\"Name\":\"x|\",\"Value\":3},\"\\u0000\":\"\\ud83d\\ude00\"}");
    for (name, value) in [("inv|", 500), ("a%20%26%20b|", 7)] {
        let target = format!("/databases/Shop/identity/seed?name={name}&value={value}&force=true");
        assert!(program.request("POST", &target, "").starts_with("HTTP/1.1 200"));
    }
    assert!(program.terminate().1);
    let expected = dumped(&one.join("databases/shop"));
    assert_eq!(expected.len(), 6, "{expected:#?}");

    let file = folder.path().join("shop.jsonl");
    std::fs::write(&file, outcome(rookery(&["dump", text(&one.join("databases/shop"))])).1).unwrap();
    let mut program = serve(&two);
    let (is_content, out, err) = outcome(import(&program, "Shop", &file, &[]));
    assert!(is_content && out.starts_with("4 documents and 2 identities from "), "{out}{err}");
    assert!(program.terminate().1);
    assert_eq!(dumped(&two.join("databases/shop")), expected);
}

#[test]
fn a_file_that_breaks_off_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::in_memory();
    let lines: String = (0..5000).map(|number| format!("{{\"Number\":{number}}}\n")).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, lines.as_bytes()).unwrap();
    let zstd = zstd::encode_all(lines.as_bytes(), 1).unwrap();
    for (name, whole) in [("x.jsonl.gz", gzip.finish().unwrap()), ("x.jsonl.zst", zstd)] {
        let file = folder.path().join(name);
        std::fs::write(&file, &whole).unwrap();
        let (is_content, out, err) = outcome(import(&program, "Whole", &file, &[]));
        assert!(is_content && out.starts_with("5000 documents from "), "{name}: {out}{err}");
        std::fs::write(&file, &whole[..whole.len() - 9]).unwrap();
        let (is_content, out, err) = outcome(import(&program, "Cut", &file, &[]));
        assert!(
            !is_content && err.contains(&format!("{name} was not read to its end: after line ")),
            "{name}: {out}{err}"
        );
        assert!(!err.contains("left out"), "{name}: {err}");
    }
    let (is_content, _, err) = outcome(import(&program, "Folder", folder.path(), &[]));
    assert!(!is_content && err.contains("is a folder"), "{err}");
    assert!(program.get("/admin/databases?name=Folder").starts_with("HTTP/1.1 404"), "no database was made");
}

#[test]
fn a_quote_that_nobody_closes_is_told_with_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::in_memory();
    let file = folder.path().join("q.csv");
    std::fs::write(&file, format!("id,name\n1,\"open\n{}", "2,x\n".repeat(9_000))).unwrap();
    let start = Instant::now();
    let (is_content, out, err) = outcome(import(&program, "Shop", &file, &["--collection", "Things"]));
    assert!(!is_content && out.starts_with("0 documents"), "{out}{err}");
    assert_eq!(err, "lines 2 to 9002: a quoted field has no end\n9001 lines were left out\n");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
