//! Files of cases with what comes out of each: compared, or with `UPDATE=1` written anew.

use std::path::{Path, PathBuf};

/// Compares each file with what it should be; gives the number of cases.
pub fn check(folder: &str, rewritten: fn(&str) -> (String, usize)) -> usize {
    let is_update = std::env::var_os("UPDATE").is_some();
    let mut count = 0;
    let mut differing = Vec::new();
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder)) {
        let text = std::fs::read_to_string(&path).unwrap();
        let (expected, cases) = rewritten(&text);
        count += cases;
        if expected == text {
            continue;
        }
        if is_update {
            std::fs::write(&path, expected).unwrap();
        } else {
            let line = text.lines().zip(expected.lines()).position(|(left, right)| left != right).unwrap_or_default();
            let found = expected.lines().nth(line).unwrap_or_default();
            differing.push(format!("{}:{}: now\n    {found}", path.display(), line + 1));
        }
    }
    assert!(differing.is_empty(), "UPDATE=1 rewrites these:\n{}", differing.join("\n"));
    println!("{count} cases");
    count
}

/// The files below `folder`, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}
