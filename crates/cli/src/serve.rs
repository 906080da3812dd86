//! `rookery serve`: settings, log, server, and waiting for one of the ways to stop.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::{GivenSetting, Server, Setting};
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

/// The commit that this program was built from, where the build knows it.
fn commit() -> Option<&'static str> {
    option_env!("ROOKERY_COMMIT").filter(|commit| !commit.is_empty())
}

/// How long tasks of connections have to end once the server has stopped.
const TASKS_END_TIME: Duration = Duration::from_millis(200);

/// How long stopping may take. Closing a database saves its recovery; nothing that was confirmed depends on it.
const STOP_TIME_MAX: Duration = Duration::from_millis(1800);

/// Threads beside those of the network that a node has before it answers: the log's, one that opens, one that indexes, one that stops it.
const OTHER_THREADS: usize = 4;

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
    let mut settings = settings::resolve(given)?;
    let has_access_log = settings.options.access_log;
    logs::start(&settings.log_level, settings.log_is_json, has_access_log, settings.options.log.clone());
    settings.options.commit = commit().map(str::to_owned);
    log_start(&settings.options.settings);
    let shortage = descriptors::shortage(settings.options.limits.connection_count);
    for warning in settings.warnings.iter().chain(&shortage) {
        tracing::warn!("{warning}");
    }
    for note in &settings.notes {
        tracing::info!("{note}");
    }
    raise_descriptor_limit();
    // Signals have a thread of their own, which nothing that runs can hold up.
    let waiting =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("starting to listen for signals")?;
    // Before it says that it runs: a caller may then end it at once.
    let mut signals = waiting.block_on(async { Signals::listen() })?;
    let worker_count = std::thread::available_parallelism().map_or(1, usize::from);
    try_threads(worker_count + OTHER_THREADS).context("starting the network threads")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("network")
        .worker_threads(worker_count)
        // The server bounds what runs there itself; this only has to be more.
        .max_blocking_threads(settings.options.limits.thread_count() + 16)
        .build()
        .context("starting the network threads")?;
    let server = runtime.block_on(Server::start(settings.options))?;
    for url in server.urls() {
        announce(&format!("Server available on: {url}"));
    }
    tracing::info!(url = server.urls().join(";"), "the server is ready");
    let reason = waiting.block_on(wait(&mut signals, settings.parent_process));
    tracing::info!(reason, "the server stops");
    let (ended, has_ended) = tokio::sync::oneshot::channel();
    let stop = move || {
        runtime.block_on(server.stop());
        // What connections still hold goes with their tasks, so that the databases are closed.
        runtime.shutdown_timeout(TASKS_END_TIME);
        let _ = ended.send(());
    };
    std::thread::Builder::new()
        .name("stopping".to_owned())
        .spawn(stop)
        .context("starting a thread to stop the server")?;
    let code = waiting.block_on(async {
        tokio::select! {
            _ = has_ended => 0,
            // A second signal asks to end at once. What was confirmed is in the journal, and recovered from it.
            _ = signals.terminate.recv() => 1,
            _ = signals.interrupt.recv() => 1,
            () = tokio::time::sleep(STOP_TIME_MAX) => {
                tracing::warn!("some work could not be stopped in time; it ends with the process");
                0
            }
        }
    });
    // Threads that wait for standard input or for a reader of the log would hold a plain return up.
    logs::flush();
    std::process::exit(code)
}

/// Says what starts, and with which settings that are not the default. Settings that may be secrets are left out.
fn log_start(settings: &[Setting]) {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), commit = commit(), pid = std::process::id(), "Rookery starts");
    for Setting { name, default, given, .. } in settings {
        let Some(GivenSetting { value: Some(value), source }) = given else { continue };
        if value != default {
            tracing::info!(name, value, source, "setting");
        }
    }
}

/// Has so many threads at once for a moment, to see whether the system gives them: tokio panics where it does not, and may hang then.
fn try_threads(count: usize) -> std::io::Result<()> {
    let start = |end: Arc<Mutex<()>>| std::thread::Builder::new().spawn(move || drop(end.lock()));
    let end = Arc::new(Mutex::new(()));
    let all_run = end.lock();
    let started = (0..count).map(|_| start(end.clone())).collect::<std::io::Result<Vec<_>>>();
    drop(all_run);
    started?.into_iter().for_each(|thread| drop(thread.join()));
    Ok(())
}

/// Takes as many descriptors as the system allows: each open database has several, each connection one. The soft limit is
/// low for the sake of old programs that cannot take more.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }) {
        Ok(()) => {
            let (before, now) = (files(limit.current), files(limit.maximum));
            tracing::debug!(before, now, "the limit of open files was raised");
        }
        Err(error) => {
            tracing::warn!(%error, limit = files(limit.current), "the limit of open files could not be raised");
        }
    }
}

/// A limit of open files as the log has it.
fn files(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
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
