//! Comments and documents: the files that they name exist, and comments are narrow enough to be read.

use std::collections::BTreeSet;

use crate::tidy::Findings;
use testing::source::{comment_of, paths_in};
use testing::tree::{self, TextFile};

/// Characters of a line of a comment in Rust, its indentation included. rustfmt does not wrap comments.
const COMMENT_WIDTH_MAX: usize = 140;

/// Names of files that are not in the repository: the file that names them, the name, why.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("BENCHMARKS.md", "engine.md", "a run of the benchmarks writes it"),
    ("docs/design/documentation.md", "index.md", "the book's name of `README.md`"),
];

/// What the text of a line says to a reader: all of it in Markdown, comments elsewhere.
fn prose<'l>(file: &TextFile, line: &'l str) -> Option<&'l str> {
    let name = file.name();
    let has_hashes = [".py", ".sh", ".toml", ".yml"].iter().any(|ending| name.ends_with(ending)) || !name.contains('.');
    match name {
        _ if name.ends_with(".md") => Some(line),
        _ if [".rs", ".ts", ".tsx", ".mjs"].iter().any(|ending| name.ends_with(ending)) => comment_of(line, "//"),
        _ if has_hashes => comment_of(line, "#"),
        _ => None,
    }
}

#[test]
fn files_that_comments_and_documents_name_exist() {
    let files = tree::files();
    let names: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let is_there = |from: &str, named: &str| {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (first, rest) = named.split_once('/').unwrap_or((named, ""));
        // `storage/checkpoint/flush.rs` is short for `crates/storage/src/checkpoint/flush.rs`.
        let long = [format!("crates/{first}/src/{rest}"), format!("crates/{first}/{rest}")];
        long.iter().any(|long| names.contains(long.as_str()))
            || names
                .iter()
                .any(|name| name.strip_suffix(named).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')))
            || tree::root().join(folder).join(named).exists()
            || tree::root().join(named).exists()
    };
    let mut findings = Findings::default();
    let mut accepted: BTreeSet<(&str, &str)> = ELSEWHERE.iter().map(|(file, named, _)| (*file, *named)).collect();
    let mut count = 0;
    for file in &files {
        for (index, line) in file.text.lines().enumerate() {
            let Some(text) = prose(file, line) else { continue };
            for named in paths_in(text).filter(|path| path.ends_with(".rs") || path.ends_with(".md")) {
                count += 1;
                let is_accepted = ELSEWHERE.iter().any(|(from, name, _)| *from == file.path && *name == named);
                accepted.remove(&(file.path.as_str(), named));
                if !is_accepted && !is_there(&file.path, named) {
                    findings.add(&file.path, index + 1, &format!("there is no file {named}"));
                }
            }
            if text.contains('\u{a7}') {
                findings.add(&file.path, index + 1, "a section sign says no name: name the file and its heading");
            }
        }
    }
    assert!(count > 500 || files.is_empty(), "only {count} names of files were found");
    for (from, named) in accepted.into_iter().filter(|_| !files.is_empty()) {
        findings.add(from, 1, &format!("{named} is not named here any more: remove it from references.rs"));
    }
    findings.none();
}

#[test]
fn lines_of_comments_are_not_wider_than_can_be_read() {
    let mut findings = Findings::default();
    for file in tree::files().iter().filter(|file| file.path.ends_with(".rs")) {
        for (index, line) in file.text.lines().enumerate() {
            if line.trim_start().starts_with("//") && line.chars().count() > COMMENT_WIDTH_MAX {
                let rule = format!("a line of a comment has at most {COMMENT_WIDTH_MAX} characters");
                findings.add(&file.path, index + 1, &rule);
            }
        }
    }
    findings.none();
}
