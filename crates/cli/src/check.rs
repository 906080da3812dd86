//! `rookery check DIR`: reads every page and every document and checks every rule of the format.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use database::documents::{DocumentStore, StoreOptions};

use crate::counted::counted;
use crate::folders::{self, Holds};
use crate::output::output;
use crate::progress;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A server's data directory, or the folder of one database. No server may have it open.
    folder: PathBuf,
}

/// Checks all; damage makes the exit code 1.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let _lock = folders::lock_node_above(&arguments.folder)?;
    let mut out = output();
    let mut problem_count = 0;
    // An open environment locks out the server, so it stays open until all of the folder is checked.
    let mut node = None;
    for (path, holds) in folders::environments(&arguments.folder)? {
        let environment = folders::open(&path)?;
        let bar = progress::steps("pages checked", environment.statistics()?.used_pages);
        let report = environment.verify_with(&mut |reached| bar.set_position(reached))?;
        bar.finish_and_clear();
        writeln!(out, "{}: {}", path.display(), counted(report.pages_total(), "page"))?;
        let mut problems = report.problems.clone();
        problem_count += report.problems.len() as u64;
        match holds {
            Holds::Node => node = Some(environment),
            // Documents on damaged pages would only say the same again.
            Holds::Documents if report.problems.is_empty() => {
                let store = DocumentStore::open(environment, StoreOptions::default())?;
                let counts = store.read().statistics()?.counts.total();
                let bar = progress::steps("documents checked", counts.count + counts.tombstone_count);
                let found = store.read().verify_with(&mut |read| bar.set_position(read))?;
                bar.finish_and_clear();
                for (kind, counts) in found.counts.iter() {
                    let items = counted(counts.count, kind.name().strip_suffix('s').unwrap_or(kind.name()));
                    writeln!(out, "  {items}, {}", counted(counts.tombstone_count, "tombstone"))?;
                }
                problem_count += found.problem_count;
                problems.extend(found.problems);
            }
            Holds::Documents => {}
        }
        for problem in &problems {
            writeln!(out, "  PROBLEM: {problem}")?;
        }
    }
    drop(node);
    if problem_count > 0 {
        writeln!(out, "{}", counted(problem_count, "problem"))?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(out, "no problems")?;
    Ok(ExitCode::SUCCESS)
}
