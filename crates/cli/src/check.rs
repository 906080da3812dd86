//! `rookery check DIR`: reads every page and every document and checks every rule of the format.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use database::documents::{DocumentStore, StoreOptions};

use crate::folders::{self, Holds};
use crate::output::output;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A server's data directory, or the folder of one database. No server may have it open.
    folder: PathBuf,
}

/// Checks all; damage makes the exit code 1.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut out = output();
    let mut problem_count = 0;
    for (path, holds) in folders::environments(&arguments.folder)? {
        let environment = folders::open(&path)?;
        let report = environment.verify()?;
        writeln!(out, "{}: {} pages", path.display(), report.pages_total())?;
        let mut problems = report.problems.clone();
        problem_count += report.problems.len() as u64;
        // Documents on damaged pages would only say the same again.
        if holds == Holds::Documents && report.problems.is_empty() {
            let store = DocumentStore::open(environment, StoreOptions::default())?;
            let found = store.read().verify()?;
            for (kind, counts) in found.counts.iter() {
                writeln!(out, "  {} {}, {} tombstones", counts.count, kind.name(), counts.tombstone_count)?;
            }
            problem_count += found.problem_count;
            problems.extend(found.problems);
        }
        for problem in &problems {
            writeln!(out, "  PROBLEM: {problem}")?;
        }
    }
    if problem_count > 0 {
        writeln!(out, "{problem_count} problems")?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(out, "no problems")?;
    Ok(ExitCode::SUCCESS)
}
