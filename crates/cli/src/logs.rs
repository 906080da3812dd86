//! The log: lines of text or JSON on standard error, which never hold anybody up.
//!
//! Whoever starts us may stop reading our output, and a full pipe blocks its writer for good. So lines go through a
//! bounded channel to a thread of their own; when it is full they are counted and dropped.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use tracing_subscriber::EnvFilter;

/// Lines that may wait for a reader.
const WAITING_MAX: usize = 1024;

static LINES: OnceLock<SyncSender<Line>> = OnceLock::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);

enum Line {
    Text(Vec<u8>),
    /// Answered when all before it is written.
    Flush(SyncSender<()>),
}

/// Starts logging.
///
/// * `level`: `info`, or a filter as `tracing` knows it.
pub(crate) fn start(level: &str, is_json: bool) {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    if LINES.set(sender).is_err() {
        return;
    }
    let thread = std::thread::Builder::new().name("log".to_owned()).spawn(move || write_lines(receiver));
    if let Err(error) = thread {
        crate::output::complain(format_args!("there is no log: {error}"));
        return;
    }
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Writer).with_target(false);
    if is_json { builder.json().init() } else { builder.with_ansi(false).init() }
}

/// Waits a moment for what was logged to be written.
pub(crate) fn flush() {
    let (done, wait) = sync_channel(1);
    if LINES.get().is_some_and(|lines| lines.try_send(Line::Flush(done)).is_ok()) {
        let _ = wait.recv_timeout(Duration::from_millis(100));
    }
}

struct Writer;

impl Write for Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(lines) = LINES.get()
            && let Err(TrySendError::Full(_)) = lines.try_send(Line::Text(line.to_vec()))
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
            let _ = writeln!(out, "{dropped} lines of the log were dropped because nobody read them");
        }
    }
}
