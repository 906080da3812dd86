//! Phrases that hide who does what ("so many", "nobody", "is told"): how often comments of each crate have one. The style of the project
//! lists them, with the words to use instead.

use std::collections::BTreeMap;

use crate::tidy::Findings;
use testing::source::{comment_of, has_word};
use testing::tree;

/// Phrases to avoid, in lower case.
const AVOIDED: &[&str] = &[
    "so many",
    "nobody",
    "somebody",
    "is told",
    "is asked",
    "takes back",
    "lets go",
    "besides",
    "whoever",
    "of which",
];

/// Lines of comments with an avoided phrase: crate, count. The aim is 0. Whoever rewords some lowers the number here.
const LINES: &[(&str, usize)] = &[
    ("cli", 15),
    ("database", 50),
    ("documents", 15),
    ("fuzzing", 1),
    ("query", 66),
    ("rookerydb", 3),
    ("script", 10),
    ("server", 63),
    ("storage", 46),
    ("testing", 2),
];

const LIST: &str = "crates/testing/tests/main/wording.rs";

/// Whether a line has an avoided phrase in a comment.
fn has_avoided(line: &str) -> bool {
    let Some(comment) = comment_of(line, "//") else { return false };
    let comment = comment.to_lowercase();
    AVOIDED.iter().any(|phrase| has_word(&comment, phrase))
}

#[test]
fn avoided_phrases_in_comments_become_fewer() {
    let mut counts: BTreeMap<String, usize> = LINES.iter().map(|(name, _)| ((*name).to_owned(), 0)).collect();
    let files = tree::rust_files();
    for file in &files {
        let Some((name, _)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) else {
            continue;
        };
        *counts.entry(name.to_owned()).or_default() += file.text.lines().filter(|line| has_avoided(line)).count();
    }
    let mut findings = Findings::default();
    for (name, count) in counts.into_iter().filter(|_| !files.is_empty()) {
        let listed = LINES.iter().find(|(of, _)| *of == name).map_or(0, |(_, count)| *count);
        match count.cmp(&listed) {
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => {
                let rule = format!(
                    "{count} lines of comments of '{name}' have one of {AVOIDED:?}, and {listed} are accepted: reword them"
                );
                findings.add(&format!("crates/{name}"), 1, &rule);
            }
            std::cmp::Ordering::Less => {
                let rule = format!(
                    "{count} lines of comments of '{name}' have an avoided phrase: lower its number from {listed}"
                );
                findings.add(LIST, 1, &rule);
            }
        }
    }
    findings.none();
}

#[test]
fn phrases_are_found_in_comments_alone() {
    assert!(has_avoided("    /// So many bytes."));
    assert!(has_avoided("f(); // nobody waits"));
    assert!(!has_avoided("let text = \"nobody\";"));
    assert!(!has_avoided("// nobody_waits is a name"));
}
