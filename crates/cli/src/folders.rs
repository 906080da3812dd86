//! The environments below a folder, for the tools that work without a server.
//!
//! A folder is either a server's data directory (`system` and `databases` in it) or one environment. It must not be in use:
//! opening recovers what a crash left behind, and locks.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use storage::Environment;

/// The file that every environment has (docs/format.md).
const DATA_FILE: &str = "data";

/// What an environment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// What the node keeps about itself.
    Node,
    /// The documents of one database.
    Documents,
}

/// The environments of `folder`, by name.
pub(crate) fn environments(folder: &Path) -> anyhow::Result<Vec<(PathBuf, Holds)>> {
    ensure!(folder.is_dir(), "{} is not a folder", folder.display());
    let system = folder.join("system");
    if !system.is_dir() {
        return Ok(vec![(folder.to_owned(), Holds::Documents)]);
    }
    let mut databases = Vec::new();
    for entry in std::fs::read_dir(folder.join("databases")).context("listing the databases")? {
        let path = entry?.path();
        let is_going = path.file_name().is_some_and(|name| database::is_being_removed(&name.to_string_lossy()));
        if !path.is_dir() || is_going {
            continue;
        }
        if is_leftover(&path).with_context(|| format!("looking into {}", path.display()))? {
            let note =
                "no database yet: the rest of a creation that did not end, which the server removes when it starts";
            // Whoever does not read it misses nothing.
            let _ = writeln!(std::io::stderr(), "{}: {note}", path.display());
            continue;
        }
        databases.push((path, Holds::Documents));
    }
    databases.sort_by(|left, right| left.0.cmp(&right.0));
    databases.insert(0, (system, Holds::Node));
    Ok(databases)
}

/// Whether this was left before there was a data file. A database that has lost it has journals, or what its flushes noted.
fn is_leftover(path: &Path) -> std::io::Result<bool> {
    for file in std::fs::read_dir(path)? {
        if !["lock", "data.new"].iter().any(|name| file.as_ref().is_ok_and(|file| file.file_name() == *name)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Opens an environment that is there; a folder that is none is refused rather than made into one.
pub(crate) fn open(path: &Path) -> anyhow::Result<Environment> {
    ensure!(path.join(DATA_FILE).is_file(), "{} is no database: it has no file '{DATA_FILE}'", path.display());
    Environment::open(path, storage::Options::default()).with_context(|| format!("opening {}", path.display()))
}
