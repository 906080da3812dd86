//! `rookery import`: a dump, or a file of JSON or CSV, into a database of a running server.
//!
//! A dump goes to the server as it is ([`dump`]).
//!
//! Rows go through the same bulk-insert endpoint that clients use. A row that is no document is reported with its lines and
//! skipped; the others are stored. A file that cannot be read to its end, and an interruption, end the import after what was
//! read is stored; the message says where it ended, and `--after-line` resumes there. The database is created with the first
//! document, so that a file without one leaves no database behind.

mod arguments;
mod attachments;
mod dump;
mod elements;
mod interrupt;
mod name;
pub mod rows;
mod source;

use std::io::Write;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, anyhow, bail, ensure};

use crate::client::{BulkInsert, Client};
use crate::counted::{counted, is_or_are, was_or_were};
use crate::output::{complain, output};
use crate::progress;
pub(crate) use arguments::Arguments;
use arguments::FileFormat;
use attachments::{AttachmentRow, Attachments};
use interrupt::{INTERRUPTED, Interrupt};
use name::PlainName;
use rows::{Format, Rows, Shape};

/// How many bad lines are shown one by one.
const SHOWN_MAX: u64 = 20;

/// Rows between two updates of the progress.
const ROWS_PER_STEP: u64 = 256;

/// Loads the file. Bad lines make the exit code 1, after all good ones were stored.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let name = PlainName::of(&arguments.file);
    let format = match arguments.format {
        Some(FileFormat::Ravendbdump) => return dump::run(&arguments),
        None if name.is_dump => return dump::run(&arguments),
        Some(FileFormat::Jsonl) => Format::Jsonl,
        Some(FileFormat::Csv) => Format::Csv,
        None => name.format,
    };
    for (is_given, flag) in [
        (arguments.types.is_some(), "--types"),
        (arguments.transform.is_some(), "--transform"),
        (arguments.skip_corrupted, "--skip-corrupted"),
    ] {
        ensure!(!is_given, "{flag} is for dumps; name the format with --format ravendbdump if the file is one");
    }
    ensure!(
        arguments.separator.is_none() || format == Format::Csv,
        "--separator is for CSV; name the format with --format csv if the file is one"
    );
    ensure!(
        arguments.separator.is_none_or(|separator| separator.is_ascii()),
        "the separator must be one ASCII character"
    );
    let interrupt = Interrupt::listen()?;
    let size = std::fs::metadata(&arguments.file).map_or(0, |file| file.len());
    let read = Arc::new(AtomicU64::new(0));
    let mut text = source::open(&arguments.file, name.compression, read.clone())?;
    let file = arguments.file.display().to_string();
    let unreadable = || format!("{file} cannot be read");
    let separator = match arguments.separator {
        Some(separator) => separator as u8,
        None if name.is_tabbed => b'\t',
        None if format == Format::Csv => rows::separator_of(&mut *text).with_context(unreadable)?,
        None => b',',
    };
    let mut rows = Rows::new(text, format, separator);
    let begun = rows.begin(arguments.id_field.as_deref()).with_context(unreadable)?;
    begun.map_err(|message| anyhow!("{file}: {message}"))?;
    let mut import = Import::new(&arguments, &name)?;

    let bar = progress::bytes(size, arguments.quiet);
    let mut is_interrupted = false;
    let ended = loop {
        if interrupt.has_come() {
            is_interrupted = true;
            break Ok(());
        }
        let rows::Read { lines, row } = match rows.next() {
            Ok(Some(read)) => read,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        if *lines.end() <= arguments.after_line {
            continue;
        }
        import.row_count += 1;
        let outcome = match row {
            Ok(row) => import.store(&row)?,
            Err(message) => Err(message),
        };
        if let Err(message) = outcome {
            bar.suspend(|| import.skipped.add(&lines, &message));
        }
        if import.row_count % ROWS_PER_STEP == 0 {
            bar.set_position(read.load(Relaxed));
            bar.set_message(counted(import.documents, "document"));
        }
    };
    let tally = import.finish()?;
    bar.finish_and_clear();
    let line_number = rows.line_number();
    let broken_off = || format!("{file} was not read to its end: after line {line_number}");
    if tally.row_count == 0 && !is_interrupted {
        ended.with_context(broken_off)?;
        bail!("{file} has no documents{}; nothing was changed", after(arguments.after_line));
    }
    tally.report(&file, &arguments.database)?;
    let resume = || {
        let twice = match tally.made_ids {
            0 => "A second run from the beginning stores the same documents again, under the same ids.".to_owned(),
            made => format!(
                "A second run from the beginning stores {} twice: the server makes their ids.",
                counted(made, "document")
            ),
        };
        format!("Run the same command with --after-line {line_number} to resume. {twice}")
    };
    if is_interrupted {
        complain(format_args!("interrupted after line {line_number}. {}", resume()));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    ended.with_context(broken_off)?;
    Ok(if tally.skipped.rows > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn after(line: u64) -> String {
    if line == 0 { String::new() } else { format!(" after line {line}") }
}

/// An import in work.
struct Import<'a> {
    client: Client,
    database: &'a str,
    shape: Shape,
    insert: Option<BulkInsert>,
    command: Vec<u8>,
    row_count: u64,
    documents: u64,
    made_ids: u64,
    counters: u64,
    attachments: Attachments,
    identities: u64,
    /// Compare-exchange values.
    values: u64,
    skipped: Skipped,
}

impl<'a> Import<'a> {
    fn new(arguments: &'a Arguments, name: &PlainName) -> anyhow::Result<Import<'a>> {
        let is_none = |collection: &String| collection.is_empty() || collection == "@empty";
        let collection = arguments.collection.clone().filter(|collection| !is_none(collection));
        let shape = Shape {
            made_prefix: collection.as_ref().unwrap_or(&name.collection).to_lowercase(),
            bare_collection: arguments.collection.is_none().then(|| name.collection.clone()),
            collection,
            id_field: arguments.id_field.clone(),
            id_prefix: arguments.id_prefix.clone(),
        };
        Ok(Import {
            client: Client::new(&arguments.server)?,
            database: &arguments.database,
            shape,
            insert: None,
            command: Vec::new(),
            row_count: 0,
            documents: 0,
            made_ids: 0,
            counters: 0,
            attachments: Attachments::default(),
            identities: 0,
            values: 0,
            skipped: Skipped::default(),
        })
    }

    /// Sends one row to the server. Inner error: the row is no document.
    fn store(&mut self, row: &rows::Row<'_>) -> anyhow::Result<Result<(), String>> {
        let attachment = AttachmentRow::of(row);
        if !matches!(attachment, Some(AttachmentRow::Content(_))) {
            self.attachments.ensure_complete()?;
        }
        if let Some(attachment) = attachment {
            let insert = match &mut self.insert {
                Some(insert) => insert,
                None => {
                    self.client.ensure_database(self.database)?;
                    self.insert.insert(self.client.bulk_insert(self.database)?)
                }
            };
            return self.attachments.send(attachment, insert);
        }
        if row.is_revision() {
            return Ok(Err("a revision: lines of JSON cannot bring one back, a dump of the server can".to_owned()));
        }
        let identity = row.identity();
        self.command.clear();
        let value = row.compare_exchange_value();
        let is_counter = identity.is_none() && value.is_none() && row.write_counter(&mut self.command);
        let has_own_id = match (&identity, &value) {
            _ if is_counter => true,
            (Some(_), _) | (_, Some(_)) => true,
            (None, None) => match row.write_command(&self.shape, &mut self.command) {
                Ok(has_own_id) => has_own_id,
                Err(message) => return Ok(Err(message)),
            },
        };
        let insert = match &mut self.insert {
            Some(insert) => insert,
            None => {
                self.client.ensure_database(self.database)?;
                self.insert.insert(self.client.bulk_insert(self.database)?)
            }
        };
        if let Some((name, value)) = identity {
            self.client.seed_identity(self.database, &name, value)?;
            self.identities += 1;
            return Ok(Ok(()));
        }
        if let Some((key, value)) = value {
            self.client.put_compare_exchange_value(self.database, &key, value)?;
            self.values += 1;
            return Ok(Ok(()));
        }
        insert.send(&self.command)?;
        if is_counter {
            self.counters += 1;
            return Ok(Ok(()));
        }
        self.documents += 1;
        self.made_ids += u64::from(!has_own_id);
        Ok(Ok(()))
    }

    /// Waits until all is stored.
    fn finish(self) -> anyhow::Result<Tally> {
        self.attachments.ensure_complete()?;
        if let Some(insert) = self.insert {
            insert.finish()?;
        }
        let Import { row_count, documents, made_ids, counters, attachments, identities, values, skipped, .. } = self;
        let attachments = attachments.count;
        Ok(Tally { row_count, documents, made_ids, counters, attachments, identities, values, skipped })
    }
}

/// The numbers of an import that has ended.
struct Tally {
    row_count: u64,
    documents: u64,
    /// Documents whose ids the server made.
    made_ids: u64,
    counters: u64,
    attachments: u64,
    identities: u64,
    values: u64,
    skipped: Skipped,
}

impl Tally {
    fn report(&self, file: &str, database: &str) -> anyhow::Result<()> {
        let stored = self.documents + self.identities + self.values;
        if stored == 0 {
            writeln!(output(), "0 documents from {file} were stored")?;
        }
        let identities = match self.identities {
            0 => String::new(),
            count => format!(" and {}", counted(count, "identity")),
        };
        let counters = match self.counters {
            0 => String::new(),
            count => format!(", {}", counted(count, "counter")),
        };
        let attachments = match self.attachments {
            0 => String::new(),
            count => format!(", {}", counted(count, "attachment")),
        };
        let values = match self.values {
            0 => String::new(),
            count => format!(" and {}", counted(count, "compare-exchange value")),
        };
        let documents = counted(self.documents, "document");
        let are = is_or_are(stored);
        if stored > 0 {
            writeln!(
                output(),
                "{documents}{attachments}{counters}{identities}{values} from {file} {are} in '{database}'"
            )?;
        }
        if self.skipped.rows > 0 {
            let shown = if self.skipped.rows > SHOWN_MAX { "; the first of them are shown above" } else { "" };
            let (lines, were) = (counted(self.skipped.lines, "line"), was_or_were(self.skipped.lines));
            complain(format_args!("{lines} {were} skipped{shown}"));
        }
        Ok(())
    }
}

/// What of the file is no document.
#[derive(Default)]
struct Skipped {
    rows: u64,
    lines: u64,
}

impl Skipped {
    /// Counts a row and reports it, if it is one of the first.
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
