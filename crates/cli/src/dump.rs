//! `rookery dump DIR`: the documents of one database as JSON lines, in the order of writing.
//!
//! Each line is what a client would get, so that `rookery import` takes it back; after them the identities, one a line:
//! `{"@identity":{"Name":"orders|","Value":7}}`. One snapshot, straight from the files.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use database::documents::{DocumentStore, ItemKind, StoreOptions};

use crate::folders;
use crate::output::output;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of one database, `data/databases/shop` for example. No server may have it open.
    folder: PathBuf,
    /// Only the documents of this collection.
    #[arg(long)]
    collection: Option<String>,
}

/// Writes to standard output. A reader that goes away is an error: it does not have all of it.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !arguments.folder.join("system").is_dir(),
        "{} is the data directory of a server; name the folder of one database below it",
        arguments.folder.display()
    );
    let store = DocumentStore::open(folders::open(&arguments.folder)?, StoreOptions::default())?;
    let snapshot = store.read();
    let kinds: Vec<ItemKind> = ItemKind::all().collect();
    let mut out = BufWriter::with_capacity(1 << 20, output());
    let mut line = Vec::new();
    for item in snapshot.items(&kinds, arguments.collection.as_deref(), 0)? {
        line.clear();
        item?.dump(&mut line);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    // They are of no collection.
    let identities = if arguments.collection.is_none() { snapshot.identities()? } else { Vec::new() };
    for (name, value) in identities {
        line.clear();
        json::Writer::new(&mut line).object(|json| {
            json.name("@identity").object(|json| {
                json.name("Name").string(&name);
                json.name("Value").signed(value);
            });
        });
        line.push(b'\n');
        out.write_all(&line)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
