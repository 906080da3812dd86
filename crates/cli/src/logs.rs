//! The log: lines of text or JSON on standard error, which never hold anybody up.
//!
//! Whoever starts us may stop reading our output, and a full pipe blocks its writer for good. So lines go through a
//! bounded channel to a thread of their own; when it is full they are counted and dropped.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use server::{ACCESS_LOG, LogControl, LogLevel, LogThreshold, RecentLog};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, reload};

/// Lines that may wait for a reader.
const WAITING_MAX: usize = 1024;

static LINES: OnceLock<SyncSender<Line>> = OnceLock::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);

enum Line {
    Text(Vec<u8>),
    /// Answered when all before it is written.
    Flush(SyncSender<()>),
}

/// Starts logging; gives what changes its level.
///
/// * `has_access_log`: lines of requests come, too, whatever the level.
/// * `recent`: gets the same lines, but for those of the access log: they would push all others out.
pub(crate) fn start(level: LogThreshold, is_json: bool, has_access_log: bool, recent: Arc<RecentLog>) -> LogControl {
    let no_log = || LogControl::new(level, |_| ());
    let (sender, receiver) = sync_channel(WAITING_MAX);
    if LINES.set(sender).is_err() {
        return no_log();
    }
    let thread = std::thread::Builder::new().name("log".to_owned()).spawn(move || write_lines(receiver));
    if let Err(error) = thread {
        crate::output::complain(format_args!("there is no log: {error}"));
        return no_log();
    }
    let (filter, handle) = reload::Layer::new(filter(level, has_access_log));
    let writer = if is_json { Writer::Json } else { Writer::Text };
    let lines = tracing_subscriber::fmt::layer().with_writer(move || writer).with_target(false);
    let lines = if is_json { lines.json().boxed() } else { lines.with_ansi(false).boxed() };
    tracing_subscriber::registry().with(filter).with(lines).with(Recent(recent)).init();
    // The handle fails once the log is gone, with the process.
    LogControl::new(level, move |level| drop(handle.reload(self::filter(level, has_access_log))))
}

/// Which lines come.
fn filter(level: LogThreshold, has_access_log: bool) -> EnvFilter {
    let level = level.map_or("off", LogLevel::name);
    // What `rmcp` logs has the arguments and results of tools in it, and a client's mistakes as warnings.
    let level = format!("{},rmcp=off", level.to_ascii_lowercase());
    EnvFilter::new(if has_access_log { format!("{level},{ACCESS_LOG}=info") } else { level })
}

/// Hands each line to what keeps the newest.
struct Recent(Arc<RecentLog>);

impl<S: tracing::Subscriber> Layer<S> for Recent {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == ACCESS_LOG {
            return;
        }
        let level = match *event.metadata().level() {
            tracing::Level::TRACE => LogLevel::Trace,
            tracing::Level::DEBUG => LogLevel::Debug,
            tracing::Level::INFO => LogLevel::Info,
            tracing::Level::WARN => LogLevel::Warn,
            tracing::Level::ERROR => LogLevel::Error,
        };
        let mut text = Text::default();
        event.record(&mut text);
        self.0.add(level, text.message + &text.values);
    }
}

/// An event as text: its message, then `name=value` of what stands beside.
#[derive(Default)]
struct Text {
    message: String,
    values: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        use std::fmt::Write;
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.values, " {name}={value:?}"),
        };
    }
}

/// Waits a moment for what was logged to be written.
pub(crate) fn flush() {
    let (done, wait) = sync_channel(1);
    if LINES.get().is_some_and(|lines| lines.try_send(Line::Flush(done)).is_ok()) {
        let _ = wait.recv_timeout(Duration::from_millis(100));
    }
}

/// Takes the lines of one format, each at once.
#[derive(Clone, Copy)]
enum Writer {
    Text,
    Json,
}

/// A line of text in which values of clients make neither another line nor a sequence that a terminal obeys. JSON escapes them itself.
fn on_one_line(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let (text, end) = text.strip_suffix('\n').map_or((&*text, ""), |text| (text, "\n"));
    if !text.contains(char::is_control) {
        return line.to_vec();
    }
    let mut escaped = String::with_capacity(line.len() + 16);
    for c in text.chars() {
        match c.is_control() {
            true => escaped.extend(c.escape_default()),
            false => escaped.push(c),
        }
    }
    escaped.push_str(end);
    escaped.into_bytes()
}

impl Write for Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = match self {
            Writer::Text => on_one_line(line),
            Writer::Json => line.to_vec(),
        };
        if let Some(lines) = LINES.get()
            && let Err(TrySendError::Full(_)) = lines.try_send(Line::Text(text))
        {
            DROPPED.fetch_add(1, Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_lines(lines: Receiver<Line>) {
    let mut out = io::stderr();
    for line in lines {
        match line {
            Line::Text(text) => {
                let _ = out.write_all(&text);
            }
            Line::Flush(done) => {
                let _ = out.flush();
                let _ = done.try_send(());
            }
        }
        let dropped = DROPPED.swap(0, Relaxed);
        if dropped > 0 {
            let _ = writeln!(out, "{dropped} lines of the log were dropped: standard error was not read fast enough");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_choose_makes_no_line_of_its_own() {
        let check = |line: &str, expected: &str| assert_eq!(on_one_line(line.as_bytes()), expected.as_bytes());
        check(
            "WARN a backup failed error=/x\n2026 INFO fake \u{1b}[31mred\r\u{9b}1m\n",
            "WARN a backup failed error=/x\\n2026 INFO fake \\u{1b}[31mred\\r\\u{9b}1m\n",
        );
        check("INFO städte: 5\n", "INFO städte: 5\n");
        check("a\tb", "a\\tb");
    }

    #[test]
    fn a_line_has_its_message_first_and_then_its_values() {
        let seen: Arc<parking_lot::Mutex<Vec<String>>> = Arc::default();
        struct Texts(Arc<parking_lot::Mutex<Vec<String>>>);
        impl<S: tracing::Subscriber> Layer<S> for Texts {
            fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
                let mut text = Text::default();
                event.record(&mut text);
                self.0.lock().push(text.message + &text.values);
            }
        }
        let subscriber = tracing_subscriber::registry().with(Texts(seen.clone()));
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(url = "/x", count = 3, "a {} failed", "request")
        });
        assert_eq!(*seen.lock(), ["a request failed url=\"/x\" count=3"]);
    }
}
