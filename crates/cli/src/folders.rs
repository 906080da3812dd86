//! The environments below a folder, for the tools that work without a server.
//!
//! A folder is either a server's data directory (`system` and `databases` in it) or one environment. It must not be in use:
//! opening recovers what a crash left behind, and locks. A server opens a database on its first request, so an unlocked database
//! may belong to a running server: tools lock the node first ([`lock_node`]).

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use storage::Environment;
use storage::io::{Io, real::RealIo};

/// The file that every environment has (docs/format.md).
const DATA_FILE: &str = "data";

/// The folder of the node's environment in a data directory.
const SYSTEM: &str = "system";

/// The folder of the databases in a data directory.
const DATABASES: &str = "databases";

/// What an environment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// What the node keeps about itself.
    Node,
    /// The documents of one database.
    Documents,
}

/// Keeps servers and other tools off a data directory while it exists.
pub(crate) struct NodeLock {
    _guard: Box<dyn Send + Sync>,
}

/// Locks the node whose data directory `folder` is, or which has `folder` as one of its databases.
///
/// `None`: there is no such node; the folder of a database alone is locked when it is opened.
///
/// # Errors
///
/// A server or another tool uses the node.
pub(crate) fn lock_node(folder: &Path) -> anyhow::Result<Option<NodeLock>> {
    let system = folder.join(SYSTEM);
    if system.is_dir() { lock(&system).map(Some) } else { lock_node_above(folder) }
}

/// The same for the folder of a database alone. Of a data directory the caller opens and keeps the node's environment, which locks
/// it, too.
pub(crate) fn lock_node_above(folder: &Path) -> anyhow::Result<Option<NodeLock>> {
    let Ok(folder) = folder.canonicalize() else { return Ok(None) };
    let databases = folder.parent().filter(|parent| parent.file_name().is_some_and(|name| name == DATABASES));
    let system = databases.and_then(Path::parent).map(|data| data.join(SYSTEM));
    system.filter(|system| system.is_dir()).map(|system| lock(&system)).transpose()
}

fn lock(system: &Path) -> anyhow::Result<NodeLock> {
    let guard = RealIo.lock(system).with_context(|| format!("locking {}", system.display()))?;
    let folder = system.parent().unwrap_or(system).display();
    let guard = guard.with_context(|| in_use(folder))?;
    Ok(NodeLock { _guard: guard })
}

fn in_use(folder: impl Display) -> String {
    format!("'{folder}' is in use by another process, a server or a tool; stop it before you run this command")
}

/// The environments of `folder`, by name.
pub(crate) fn environments(folder: &Path) -> anyhow::Result<Vec<(PathBuf, Holds)>> {
    ensure!(folder.is_dir(), "{} is not a folder", folder.display());
    let system = folder.join(SYSTEM);
    if !system.is_dir() {
        return Ok(vec![(folder.to_owned(), Holds::Documents)]);
    }
    let mut databases = Vec::new();
    for entry in std::fs::read_dir(folder.join(DATABASES)).context("listing the databases")? {
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

/// Refuses what is not the folder of one environment, with a hint if it is a server's data directory.
pub(crate) fn ensure_single(folder: &Path) -> anyhow::Result<()> {
    ensure!(folder.is_dir(), "{} is not a folder", folder.display());
    if folder.join(SYSTEM).is_dir() {
        let databases = environments(folder)?.into_iter().filter(|(_, holds)| *holds == Holds::Documents);
        let example = databases.map(|(path, _)| path).next().unwrap_or_else(|| folder.join(DATABASES).join("NAME"));
        bail!(
            "{} is the data directory of a server; name the folder of one database below it, such as {}",
            folder.display(),
            example.display()
        );
    }
    ensure_data_file(folder)
}

fn ensure_data_file(path: &Path) -> anyhow::Result<()> {
    ensure!(path.join(DATA_FILE).is_file(), "{} is not a database: it has no file '{DATA_FILE}'", path.display());
    Ok(())
}

/// Opens an environment that is there; a folder that is none is refused rather than made into one.
pub(crate) fn open(path: &Path) -> anyhow::Result<Environment> {
    ensure_data_file(path)?;
    match Environment::open(path, storage::Options::default()) {
        Err(storage::Error::Locked { .. }) => {
            // The lock of the node's environment is that of the whole data directory.
            let data = path.parent().filter(|_| path.file_name().is_some_and(|name| name == SYSTEM)).unwrap_or(path);
            bail!(in_use(data.display()))
        }
        opened => opened.with_context(|| format!("opening {}", path.display())),
    }
}
