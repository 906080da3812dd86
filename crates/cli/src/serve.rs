//! `rookery serve`: settings, log, server, and waiting for one of the ways to stop.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, anyhow};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::{GivenSetting, Server, Setting, StartError};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::output::output;
use crate::settings::{self, Given};
use crate::{console, descriptors, logs, parent, version};

/// The flags of ours. RavenDB's are taken out before, see [`settings`].
#[derive(clap::Args)]
#[command(
    after_help = "RavenDB's flags work too: --ServerUrl=http://127.0.0.1:8080 --DataDir=data --RunInMemory=true \
    --Setup.Mode=None and so on. docs/settings.md lists them all, 'rookery settings --sample' prints them.\n\nEvery setting can be a \
    variable of the environment, too: ROOKERY_ or RAVEN_, then its name with _ for each dot, such as \
    ROOKERY_Limits_Connections=100. Flags override variables, and variables override the file."
)]
pub(crate) struct Arguments {
    /// Where to listen; port 0 picks a free one [default: http://127.0.0.1:8080] [env: ROOKERY_URL].
    #[arg(long)]
    url: Option<String>,
    /// The folder of the databases [default: data] [env: ROOKERY_DATA].
    #[arg(long)]
    data: Option<String>,
    /// Keep everything in memory [env: ROOKERY_IN_MEMORY].
    #[arg(long)]
    in_memory: bool,
    /// The least important messages that are logged: trace, debug, info, warn, error, off [default: info] [env: ROOKERY_LOG_LEVEL].
    #[arg(long)]
    log_level: Option<String>,
    /// How the log looks: text or json [default: text] [env: ROOKERY_LOG_FORMAT].
    #[arg(long)]
    log_format: Option<String>,
    /// Settings as a JSON file [default: settings.json, if it exists] [env: ROOKERY_CONFIG_PATH].
    #[arg(long, short = 'c', value_name = "FILE")]
    config_path: Option<PathBuf>,
    /// Check the settings, the certificate and whether the folders can be written, print the warnings that a start would log, and exit:
    /// 0 if the server would accept the settings, 1 if not. Run it as the user of the server.
    #[arg(long)]
    check_config: bool,
    /// Accepted because RavenDB has it; this program asks no questions.
    #[arg(long, short = 'n')]
    non_interactive: bool,
}

/// How long tasks of connections have to end once the server has stopped.
const TASKS_END_TIME: Duration = Duration::from_millis(200);

/// How long stopping may take. Closing a database saves its recovery; nothing that was confirmed depends on it.
const STOP_TIME_MAX: Duration = Duration::from_millis(1800);

/// Threads beside those of the network that a node has before it answers: the log's, one that opens, one that indexes, one that stops it.
const OTHER_THREADS: usize = 4;

/// Runs until stopped.
pub(crate) fn run(arguments: Arguments, flags: Vec<Given>) -> anyhow::Result<ExitCode> {
    let mut given = settings::gather(arguments.config_path)?;
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
    if arguments.check_config {
        return check_config(&settings);
    }
    let has_access_log = settings.options.access_log;
    let log = logs::start(settings.log_level, settings.log_is_json, has_access_log, settings.options.log.clone());
    settings.options.log_control = Arc::new(log);
    settings.options.commit = version::COMMIT.map(str::to_owned);
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
    let server = runtime.block_on(Server::start(settings.options)).map_err(with_next_step)?;
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

/// Prints what a start would say of its settings. Nothing is opened.
fn check_config(settings: &settings::Settings) -> anyhow::Result<ExitCode> {
    let warnings = settings.options.check()?;
    let mut out = output();
    let shortage = descriptors::shortage(settings.options.limits.connection_count);
    for warning in settings.warnings.iter().chain(&shortage).chain(&warnings) {
        writeln!(out, "warning: {warning}")?;
    }
    for note in &settings.notes {
        writeln!(out, "note: {note}")?;
    }
    writeln!(out, "the settings are valid")?;
    Ok(ExitCode::SUCCESS)
}

/// Logs what starts, and with which settings that are not the default. Settings that may be secrets are left out.
fn log_start(settings: &[Setting]) {
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        commit = version::COMMIT,
        pid = std::process::id(),
        "Rookery starts"
    );
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

/// Adds what to do about an address that another program has.
fn with_next_step(error: StartError) -> anyhow::Error {
    let is_taken = matches!(&error, StartError::Listen { source, .. } if source.kind() == ErrorKind::AddrInUse);
    let error = anyhow::Error::from(error);
    if is_taken { anyhow!("{error:#}. Stop the other program, or choose another port with --url") } else { error }
}

/// Takes as many descriptors as the system allows: each open database has several, each connection one. The soft limit is
/// low for the sake of old programs that cannot take more.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }) {
        Ok(()) => {
            if limit.current != limit.maximum {
                let (before, now) = (files(limit.current), files(limit.maximum));
                tracing::debug!(before, now, "the limit of open files was raised");
            }
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
