//! The commands that speak to a running server: status, query, export, shell.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{Program, outcome, rookery, text};

/// A server whose database Shop has the sample data.
fn shop() -> Program {
    let program = Program::in_memory();
    program.request("PUT", "/admin/databases?name=Shop", "{\"DatabaseName\":\"Shop\"}");
    let answer = program.request("POST", "/databases/Shop/studio/sample-data", "");
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    program
}

fn on(program: &Program, command: &str, arguments: &[&str]) -> Command {
    let mut command = rookery(&[command, "--url", &program.url]);
    command.args(arguments);
    command
}

#[test]
fn a_query_prints_its_results_in_each_form() {
    let program = shop();
    let query = |arguments: &[&str]| outcome(on(&program, "query", &[&["-d", "Shop"], arguments].concat()));
    let rql = "from Companies where Address.Country = $country order by Name select Name, Phone";
    let with = |form: &str| query(&["-p", "country=France", "--limit", "2", "--wait", "-f", form, rql]);

    let (is_content, out, err) = with("table");
    assert!(
        is_content && out.lines().count() == 4 && out.contains("| Name ") && out.contains(" | Phone"),
        "{out}{err}"
    );
    assert!(err.starts_with("2 of 11 rows in ") && err.contains(", by Auto/Companies/"), "{err}");
    let (_, out, err) = with("jsonl");
    assert!(out.lines().count() == 2 && out.lines().all(|line| line.starts_with("{\"Name\":")), "{out}");
    assert!(err.contains("2 of 11 rows") && err.contains("--limit prints more"), "{err}");
    let (_, out, _) = with("csv");
    assert!(out.starts_with("id,Name,Phone\r\n") && out.lines().count() == 3, "{out}");
    let (_, out, _) = with("json");
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 2, "{out}");

    let (is_content, out, err) = query(&["from Companies where"]);
    assert!(!is_content && out.is_empty() && err.starts_with("error: "), "{out}{err}");
    let (is_content, _, err) = outcome(on(&program, "query", &["-d", "Nope", "from X"]));
    assert!(!is_content && err.contains("Database 'Nope' does not exist."), "{err}");
    let (is_content, _, err) = query(&[]);
    assert!(!is_content && err.contains("the query is empty"), "{err}");
}

#[test]
fn an_export_is_what_an_import_reads() {
    let program = shop();
    assert!(program.request("POST", "/databases/Shop/identity/seed?name=inv|&value=7", "").starts_with("HTTP/1.1 200"));
    let folder = tempfile::tempdir().unwrap();
    for name in ["all.jsonl", "all.jsonl.gz", "all.jsonl.zst"] {
        let file = folder.path().join(name);
        let (is_content, out, err) = outcome(on(&program, "export", &["-d", "Shop", "-o", text(&file)]));
        assert!(is_content && out.is_empty() && err.contains("1059 documents are in "), "{out}{err}");
        let left_out =
            "385 counters and 17 attachments of the documents are not in the export; export to a .ravendbdump";
        assert!(err.starts_with(left_out), "{err}");
        let database = name.replace('.', "-");
        let (is_content, out, err) = outcome(on(&program, "import", &["-d", &database, text(&file)]));
        assert!(is_content && out.starts_with("1059 documents and 1 identity from "), "{out}{err}");
        let (_, exported, err) = outcome(on(&program, "export", &["-d", &database, "--collection", "Orders"]));
        assert!(err.is_empty(), "{err}");
        assert_eq!(exported.lines().count(), 830);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no parts are left");
}

#[test]
fn collections_and_queries_are_exported_as_lines_or_csv() {
    let program = shop();
    let export = |arguments: &[&str]| outcome(on(&program, "export", &[&["-d", "Shop"], arguments].concat()));
    let (is_content, out, err) = export(&["--collection", "Shippers", "--format", "csv"]);
    assert!(is_content && out.starts_with("\u{feff}id,Name,Phone\r\nshippers/"), "{out}{err}");
    assert_eq!(out.lines().count(), 4);
    let rql = "from Orders where ShipTo.City = $city select ShipTo.City as City, Freight";
    let (is_content, out, err) = export(&["--query", rql, "-p", "city=London"]);
    assert!(
        is_content && !out.is_empty() && out.lines().all(|line| line.starts_with("{\"City\":\"London\",")),
        "{out}{err}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.csv");
    for (arguments, expected) in [
        (["--collection", "Oders"], "has no collection 'Oders'; did you mean 'Orders'?"),
        (["--query", "from"], "error: "),
    ] {
        let (is_content, _, err) = export(&[&arguments[..], &["-o", text(&file)]].concat());
        assert!(!is_content && err.contains(expected), "{err}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left");
    }
}

#[test]
fn the_status_lists_databases_and_indexes_that_failed() {
    let program = shop();
    let (is_content, out, err) = outcome(on(&program, "status", &[]));
    assert!(is_content && out.starts_with("Rookery/0.1.0, running for "), "{out}{err}");
    assert!(out.contains("database | state") && out.contains("\nShop     | open  | 1059 "), "{out}");
    let (is_content, out, _) = outcome(on(&program, "status", &["-d", "shop"]));
    assert!(is_content && out.contains("Orders/ByCompany"), "{out}");
    let definition = r#"{"Indexes":[{"Name":"Broken","Maps":["from o in docs.Orders select new { X = 1 / (o.Freight * 0) / int.Parse(o.Company) }"]}]}"#;
    assert!(program.request("PUT", "/databases/Shop/admin/indexes", definition).starts_with("HTTP/1.1 201"));
    outcome(on(&program, "query", &["-d", "Shop", "--wait", "from index 'Broken'"]));
    let (is_content, out, _) = outcome(on(&program, "status", &[]));
    assert!(!is_content && out.contains("Broken") && out.contains("failed"), "{out}");
    let (_, out, _) = outcome(on(&program, "status", &["--json"]));
    assert!(serde_json::from_str::<serde_json::Value>(&out).unwrap()["Databases"].is_array());
    let (is_content, _, err) = outcome(rookery(&["status", "--url", "127.0.0.1:1"]));
    assert!(!is_content && err.contains("connecting to the server at http://127.0.0.1:1"), "{err}");
}

/// What the shell prints for lines on standard input.
fn shell(program: &Program, input: &str) -> (bool, String, String) {
    let mut command = on(program, "shell", &[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_shell_looks_at_databases_collections_fields_and_indexes() {
    let program = shop();
    let (is_content, out, err) = shell(&program, "\\l\n\\d\n\\d Orders\n\\di\n\\?\n\\q\nnever read");
    assert!(is_content, "{err}");
    assert!(out.contains("\nShop\n") && out.contains("Orders") && out.contains("830"), "{out}");
    assert!(out.contains("\nShipTo.City ") && out.contains("\nLines[].Product "), "{out}");
    assert!(out.contains("Orders/ByCompany") && out.contains("choose a database"), "{out}");
    assert!(err.contains("from a sample of 100 of 830 documents"), "{err}");
}

#[test]
fn the_shell_runs_queries_over_lines_and_goes_on_behind_mistakes() {
    let program = shop();
    program.request("PUT", "/admin/databases?name=Other", "{\"DatabaseName\":\"Other\"}");
    let input = "from Shippers\n\\c Shpo\n\\c shop\n\\x\n\\f jsonl\n\\limit 2\n\
        from Shippers as s select {\n  N: s.Name\n};\nfrom Shippers where\n\\d Odrers\n";
    let (is_content, out, err) = shell(&program, input);
    assert!(!is_content, "a line failed");
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(out.lines().all(|line| line.starts_with("{\"N\":\"")), "{out}");
    for expected in [
        "error: no database is chosen",
        "error: there is no database 'Shpo'; did you mean 'Shop'?",
        "error: unknown command \\x; ",
        "(2 of 3 rows in ",
        "error: there is no collection 'Odrers'; did you mean 'Orders'?",
    ] {
        assert!(err.contains(expected), "{expected}: {err}");
    }
    let (is_content, _, err) = shell(&program, "from X select {\n");
    assert!(!is_content && err.contains("the input ends inside of a query"), "{err}");
}

#[test]
fn the_shell_lists_running_queries_and_ends_one() {
    let program = Program::start(&[
        "serve",
        "--url",
        "http://127.0.0.1:0",
        "--in-memory",
        "--Patching.MaxStepsForScript=2000000000",
    ]);
    program.request("PUT", "/admin/databases?name=Shop", "{\"DatabaseName\":\"Shop\"}");
    // Some milliseconds for each of 5,000 documents: most of a minute, unless somebody ends it.
    let put = |number| {
        format!(
            "{{\"Id\":\"users/{number}\",\"Type\":\"PUT\",\"Document\":{{\"@metadata\":{{\"@collection\":\"Users\"}}}}}}"
        )
    };
    let puts: Vec<String> = (0..5000).map(put).collect();
    let answer = program.request("POST", "/databases/Shop/bulk_insert?id=1", &format!("[{}]", puts.join(",")));
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let query = "declare function f() { for (let i = 0; i < 200000; i++) { } return 1; } from Users as u select { a: f() }";
            program.request("POST", "/databases/Shop/queries", &format!("{{\"Query\":\"{query}\"}}"))
        });
        let number = testing::wait::until(|| {
            let (is_content, out, err) = shell(&program, "\\running\n");
            assert!(is_content, "{err}");
            let row = out.lines().find(|line| line.contains("collection/Users"));
            row.map(|row| row.split_whitespace().next().unwrap().to_owned()).ok_or(out)
        });
        let (is_content, _, err) = shell(&program, "\\kill 999\n\\kill x\n");
        assert!(!is_content && err.contains("no query with the number 999 runs"), "{err}");
        assert!(err.contains("\\kill needs the number of a query"), "{err}");
        let (is_content, _, err) = shell(&program, &format!("\\kill {number}\n"));
        assert!(is_content, "{err}");
        let answer = asking.join().unwrap();
        assert!(answer.contains("The query was ended by an operator"), "{answer}");
    });
}

#[test]
fn the_shell_on_a_terminal_completes_and_keeps_a_history() {
    let program = shop();
    let folder = tempfile::tempdir().unwrap();
    let line = format!("'{}' shell --url '{}'", env!("CARGO_BIN_EXE_rookery"), program.url);
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("XDG_STATE_HOME", folder.path()).env("TERM", "xterm");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Tab behind the beginning of a name that is unique.
    child.stdin.take().unwrap().write_all(b"from Shipp\t\n\\q\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && out.contains("Shop> ") && out.contains("shippers/1-A"), "{out}");
    let history = std::fs::read_to_string(folder.path().join("rookery/history")).unwrap();
    assert!(history.contains("from Shippers\n"), "{history}");
}
