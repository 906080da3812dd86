//! `rookery dump DIR`: the documents of one database as JSON lines, in the order of writing.
//!
//! Each line is what a client would get, so that `rookery import` takes it back; after them the attachments, as
//! `{"@attachment":{"DocumentId":"orders/1","Name":"a.txt","Hash":"..","ContentType":"text/plain","Size":5}}` and lines with their
//! contents in base64, `{"@content":"aGVsbG8="}`; the counters, one a line, as
//! `{"@counter":{"DocumentId":"orders/1","CounterName":"likes","TotalValue":7}}`, revisions, `{"@revision":{..}}`, compare-exchange values,
//! `{"@compare-exchange":{"Key":"names/ann","Value":{"Object":1}}}`, and the identities:
//! `{"@identity":{"Name":"orders|","Value":7}}`. One snapshot, straight from the files.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use database::documents::{Attachment, DocumentStore, ItemKind, Snapshot, StoreOptions, base64};
use indicatif::ProgressBar;

use crate::folders;
use crate::output::output;
use crate::progress;

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
    folders::ensure_single(&arguments.folder)?;
    let _lock = folders::lock_node_above(&arguments.folder)?;
    let store = DocumentStore::open(folders::open(&arguments.folder)?, StoreOptions::default())?;
    let snapshot = store.read();
    let mut out = BufWriter::with_capacity(1 << 20, output());
    let count = match &arguments.collection {
        Some(name) => snapshot.collection(name)?.map_or(0, |collection| collection.total().count),
        None => snapshot.statistics()?.counts.total().count,
    };
    // A bar among the lines of a terminal would tear them.
    let bar = if std::io::stdout().is_terminal() { ProgressBar::hidden() } else { progress::steps("documents", count) };
    let mut line = Vec::new();
    // A kind after the other: what belongs to documents stands behind them.
    for kind in ItemKind::all() {
        for item in snapshot.items(&[kind], arguments.collection.as_deref(), 0)? {
            let item = item?;
            // An imported document is new to cluster-wide transactions.
            if item.compare_exchange_value().is_some_and(|value| value.is_guard()) {
                continue;
            }
            line.clear();
            match item.kind() {
                ItemKind::Revision => {
                    line.extend_from_slice(b"{\"@revision\":");
                    snapshot.revision_of(&item)?.document()?.write_to(&mut line);
                    line.push(b'}');
                }
                _ => item.dump(&mut line),
            }
            line.push(b'\n');
            out.write_all(&line)?;
            if let Some(attachment) = item.attachment()? {
                write_content(&snapshot, &attachment, &mut out)?;
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
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

/// Writes the content of an attachment, a line for each chunk.
fn write_content(snapshot: &Snapshot<'_>, attachment: &Attachment<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let content = snapshot.content(attachment.hash(), 0..attachment.size())?;
    let mut content = content.context("the content of an attachment is missing: `rookery check` tells more")?;
    let mut line = Vec::new();
    while let Some(bytes) = content.next()? {
        line.clear();
        json::Writer::new(&mut line).object(|json| _ = json.name("@content").string(&base64::encode(bytes)));
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
