//! `rookery shell`: a prompt for RQL and for commands that look at databases, collections, fields and indexes.
//!
//! On a terminal it has history and completion ([`editor`]). Otherwise it reads lines from standard input, prints no prompt, and
//! ends with code 1 if a line failed, so that scripts can use it.

mod complete;
mod editor;
mod fields;
mod session;
mod text;

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use crate::client::{Client, ServerArguments};
use crate::output::{chain, complain};
use crate::results::Form;
use session::{Next, Session};

/// The flags.
#[derive(clap::Args)]
#[command(after_help = "In the shell: \\? lists the commands, \\q or Ctrl-D leaves, Tab completes.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: ServerArguments,
    /// The database to begin with; \c chooses another one.
    #[arg(long, short)]
    database: Option<String>,
    /// How results are printed; \f changes it.
    #[arg(long, short, value_enum, default_value_t = Form::Table)]
    format: Form,
    /// Rows that are printed at most; \limit changes it.
    #[arg(long, short, default_value_t = 100)]
    limit: u64,
}

/// Runs until its input ends, or `\q`.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let client = Client::new(&arguments.server)?;
    let mut session = Session::new(client, arguments.format, arguments.limit);
    session.begin(arguments.database.as_deref())?;
    if std::io::stdin().is_terminal() {
        return editor::run(session);
    }
    let mut has_failed = false;
    let mut entry = String::new();
    let mut lines = std::io::stdin().lock().lines().peekable();
    while let Some(line) = lines.next() {
        entry.push_str(&line?);
        entry.push('\n');
        let next = lines.peek().and_then(|line| line.as_deref().ok());
        if text::is_open(&entry) || next.is_some_and(|next| text::goes_on(&entry, next)) {
            continue;
        }
        match session.execute(&std::mem::take(&mut entry)) {
            Ok(Next::Read) => {}
            Ok(Next::Leave) => break,
            Err(error) => {
                complain(format_args!("error: {}", chain(&error)));
                has_failed = true;
            }
        }
    }
    if !entry.trim().is_empty() {
        complain("error: the input ends inside of a query: a quote or a bracket is not closed");
        has_failed = true;
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
