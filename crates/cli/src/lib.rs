//! The `rookery` program as a library: one binary for the server and the tools around it. `main.rs` calls [`run`].
//!
//! The crate `fuzzing` gives inputs to [`settings`] and to the [`rows`] of imported files, so these are public too.
//!
//! RavenDB's own flags (`--ServerUrl=..`, `--Setup.Mode=None`) are accepted as they are, with or without the word
//! `serve`, so that what starts a RavenDB server today can start this one; [`settings`] tells them apart from ours by
//! their first letter, which RavenDB writes large and we small.
#![forbid(unsafe_code)]

mod access;
mod backup;
mod cert;
mod check;
mod client;
mod compact;
mod console;
mod counted;
mod descriptors;
mod dump;
mod export;
mod folders;
mod import;
mod inspect;
mod left_out;
mod logs;
mod manual;
mod mcp;
mod output;
mod parent;
mod progress;
mod query;
mod remote;
mod replacement;
mod results;
mod safety;
mod serve;
pub mod settings;
mod settings_command;
mod shell;
mod similar;
mod stats;
mod status;
mod version;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub use import::rows;
use output::{chain, complain, output};

#[derive(Parser)]
#[command(name = "rookery", version = version::text(), about = "A transactional document database that RavenDB clients can use")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the database server.
    Serve(serve::Arguments),
    /// Load a file of JSON or CSV into a database of a running server.
    Import(import::Arguments),
    /// Write a database, a collection or the results of a query of a running server to a file.
    Export(export::Arguments),
    /// Run a query on a running server and print its results.
    Query(query::Arguments),
    /// Open a prompt for queries and commands on a running server.
    Shell(shell::Arguments),
    /// Show a running server with its databases, indexes and errors.
    Status(status::Arguments),
    /// Offer the databases of a running server to assistants, over standard input and output (Model Context Protocol).
    Mcp(mcp::Arguments),
    /// Make and show certificates, for HTTPS.
    Cert(cert::Arguments),
    /// Grant, list and take away the access of API keys and certificates to a running server.
    Access(access::Arguments),
    /// List what is not safe about the set-up of a running server, and what to do about it.
    Safety(safety::Arguments),
    /// Make, list and verify backups of a running server, and show its backup tasks.
    Backup(backup::Arguments),
    /// Make a database of a running server out of a backup.
    Restore(backup::RestoreArguments),
    /// Check every page and document: of a folder that no server has open, or of the databases of a running server.
    Check(check::Arguments),
    /// Rewrite the databases of a folder densely, so that they take less room. The server must be stopped.
    Compact(compact::Arguments),
    /// Print the documents of one database's folder as JSON lines.
    Dump(dump::Arguments),
    /// Print headers, journal records and pages of one folder's storage.
    Inspect(inspect::Arguments),
    /// Show sizes, pages, depth and fill of a folder.
    Stats(stats::Arguments),
    /// Show the settings and where each was set, or print a commented sample of all.
    Settings(settings_command::Arguments),
    /// Print the completion script of a shell.
    Completion(manual::CompletionArguments),
    /// Print a manual page, or write all of them into a folder.
    Man(manual::ManArguments),
}

/// Runs the command that the arguments of this process name, until it ends.
///
/// Returns the exit code: 2 for wrong arguments, 1 for a failure; either is explained on standard error.
pub fn run() -> ExitCode {
    let (flags, rest) = match settings::take_flags(std::env::args_os().collect()) {
        Ok(taken) => taken,
        Err(message) => {
            complain(format_args!("error: {message}"));
            return ExitCode::from(2);
        }
    };
    let arguments = match Arguments::try_parse_from(with_subcommand(rest, !flags.is_empty())) {
        Ok(arguments) => arguments,
        Err(error) => return say(&error),
    };
    let takes_flags = matches!(arguments.command, Command::Serve(_) | Command::Settings(_));
    if let (false, Some(flag)) = (takes_flags, flags.first()) {
        complain(format_args!("error: --{} is a flag of 'rookery serve' only", flag.name));
        return ExitCode::from(2);
    }
    let outcome = match arguments.command {
        Command::Serve(arguments) => serve::run(arguments, flags),
        Command::Import(arguments) => import::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Query(arguments) => query::run(arguments),
        Command::Shell(arguments) => shell::run(arguments),
        Command::Status(arguments) => status::run(arguments),
        Command::Mcp(arguments) => mcp::run(arguments),
        Command::Cert(arguments) => cert::run(arguments),
        Command::Access(arguments) => access::run(arguments),
        Command::Safety(arguments) => safety::run(&arguments),
        Command::Backup(arguments) => backup::run(arguments),
        Command::Restore(arguments) => backup::restore(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Compact(arguments) => compact::run(arguments),
        Command::Dump(arguments) => dump::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Stats(arguments) => stats::run(arguments),
        Command::Settings(arguments) => settings_command::run(arguments, flags),
        Command::Completion(arguments) => manual::completion(arguments, Arguments::command()),
        Command::Man(arguments) => manual::man(arguments, Arguments::command()),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            complain(format_args!("error: {}", chain(&error)));
            ExitCode::FAILURE
        }
    }
}

/// Prints what is wrong with the arguments, or the help and the version that they ask for.
fn say(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if error.use_stderr() {
        complain(format_args!("{}", text.to_string().trim_end()));
        return ExitCode::from(2);
    }
    let mut out = output();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Puts `serve` in where there are flags and no subcommand.
fn with_subcommand(mut arguments: Vec<OsString>, has_flags: bool) -> Vec<OsString> {
    let first = arguments.get(1).and_then(|argument| argument.to_str()).unwrap_or_default();
    let is_about_us = matches!(first, "-h" | "--help" | "-V" | "--version");
    if first.starts_with('-') && !is_about_us || arguments.len() == 1 && has_flags {
        arguments.insert(1, "serve".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &[&str], has_flags: bool, expected: &[&str]) {
        let arguments = arguments.iter().map(OsString::from).collect();
        assert_eq!(with_subcommand(arguments, has_flags), expected);
    }

    #[test]
    fn flags_alone_mean_serve() {
        check(&["rookery"], true, &["rookery", "serve"]);
        check(&["rookery", "-n"], false, &["rookery", "serve", "-n"]);
        check(&["rookery", "--config-path", "x"], true, &["rookery", "serve", "--config-path", "x"]);
        check(&["rookery"], false, &["rookery"]);
        check(&["rookery", "--help"], false, &["rookery", "--help"]);
        check(&["rookery", "import"], false, &["rookery", "import"]);
    }

    #[test]
    fn a_cause_that_an_error_ends_with_is_not_repeated() {
        let denied = || anyhow::anyhow!("Permission denied (os error 13)");
        let error = denied().context("create 'x': Permission denied (os error 13)").context("cannot open x");
        assert_eq!(chain(&error), "cannot open x: create 'x': Permission denied (os error 13)");
        assert_eq!(chain(&denied().context("opening x")), "opening x: Permission denied (os error 13)");
    }

    #[test]
    fn the_commands_are_well_formed() {
        Arguments::command().debug_assert();
    }
}
