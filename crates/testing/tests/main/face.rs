//! The public face, `rookerydb`: no crate below it stands in a signature, so that those can change.

use std::collections::BTreeSet;

use crate::tidy::Findings;
use testing::source::{code_only, has_word};
use testing::tree;

/// The crates below, by the names under which `rookerydb` uses them.
const BELOW: &[&str] = &["database", "documents", "query", "script", "json", "storage"];

/// Names that `use` brings in from the crates below: of `Query as Planned` the second.
fn names_from_below(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for statement in code.split("\nuse ").skip(1).filter_map(|rest| rest.split(';').next()) {
        if !BELOW.iter().any(|name| statement.starts_with(&format!("{name}::"))) {
            continue;
        }
        for item in statement.split(['{', '}', ',']).map(str::trim).filter(|item| !item.is_empty()) {
            let name = item.rsplit(" as ").next().unwrap_or(item);
            names.extend(name.rsplit("::").next().filter(|name| name.starts_with(char::is_uppercase)));
        }
    }
    names
}

/// Headers of public functions and of conversions, which callers see, each with its line.
fn signatures(code: &str) -> impl Iterator<Item = (usize, &str)> {
    ["pub fn ", "impl From<", "impl TryFrom<"].into_iter().flat_map(move |begin| {
        code.match_indices(begin).map(|(at, _)| {
            let rest = &code[at..];
            (code[..at].matches('\n').count() + 1, rest.split(['{', ';']).next().unwrap_or(rest))
        })
    })
}

/// Whether a path that begins with the name of a crate stands in the text: `json::Value`, and neither `serde_json::Value` nor
/// `crate::json::Value`.
fn has_path(text: &str, name: &str) -> bool {
    let continues = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:".contains(byte);
    text.match_indices(&format!("{name}::")).any(|(at, _)| !text.as_bytes()[..at].last().is_some_and(continues))
}

fn check(path: &str, text: &str, findings: &mut Findings) {
    let code = code_only(text);
    let names = names_from_below(&code);
    for (line, signature) in signatures(&code) {
        if BELOW.iter().any(|name| has_path(signature, name)) || names.iter().any(|name| has_word(signature, name)) {
            findings.add(
                path,
                line,
                "a signature of rookerydb names a type of a crate below (docs/design/embedded.md)",
            );
        }
    }
}

#[test]
fn no_crate_below_the_public_face_stands_in_a_signature() {
    let mut findings = Findings::default();
    for file in tree::rust_files().into_iter().filter(|file| file.path.starts_with("crates/rookerydb/src/")) {
        check(&file.path, &file.text, &mut findings);
    }
    findings.none();
}

#[test]
#[should_panic(expected = "x.rs:3")]
fn a_conversion_from_an_error_below_is_found() {
    let mut findings = Findings::default();
    check("x.rs", "//! X\nuse x::Y;\nimpl From<database::Error> for Error {}\n", &mut findings);
    findings.none();
}

#[test]
#[should_panic(expected = "x.rs:3")]
fn a_name_that_was_brought_in_is_found() {
    let mut findings = Findings::default();
    check(
        "x.rs",
        "//! X\nuse database::{documents::Expected as Version, Other};\npub fn x() -> Version {}\n",
        &mut findings,
    );
    findings.none();
}
