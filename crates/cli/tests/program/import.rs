//! `rookery import`: what becomes of a file, and of what `rookery dump` writes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
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
    let counters =
        r#"{"Documents":[{"DocumentId":"o/1","Operations":[{"Type":"Increment","CounterName":"likes","Delta":7}]}]}"#;
    assert!(program.request("POST", "/databases/Shop/counters", counters).starts_with("HTTP/1.1 200"));
    let attachment = "/databases/Shop/attachments?id=o/1&name=Note.txt&contentType=text/plain";
    assert!(program.request("PUT", attachment, "a note").starts_with("HTTP/1.1 201"));
    assert!(program.terminate().1);
    let expected = dumped(&one.join("databases/shop"));
    assert_eq!(expected.len(), 9, "{expected:#?}");

    let file = folder.path().join("shop.jsonl");
    std::fs::write(&file, outcome(rookery(&["dump", text(&one.join("databases/shop"))])).1).unwrap();
    let mut program = serve(&two);
    let (is_content, out, err) = outcome(import(&program, "Shop", &file, &[]));
    assert!(is_content && out.starts_with("4 documents, 1 attachment, 1 counter and 2 identities from "), "{out}{err}");
    assert!(program.get("/databases/Shop/attachments?id=o/1&name=note.TXT").ends_with("a note"));
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
        assert!(!err.contains("skipped"), "{name}: {err}");
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
    let line = format!("2,{}\n", "x".repeat(1_000));
    std::fs::write(&file, format!("id,name\n1,\"open\n{}", line.repeat(9_000))).unwrap();
    let start = Instant::now();
    let (is_content, out, err) = outcome(import(&program, "Shop", &file, &["--collection", "Things"]));
    assert!(!is_content && out.starts_with("0 documents"), "{out}{err}");
    assert_eq!(err, "lines 2 to 9002: a quoted field has no end\n9001 lines were skipped\n");
    // The file has 9 MB. To look at the field from its start for each of its lines would be 40 GB, which take minutes.
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn a_part_of_a_dump_is_imported_without_what_belongs_to_the_rest() {
    let program = Program::in_memory();
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("shop.ravendbdump");
    let counters = |id: &str| {
        format!(
            r#"{{"DocId":"{id}","Values":{{"@dbIds":["BBBBBBBBBBBBBBBBBBBBBA"],"@names":{{}},"@vals":{{"likes":[5,2]}}}}}}"#
        )
    };
    let content = format!(
        r#"{{"Docs":[{{"@metadata":{{"@collection":"Orders","@id":"o/1"}}}},{{"@metadata":{{"@collection":"Users","@id":"u/1"}}}}],
        "CounterGroups":[{},{}]}}"#,
        counters("o/1"),
        counters("u/1")
    );
    std::fs::write(&dump, content).unwrap();
    let (is_content, out, err) = outcome(import(&program, "Shop", &dump, &["--collection", "Orders"]));
    assert!(is_content && out.starts_with("1 document") && err.is_empty(), "{out}{err}");
    assert!(program.get("/databases/Shop/counters?docId=o/1").contains("\"TotalValue\":5"));
    let (is_content, out, err) = outcome(import(&program, "Shop2", &dump, &["--collection", "Nope"]));
    assert!(!is_content && out.starts_with("0 documents"), "{out}{err}");
    assert!(err.contains("has no documents of the collection 'Nope' that could be imported"), "{err}");
}

#[test]
fn tables_are_read_with_any_separator_and_as_utf_16() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::in_memory();
    let bom_and = |text: &str| -> Vec<u8> { "\u{feff}".chars().chain(text.chars()).collect::<String>().into_bytes() };
    let utf_16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
    };
    let semicolons = "id;Name\n1;Zoë, Oslo\n";
    for (name, content) in [
        ("semicolons.csv", bom_and(semicolons)),
        ("little.csv", utf_16(semicolons, u16::to_le_bytes)),
        ("big.csv", utf_16(semicolons, u16::to_be_bytes)),
        ("tabs.txt.csv", b"id\tName\n1\tZo\xc3\xab, Oslo\n".to_vec()),
        ("array.json", "[\n{\"id\":1,\n\"Name\":\"Zoë, Oslo\"}]".as_bytes().to_vec()),
        // Compressed, and named as if it were not.
        ("packed.csv", zstd::encode_all(semicolons.as_bytes(), 1).unwrap()),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let database = name.split('.').next().unwrap();
        let (is_content, out, err) = outcome(import(&program, database, &file, &["--id-field", "id"]));
        assert!(is_content && out.starts_with("1 document from ") && out.contains(" is in '"), "{name}: {out}{err}");
        let answer = program.get(&format!("/databases/{database}/docs?id=1"));
        assert!(answer.contains("\"Name\":\"Zoë, Oslo\""), "{name}: {answer}");
        let collection = database[..1].to_uppercase() + &database[1..];
        let collection = if name.starts_with("tabs") { "Tabstxt" } else { &collection };
        assert!(answer.contains(&format!("\"@collection\":\"{collection}\"")), "{name}: {answer}");
    }
}

#[test]
fn a_file_that_cannot_become_documents_fails_at_once_and_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::in_memory();
    let check = |name: &str, content: &[u8], more: &[&str], expected: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let (is_content, out, err) = outcome(import(&program, "Never", &file, more));
        assert!(
            !is_content && out.is_empty() && err.contains(expected) && err.lines().count() == 1,
            "{name}: {out}{err}"
        );
        assert!(program.get("/admin/databases?name=Never").starts_with("HTTP/1.1 404"), "{name}");
    };
    check("empty.csv", b"", &[], "empty.csv has no documents; nothing was changed");
    check("empty.jsonl", b"\n \n", &[], "empty.jsonl has no documents; nothing was changed");
    check("empty.json", b" [ ]\n", &[], "empty.json has no documents");
    check("names.csv", b"a,b\n", &[], "names.csv has no documents");
    check("twice.csv", b"a,b,a\n1,2,3\n", &[], "two columns have the name 'a'");
    let id = ["--id-field", "emial"];
    check("id.csv", b"email;name\nx;y\n", &id, "there is no column 'emial' for the id; did you mean 'email'?");
    check("short.jsonl", b"{}\n", &["--after-line", "7"], "short.jsonl has no documents after line 7");
    let half = [0xff, 0xfe, 0x41];
    check("half.csv", &half, &[], "is not UTF-16");
}

#[test]
fn the_server_is_found_without_a_scheme_and_another_scheme_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::in_memory();
    let file = folder.path().join("x.jsonl");
    std::fs::write(&file, "{}\n{}\noops\n").unwrap();
    let at = |url: &str| outcome(rookery(&["import", "--url", url, "-d", "Shop", text(&file)]));
    let (is_content, out, err) = at(program.url.strip_prefix("http://").unwrap());
    assert!(!is_content && out.starts_with("2 documents from "), "{out}{err}");
    assert!(err.contains("line 3: ") && err.ends_with("1 line was skipped\n"), "{err}");
    for (url, expected) in [
        ("ftp://127.0.0.1:1", "write http://host:port or https://host:port"),
        ("http://127.0.0.1:1/x", "is not the address of a server"),
        ("8080", "is not the address of a server"),
    ] {
        let (is_content, _, err) = at(url);
        assert!(!is_content && err.contains(expected), "{url}: {err}");
    }
}

#[test]
fn an_interrupted_import_tells_what_is_stored_and_resumes() {
    let program = Program::in_memory();
    let start = |more: &[&str]| {
        let mut command = rookery(&["import", "--url", &program.url, "-d", "Shop", "--id-prefix", "n/", "-"]);
        command.args(more).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let lines: String = (0..1000).map(|number| format!("{{\"Text\":\"{number:0200}\"}}\n")).collect();
    let mut child = start(&[]);
    let mut input = child.stdin.take().unwrap();
    // More than pipe and buffer take: once it is written the program reads, so it listens for the signal.
    for _ in 0..5 {
        input.write_all(lines.as_bytes()).unwrap();
    }
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    // It looks for the signal before each line.
    while input.write_all(lines.as_bytes()).is_ok() {}
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(130), "{out}{err}");
    let stored: u64 = out.split(' ').next().unwrap().parse().unwrap();
    assert!(stored >= 1000 && out.contains(" documents from - are in 'Shop'"), "{out}");
    let expected = format!(
        "interrupted after line {stored}. Run the same command with --after-line {stored} to resume. \
         A second run from the beginning stores {stored} documents twice: the server makes their ids.\n"
    );
    assert_eq!(err, expected);
    assert!(program.get("/databases/Shop/stats").contains(&format!("\"CountOfDocuments\":{stored},")));

    let mut child = start(&["--after-line", &stored.to_string()]);
    let mut input = child.stdin.take().unwrap();
    let more = "{\"Number\":7}\n".repeat(3);
    input.write_all("{}\n".repeat(stored as usize).as_bytes()).unwrap();
    input.write_all(more.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(program.get("/databases/Shop/stats").contains(&format!("\"CountOfDocuments\":{},", stored + 3)));
}

#[test]
fn a_dump_goes_from_one_database_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let mut program =
        Program::start(&["serve", "--url", "http://127.0.0.1:0", "--data", text(&folder.path().join("data"))]);
    program.request("PUT", "/admin/databases?name=Shop", "{\"DatabaseName\":\"Shop\"}");
    assert!(program.request("POST", "/databases/Shop/studio/sample-data", "").starts_with("HTTP/1.1 204"));
    program.request("POST", "/databases/Shop/identity/seed?name=users|&value=7", "");
    let file = folder.path().join("shop.ravendbdump");
    let export = |more: &[&str]| {
        let mut command = rookery(&["export", "--url", &program.url, "-d", "Shop", "-o", text(&file)]);
        command.args(more);
        outcome(command)
    };
    let (is_done, out, err) = export(&[]);
    assert!(is_done && out.is_empty() && err.starts_with("1059 documents are in "), "{out}{err}");
    let (is_done, out, err) = outcome(import(&program, "Shop2", &file, &[]));
    assert!(is_done && out.contains("documents, 6 indexes and 1 identity from "), "{out}{err}");
    let (is_done, out, err) =
        outcome(import(&program, "Orders", &file, &["--types", "Documents", "--collection", "orders"]));
    assert!(is_done && out.starts_with("830 documents from "), "{out}{err}");

    let script = folder.path().join("script.js");
    std::fs::write(&script, "if (this.Name != 'Beverages') throw 'skip'; this.Name = 'Drinks';").unwrap();
    let (is_done, _, err) =
        export(&["--types", "Documents", "--collection", "Categories", "--transform", text(&script)]);
    assert!(is_done && err.starts_with("1 document is in "), "{err}");
    let (is_done, out, err) = outcome(import(&program, "One", &file, &[]));
    assert!(is_done && out.starts_with("1 document from "), "{out}{err}");

    // What breaks an export midway is said.
    std::fs::write(&script, "if (id(this) == 'orders/830-A') this.missing.field = 1;").unwrap();
    let (is_done, _, err) = export(&["--collection", "Orders", "--transform", text(&script)]);
    assert!(!is_done && err.contains("the export is not complete") && err.contains("'field'"), "{err}");

    // What the server refuses is said, and what is bad may be skipped.
    std::fs::write(&file, br#"{"Docs":[{"@metadata":{"@id":"a/1"}},{"b":tru},{"@metadata":{"@id":"a/2"}}]}"#).unwrap();
    let (is_done, out, err) = outcome(import(&program, "Bad", &file, &[]));
    assert!(!is_done && out.is_empty() && err.contains("element 2 of 'Docs'"), "{out}{err}");
    let (is_done, out, err) = outcome(import(&program, "Bad", &file, &["--skip-corrupted"]));
    assert!(!is_done && out.starts_with("2 documents from ") && err.contains("element 2 of 'Docs'"), "{out}{err}");
    let (is_done, _, err) = outcome(import(&program, "Bad", &file, &["--id-field", "b"]));
    assert!(!is_done && err.contains("--id-field is for rows"), "{err}");
    assert!(program.terminate().1);
}
