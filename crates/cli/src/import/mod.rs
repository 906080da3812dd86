//! `rookery import`: a file of JSON lines or CSV into a database of a running server.
//!
//! Documents go through the same bulk-insert endpoint that clients use. A line that is no document is reported with
//! its number and left out; the others are kept. A file that cannot be read to its end is an error, after what was
//! read is stored.

pub(crate) mod client;
pub mod rows;

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{complain, output};
use client::Client;
use rows::{Format, Rows, Shape};

/// How many bad lines are shown one by one.
const SHOWN_MAX: u64 = 20;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file: .jsonl, .json (one document a line) or .csv, also compressed with .gz or .zst; `-` is standard input.
    file: PathBuf,
    /// The database; made if it is not there.
    #[arg(long, short)]
    database: String,
    /// The server.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    url: String,
    /// The field that holds the id; without one it is the @id of @metadata, or the server makes it.
    #[arg(long)]
    id_field: Option<String>,
    /// What comes before the value of the id field, `cities/` for example. Without an id field the server completes it
    /// [default for that: collection or name of the file].
    #[arg(long)]
    id_prefix: Option<String>,
    /// The collection of documents that name none; without it they are in none.
    #[arg(long)]
    collection: Option<String>,
    /// What the file holds [default: by its name].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// What separates the fields of CSV [default: comma; tab for .tsv].
    #[arg(long)]
    separator: Option<char>,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// Loads the file. Bad lines make the exit code 1, after all good ones were stored.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let name = PlainName::of(&arguments.file);
    let format = arguments.format.unwrap_or(name.format);
    let separator = arguments.separator.unwrap_or(if name.is_tabbed { '\t' } else { ',' });
    ensure!(separator.is_ascii(), "the separator must be one ASCII character");
    let size = std::fs::metadata(&arguments.file).map_or(0, |file| file.len());
    let read = Arc::new(AtomicU64::new(0));
    let text = open(&arguments.file, name.compression, read.clone())?;
    let client = Client::new(&arguments.url)?;
    client.ensure_database(&arguments.database)?;

    let bar = progress_bar(size, arguments.quiet);
    let mut rows = Rows::new(text, format, separator as u8);
    let shape = Shape {
        made_prefix: arguments.collection.as_ref().unwrap_or(&name.stem).to_lowercase(),
        collection: arguments.collection,
        id_field: arguments.id_field,
        id_prefix: arguments.id_prefix,
    };
    let mut insert = client.bulk_insert(&arguments.database)?;
    let (mut stored, mut identities) = (0u64, 0u64);
    let mut left_out = LeftOut::default();
    let mut command = Vec::new();
    let ended = loop {
        let rows::Read { lines, row } = match rows.next() {
            Ok(Some(read)) => read,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        command.clear();
        match row.and_then(|row| match row.identity() {
            Some(identity) => Ok(Some(identity)),
            None => row.write_command(&shape, &mut command).map(|()| None),
        }) {
            Ok(Some((name, value))) => {
                client.seed_identity(&arguments.database, &name, value)?;
                identities += 1;
            }
            Ok(None) => {
                insert.send(&command)?;
                stored += 1;
            }
            Err(message) => bar.suspend(|| left_out.add(&lines, &message)),
        }
        if (stored + left_out.rows) % 256 == 0 {
            bar.set_position(read.load(Relaxed));
            bar.set_message(format!("{stored} documents"));
        }
    };
    insert.finish()?;
    bar.finish_and_clear();
    let file = arguments.file.display();
    let identities = if identities > 0 { format!(" and {identities} identities") } else { String::new() };
    writeln!(output(), "{stored} documents{identities} from {file} are in '{}'", arguments.database)?;
    if left_out.rows > 0 {
        let shown = if left_out.rows > SHOWN_MAX { ", the first of them are shown above" } else { "" };
        complain(format_args!("{} lines were left out{shown}", left_out.lines));
    }
    ended.with_context(|| format!("{file} was not read to its end: after line {}", rows.line_number()))?;
    Ok(if left_out.rows > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The text of a file, or of standard input.
///
/// * `read`: counts what is read of the file.
fn open(file: &Path, compression: Compression, read: Arc<AtomicU64>) -> anyhow::Result<Box<dyn BufRead>> {
    ensure!(!file.is_dir(), "{} is a folder", file.display());
    let source: Box<dyn Read> = match file.to_str() {
        Some("-") => Box::new(std::io::stdin().lock()),
        _ => Box::new(File::open(file).with_context(|| format!("opening {}", file.display()))?),
    };
    let counted = BufReader::with_capacity(256 << 10, Counted { source, read });
    let text: Box<dyn Read> = match compression {
        Compression::None => return Ok(Box::new(counted)),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(counted)),
        Compression::Zstd => Box::new(zstd::Decoder::with_buffer(counted)?),
    };
    Ok(Box::new(BufReader::with_capacity(256 << 10, text)))
}

/// What of the file is no document.
#[derive(Default)]
struct LeftOut {
    rows: u64,
    lines: u64,
}

impl LeftOut {
    /// Counts a row and tells of it, if it is one of the first.
    fn add(&mut self, lines: &RangeInclusive<u64>, message: &str) {
        let (first, last) = (lines.start(), lines.end());
        self.rows += 1;
        self.lines += last - first + 1;
        match () {
            () if self.rows > SHOWN_MAX => {}
            () if first == last => complain(format_args!("line {first}: {message}")),
            () => complain(format_args!("lines {first} to {last}: {message}")),
        }
    }
}

fn progress_bar(size: u64, is_quiet: bool) -> ProgressBar {
    if is_quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = "{elapsed_precise} [{bar:40}] {bytes}/{total_bytes} {msg}";
    let bar = ProgressBar::new(size);
    bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Counts what is read of the file, for the progress bar.
struct Counted {
    source: Box<dyn Read>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let size = self.source.read(bytes)?;
        self.read.fetch_add(size as u64, Relaxed);
        Ok(size)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

/// What the name of a file says about it.
#[derive(Debug, PartialEq, Eq)]
struct PlainName {
    /// `cities` of `dir/cities.jsonl.zst`, the first letter large: `Cities`.
    stem: String,
    format: Format,
    is_tabbed: bool,
    compression: Compression,
}

impl PlainName {
    fn of(path: &Path) -> PlainName {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (name, compression) = match name.rsplit_once('.') {
            Some((rest, "gz")) => (rest, Compression::Gzip),
            Some((rest, "zst" | "zstd")) => (rest, Compression::Zstd),
            _ => (name, Compression::None),
        };
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let is_tabbed = extension.eq_ignore_ascii_case("tsv");
        let is_table = is_tabbed || extension.eq_ignore_ascii_case("csv");
        let mut letters = stem.chars();
        let stem = match letters.next() {
            Some(first) if name != "-" => first.to_uppercase().chain(letters).collect(),
            _ => "Imported".to_owned(),
        };
        PlainName { stem, format: if is_table { Format::Csv } else { Format::Jsonl }, is_tabbed, compression }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_tells_what_it_is() {
        let name = PlainName::of(Path::new("data/cities.jsonl.zst"));
        assert_eq!((name.stem.as_str(), name.format, name.compression), ("Cities", Format::Jsonl, Compression::Zstd));
        let name = PlainName::of(Path::new("people.TSV"));
        assert!(name.is_tabbed && name.format == Format::Csv && name.compression == Compression::None);
        assert_eq!(PlainName::of(Path::new("-")).stem, "Imported");
    }
}
