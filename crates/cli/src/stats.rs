//! `rookery stats DIR`: how the storage of every database below a folder is used.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use storage::{Environment, Options};

use crate::folders;

#[derive(clap::Args)]
pub struct Arguments {
    /// A server's data folder, or that of one database.
    folder: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    for folder in folders::environments(&arguments.folder)? {
        let opened = Environment::open(&folder, Options::default());
        let environment = opened.with_context(|| format!("cannot open '{}'", folder.display()))?;
        let statistics = environment.statistics()?;
        let report = environment.verify()?;
        println!("{}", folder.display());
        println!("  data file      {:>14} bytes", statistics.data_file_size);
        println!("  journals       {:>14} bytes", statistics.journal_size);
        println!("  pages in use   {:>14}", statistics.used_pages);
        println!("  pages free     {:>14}", statistics.free_pages);
        println!("  transaction    {:>14}", statistics.last_transaction);
        for (kind, pages) in &report.pages {
            println!("  {kind:<14} {pages:>14} pages");
        }
        println!("  {:<32} {:>12} {:>10} {:>6} {:>6}", "structure", "entries", "pages", "depth", "full");
        for (name, shape) in &report.structures {
            let fill = format!("{}%", shape.fill_percent());
            println!("  {name:<32} {:>12} {:>10} {:>6} {fill:>6}", shape.entries, shape.pages, shape.depth);
        }
    }
    Ok(ExitCode::SUCCESS)
}
