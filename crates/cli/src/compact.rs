//! `rookery compact DIR`: writes each database of a folder anew beside itself, then puts the copy in its place.
//!
//! A crash in between leaves the database as it was, and a folder `compacted` that the next run removes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use database::documents::{DocumentStore, StoreOptions};
use storage::{Durability, Environment, Options};

use crate::folders::{self, Holds};
use crate::output::output;

/// The folder inside of a database's where its copy is made.
const COPY: &str = "compacted";

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A server's data directory, or the folder of one database. No server may have it open.
    folder: PathBuf,
}

/// Compacts all, one after the other.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    for (path, holds) in folders::environments(&arguments.folder)? {
        // What the node keeps about itself is a few pages.
        if holds == Holds::Documents {
            compact(&path).with_context(|| format!("compacting {}", path.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn compact(path: &Path) -> anyhow::Result<()> {
    let copy = path.join(COPY);
    if copy.is_dir() {
        std::fs::remove_dir_all(&copy)?;
    }
    let store = DocumentStore::open(folders::open(path)?, StoreOptions::default())?;
    let before = store.environment().statistics()?;
    let target = Environment::open(&copy, Options { durability: Durability::Lazy, ..Options::default() })?;
    store.copy_into(&target, |_| {})?;
    let report = target.verify()?;
    ensure!(report.problems.is_empty(), "the copy is not whole: {}", report.problems.join("; "));
    let after = target.statistics()?;
    target.close()?;
    store.into_environment().replace_by(&copy)?;
    std::fs::remove_dir_all(&copy)?;
    writeln!(
        output(),
        "{}: {} pages became {}",
        path.display(),
        before.used_pages + before.free_pages,
        after.used_pages + after.free_pages
    )?;
    Ok(())
}
