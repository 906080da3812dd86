//! `rookery compact DIR`: rewrites each database of a folder into a copy, then replaces the database by the copy.
//!
//! It locks the node before anything else, so that no server runs on the folder meanwhile. A crash in between leaves the database as it
//! was, and a folder that is removed when the database is opened or compacted next. A running server does the same with
//! `POST /admin/compact`, by the same code (`database/compaction`).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use database::compaction::{Copy, Step};
use database::documents::{DocumentStore, StoreOptions};
use indicatif::ProgressBar;
use storage::Statistics;
use storage::limits::{PAGE_SIZE, data_file_pages};

use crate::counted::{counted, size};
use crate::folders::{self, Holds};
use crate::output::output;
use crate::progress;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A server's data directory, or the folder of one database. No server may have it open.
    folder: PathBuf,
    /// Change nothing; show how large each database is, and about how small it would become.
    #[arg(long)]
    dry_run: bool,
}

/// Compacts all, one after the other.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let _lock = folders::lock_node(&arguments.folder)?;
    for (path, holds) in folders::environments(&arguments.folder)? {
        // What the node keeps about itself is a few pages.
        if holds == Holds::Documents {
            let work = if arguments.dry_run { estimate(&path) } else { compact(&path) };
            work.with_context(|| format!("compacting {}", path.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Pages of the data file, free ones included.
fn pages(statistics: &Statistics) -> u64 {
    statistics.used_pages + statistics.free_pages
}

fn shown(pages: u64) -> String {
    format!("{} ({})", counted(pages, "page"), size(pages * PAGE_SIZE as u64))
}

/// Prints what compaction would give back: free pages, and the room in leaves that are partly filled.
fn estimate(path: &Path) -> anyhow::Result<()> {
    let environment = folders::open(path)?;
    let before = environment.statistics()?;
    let bar = progress::steps("pages read", before.used_pages);
    let report = environment.verify_with(&mut |reached| bar.set_position(reached))?;
    bar.finish_and_clear();
    ensure!(report.problems.is_empty(), "the database is damaged: {}", report.problems.join("; "));
    let spare = report.structures.values().map(|shape| {
        let dense = shape.leaf_bytes.div_ceil(PAGE_SIZE as u64).max(1);
        shape.leaves.saturating_sub(dense)
    });
    let after = data_file_pages(before.used_pages.saturating_sub(spare.sum()));
    let (path, before) = (path.display(), pages(&before));
    let mut out = output();
    if after >= before {
        writeln!(out, "{path}: {}, already dense; would be left as it is", shown(before))?;
    } else {
        writeln!(out, "{path}: {} would become about {}; nothing was changed", shown(before), shown(after))?;
    }
    Ok(())
}

fn compact(path: &Path) -> anyhow::Result<()> {
    let store = DocumentStore::open(folders::open(path)?, StoreOptions::default())?;
    let mut bar: Option<(&str, ProgressBar)> = None;
    let copy = Copy::of_documents(&store, &mut |step| {
        let (what, reached, total) = match step {
            Step::Copied(copied, total) => ("documents copied", copied, total),
            Step::Checked(checked, total) => ("pages of the copy checked", checked, total),
        };
        if bar.as_ref().is_none_or(|(shown, _)| *shown != what)
            && let Some((_, ended)) = bar.replace((what, progress::steps(what, total)))
        {
            ended.finish_and_clear();
        }
        if let Some((_, bar)) = &bar {
            bar.set_position(reached);
        }
        true
    })?;
    if let Some((_, bar)) = bar {
        bar.finish_and_clear();
    }
    let copy = copy.context("the copy was cut short")?;
    let (before, after) = (copy.pages_before(), copy.pages_after());
    let mut out = output();
    if !copy.is_smaller() {
        writeln!(out, "{}: {}, already dense; left as it was", path.display(), shown(before))?;
        return Ok(());
    }
    copy.put_in_place(store.environment())?;
    writeln!(out, "{}: {} became {}", path.display(), shown(before), shown(after))?;
    Ok(())
}
