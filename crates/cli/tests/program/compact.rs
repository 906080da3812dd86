//! `rookery compact`: its lock against servers, its dry run, and the progress that it and other tools show on a terminal.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Program, outcome, rookery, text};

fn serve(data: &Path) -> Program {
    Program::start(&["serve", "--url", "http://127.0.0.1:0", "--data", text(data)])
}

/// A data directory with the database Shop, which has pages that are free.
fn with_free_pages(data: &Path) {
    let mut program = serve(data);
    program.request("PUT", "/admin/databases?name=Shop", "{\"DatabaseName\":\"Shop\"}");
    let body = format!("{{\"Text\":\"{}\"}}", "x".repeat(200_000));
    for id in 0..20 {
        let answer = program.request("PUT", &format!("/databases/Shop/docs?id=big/{id}"), &body);
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }
    for id in 1..20 {
        let answer = program.request("DELETE", &format!("/databases/Shop/docs?id=big/{id}"), "");
        assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    }
    assert!(program.terminate().1);
}

#[test]
fn tools_refuse_the_databases_of_a_running_server_whether_open_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    with_free_pages(&data);
    let mut program = serve(&data);
    // No request has named the database, so that the server has not opened it.
    let shop = data.join("databases/shop");
    let before = std::fs::metadata(shop.join("data")).unwrap().modified().unwrap();
    let message = format!("error: '{}' is in use by another process, a server or a tool; stop it", data.display());
    for tool in ["compact", "check", "stats"] {
        for folder in [&data, &shop] {
            let (is_content, out, err) = outcome(rookery(&[tool, text(folder)]));
            assert!(!is_content && out.is_empty() && err.starts_with(&message), "{tool}: {out}{err}");
        }
    }
    for arguments in [["dump", text(&shop)], ["compact", "."]] {
        let mut command = rookery(&arguments);
        command.current_dir(&shop);
        let (is_content, out, err) = outcome(command);
        assert!(!is_content && out.is_empty() && err.contains("in use by another process"), "{out}{err}");
    }
    assert_eq!(std::fs::metadata(shop.join("data")).unwrap().modified().unwrap(), before);
    assert!(!shop.join("compacted").exists());
    assert!(program.get("/databases/Shop/docs?id=big/0").starts_with("HTTP/1.1 200"));
    assert!(program.terminate().1);
}

#[test]
fn a_dry_run_changes_nothing_and_a_dense_database_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    with_free_pages(&data);
    let file = data.join("databases/shop/data");
    let (is_content, out, err) = outcome(rookery(&["compact", "--dry-run", text(&data)]));
    assert!(is_content && out.contains("nothing was changed"), "{out}{err}");
    let pages = |text: &str, from: &str| -> u64 {
        let rest = text.split(from).nth(1).unwrap_or_else(|| panic!("{text}"));
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    let (before, about) = (pages(&out, "shop: "), pages(&out, "about "));
    assert!(about < before, "{out}");
    let bytes = std::fs::read(&file).unwrap();
    assert!(outcome(rookery(&["compact", "--dry-run", text(&data)])).1.contains(&format!("shop: {before} pages")));
    assert_eq!(std::fs::read(&file).unwrap(), bytes);

    let (is_content, out, err) = outcome(rookery(&["compact", text(&data)]));
    assert!(is_content, "{err}");
    assert_eq!(pages(&out, "shop: "), before);
    let after = pages(&out, "became ");
    assert!(after < before && after <= about + about / 4, "about {about}, really {after} of {before}");
    let (is_content, out, _) = outcome(rookery(&["compact", text(&data)]));
    assert!(is_content && out.contains("already dense; left as it was"), "{out}");
    let (is_content, out, _) = outcome(rookery(&["compact", "--dry-run", text(&data)]));
    assert!(is_content && out.contains("shop: ") && out.contains("already dense; would be left as it is"), "{out}");
    assert!(outcome(rookery(&["check", text(&data)])).0);
}

/// What a command prints on a terminal, both outputs together.
fn on_a_terminal(arguments: &[&str], redirect: &str) -> String {
    let quoted: Vec<String> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    let line = format!("'{}' {}{redirect}", env!("CARGO_BIN_EXE_rookery"), quoted.join(" "));
    let output = Command::new("script").args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn work_on_a_folder_shows_its_progress_on_a_terminal_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    with_free_pages(&data);
    let shop = data.join("databases/shop");
    for (arguments, redirect, expected) in [
        (["check", text(&data)], "", "pages checked"),
        (["check", text(&data)], "", "documents checked"),
        (["dump", text(&shop)], " > /dev/null", "documents"),
        (["compact", text(&data)], "", "documents copied"),
    ] {
        let shown = on_a_terminal(&arguments, redirect);
        assert!(shown.contains(expected) && shown.contains('/'), "{arguments:?}: {shown}");
    }
    assert!(!on_a_terminal(&["dump", text(&shop)], "").contains("00:00:00"));
    let (_, _, err) = outcome(rookery(&["check", text(&data)]));
    assert_eq!(err, "");
}

/// Rounds of [`a_server_that_is_killed_while_it_compacts_has_all_that_it_acknowledged`].
const KILLS: u64 = 8;

#[test]
fn a_server_that_is_killed_while_it_compacts_has_all_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    with_free_pages(&data);
    let mut acknowledged = 0;
    for round in 0..KILLS {
        let program = serve(&data);
        for number in 0..acknowledged {
            let answer = program.get(&format!("/databases/Shop/docs?id=kept/{number}"));
            assert!(answer.starts_with("HTTP/1.1 200"), "kept/{number}, after kill {round}: {answer}");
        }
        // What is deleted here is what the compaction gains by.
        let body = format!("{{\"Text\":\"{}\"}}", "y".repeat(300_000));
        for id in 0..10 {
            assert!(program.request("PUT", &format!("/databases/Shop/docs?id=gone/{id}"), &body).contains(" 201 "));
        }
        for id in 0..10 {
            let answer = program.request("DELETE", &format!("/databases/Shop/docs?id=gone/{id}"), "");
            assert!(answer.contains(" 204 "), "{answer}");
        }
        let compact = r#"{"DatabaseName":"Shop","Documents":true}"#;
        assert!(program.request("POST", "/admin/compact", compact).starts_with("HTTP/1.1 200"));
        // Each round is killed after more writes: before, while and after the copy is put in place.
        for _ in 0..round * 2 {
            let answer = program.request("PUT", &format!("/databases/Shop/docs?id=kept/{acknowledged}"), &body);
            assert!(answer.contains(" 201 "), "{answer}");
            acknowledged += 1;
        }
        // With SIGKILL.
        drop(program);
    }
    let (is_content, out, err) = outcome(rookery(&["check", text(&data)]));
    assert!(is_content, "{out}{err}");
    let program = serve(&data);
    assert!(program.get("/databases/Shop/docs?id=kept/0").starts_with("HTTP/1.1 200"));
    assert!(
        !data.join("databases/shop/compacted").exists(),
        "the rest of a copy is removed when the database is opened"
    );
}

#[test]
fn a_running_server_checks_its_databases_and_names_damage() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    with_free_pages(&data);
    let program = serve(&data);
    let index = r#"{"Indexes":[{"Name":"All","Maps":["from d in docs select new { d.Text }"]}]}"#;
    let answer = program.request("PUT", "/databases/Shop/admin/indexes", index);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let query = r#"{"Query":"from index 'All'","WaitForNonStaleResults":true}"#;
    assert!(program.request("POST", "/databases/Shop/queries", query).starts_with("HTTP/1.1 200"));
    let check = |more: &[&str]| outcome(rookery(&[&["check", "--online", "--url", &program.url], more].concat()));
    let (is_sound, out, err) = check(&[]);
    assert!(is_sound && err.is_empty(), "{out}{err}");
    assert!(
        out.starts_with("Shop:\n  documents: ") && out.contains("  index 'All': ") && out.ends_with("no problems\n"),
        "{out}"
    );
    let (is_sound, out, err) = check(&["--database", "Nope"]);
    assert!(!is_sound && out.is_empty() && err.contains("Nope"), "{out}{err}");
    let (is_sound, out, err) = outcome(rookery(&["check"]));
    assert!(!is_sound && out.is_empty() && err.contains("--online"), "{out}{err}");
    // What lies in the file is read again, although it was found whole before.
    let path = data.join("databases/shop/data");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.iter_mut().skip(20 * 8192 + 4000).step_by(8192).for_each(|byte| *byte ^= 1);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).unwrap();
    let (is_sound, out, err) = check(&["--database", "Shop"]);
    assert!(!is_sound && out.contains("    PROBLEM: ") && out.ends_with("problems\n"), "{out}{err}");
}
