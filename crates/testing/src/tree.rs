//! The files of this repository, as far as they are text.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file of the repository.
pub struct TextFile {
    /// Relative to the root, with `/` between the parts.
    pub path: String,
    /// What is in it.
    pub text: String,
}

impl TextFile {
    /// The name without the folder.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether a program, not a person, writes it: versions and hashes of dependencies.
    pub fn is_lock_file(&self) -> bool {
        self.path.ends_with(".lock") || self.name() == "package-lock.json"
    }
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of one file that has to be there.
///
/// # Panics
///
/// If it is not.
pub fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Sources of others, with what we changed in them.
const VENDORED: &str = "vendor/";

/// All text files of ours that are tracked, or new and not ignored, so that a file is checked before it is committed. None where
/// the sources lie without their history (an archive): there is nothing to hold the tree against.
///
/// # Panics
///
/// If there is a history, and git cannot be run.
pub fn files() -> Vec<TextFile> {
    let root = root();
    if !root.join(".git").exists() {
        eprintln!("SKIPPED: these sources have no git history, so nothing says which files belong to them");
        return Vec::new();
    }
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .expect("git lists the files of the repository");
    assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).expect("the names of our files are UTF-8");
    // What is deleted and not yet committed is listed, and cannot be read; what is no UTF-8 is no text.
    let file = |path: &str| {
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        Some(TextFile { path: path.to_string(), text })
    };
    names.split_terminator('\0').filter(|path| !path.starts_with(VENDORED)).filter_map(file).collect()
}

/// Those of the workspace's crates that are Rust.
pub fn rust_files() -> Vec<TextFile> {
    files().into_iter().filter(|file| file.path.starts_with("crates/") && file.path.ends_with(".rs")).collect()
}
