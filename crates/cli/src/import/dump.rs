//! A dump of a database (`.ravendbdump`), which the server reads: it is sent as it is.

use std::io::Read;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Context, bail, ensure};
use json::Value;

use super::arguments::Arguments;
use super::interrupt::{INTERRUPTED, Interrupt};
use super::source::{self, Counted};
use crate::client::Client;
use crate::counted::{counted, is_or_are};
use crate::output::{complain, output};
use crate::progress;
use crate::remote::elements;

/// What one chunk has.
const CHUNK_SIZE: usize = 256 << 10;

/// Messages of the server that are shown.
const SHOWN_MAX: usize = 20;

/// Sends the file. Items that the server skipped make the exit code 1.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    for (is_given, flag) in [
        (arguments.id_field.is_some(), "--id-field"),
        (arguments.id_prefix.is_some(), "--id-prefix"),
        (arguments.separator.is_some(), "--separator"),
        (arguments.after_line > 0, "--after-line"),
    ] {
        ensure!(!is_given, "{flag} is for rows; a dump has documents with their ids");
    }
    let options = options(arguments)?;
    let interrupt = Interrupt::listen()?;
    let file = arguments.file.display().to_string();
    let (size, mut dump) = source::open_plain(&arguments.file)?;
    let mut chunk = vec![0; CHUNK_SIZE];
    let mut read = read_some(&mut dump, &mut chunk).with_context(|| format!("{file} cannot be read"))?;
    ensure!(read > 0, "{file} is empty; nothing was changed");
    let client = Client::new(&arguments.server)?;
    let database = arguments.database.as_str();
    client.ensure_database(database)?;
    let operation = client.next_operation_id(database)?;
    let mut upload = client.import_dump(database, operation, &options)?;
    let bar = progress::bytes(size, arguments.quiet);
    while read > 0 {
        if interrupt.has_come() {
            bar.finish_and_clear();
            client.kill_operation(database, operation)?;
            complain(format_args!(
                "interrupted. What was read is in '{database}'; a second run stores the same documents again, under the same ids."
            ));
            return Ok(ExitCode::from(INTERRUPTED));
        }
        upload.send(&chunk[..read])?;
        bar.set_position(dump.read.load(Relaxed));
        read = read_some(&mut dump, &mut chunk).with_context(|| format!("{file} cannot be read to its end"))?;
    }
    bar.set_message("storing");
    let result = upload.finish()?;
    bar.finish_and_clear();
    report(&result, &file, arguments)
}

/// Reads until the buffer is full or the file ends.
fn read_some(dump: &mut Counted, chunk: &mut [u8]) -> std::io::Result<usize> {
    let mut size = 0;
    while size < chunk.len() {
        match dump.read(&mut chunk[size..])? {
            0 => break,
            more => size += more,
        }
    }
    Ok(size)
}

/// The options, as the endpoint reads them.
fn options(arguments: &Arguments) -> anyhow::Result<Vec<u8>> {
    let script = arguments
        .transform
        .as_ref()
        .map(|path| std::fs::read_to_string(path).with_context(|| format!("reading the script {}", path.display())));
    let script = script.transpose()?;
    let mut options = Vec::new();
    json::Writer::new(&mut options).object(|json| {
        if let Some(types) = &arguments.types {
            json.name("OperateOnTypes").string(types);
        }
        if let Some(collection) = &arguments.collection {
            json.name("Collections").array(|json| _ = json.string(collection));
        }
        if let Some(script) = &script {
            json.name("TransformScript").string(script);
        }
        json.name("SkipCorruptedData").bool(arguments.skip_corrupted);
    });
    Ok(options)
}

/// Tells what was counted.
///
/// The exit code is 1 if items were skipped because of an error, or if the collection that was asked for has no documents in the dump.
fn report(result: &Value, file: &str, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let database = arguments.database.as_str();
    let number = |item_type: &str, name: &str| {
        result.get(item_type).and_then(|counts| counts.get(name)).and_then(Value::as_i64).unwrap_or(0).unsigned_abs()
    };
    let stored = |item_type| {
        number(item_type, "ReadCount")
            .saturating_sub(number(item_type, "SkippedCount"))
            .saturating_sub(number(item_type, "ErroredCount"))
    };
    let kinds = [("Documents", "document"), ("Indexes", "index"), ("Identities", "identity")];
    let counts: Vec<String> = kinds
        .iter()
        .filter(|(item_type, _)| {
            result.get(item_type).and_then(|counts| counts.get("Skipped")) != Some(&Value::Bool(true))
        })
        .map(|(item_type, noun)| counted(stored(item_type), noun))
        .collect();
    let are = is_or_are(kinds.iter().map(|(item_type, _)| stored(item_type)).sum());
    let list = match counts.split_last() {
        None => bail!("{file} has nothing of the types that were asked for; nothing was changed"),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    };
    std::io::Write::write_fmt(&mut output(), format_args!("{list} from {file} {are} in '{database}'\n"))?;
    let takes_documents = arguments.types.as_ref().is_none_or(|types| types.to_lowercase().contains("documents"));
    let collection = arguments.collection.as_ref().filter(|_| takes_documents && stored("Documents") == 0);
    if let Some(collection) = collection {
        complain(format_args!("{file} has no documents of the collection '{collection}' that could be imported"));
    }
    let messages = result.get("Messages").and_then(elements).unwrap_or_default();
    let notable = messages.iter().filter_map(Value::as_str).filter(|text| !text.contains(" INFO] "));
    for message in notable.clone().take(SHOWN_MAX) {
        // Without the time.
        complain(format_args!("{}", message.split_once(' ').map_or(message, |(_, text)| text).replacen("] ", ": ", 1)));
    }
    if let Some(more) = notable.count().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        complain(format_args!("{} more", counted(more as u64, "message")));
    }
    let errored: u64 = result.members().iter().map(|(name, _)| number(name, "ErroredCount")).sum();
    Ok(if errored > 0 || collection.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
