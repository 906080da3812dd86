//! The tools that work on a folder: check, stats, compact, dump, inspect.

use std::process::Stdio;

use crate::support::{Program, outcome, rookery, text};

#[test]
fn data_outlive_the_server_and_one_server_at_a_time_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let arguments = ["serve", "--url", "http://127.0.0.1:0", "--data", text(&data)];
    let lines = folder.path().join("users.jsonl");
    std::fs::write(&lines, "{\"Name\":\"Ann\",\"Id\":1}\n{oops\n{\"Name\":\"Bob\",\"Id\":2}\n").unwrap();

    let mut program = Program::start(&arguments);
    let second = rookery(&arguments).stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && message.contains("in use by another process"), "{message}");

    let import = [
        "import",
        "--url",
        &program.url,
        "-d",
        "Shop",
        "--collection",
        "Users",
        "--id-field",
        "Id",
        "--id-prefix",
        "users/",
        text(&lines),
    ];
    let output = rookery(&import).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && out.starts_with("2 documents") && err.contains("line 2: "), "{out}{err}");
    assert!(program.get("/databases/Shop/docs?id=users/2").contains("\"@collection\":\"Users\""));
    assert!(program.terminate().1);

    let program = Program::start(&arguments);
    assert!(program.get("/databases/Shop/docs?id=users/1").contains("Ann"));
    // Killed, not stopped: what was answered is there all the same.
    assert!(program.request("PUT", "/databases/Shop/docs?id=users/3", "{}").starts_with("HTTP/1.1 201"));
    drop(program);

    let check = rookery(&["check", text(&data)]).output().unwrap();
    let out = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(check.status.success() && out.contains("3 documents") && out.ends_with("no problems\n"), "{out}");
    let shop = data.join("databases").join("shop");
    let dump = rookery(&["dump", text(&shop)]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&dump.stdout).lines().count(), 3);
    let stats = rookery(&["stats", text(&data)]).output().unwrap();
    assert!(stats.status.success() && String::from_utf8_lossy(&stats.stdout).contains("depth"));
    let compact = rookery(&["compact", text(&data)]).output().unwrap();
    assert!(compact.status.success(), "{}", String::from_utf8_lossy(&compact.stderr));
    assert!(rookery(&["check", text(&data)]).output().unwrap().status.success(), "compacted data are whole");
    // What the node keeps about itself is no database: a copy without it was put in its place.
    let system = data.join("system");
    for tool in ["compact", "dump"] {
        assert!(!rookery(&[tool, text(&system)]).output().unwrap().status.success(), "{tool} of what is no database");
    }
    let program = Program::start(&arguments);
    assert!(program.get("/databases/Shop/docs?id=users/1").contains("Ann"), "the node knows its databases");
    drop(program);
    let nothing = tempfile::tempdir().unwrap();
    std::fs::write(nothing.path().join("x.txt"), "x").unwrap();
    assert!(!rookery(&["check", text(nothing.path())]).output().unwrap().status.success(), "no environment");
    assert_eq!(std::fs::read_dir(nothing.path()).unwrap().count(), 1, "and none was made");
}

/// Found by `survival/abuse.rs`: a creation that failed for want of descriptors could not remove its folder either.
#[test]
fn what_a_creation_left_is_no_damage_and_a_database_without_its_data_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    assert!(Program::start(&["serve", "--url", "http://127.0.0.1:0", "--data", text(&data)]).terminate().1);
    let begun = data.join("databases").join("begun");
    std::fs::create_dir(&begun).unwrap();
    let check = || outcome(rookery(&["check", text(&data)]));
    for name in ["lock", "data.new"] {
        let (is_content, out, err) = check();
        assert!(is_content && out.ends_with("no problems\n") && err.contains("did not end"), "{out}{err}");
        std::fs::write(begun.join(name), b"").unwrap();
    }
    assert!(check().0);
    for name in ["flush", "flush-2", "journal-0000000000000001"] {
        std::fs::write(begun.join(name), b"").unwrap();
        let (is_content, _, err) = check();
        assert!(!is_content && err.contains("it has no file 'data'"), "{err}");
        std::fs::remove_file(begun.join(name)).unwrap();
    }
}

#[test]
fn flags_of_the_server_are_refused_by_the_tools() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let check = |arguments: &[&str], flag: &str| {
        let (is_content, _, err) = outcome(rookery(arguments));
        assert!(
            !is_content && err.contains(&format!("{flag} is a flag of 'rookery serve' only")),
            "{arguments:?}: {err}"
        );
    };
    check(&["import", "-d", "X", "--ServerUrl=http://127.0.0.1:1", text(&file)], "--ServerUrl");
    check(&["import", "-d", "X", "--Some.Key", "Foo", text(&file)], "--Some.Key");
    check(&["check", "--DataDir=/nowhere", text(folder.path())], "--DataDir");
}

#[test]
fn inspect_makes_no_database() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [vec!["inspect", text(folder.path())], vec!["inspect", text(folder.path()), "--page", "3"]] {
        let (is_content, _, err) = outcome(rookery(&arguments));
        assert!(!is_content && !err.is_empty(), "{arguments:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{arguments:?}");
    }
}

#[test]
fn inspect_describes_headers_and_pages_in_words_and_names_the_right_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut program = Program::start(&["serve", "--url", "http://127.0.0.1:0", "--data", text(&data)]);
    program.request("PUT", "/admin/databases?name=Shop", "{\"DatabaseName\":\"Shop\"}");
    assert!(program.terminate().1);
    let shop = data.join("databases").join("shop");
    let (is_content, out, err) = outcome(rookery(&["inspect", text(&shop)]));
    assert!(is_content && out.contains("format version 1, sequence ") && out.contains("closed cleanly"), "{out}{err}");
    assert!(!out.contains(['{', '(']), "Rust's debug output: {out}");
    let (is_content, out, err) = outcome(rookery(&["inspect", text(&shop), "--page", "3"]));
    assert!(is_content && out.starts_with("page 3: ") && !out.contains("Some("), "{out}{err}");
    for number in ["0", "1"] {
        let (is_content, out, err) = outcome(rookery(&["inspect", text(&shop), "--page", number]));
        assert!(is_content && out.starts_with(&format!("page {number}: copy {number} of the header")), "{out}{err}");
    }
    for tool in ["inspect", "dump"] {
        let (is_content, _, err) = outcome(rookery(&[tool, text(&data)]));
        let expected = format!(
            "is the data directory of a server; name the folder of one database below it, such as {}",
            text(&shop)
        );
        assert!(!is_content && err.contains(&expected), "{tool}: {err}");
    }
}

#[test]
fn output_that_is_full_or_closed_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut program = Program::start(&["serve", "--url", "http://127.0.0.1:0", "--data", text(&data)]);
    program.request("PUT", "/admin/databases?name=Shop", "{\"DatabaseName\":\"Shop\"}");
    assert!(program.request("PUT", "/databases/Shop/docs?id=users/1", "{}").starts_with("HTTP/1.1 201"));
    let lines = folder.path().join("x.jsonl");
    std::fs::write(&lines, "{}\n").unwrap();
    let url = program.url.clone();
    let import = ["import", "--url", &url, "-d", "Shop", text(&lines)];
    fails_without_output(&import);
    assert!(program.terminate().1);
    let shop = data.join("databases").join("shop");
    fails_without_output(&["check", text(&data)]);
    fails_without_output(&["stats", text(&data)]);
    fails_without_output(&["compact", text(&data)]);
    fails_without_output(&["dump", text(&shop)]);
    fails_without_output(&["inspect", text(&shop)]);
    fails_without_output(&["inspect", text(&shop), "--page", "4"]);
    fails_without_output(&["--help"]);
    fails_without_output(&["--version"]);

    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    for arguments in [["check", "/nowhere"], ["check", "--nonsense"]] {
        let status = rookery(&arguments).stderr(full()).status().unwrap();
        assert!(matches!(status.code(), Some(1 | 2)), "{arguments:?} with standard error full: {status}");
    }
}

#[track_caller]
fn fails_without_output(arguments: &[&str]) {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    for out in [Stdio::from(full), Stdio::from(closed)] {
        let output = rookery(arguments).stdin(Stdio::null()).stdout(out).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains("writing to standard output"), "{arguments:?}: {err}");
    }
}
