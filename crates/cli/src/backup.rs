//! `rookery backup`: backups of a running server, made, listed and verified. `rookery restore`: databases out of them.
//!
//! Folders are those of the server's machine.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use json::{Value, Writer};
use server::Date;

use crate::client::{Client, ServerArguments, Unexplained, escape};
use crate::counted::counted;
use crate::output::output;
use crate::results::{Table, printable};

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make a backup now: one of its own in a folder, or the next one of a task.
    Run(Run),
    /// Show the backup tasks of a database: when they ran, and when they run next.
    Status(Status),
    /// List what can be restored from a folder.
    List(List),
    /// Restore a backup into a database that is thrown away, to prove that it can be restored.
    Verify(Verify),
}

#[derive(clap::Args)]
struct Run {
    /// The database.
    #[arg(long, short)]
    database: String,
    /// Write one full backup into this folder of the server's machine.
    #[arg(long, value_name = "FOLDER", required_unless_present = "task")]
    to: Option<String>,
    /// Write an image of the storage, with the indexes, in place of a dump.
    #[arg(long, conflicts_with = "task")]
    snapshot: bool,
    /// A file with a key, 32 bytes in base64, that the backup is encrypted with.
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    key_file: Option<PathBuf>,
    /// Run this task now.
    #[arg(long, conflicts_with = "to")]
    task: Option<String>,
    /// Have the task make a full backup, where it would make an incremental one.
    #[arg(long, requires = "task")]
    full: bool,
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(clap::Args)]
struct Status {
    /// The database.
    #[arg(long, short)]
    database: String,
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(clap::Args)]
struct List {
    /// A folder of the server's machine, with the folders of backups.
    folder: String,
    #[command(flatten)]
    server: ServerArguments,
}

#[derive(clap::Args)]
struct Verify {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    server: ServerArguments,
}

/// The flags.
#[derive(clap::Args)]
pub(crate) struct RestoreArguments {
    #[command(flatten)]
    source: Source,
    /// The name of the new database.
    #[arg(long, short)]
    database: String,
    /// Leave the definitions of indexes out.
    #[arg(long)]
    skip_indexes: bool,
    /// Disable the tasks that the database had.
    #[arg(long)]
    disable_tasks: bool,
    #[command(flatten)]
    server: ServerArguments,
}

/// What is restored.
#[derive(clap::Args)]
struct Source {
    /// The folder of one backup, on the server's machine; with --until that of a backup task, which has the folders of backups.
    folder: String,
    /// The last file that is read [default: the newest].
    #[arg(long, value_name = "FILE", conflicts_with_all = ["until", "until_transaction"])]
    last_file: Option<String>,
    /// Restore the state at this time, in UTC, of a database that is archived: `2026-11-27T15:30:00Z`.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Restore the state after this transaction of the storage.
    #[arg(long, value_name = "NUMBER", conflicts_with = "until")]
    until_transaction: Option<u64>,
    /// The database that was archived, if the folder has archives of several.
    #[arg(long, value_name = "DATABASE")]
    of: Option<String>,
    /// A file with the key of an encrypted backup, 32 bytes in base64.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

/// How often the state of an operation is read.
const ASK_EVERY: Duration = Duration::from_millis(200);

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.command {
        Command::Run(arguments) => run_one(&arguments),
        Command::Status(arguments) => return status(&arguments),
        Command::List(arguments) => list(&arguments),
        Command::Verify(arguments) => verify(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn restore(arguments: RestoreArguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server)?;
    let body = arguments.source.body(|json| {
        json.name("DatabaseName").string(&arguments.database);
        json.name("SkipIndexes").bool(arguments.skip_indexes).name("DisableOngoingTasks").bool(arguments.disable_tasks);
    })?;
    let result = wait(&client, "/operations/state", &client.post("/admin/restore/database", &body)?)?;
    let count = documents(&result);
    writeln!(output(), "The database '{}' is restored, with {}.", arguments.database, counted(count, "document"))?;
    print_state(&result)?;
    print_warnings(&result)?;
    Ok(ExitCode::SUCCESS)
}

fn run_one(arguments: &Run) -> anyhow::Result<()> {
    let client = Client::new(&arguments.server)?;
    let database = format!("/databases/{}", escape(&arguments.database));
    let started = match (&arguments.to, &arguments.task) {
        (Some(folder), _) => {
            let mut body = Vec::new();
            let key = key_of(arguments.key_file.as_ref())?;
            Writer::new(&mut body).object(|json| {
                json.name("BackupType").string(if arguments.snapshot { "Snapshot" } else { "Backup" });
                json.name("LocalSettings").object(|json| _ = json.name("FolderPath").string(folder));
                write_key(json, key.as_deref());
            });
            client.post(&format!("{database}/admin/backup"), &body)?
        }
        (None, Some(task)) => {
            let found = match client.get(&format!("{database}/task?type=Backup&taskName={}", escape(task))) {
                Err(error) if error.downcast_ref::<Unexplained>().is_some_and(|refused| refused.status == 404) => {
                    bail!("there is no backup task '{task}'; {}", known_tasks(&client, &database)?)
                }
                found => found.with_context(|| format!("looking for the task '{task}'"))?,
            };
            let id = found.get("TaskId").and_then(Value::as_i64).context("the server gave no id of the task")?;
            let path = format!("{database}/admin/backup/database?taskId={id}&isFullBackup={}", arguments.full);
            client.post(&path, &[])?
        }
        (None, None) => bail!("name a folder with --to, or a task with --task"),
    };
    let result = wait(&client, &format!("{database}/operations/state"), &started)?;
    let (folder, file) = (text(&result, "FolderName"), result.get("LocalBackup").map(|local| text(local, "FileName")));
    let mut out = output();
    match file.flatten() {
        None => writeln!(out, "Nothing has changed since the last backup, in '{}'.", folder.unwrap_or_default())?,
        Some(file) => {
            let place = result.get("LocalBackup").and_then(|local| text(local, "BackupDirectory")).or(folder);
            writeln!(out, "{} in {}/{file}", counted(documents(&result), "document"), place.unwrap_or_default())?;
        }
    }
    Ok(())
}

/// The backup tasks of a database.
///
/// * `list`: all of its tasks.
fn backup_tasks(list: &Value) -> impl Iterator<Item = &Value> {
    elements(list, "OngoingTasks").iter().filter(|task| text(task, "TaskType") == Some("Backup"))
}

/// The names of the tasks that there are, as a part of a sentence.
///
/// * `database`: its path.
fn known_tasks(client: &Client, database: &str) -> anyhow::Result<String> {
    let list = client.get(&format!("{database}/tasks"))?;
    let names: Vec<&str> = backup_tasks(&list).filter_map(|task| text(task, "TaskName")).collect();
    Ok(if names.is_empty() {
        "the database has no backup tasks".to_owned()
    } else {
        format!("the database has '{}'", names.join("', '"))
    })
}

/// Lists the tasks. The exit code is 1 if the last backup of one that is enabled has failed.
fn status(arguments: &Status) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server)?;
    let list = client.get(&format!("/databases/{}/tasks", escape(&arguments.database)))?;
    let tasks: Vec<&Value> = backup_tasks(&list).collect();
    let mut out = output();
    if tasks.is_empty() {
        writeln!(out, "The database '{}' has no backup tasks.", arguments.database)?;
        return Ok(ExitCode::SUCCESS);
    }
    let titles = ["task", "state", "to", "last full", "last incremental", "next"];
    let mut table = Table::new(titles.iter().map(|title| (*title).to_owned()).collect());
    for task in &tasks {
        let date = |date: Option<&str>| date.map_or_else(|| "never".to_owned(), minute);
        let next = task.get("NextBackup").and_then(|next| text(next, "DateTime"));
        let running = task.get("OnGoingBackup").filter(|running| **running != Value::Null);
        let state = match running.map(|running| running.get("IsWaiting") == Some(&Value::Bool(true))) {
            Some(true) => "waits",
            Some(false) => "runs",
            None => text(task, "TaskState").unwrap_or_default(),
        };
        let places: Vec<&str> = elements(task, "BackupDestinations").iter().filter_map(Value::as_str).collect();
        table.add(vec![
            text(task, "TaskName").unwrap_or_default().to_owned(),
            state.to_lowercase(),
            places.join(", "),
            date(text(task, "LastFullBackup")),
            date(text(task, "LastIncrementalBackup")),
            next.map_or_else(String::new, minute),
        ]);
    }
    table.write(&mut out, None)?;
    // No column: it would cut the reasons.
    let mut has_failed = false;
    for task in &tasks {
        let Some(error) = text(task, "Error").filter(|error| !error.is_empty()) else { continue };
        has_failed |= text(task, "TaskState") != Some("Disabled");
        writeln!(out, "\n{} failed: {}", text(task, "TaskName").unwrap_or_default(), printable(error))?;
    }
    out.flush()?;
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn list(arguments: &List) -> anyhow::Result<()> {
    let client = Client::new(&arguments.server)?;
    let mut body = Vec::new();
    Writer::new(&mut body).object(|json| _ = json.name("FolderPath").string(&arguments.folder));
    let list = client.post("/admin/restore/points?type=Local", &body)?;
    let points = elements(&list, "List");
    let mut out = output();
    let archives = elements(&list, "Archives");
    if points.is_empty() && archives.is_empty() {
        writeln!(out, "There is no backup in '{}'.", arguments.folder)?;
        return Ok(());
    }
    for archive in archives {
        let part = |name: &str| text(archive, name).unwrap_or_default();
        let number = |name: &str| archive.get(name).and_then(Value::as_i64).unwrap_or_default();
        let encrypted =
            if archive.get("IsEncrypted").and_then(Value::as_bool) == Some(true) { ", encrypted" } else { "" };
        writeln!(
            out,
            "any second from {} to {}, transactions {} to {}  {}{encrypted}  {}",
            second(part("From")),
            second(part("Until")),
            number("FirstTransaction"),
            number("LastTransaction"),
            part("DatabaseName"),
            part("Location"),
        )?;
    }
    // No table: it would shorten the paths, which are there to be copied.
    for point in points {
        let is = |name: &str| point.get(name).and_then(Value::as_bool) == Some(true);
        let number = |name: &str| point.get(name).and_then(Value::as_i64).map_or(0, i64::unsigned_abs);
        let kind = match (is("IsIncremental"), is("IsSnapshotRestore")) {
            (true, _) => "incremental",
            (false, true) => "snapshot",
            (false, false) => "full",
        };
        let encrypted = if is("IsEncrypted") { ", encrypted" } else { "" };
        let (time, database) = (text(point, "DateTime").unwrap_or_default(), text(point, "DatabaseName"));
        let (files, size) = (counted(number("FilesToRestore"), "file"), counted(number("SizeInBytes"), "byte"));
        let (time, database) = (minute(time), database.unwrap_or_default());
        writeln!(
            out,
            "{time}  {database}  {kind}{encrypted}  {files}  {size}  {}",
            text(point, "FileName").unwrap_or_default()
        )?;
    }
    Ok(out.flush()?)
}

fn verify(arguments: &Verify) -> anyhow::Result<()> {
    let client = Client::new(&arguments.server)?;
    let body = arguments.source.body(|_| ())?;
    let result = wait(&client, "/operations/state", &client.post("/admin/restore/verify", &body)?)?;
    let count = documents(&result);
    writeln!(output(), "The backup can be restored: it has {}.", counted(count, "document"))?;
    print_state(&result)?;
    print_warnings(&result)
}

impl Source {
    fn body(&self, more: impl FnOnce(&mut Writer<'_>)) -> anyhow::Result<Vec<u8>> {
        if let Some(until) = self.until.as_ref().filter(|until| Date::parse(until).is_none()) {
            bail!("'{until}' of --until is not a time in UTC, such as 2026-11-27T15:30:00Z");
        }
        let key = key_of(self.key_file.as_ref())?;
        let mut body = Vec::new();
        Writer::new(&mut body).object(|json| {
            json.name("Type").string("Local").name("BackupLocation").string(&self.folder);
            json.name("LastFileNameToRestore").optional_string(self.last_file.as_deref());
            json.name("RestoreUntil").optional_string(self.until.as_deref());
            if let Some(transaction) = self.until_transaction {
                json.name("RestoreUntilTransaction").unsigned(transaction);
            }
            json.name("SourceDatabaseName").optional_string(self.of.as_deref());
            write_key(json, key.as_deref());
            more(json);
        });
        Ok(body)
    }
}

fn key_of(file: Option<&PathBuf>) -> anyhow::Result<Option<String>> {
    let Some(file) = file else { return Ok(None) };
    let key = std::fs::read_to_string(file).with_context(|| format!("reading the key in {}", file.display()))?;
    Ok(Some(key.trim().to_owned()))
}

fn write_key(json: &mut Writer<'_>, key: Option<&str>) {
    if let Some(key) = key {
        json.name("BackupEncryptionSettings").object(|json| {
            json.name("EncryptionMode").string("UseProvidedKey").name("Key").string(key);
        });
    }
}

/// Waits for the end of an operation, and gives its result.
pub(crate) fn wait(client: &Client, path: &str, started: &Value) -> anyhow::Result<Value> {
    let id =
        started.get("OperationId").and_then(Value::as_i64).context("the server gave no number of the operation")?;
    loop {
        let mut state = client.get(&format!("{path}?id={id}"))?;
        match text(&state, "Status").unwrap_or_default() {
            "InProgress" => std::thread::sleep(ASK_EVERY),
            "Completed" => return Ok(state.remove("Result").unwrap_or(Value::Null)),
            "Canceled" => bail!("the operation was ended by somebody"),
            _ => {
                let reason = state.get("Result").and_then(|result| text(result, "Message"));
                bail!("{}", reason.unwrap_or("the operation failed, and the server did not say why"))
            }
        }
    }
}

/// The state of an archive that a restore went back to.
fn print_state(result: &Value) -> anyhow::Result<()> {
    let messages = elements(result, "Messages").iter().filter_map(Value::as_str);
    for state in messages.filter_map(|message| message.split_once(" INFO] The state is ")) {
        writeln!(output(), "The state is {}", state.1)?;
    }
    Ok(())
}

/// What a restore passed over.
fn print_warnings(result: &Value) -> anyhow::Result<()> {
    let messages = elements(result, "Messages").iter().filter_map(Value::as_str);
    for message in messages.filter(|message| message.contains(" WARNING] ") || message.contains(" ERROR] ")) {
        writeln!(output(), "{message}")?;
    }
    Ok(())
}

fn documents(result: &Value) -> u64 {
    let counts = result.get("Documents").and_then(|documents| documents.get("ReadCount"));
    counts.and_then(Value::as_i64).map_or(0, i64::unsigned_abs)
}

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

/// A date to the second, in UTC, as `--until` takes it.
fn second(date: &str) -> &str {
    date.get(..19).unwrap_or(date)
}

/// A date to the minute, in UTC.
fn minute(date: &str) -> String {
    date.get(..16).unwrap_or(date).replace('T', " ")
}

fn elements<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(crate::remote::elements).unwrap_or_default()
}
