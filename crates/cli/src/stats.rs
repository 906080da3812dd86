//! `rookery stats DIR`: sizes, pages, depth and fill of what is in a folder.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::folders::{self, Holds};
use crate::output::output;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A server's data directory, or the folder of one database. No server may have it open.
    folder: PathBuf,
}

/// Prints a table per environment.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let _lock = folders::lock_node_above(&arguments.folder)?;
    let mut out = output();
    // Open environments lock out the server until all are read; the first is the node's.
    let mut node = None;
    for (path, holds) in folders::environments(&arguments.folder)? {
        let environment = folders::open(&path)?;
        let numbers = environment.statistics()?;
        writeln!(out, "{}", path.display())?;
        writeln!(out, "  data file          {:>12} bytes", numbers.data_file_size)?;
        writeln!(out, "  journals           {:>12} bytes", numbers.journal_size)?;
        writeln!(out, "  pages used, free   {:>12} {:>8}", numbers.used_pages, numbers.free_pages)?;
        writeln!(out, "  last transaction   {:>12}", numbers.last_transaction.0)?;
        let report = environment.verify()?;
        for (what, pages) in &report.pages {
            writeln!(out, "  pages: {what:<24} {pages:>10}")?;
        }
        writeln!(out, "  {:<40} {:>10} {:>8} {:>6} {:>6}", "structure", "entries", "pages", "depth", "fill")?;
        for (name, shape) in &report.structures {
            let (entries, pages, fill) = (shape.entries, shape.pages, shape.fill_percent());
            writeln!(out, "  {name:<40} {entries:>10} {pages:>8} {:>6} {fill:>5}%", shape.depth)?;
        }
        writeln!(out)?;
        if holds == Holds::Node {
            node = Some(environment);
        }
    }
    drop(node);
    Ok(ExitCode::SUCCESS)
}
