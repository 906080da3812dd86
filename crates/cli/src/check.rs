//! `rookery check DIR`: everything that the format promises, of every database below a folder. Exit code 1 if something
//! does not hold. The databases must not be open elsewhere.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use storage::{Environment, Options};

use crate::folders;

#[derive(clap::Args)]
pub struct Arguments {
    /// A server's data folder, or that of one database.
    folder: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut damaged = false;
    for folder in folders::environments(&arguments.folder)? {
        let found = Environment::open(&folder, Options::default()).and_then(|environment| environment.verify());
        match found {
            Ok(report) if report.problems.is_empty() => {
                println!("{}: all is well, {} pages checked", folder.display(), report.pages_total());
            }
            Ok(report) => {
                damaged = true;
                println!("{}: {} problems", folder.display(), report.problems.len());
                report.problems.iter().for_each(|problem| println!("  {problem}"));
            }
            Err(error) => {
                damaged = true;
                println!("{}: {error}", folder.display());
            }
        }
    }
    Ok(if damaged { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
