//! Checks of the tree itself: what docs and comments promise about how the code is laid out.
//!
//! Each test gathers all that it finds and fails with one line per finding: file, line, rule. What is accepted for now
//! stands in [`ACCEPTED`] with the reason, and must go from there when it is gone from the tree.

use std::collections::{BTreeMap, BTreeSet};
use testing::source::{code_only, has_safety_comment, has_word};
use testing::tree::TextFile;
use testing::{manifest, routes, tree};

/// What each crate may use: what its arrow leads to, and all that is reached from there.
const ARROWS: &[(&str, &[&str])] = &[
    ("cli", &["server"]),
    ("server", &["database", "destinations", "json"]),
    // Object stores, which `server` gives to `database`.
    ("destinations", &["database", "json"]),
    // The public face for use in process.
    ("rookerydb", &["database"]),
    ("database", &["query", "documents", "script", "json"]),
    ("query", &["documents", "script"]),
    ("documents", &["storage", "script", "json"]),
    ("script", &["json"]),
    ("storage", &[]),
    ("json", &[]),
    ("testing", &[]),
    // Serves tests alone, as `testing` does.
    ("fuzzing", &["cli"]),
];

/// Findings that stay for now: path, rule, reason.
const ACCEPTED: &[(&str, &str, &str)] =
    &[("bench/compare/src/util.rs", NAME, "engines are compared in a workspace of its own, which nothing else builds")];

const NAME: &str = "a file is named for its subject, not util, common, helpers, manager or misc";
const LENGTH: &str = "a file of code has at most 800 lines: look for the second notion";
const FILE_LINES_MAX: usize = 800;

/// Where `unsafe` may stand in `storage`; in `json` it is one file, whichever.
const UNSAFE_IN_STORAGE: &[&str] = &[
    "crates/storage/src/pager/",
    "crates/storage/src/transaction/job.rs",
    // System calls that no library wraps.
    "crates/storage/src/io/aio.rs",
    "crates/storage/src/threads/scheduling.rs",
];

/// What tests of one kind found.
#[derive(Default)]
pub(crate) struct Findings(Vec<String>);

impl Findings {
    pub(crate) fn add(&mut self, path: &str, line: usize, rule: &str) {
        if !ACCEPTED.iter().any(|(accepted, for_rule, _)| *accepted == path && *for_rule == rule) {
            self.0.push(format!("{path}:{line}: {rule}"));
        }
    }

    #[track_caller]
    pub(crate) fn none(self) {
        assert!(self.0.is_empty(), "\n{}\n", self.0.join("\n"));
    }
}

/// A line of code that holds what a leftover is known by; `text` with comments and strings, or without them.
fn lines_where(text: &str, mut found: impl FnMut(&str) -> bool) -> Vec<usize> {
    text.lines().enumerate().filter(|(_, line)| found(line)).map(|(index, _)| index + 1).collect()
}

fn crate_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

/// Code that only tests, examples and benchmarks build.
fn is_for_tests(path: &str) -> bool {
    ["/tests/", "/examples/", "/benches/"].iter().any(|folder| path.contains(folder))
        || path.ends_with("_tests.rs")
        || ["testing", "fuzzing"].contains(&crate_of(path))
}

fn is_code(file: &TextFile) -> bool {
    let endings = [".rs", ".py", ".mjs", ".js", ".ts", ".tsx", ".css", ".c", ".sh"];
    endings.iter().any(|ending| file.path.ends_with(ending))
}

#[test]
fn crates_depend_only_on_what_their_arrows_lead_to() {
    let arrows: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let reached = |from: &str| {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&str> = arrows[from].to_vec();
        while let Some(name) = next.pop() {
            if reached.insert(name) {
                next.extend(arrows[name]);
            }
        }
        reached
    };
    let mut findings = Findings::default();
    for file in tree::files() {
        let Some(name) = file.path.strip_prefix("crates/").and_then(|path| path.strip_suffix("/Cargo.toml")) else {
            continue;
        };
        if !arrows.contains_key(name) {
            findings.add(&file.path, 1, "this crate has no place in the table of arrows (testing/tests/main/tidy.rs)");
            continue;
        }
        let allowed = reached(name);
        for dependency in manifest::dependencies(&file.text) {
            if !dependency.is_of_workspace {
                let rule = format!("the version of '{}' stands in the manifest of the workspace", dependency.name);
                findings.add(&file.path, dependency.line, &rule);
            }
            let ours = arrows.contains_key(&*dependency.name);
            let for_tests = dependency.name == "testing" && dependency.is_for_tests;
            if ours && !for_tests && !allowed.contains(&*dependency.name) {
                let rule = format!("no arrow leads from '{name}' to '{}'", dependency.name);
                findings.add(&file.path, dependency.line, &rule);
            }
        }
    }
    findings.none();
}

/// Calls that change documents and do not pass `database/consensus.rs`. That one calls `apply_in` inside of its own transaction.
const BESIDE_CONSENSUS: &[&str] = &[
    ".documents().write(",
    ".documents().apply(",
    ".documents().apply_in(",
    ".documents().environment().write(",
    ".documents().environment().submit(",
    "store.write(",
    "store.apply(",
];

/// The lines where a chain of calls ends, however it is broken into lines.
fn lines_of_call(code: &str, call: &str) -> Vec<usize> {
    let (mut dense, mut lines) = (String::new(), Vec::new());
    for (index, line) in code.lines().enumerate() {
        for part in line.split_whitespace() {
            dense.push_str(part);
            lines.extend(std::iter::repeat_n(index + 1, part.len()));
        }
    }
    dense.match_indices(call).map(|(at, call)| lines[at + call.len() - 1]).collect()
}

#[test]
fn a_call_is_found_although_it_is_broken_into_lines() {
    assert_eq!(
        lines_of_call("let a = database\n    .documents()\n    .write(now, |w| ..)", ".documents().write("),
        [3]
    );
    assert!(lines_of_call("database.write(&write)", ".documents().write(").is_empty());
}

/// Everything that changes a database is a value (`documents::Write`), which a log can carry.
#[test]
fn only_tests_write_documents_by_closures() {
    let mut findings = Findings::default();
    for file in tree::rust_files() {
        if is_for_tests(&file.path) || crate_of(&file.path) == "documents" {
            continue;
        }
        let code = code_only(&file.text);
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        let named = |line: &str| line.contains("documents::Writing") || line.contains("Writing<");
        let called = BESIDE_CONSENSUS.iter().flat_map(|call| lines_of_call(code, call));
        for line in lines_where(code, named).into_iter().chain(called) {
            findings.add(&file.path, line, "a change of a database is a documents::Write, not a closure");
        }
    }
    findings.none();
}

#[test]
fn every_rust_file_begins_with_its_comment() {
    let mut findings = Findings::default();
    for file in tree::files().into_iter().filter(|file| file.path.ends_with(".rs")) {
        if !file.text.starts_with("//!") {
            findings.add(&file.path, 1, "a file starts with `//!`: what it is, how it fits, what always holds");
        }
    }
    findings.none();
}

#[test]
fn unsafe_code_stays_where_it_may_be() {
    let mut findings = Findings::default();
    let mut in_json = BTreeSet::new();
    for file in tree::rust_files() {
        let lines = lines_where(&code_only(&file.text), |line| has_word(line, "unsafe"));
        let Some(first) = lines.first() else { continue };
        if crate_of(&file.path) == "json" {
            in_json.insert(file.path.clone());
            if in_json.len() > 1 {
                findings.add(
                    &file.path,
                    *first,
                    "unsafe code of `json` is in one file, and another one has it already",
                );
            }
        } else if !UNSAFE_IN_STORAGE.iter().any(|allowed| file.path.starts_with(allowed)) {
            lines.iter().for_each(|line| findings.add(&file.path, *line, "unsafe code has no place here"));
        }
    }
    findings.none();
}

#[test]
fn crates_other_than_storage_and_json_forbid_unsafe_code() {
    let mut findings = Findings::default();
    for file in tree::rust_files() {
        let is_root = ["/src/lib.rs", "/src/main.rs"].iter().any(|root| file.path.ends_with(root));
        let may_be_unsafe = ["storage", "json"].contains(&crate_of(&file.path));
        if is_root && !may_be_unsafe && !code_only(&file.text).contains("#![forbid(unsafe_code)]") {
            findings.add(&file.path, 1, "the root of a crate says #![forbid(unsafe_code)]");
        }
    }
    findings.none();
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    let mut findings = Findings::default();
    for file in tree::rust_files() {
        let code = code_only(&file.text);
        let lines: Vec<&str> = file.text.lines().collect();
        for line in lines_where(&code, |line| has_word(line, "unsafe")) {
            if !has_safety_comment(&lines, line - 1) {
                findings.add(&file.path, line, "`// SAFETY:` right above says which facts make it sound");
            }
        }
    }
    findings.none();
}

#[test]
fn nothing_is_left_over_from_work_in_progress() {
    let in_code = ["todo!", "dbg!", "unimplemented!", "#[ignore"];
    // Put together here, so that this file does not have them.
    let anywhere = [concat!("FIX", "ME"), concat!("XX", "X"), concat!("TO", "DO")];
    let mut findings = Findings::default();
    for file in tree::rust_files() {
        let code = code_only(&file.text);
        for leftover in in_code {
            let lines = lines_where(&code, |line| has_word(line, leftover));
            lines.into_iter().for_each(|line| findings.add(&file.path, line, &format!("`{leftover}` is left over")));
        }
        if !is_for_tests(&file.path) && crate_of(&file.path) != "cli" {
            for print in ["println!", "eprintln!", "print!", "eprint!"] {
                let lines = lines_where(&code, |line| has_word(line, print));
                let rule = format!("`{print}` is for the program and for tests; elsewhere it is `tracing`");
                lines.into_iter().for_each(|line| findings.add(&file.path, line, &rule));
            }
        }
    }
    for file in tree::files().iter().filter(|file| is_code(file)) {
        for leftover in anywhere {
            let lines = lines_where(&file.text, |line| has_word(line, leftover));
            lines.into_iter().for_each(|line| findings.add(&file.path, line, &format!("`{leftover}` is left over")));
        }
    }
    findings.none();
}

#[test]
fn no_crate_turns_planted_bugs_on() {
    let mut findings = Findings::default();
    for file in tree::files().iter().filter(|file| file.name() == "Cargo.toml") {
        let lines = lines_where(&file.text, |line| line.contains("planted-bugs"));
        let allowed = if file.path == "crates/storage/Cargo.toml" {
            ["planted-bugs = []", "required-features = [\"planted-bugs\"]"].as_slice()
        } else {
            &[]
        };
        for line in lines {
            let text = file.text.lines().nth(line - 1).unwrap_or_default().trim();
            if !allowed.contains(&text) {
                findings.add(&file.path, line, "bugs are planted by scripts/test alone, never by a manifest");
            }
        }
    }
    findings.none();
}

#[test]
fn files_have_one_notion_and_its_name() {
    let mut findings = Findings::default();
    for file in tree::files().iter().filter(|file| is_code(file)) {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            findings.add(&file.path, lines, LENGTH);
        }
        let stems = file.path.split('/').map(|part| part.split('.').next().unwrap_or_default());
        let bad = ["util", "utils", "common", "helper", "helpers", "manager", "misc"];
        if stems.into_iter().any(|stem| bad.contains(&stem)) {
            findings.add(&file.path, 1, NAME);
        }
    }
    findings.none();
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    // A leading slash is put in front here, so that this file does not have them.
    let folders = ["home", "Users", "root", "work", "mnt"].map(|folder| format!("/{folder}/"));
    let registries =
        ["registry", "crates.io", "npmjs", "pypi", "pythonhosted", "artifactory", "nexus", "jfrog", "mirror", "proxy"];
    let mut findings = Findings::default();
    for file in tree::files().into_iter().filter(|file| !file.is_lock_file()) {
        for (index, line) in file.text.lines().enumerate() {
            let is_path = |folder: &String| {
                let starts = line.match_indices(folder.as_str()).map(|(at, _)| line[..at].chars().next_back());
                let begins =
                    |before: Option<char>| before.is_none_or(|c| !c.is_alphanumeric() && !"/._-}*>)".contains(c));
                starts.into_iter().any(begins)
            };
            if folders.iter().any(is_path) {
                findings.add(&file.path, index + 1, "a path of one machine means nothing on another");
            }
            let hosts = line.split("://").skip(1).map(|rest| {
                let end = rest.find(|c: char| !c.is_alphanumeric() && !".-:@_".contains(c)).unwrap_or(rest.len());
                rest[..end].to_ascii_lowercase()
            });
            if hosts.into_iter().any(|host| registries.iter().any(|registry| host.contains(registry))) {
                findings.add(&file.path, index + 1, "which registry serves packages is a setting of the machine");
            }
        }
    }
    findings.none();
}

#[test]
fn every_route_has_a_row_in_the_documentation_and_a_test() {
    const ROUTES: &str = "crates/server/src/routing/routes.rs";
    const DOCUMENTATION: &str = "docs/http.md";
    const TESTS: &str = "crates/server/tests/";
    let table = routes::table(&tree::read(ROUTES));
    assert!(table.len() > 100, "{ROUTES} was read wrongly: it has only {} routes", table.len());
    let documentation = tree::read(DOCUMENTATION);
    let files = tree::files();
    let tests: Vec<_> = files.iter().filter(|file| file.path.starts_with(TESTS)).collect();
    let mut findings = Findings::default();
    for route in table {
        let name = format!("{} {}", route.method, route.path.replace('*', "{name}"));
        if !documentation.contains(&format!("| `{name}` |")) {
            findings.add(ROUTES, route.line, &format!("`{name}` has no row in {DOCUMENTATION}"));
        }
        // A test of the server goes over all routes that are refused by the name of their feature.
        let is_tested = route.is_missing || tests.iter().any(|file| route.occurs_in(&file.text));
        if !is_tested && !tests.is_empty() {
            findings.add(ROUTES, route.line, &format!("`{name}` occurs in no test below {TESTS}"));
        }
    }
    findings.none();
}

#[test]
fn what_is_accepted_is_still_there() {
    let files = tree::files();
    for (path, rule, _) in ACCEPTED.iter().filter(|_| !files.is_empty()) {
        let file = files.iter().find(|file| file.path == *path);
        let still = file.is_some_and(|file| *rule != LENGTH || file.text.lines().count() > FILE_LINES_MAX);
        assert!(
            still,
            "crates/testing/tests/main/tidy.rs accepts something about {path} that is not so any more: {rule}"
        );
    }
}
