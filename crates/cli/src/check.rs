//! `rookery check DIR`: reads every page and every document and checks every rule of the format. `rookery check --online`: has a server do
//! that with its open databases.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use database::documents::{DocumentStore, StoreOptions};
use json::Value;

use crate::backup::wait;
use crate::client::{Client, ServerArguments, escape};
use crate::counted::counted;
use crate::folders::{self, Holds};
use crate::output::output;
use crate::{progress, remote};

/// The flags.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct Arguments {
    /// A server's data directory, or the folder of one database. No server may have it open.
    #[arg(group = "what")]
    folder: Option<PathBuf>,
    /// Have a running server check its databases, with their indexes, beside its work.
    #[arg(long, group = "what")]
    online: bool,
    /// Only this database [default: all that the client may read].
    #[arg(long, short, requires = "online")]
    database: Option<String>,
    #[command(flatten)]
    server: ServerArguments,
}

/// Checks all; damage makes the exit code 1.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.folder {
        Some(folder) => check_folder(folder),
        None => check_online(&arguments),
    }
}

fn check_folder(folder: &Path) -> anyhow::Result<ExitCode> {
    let _lock = folders::lock_node_above(folder)?;
    let mut out = output();
    let mut problem_count = 0;
    // An open environment locks out the server, so it stays open until all of the folder is checked.
    let mut node = None;
    for (path, holds) in folders::environments(folder)? {
        let environment = folders::open(&path)?;
        let bar = progress::steps("pages checked", environment.statistics()?.used_pages);
        let report = environment.verify_with(&mut |reached| bar.set_position(reached))?;
        bar.finish_and_clear();
        writeln!(out, "{}: {}", path.display(), counted(report.pages_total(), "page"))?;
        let mut problems = report.problems.clone();
        problem_count += report.problems.len() as u64;
        match holds {
            Holds::Node => node = Some(environment),
            // Documents on damaged pages would only say the same again.
            Holds::Documents if report.problems.is_empty() => {
                let store = DocumentStore::open(environment, StoreOptions::default())?;
                let counts = store.read().statistics()?.counts.total();
                let bar = progress::steps("documents checked", counts.count + counts.tombstone_count);
                let found = store.read().verify_with(&mut |read| bar.set_position(read))?;
                bar.finish_and_clear();
                for (kind, counts) in found.counts.iter() {
                    let items = counted(counts.count, kind.name().strip_suffix('s').unwrap_or(kind.name()));
                    writeln!(out, "  {items}, {}", counted(counts.tombstone_count, "tombstone"))?;
                }
                problem_count += found.problem_count;
                problems.extend(found.problems);
            }
            Holds::Documents => {}
        }
        for problem in &problems {
            writeln!(out, "  PROBLEM: {problem}")?;
        }
    }
    drop(node);
    end(&mut out, problem_count)
}

/// Has a server check databases, one after the other.
fn check_online(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server)?;
    let names = match &arguments.database {
        Some(name) => vec![name.clone()],
        None => remote::database_names(&client)?,
    };
    let mut out = output();
    let mut problem_count = 0;
    for name in names {
        let path = format!("/databases/{}", escape(&name));
        let started = client.post(&format!("{path}/admin/check"), &[])?;
        let result = wait(&client, &format!("{path}/operations/state"), &started)?;
        let number =
            |value: &Value, member: &str| value.get(member).and_then(Value::as_i64).map_or(0, i64::unsigned_abs);
        writeln!(out, "{name}:")?;
        for part in result.get("Parts").and_then(remote::elements).unwrap_or_default() {
            let (pages, items) = (counted(number(part, "Pages"), "page"), number(part, "Items"));
            match part.get("Index").and_then(Value::as_str) {
                None => writeln!(out, "  documents: {pages}, {}", counted(items, "item"))?,
                Some(index) if items == 1 => writeln!(out, "  index '{index}': {pages}, 1 entry")?,
                Some(index) => writeln!(out, "  index '{index}': {pages}, {items} entries")?,
            }
            for problem in part.get("Problems").and_then(remote::elements).unwrap_or_default() {
                writeln!(out, "    PROBLEM: {}", problem.as_str().unwrap_or_default())?;
            }
        }
        problem_count += number(&result, "ProblemCount");
        // A database may take minutes: what is known already is shown.
        out.flush()?;
    }
    end(&mut out, problem_count)
}

fn end(out: &mut impl Write, problem_count: u64) -> anyhow::Result<ExitCode> {
    if problem_count > 0 {
        writeln!(out, "{}", counted(problem_count, "problem"))?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(out, "no problems")?;
    Ok(ExitCode::SUCCESS)
}
