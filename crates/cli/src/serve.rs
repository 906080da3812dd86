//! `rookery serve`: settings, log, server, and waiting for one of the ways to stop.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::Server;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::settings::{self, Given};
use crate::{console, descriptors, logs, parent};

/// The flags of ours. RavenDB's are taken out before, see [`settings`].
#[derive(clap::Args)]
#[command(
    after_help = "RavenDB's flags work too: --ServerUrl=http://127.0.0.1:8080 --DataDir=data --RunInMemory=true \
    --Setup.Mode=None and so on. docs/settings.md lists them all."
)]
pub(crate) struct Arguments {
    /// Where to listen; port 0 picks a free one [default: http://127.0.0.1:8080].
    #[arg(long)]
    url: Option<String>,
    /// The folder of the databases [default: data].
    #[arg(long)]
    data: Option<String>,
    /// Keep everything in memory.
    #[arg(long)]
    in_memory: bool,
    /// The least important messages that are logged: trace, debug, info, warn, error, off.
    #[arg(long)]
    log_level: Option<String>,
    /// How the log looks: text or json.
    #[arg(long)]
    log_format: Option<String>,
    /// Settings as a JSON file [default: settings.json, if it is there].
    #[arg(long, short = 'c', value_name = "FILE")]
    config_path: Option<PathBuf>,
    /// Accepted for those who start RavenDB with it; nothing here asks questions.
    #[arg(long, short = 'n')]
    non_interactive: bool,
}

/// Runs until stopped.
pub(crate) fn run(arguments: Arguments, flags: Vec<Given>) -> anyhow::Result<ExitCode> {
    let config_path = arguments.config_path.or_else(|| std::env::var_os(settings::CONFIG_PATH).map(PathBuf::from));
    let mut given = match &config_path {
        Some(path) => settings::from_file(path)?,
        None => match std::path::Path::new("settings.json") {
            path if path.is_file() => settings::from_file(path)?,
            _ => Vec::new(),
        },
    };
    given.extend(settings::from_environment(std::env::vars_os())?);
    given.extend(flags);
    let own = [
        ("ServerUrl", arguments.url),
        ("DataDir", arguments.data),
        ("RunInMemory", arguments.in_memory.then(|| "true".to_owned())),
        ("Log.Level", arguments.log_level),
        ("Log.Format", arguments.log_format),
    ];
    for (name, value) in own {
        given.extend(value.map(|value| Given { name: name.to_owned(), value, source: "the flag".to_owned() }));
    }
    let settings = settings::resolve(given)?;
    logs::start(&settings.log_level, settings.log_is_json, settings.options.log.clone());
    let shortage = descriptors::shortage(settings.options.limits.connection_count);
    for warning in settings.warnings.iter().chain(&shortage) {
        tracing::warn!("{warning}");
    }
    for note in &settings.notes {
        tracing::info!("{note}");
    }
    raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("network")
        // The server bounds what runs there itself; this only has to be more.
        .max_blocking_threads(settings.options.limits.thread_count() + 16)
        .build()
        .context("starting the network threads")?;
    runtime.block_on(async {
        // Before anybody is told that it runs: who is told may end it at once.
        let mut signals = Signals::listen()?;
        let server = Server::start(settings.options).await?;
        for address in server.addresses() {
            announce(&format!("Server available on: http://{address}"));
        }
        tracing::info!(url = server.url(), "the server is ready");
        let reason = wait(&mut signals, settings.parent_process).await;
        tracing::info!(reason, "the server stops");
        tokio::select! {
            () = server.stop() => {}
            // Who asks again does not want to wait. What was confirmed is in the journal.
            _ = signals.terminate.recv() => std::process::exit(1),
            _ = signals.interrupt.recv() => std::process::exit(1),
        }
        anyhow::Ok(())
    })?;
    // What connections still hold goes with their tasks, so that the databases are closed.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    // Threads that wait for standard input or for a reader of the log would hold a plain return up.
    logs::flush();
    std::process::exit(0)
}

/// Takes as many descriptors as the system allows: each open database has several, each connection one. The soft limit is
/// low for the sake of old programs that cannot take more.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }) {
        Ok(()) => tracing::debug!(before = ?limit.current, now = ?limit.maximum, "the limit of open files was raised"),
        Err(error) => tracing::warn!(%error, limit = ?limit.current, "the limit of open files could not be raised"),
    }
}

/// The signals that end the program.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Signals> {
        let terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
        let interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
        Ok(Signals { terminate, interrupt })
    }
}

/// Waits for a reason to stop and names it.
async fn wait(signals: &mut Signals, parent_process: Option<i32>) -> &'static str {
    tokio::select! {
        _ = signals.terminate.recv() => "SIGTERM",
        _ = signals.interrupt.recv() => "SIGINT",
        () = console::shutdown_command() => "the command 'shutdown'",
        () = parent::gone(parent_process) => "the parent process is gone",
    }
}

/// Prints a line at once. Nobody may be there to read it.
fn announce(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
