//! `rookery dump DIR`: the documents of one database as JSON lines, in the order of writing.
//!
//! Each line is what a client would get, so that `rookery import` takes it back. One snapshot, straight from the files.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use database::documents::{DocumentStore, StoreOptions};

use crate::folders;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of one database, `data/databases/shop` for example. No server may have it open.
    folder: PathBuf,
    /// Only this collection.
    #[arg(long)]
    collection: Option<String>,
}

/// Writes to standard output; a reader that has enough ends it.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !arguments.folder.join("system").is_dir(),
        "{} is the data directory of a server; name the folder of one database below it",
        arguments.folder.display()
    );
    let store = DocumentStore::open(folders::open(&arguments.folder)?, StoreOptions::default())?;
    let snapshot = store.read();
    let documents = match &arguments.collection {
        Some(collection) => snapshot.collection_after(collection, 0)?,
        None => snapshot.after(0),
    };
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut line = Vec::new();
    for document in documents {
        line.clear();
        document?.write_to(&mut line);
        line.push(b'\n');
        match out.write_all(&line) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written?,
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
