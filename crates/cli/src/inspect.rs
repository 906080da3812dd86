//! `rookery inspect DIR`: headers and journal records of one database's storage as text, or one of its pages.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use storage::PageNumber;
use storage::io::{Folder, real::RealIo};

use crate::folders;
use crate::output::output;

#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of one database: the one with the file `data`.
    folder: PathBuf,
    /// Print this page instead.
    #[arg(long)]
    page: Option<u64>,
}

pub fn run(arguments: Arguments) -> Result<ExitCode> {
    folders::ensure_single(&arguments.folder)?;
    let text = match arguments.page {
        Some(number) => {
            let _lock = folders::lock_node_above(&arguments.folder)?;
            folders::open(&arguments.folder)?.describe_page(PageNumber(number))?
        }
        None => storage::inspect::files(&Folder { io: Arc::new(RealIo), path: arguments.folder.clone() })?,
    };
    let mut out = output();
    write!(out, "{text}")?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
