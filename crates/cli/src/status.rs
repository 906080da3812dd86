//! `rookery status`: a running server at a glance, with its databases, indexes, staleness and errors.

use std::io::Write;
use std::process::ExitCode;

use json::Value;

use crate::client::{Client, ServerArguments};
use crate::counted::{counted, size};
use crate::output::output;
use crate::remote::{Remote, elements};
use crate::results::Table;

/// The flags.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: ServerArguments,
    /// Only this database, with all of its indexes.
    #[arg(long, short)]
    database: Option<String>,
    /// Print the counters of GET /admin/live as JSON.
    #[arg(long, conflicts_with = "database")]
    json: bool,
}

/// Prints the state. The exit code is 1 if the server does not answer, or an index has failed.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server)?;
    let (live, server) = client.get_with_server("/admin/live")?;
    let mut out = output();
    if arguments.json {
        out.write_all(&live.to_vec())?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let databases = live.get("Databases").and_then(elements).unwrap_or_default();
    if let Some(name) = &arguments.database {
        // Opens the database, and says so if there is none.
        let indexes = Remote { client: &client, database: name }.indexes()?;
        let has_failed = write_indexes(&mut out, name, &indexes, true)?;
        return Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    write_server(&mut out, &live, &server)?;
    if databases.is_empty() {
        writeln!(out, "\nno databases")?;
        return Ok(ExitCode::SUCCESS);
    }
    let names = ["database", "state", "documents", "size", "indexes", "stale", "failed", "errors"];
    let mut table = Table::new(names.map(str::to_owned).to_vec());
    for database in databases {
        let number = |name: &str| database.get(name).and_then(Value::as_i64);
        let count = |name: &str| number(name).map_or_else(String::new, |number| number.to_string());
        let bytes = number("SizeInBytes").map_or_else(String::new, |bytes| size(bytes.unsigned_abs()));
        let counts = ["Indexes", "StaleIndexes", "FailedIndexes", "IndexErrors"].map(count);
        let [indexes, stale, failed, errors] = counts;
        let state = text(database, "State").to_lowercase();
        table.add(vec![
            text(database, "Name").to_owned(),
            state,
            count("Documents"),
            bytes,
            indexes,
            stale,
            failed,
            errors,
        ]);
    }
    writeln!(out)?;
    table.write(&mut out, None)?;
    let mut has_failed = false;
    for database in databases {
        let is_there = |name: &str| database.get(name).and_then(Value::as_i64).is_some_and(|count| count > 0);
        if ["StaleIndexes", "FailedIndexes", "IndexErrors"].into_iter().any(is_there) {
            let name = text(database, "Name");
            let indexes = Remote { client: &client, database: name }.indexes()?;
            has_failed |= write_indexes(&mut out, name, &indexes, false)?;
        }
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn write_server(out: &mut impl Write, live: &Value, server: &str) -> anyhow::Result<()> {
    let number = |name: &str| live.get(name).and_then(Value::as_i64).map(i64::unsigned_abs);
    let uptime = number("UptimeInMs").unwrap_or_default() / 1000;
    writeln!(out, "{server}, running for {}", duration(uptime))?;
    if number("Requests").is_none() {
        // The server gives its own counters to its operators.
        return Ok(());
    }
    let count = |name: &str, noun: &str| counted(number(name).unwrap_or_default(), noun);
    let errors = count("ServerErrors", "server error");
    writeln!(out, "{}, {errors}, {} open", count("Requests", "request"), count("Connections", "connection"))?;
    writeln!(out, "{} of memory", size(number("ResidentInBytes").unwrap_or_default()))?;
    if let (Some(free), Some(total)) = (number("FreeDiskInBytes"), number("DiskInBytes")) {
        writeln!(out, "{} of {} of the disk are free", size(free), size(total))?;
    }
    Ok(())
}

/// Seconds in their largest two units.
fn duration(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match () {
        () if days > 0 => format!("{days} d {hours} h"),
        () if hours > 0 => format!("{hours} h {minutes} min"),
        () if minutes > 0 => format!("{minutes} min {} s", seconds % 60),
        () => format!("{seconds} s"),
    }
}

/// Lists indexes. True: one has failed.
///
/// * `all`: those that are well, too.
fn write_indexes(out: &mut impl Write, database: &str, indexes: &[Value], all: bool) -> anyhow::Result<bool> {
    let mut table = Table::new(index_names());
    let mut has_failed = false;
    let mut count = 0;
    for index in indexes {
        let is_stale = index.get("IsStale").and_then(Value::as_bool).unwrap_or_default();
        let errors = index.get("ErrorsCount").and_then(Value::as_i64).unwrap_or_default();
        let is_failed = text(index, "State") == "Error";
        has_failed |= is_failed;
        if all || is_stale || is_failed || errors > 0 {
            table.add(index_cells(index));
            count += 1;
        }
    }
    writeln!(out, "\n{database}: {}", if count == 0 { "no indexes" } else { "indexes" })?;
    if count > 0 {
        table.write(out, None)?;
    }
    Ok(has_failed)
}

/// The columns of a list of indexes.
pub(crate) fn index_names() -> Vec<String> {
    ["index", "type", "state", "entries", "errors", "stale"].map(str::to_owned).to_vec()
}

/// A row of a list of indexes.
pub(crate) fn index_cells(index: &Value) -> Vec<String> {
    let count = |name: &str| index.get(name).and_then(Value::as_i64).unwrap_or_default().to_string();
    let is_stale = index.get("IsStale").and_then(Value::as_bool).unwrap_or_default();
    let stale = if is_stale { "yes" } else { "no" };
    let state = match text(index, "State") {
        "Error" => "failed".to_owned(),
        state => state.to_lowercase(),
    };
    vec![
        text(index, "Name").to_owned(),
        text(index, "Type").to_owned(),
        state,
        count("EntriesCount"),
        count("ErrorsCount"),
        stale.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_their_largest_two_units() {
        let check = |seconds: u64, expected: &str| assert_eq!(duration(seconds), expected);
        check(5, "5 s");
        check(65, "1 min 5 s");
        check(7265, "2 h 1 min");
        check(3 * 86_400 + 7200, "3 d 2 h");
    }
}
