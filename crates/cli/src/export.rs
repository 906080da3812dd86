//! `rookery export`: the documents of a database, of a collection or of a query of a running server as a file.
//!
//! A dump (`.ravendbdump`) has the indexes and identities too; the server makes it.
//!
//! JSON lines come from one consistent state of the database, whatever is written meanwhile. A line of an export of a whole database
//! or collection is what `rookery import` and the studio read; identities follow the documents of a whole database. CSV needs to
//! know its columns first, so the documents are read twice.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use indicatif::ProgressBar;
use json::{Value, Writer};

use crate::client::{Client, ServerArguments, escape};
use crate::counted::{counted, is_or_are};
use crate::left_out::LeftOut;
use crate::output::{complain, output};
use crate::progress;
use crate::remote::{self, Asked, Remote, body_of, quoted};
use crate::results::{Columns, write_csv_head, write_csv_line};

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: ServerArguments,
    /// The database.
    #[arg(long, short)]
    database: String,
    /// Only the documents of this collection.
    #[arg(long, conflicts_with = "query")]
    collection: Option<String>,
    /// The results of this query instead of documents.
    #[arg(long, value_name = "RQL")]
    query: Option<String>,
    /// A parameter of the query, as of `rookery query`.
    #[arg(long = "parameter", short, value_name = "NAME=VALUE", value_parser = remote::parameter, requires = "query")]
    parameters: Vec<(String, Value)>,
    /// What is written [default: by the name of the file; jsonl to standard output].
    #[arg(long, short, value_enum)]
    format: Option<Format>,
    /// The types of items in a dump, such as `Documents,Indexes` [default: all that there are].
    #[arg(long, value_name = "TYPES", conflicts_with = "query")]
    types: Option<String>,
    /// A JavaScript that changes each document of a dump, or throws 'skip' to leave it out.
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    transform: Option<PathBuf>,
    /// Skip documents for which the script fails.
    #[arg(long, requires = "transform")]
    skip_corrupted: bool,
    /// The file, compressed if its name ends with .gz or .zst [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A dump of the database, with its indexes and identities.
    Ravendbdump,
    /// A JSON object a line.
    Jsonl,
    /// Comma-separated values with a line of names.
    Csv,
}

/// Writes the file. A file that is not complete has another name.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server)?;
    let export = Export { remote: Remote { client: &client, database: &arguments.database }, arguments: &arguments };
    let format = match (arguments.format, &arguments.output) {
        (Some(format), _) => format,
        (None, Some(path)) => format_of(path)?,
        (None, None) => Format::Jsonl,
    };
    if format == Format::Ravendbdump {
        ensure!(arguments.query.is_none(), "a dump has documents and no results of a query; use --format jsonl or csv");
    } else {
        for (is_given, flag) in [(arguments.types.is_some(), "--types"), (arguments.transform.is_some(), "--transform")]
        {
            ensure!(!is_given, "{flag} is for dumps; name the format with --format ravendbdump");
        }
    }
    let bar = export.bar()?;
    let Some(path) = &arguments.output else {
        let mut out = BufWriter::with_capacity(1 << 20, output());
        export.write(format, &mut out, &bar)?;
        out.flush()?;
        bar.finish_and_clear();
        return Ok(ExitCode::SUCCESS);
    };
    let part = PathBuf::from(format!("{}.part", path.display()));
    let file = File::create(&part).with_context(|| format!("creating {}", part.display()))?;
    let compression = if format == Format::Ravendbdump { None } else { path.extension() };
    let count = write_compressed(compression, file, |out| export.write(format, out, &bar));
    bar.finish_and_clear();
    let count = count.and_then(|count| {
        std::fs::rename(&part, path).with_context(|| format!("renaming {}", part.display()))?;
        Ok(count)
    });
    if count.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    let (count, noun) = (count?, if arguments.query.is_some() { "row" } else { "document" });
    complain(format_args!("{} {} in {}", counted(count, noun), is_or_are(count), path.display()));
    Ok(ExitCode::SUCCESS)
}

/// The format that the name of a file means by its ending, which may stand before that of its compression.
///
/// # Errors
///
/// The name ends otherwise, so that a reader would take the file for something else.
fn format_of(path: &Path) -> anyhow::Result<Format> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    // It is compressed inside.
    if name.ends_with(".ravendbdump") {
        return Ok(Format::Ravendbdump);
    }
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("csv") => Ok(Format::Csv),
        Some("jsonl" | "ndjson" | "json") | None => Ok(Format::Jsonl),
        Some(extension) => bail!(
            "'{}' ends with .{extension}; end it with .ravendbdump, .jsonl or .csv, or name the format with --format",
            path.display()
        ),
    }
}

/// Writes a file, compressed as the ending of its name says, and makes it durable.
fn write_compressed(
    extension: Option<&OsStr>,
    file: File,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<u64>,
) -> anyhow::Result<u64> {
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let extension = extension.unwrap_or_default();
    let count = if extension.eq_ignore_ascii_case("gz") {
        let mut out = flate2::write::GzEncoder::new(&mut file, flate2::Compression::default());
        let count = write(&mut out)?;
        out.finish()?;
        count
    } else if extension.eq_ignore_ascii_case("zst") {
        let mut out = zstd::Encoder::new(&mut file, 3)?;
        let count = write(&mut out)?;
        out.finish()?;
        count
    } else {
        write(&mut file)?
    };
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    Ok(count)
}

struct Export<'a> {
    remote: Remote<'a>,
    arguments: &'a Arguments,
}

impl Export<'_> {
    /// A bar over the documents that there are.
    fn bar(&self) -> anyhow::Result<ProgressBar> {
        // It also finds out that there is no such database or collection, before a file is made.
        let collections = self.remote.collections()?;
        let counts = collections.iter().filter(|(name, _)| {
            self.arguments.collection.as_ref().is_none_or(|collection| name.eq_ignore_ascii_case(collection))
        });
        let counts: Vec<i64> = counts.map(|(_, count)| *count).collect();
        if let (Some(collection), []) = (&self.arguments.collection, &counts[..]) {
            let names: Vec<&str> = collections.iter().map(|(name, _)| name.as_str()).collect();
            let hint = match crate::similar::similar(collection, names.iter().copied()) {
                Some(name) => format!("did you mean '{name}'?"),
                None => format!("its collections are {}", names.join(", ")),
            };
            bail!("the database '{}' has no collection '{collection}'; {hint}", self.remote.database);
        }
        let is_hidden = self.arguments.quiet || self.arguments.output.is_none() && std::io::stdout().is_terminal();
        match self.arguments.query {
            _ if is_hidden => Ok(ProgressBar::hidden()),
            Some(_) => Ok(progress::steps("rows", 0)),
            None => Ok(progress::steps("documents", counts.iter().sum::<i64>().unsigned_abs())),
        }
    }

    fn write(&self, format: Format, out: &mut dyn Write, bar: &ProgressBar) -> anyhow::Result<u64> {
        match format {
            Format::Jsonl => {
                let mut left_out = LeftOut::default();
                let has_documents = self.arguments.query.is_none();
                let count = self.each(|line| {
                    if has_documents {
                        left_out.add(line)?;
                    }
                    out.write_all(line)?;
                    out.write_all(b"\n")?;
                    bar.inc(1);
                    Ok(())
                })?;
                if has_documents && self.arguments.collection.is_none() {
                    self.write_identities(out)?;
                }
                bar.suspend(|| left_out.complain());
                Ok(count)
            }
            Format::Csv => self.write_csv(out, bar),
            Format::Ravendbdump => self.write_dump(out, bar),
        }
    }

    /// The dump as the server makes it. Gives the number of documents.
    fn write_dump(&self, out: &mut dyn Write, bar: &ProgressBar) -> anyhow::Result<u64> {
        let Arguments { types, collection, transform, skip_corrupted, output, .. } = self.arguments;
        let script = transform.as_ref().map(|path| {
            std::fs::read_to_string(path).with_context(|| format!("reading the script {}", path.display()))
        });
        let script = script.transpose()?;
        // A file called x.ravendbdump.gz is gzip, as its name says.
        let is_gzip =
            output.as_ref().and_then(|path| path.extension()).is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        let mut options = Vec::new();
        Writer::new(&mut options).object(|json| {
            if let Some(types) = types {
                json.name("OperateOnTypes").string(types);
            }
            if let Some(collection) = collection {
                json.name("Collections").array(|json| _ = json.string(collection));
            }
            if let Some(script) = &script {
                json.name("TransformScript").string(script);
            }
            json.name("SkipCorruptedData").bool(*skip_corrupted);
            json.name("CompressionAlgorithm").string(if is_gzip { "Gzip" } else { "Zstd" });
        });
        let operation = self.remote.client.next_operation_id(self.remote.database)?;
        let path = self.remote.path(&format!("smuggler/export?operationId={operation}"));
        let mut answer = self.remote.client.stream("POST", &path, &options)?;
        bar.set_message("documents");
        let copied = std::io::copy(&mut answer, out);
        let state = self.remote.client.get(&self.remote.path(&format!("operations/state?id={operation}")));
        if let Err(error) = copied {
            // If it was the server who closed the connection, the error says nothing, and the operation has the reason.
            let reason = state.ok().and_then(|state| {
                let is_faulted = state.get("Status")?.as_str()? == "Faulted";
                state.get("Result")?.get("Message")?.as_str().filter(|_| is_faulted).map(str::to_owned)
            });
            let error = anyhow::Error::from(error);
            return Err(reason.map_or(error, anyhow::Error::msg).context("the export is not complete"));
        }
        let state = state?;
        let documents = state.get("Result").and_then(|result| result.get("Documents"));
        let count = |name| documents.and_then(|counts| counts.get(name)).and_then(Value::as_i64).unwrap_or(0);
        let errored = count("ErroredCount");
        if errored > 0 {
            complain(format_args!(
                "{} skipped: the script fails for them",
                counted(errored.unsigned_abs(), "document")
            ));
        }
        Ok((count("ReadCount") - count("SkippedCount") - errored).unsigned_abs())
    }

    /// Identities as `rookery dump` writes them.
    fn write_identities(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let identities = self.remote.client.get(&self.remote.path("debug/identities"))?;
        for (name, value) in identities.members() {
            let mut line = Vec::new();
            Writer::new(&mut line).object(|json| {
                json.name("@identity").object(|json| {
                    json.name("Name").string(name);
                    value.write(json.name("Value"));
                });
            });
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(())
    }

    fn write_csv(&self, mut out: &mut dyn Write, bar: &ProgressBar) -> anyhow::Result<u64> {
        let mut columns = Columns::default();
        bar.set_message("documents read");
        self.each(|line| {
            columns.add(&Value::parse(line)?);
            bar.inc(1);
            Ok(())
        })?;
        columns.finish();
        bar.set_position(0);
        bar.set_message("documents written");
        // How spreadsheets know UTF-8.
        out.write_all("\u{feff}".as_bytes())?;
        write_csv_head(&mut out, &columns)?;
        self.each(|line| {
            let row = Value::parse(line)?;
            if columns.add(&row) {
                bail!("a document with a new field was stored during the export; run it again");
            }
            write_csv_line(&mut out, &columns, &row)?;
            bar.inc(1);
            Ok(())
        })
    }

    /// Calls `each` with every document, or row of the query, as JSON. Gives their number.
    fn each(&self, mut each: impl FnMut(&[u8]) -> anyhow::Result<()>) -> anyhow::Result<u64> {
        let Arguments { collection, query, parameters, .. } = self.arguments;
        let rql = query.clone().or_else(|| collection.as_ref().map(|name| format!("from {}", quoted(name))));
        let answer = match rql {
            Some(rql) => {
                let body = body_of(&Asked { rql, parameters: parameters.clone(), ..Asked::default() });
                self.remote.client.stream("POST", &self.remote.path("streams/queries?format=jsonl"), &body)?
            }
            None => {
                let path = format!("/databases/{}/streams/docs?format=jsonl", escape(self.remote.database));
                self.remote.client.stream("GET", &path, &[])?
            }
        };
        let mut lines = BufReader::with_capacity(256 << 10, answer);
        let mut line = Vec::new();
        let mut count = 0;
        while lines.read_until(b'\n', &mut line).context("the export is not complete")? > 0 {
            let text = line.trim_ascii();
            // Streams of queries wrap each row, and begin with a line of numbers.
            let row = match (query.is_some() || collection.is_some(), text) {
                (false, text) => Some(text),
                (true, text) => text.strip_prefix(b"{\"Item\":").and_then(|text| text.strip_suffix(b"}")),
            };
            if let Some(row) = row.filter(|row| !row.is_empty()) {
                each(row)?;
                count += 1;
            }
            line.clear();
        }
        Ok(count)
    }
}
