//! The audit log: who connected, who was refused, and who changed what decides over data and access.
//!
//! ```text
//! requests ──bounded channel──► the thread `audit` ──► FOLDER/audit-2026-11-27.jsonl
//! ```
//!
//! One line of JSON for each record, one file for each day (UTC). A record has the line of a request, never its body or its headers, so
//! that no secret gets in. The thread writes what has arrived and then has the disk confirm it; no request waits for that. What finds the
//! channel full is counted, and the count is written as a record when there is room.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use json::Writer;

use crate::limits::AUDIT_RECORDS_WAITING_MAX;
use crate::messages::date;

/// Where the audit log is, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditOptions {
    /// The folder of its files. It is made if it is not there.
    pub folder: PathBuf,
    /// How long a file is kept after the end of its day.
    pub retention: Duration,
}

/// How long the files are kept if nothing is set: RavenDB's default.
pub const AUDIT_RETENTION: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuditEvent {
    /// A client that the server knows made a connection, or sent an API key over it for the first time.
    Connected,
    /// A user signed in to the studio by an API key.
    SignedIn,
    /// A user signed out of the studio.
    SignedOut,
    /// A request was refused for lack of rights.
    Refused,
    /// The same, and its address has had more refusals in this minute than the limit. Its further ones in that minute are not recorded.
    HeldBack,
    /// A request that changes databases, indexes, certificates, keys or settings was answered, with success or not.
    Changed,
    /// The client of such a request went away before the answer: what it asked for may be done all the same.
    Abandoned,
}

impl AuditEvent {
    fn name(self) -> &'static str {
        match self {
            AuditEvent::Connected => "Connected",
            AuditEvent::SignedIn => "SignedIn",
            AuditEvent::SignedOut => "SignedOut",
            AuditEvent::Refused => "Refused",
            AuditEvent::HeldBack => "HeldBack",
            AuditEvent::Changed => "Changed",
            AuditEvent::Abandoned => "Abandoned",
        }
    }
}

/// One line.
#[derive(Debug)]
pub(crate) struct AuditRecord<'a> {
    pub(crate) at: SystemTime,
    pub(crate) event: AuditEvent,
    /// Address and port.
    pub(crate) client: String,
    /// By what the client is known.
    pub(crate) principal: String,
    /// Method, path with query, status; no status: it was not answered.
    pub(crate) request: Option<(&'a str, &'a str, Option<u16>)>,
}

impl AuditRecord<'_> {
    fn line(&self) -> Vec<u8> {
        let mut line = Vec::new();
        Writer::new(&mut line).object(|json| {
            json.name("At").string(&date::wire(self.at)).name("Event").string(self.event.name());
            json.name("Client").string(&self.client).name("Principal").string(&self.principal);
            if let Some((method, url, status)) = self.request {
                json.name("Method").string(method).name("Url").string(url).name("Status");
                match status {
                    Some(status) => json.unsigned(u64::from(status)),
                    None => json.null(),
                };
            }
        });
        line.push(b'\n');
        line
    }
}

/// The audit log of a running server. Dropping it writes what has arrived.
#[derive(Debug)]
pub(crate) struct AuditLog {
    /// `None` while it is dropped.
    records: Option<SyncSender<Vec<u8>>>,
    lost: Arc<AtomicU64>,
    /// `None` while it is dropped.
    thread: Option<JoinHandle<()>>,
    folder: PathBuf,
}

impl AuditLog {
    /// Begins the log.
    ///
    /// # Errors
    ///
    /// The folder or the file of today cannot be written, or there is no thread.
    pub(crate) fn start(options: AuditOptions) -> io::Result<AuditLog> {
        std::fs::create_dir_all(&options.folder)?;
        let folder = options.folder.clone();
        let mut files = Files { options, current: None };
        files.turn_to(SystemTime::now())?;
        let (sender, receiver) = sync_channel(AUDIT_RECORDS_WAITING_MAX);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = lost.clone();
        let thread =
            std::thread::Builder::new().name("audit".to_owned()).spawn(move || write(&receiver, files, &counted))?;
        Ok(AuditLog { records: Some(sender), lost, thread: Some(thread), folder })
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Records an event; counts it as lost if too many wait.
    pub(crate) fn note(&self, record: &AuditRecord<'_>) {
        let sent = self.records.as_ref().map(|records| records.try_send(record.line()));
        if !matches!(sent, Some(Ok(()))) {
            self.lost.fetch_add(1, Relaxed);
        }
    }
}

impl Drop for AuditLog {
    fn drop(&mut self) {
        self.records = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The files of the log, one for each day.
struct Files {
    options: AuditOptions,
    /// The day, as in the file's name, and the file.
    current: Option<(String, File)>,
}

impl Files {
    /// Opens the file of a day, and removes those that are kept no longer.
    fn turn_to(&mut self, now: SystemTime) -> io::Result<&mut File> {
        let day = day_of(now);
        if self.current.as_ref().is_none_or(|(current, _)| *current != day) {
            let path = self.options.folder.join(file_name(&day));
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
            remove_old(&self.options, now)?;
            self.current = Some((day, file));
        }
        self.current.as_mut().map(|(_, file)| file).ok_or_else(|| io::Error::other("no file is open"))
    }
}

/// `2026-11-27`
fn day_of(time: SystemTime) -> String {
    date::wire(time).chars().take(10).collect()
}

fn file_name(day: &str) -> String {
    format!("audit-{day}.jsonl")
}

fn remove_old(options: &AuditOptions, now: SystemTime) -> io::Result<()> {
    // A file has the records until the end of its day.
    let Some(oldest) = now.checked_sub(options.retention) else { return Ok(()) };
    let oldest = file_name(&day_of(oldest));
    for entry in std::fs::read_dir(&options.folder)? {
        let name = entry?.file_name();
        let is_old = name.to_str().is_some_and(|name| {
            name.len() == oldest.len() && name.starts_with("audit-") && name.ends_with(".jsonl") && *name < *oldest
        });
        if is_old {
            std::fs::remove_file(options.folder.join(&name))?;
            tracing::info!(file = %Path::new(&name).display(), "a file of the audit log was removed: it is older than the retention");
        }
    }
    Ok(())
}

/// Writes records until the log is dropped.
fn write(records: &Receiver<Vec<u8>>, mut files: Files, lost: &AtomicU64) {
    while let Ok(first) = records.recv() {
        let mut lines = first;
        let mut count = 1;
        while lines.len() < WRITTEN_SIZE_MAX
            && let Ok(next) = records.try_recv()
        {
            lines.extend_from_slice(&next);
            count += 1;
        }
        let now = SystemTime::now();
        let missing = lost.swap(0, Relaxed);
        if missing > 0 {
            lines.extend_from_slice(&lost_line(now, missing));
        }
        let written = files.turn_to(now).and_then(|file| {
            file.write_all(&lines)?;
            file.sync_data()
        });
        if let Err(error) = written {
            lost.fetch_add(missing + count, Relaxed);
            tracing::error!(%error, folder = %files.options.folder.display(), count, "records of the audit log were not written");
        }
    }
}

/// What is written at once, in bytes.
const WRITTEN_SIZE_MAX: usize = 1 << 20;

fn lost_line(now: SystemTime, count: u64) -> Vec<u8> {
    let mut line = Vec::new();
    Writer::new(&mut line).object(|json| {
        json.name("At").string(&date::wire(now)).name("Event").string("Lost");
        json.name("Count").unsigned(count);
    });
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn options(folder: &Path, days: u64) -> AuditOptions {
        AuditOptions { folder: folder.to_owned(), retention: Duration::from_secs(days * 24 * 60 * 60) }
    }

    #[test]
    fn what_was_noted_is_in_the_file_of_the_day_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let log = AuditLog::start(options(&folder.path().join("audit"), 1)).unwrap();
        for number in 0..100 {
            let (at, url) = (SystemTime::now(), format!("/{number}"));
            let request = Some(("PUT", url.as_str(), Some(201)));
            let (client, principal) = ("10.0.0.1:5".to_owned(), "API key \"ci\"".to_owned());
            log.note(&AuditRecord { at, event: AuditEvent::Changed, client, principal, request });
        }
        drop(log);
        let files: Vec<_> =
            std::fs::read_dir(folder.path().join("audit")).unwrap().map(|entry| entry.unwrap()).collect();
        let lines: Vec<String> = files
            .iter()
            .flat_map(|file| {
                std::fs::read_to_string(file.path()).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(lines.len(), 100);
        for (number, line) in lines.iter().enumerate() {
            let value = json::Value::parse(line.as_bytes()).unwrap();
            assert_eq!(value.get("Url").and_then(json::Value::as_str), Some(format!("/{number}").as_str()));
            assert_eq!(value.get("Principal").and_then(json::Value::as_str), Some("API key \"ci\""));
        }
    }

    #[test]
    fn files_are_kept_for_their_time_and_others_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let now = UNIX_EPOCH + Duration::from_secs(1_790_000_000);
        let names =
            ["audit-2020-01-01.jsonl", "audit-2026-09-18.jsonl", "audit-2026-09-19.jsonl", "audit-notes.jsonl", "x"];
        for name in names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(day_of(now), "2026-09-21");
        remove_old(&options(folder.path(), 2), now).unwrap();
        let left: Vec<&str> = names.into_iter().filter(|name| folder.path().join(name).exists()).collect();
        assert_eq!(left, ["audit-2026-09-19.jsonl", "audit-notes.jsonl", "x"]);
    }

    #[test]
    fn what_is_lost_is_counted_in_the_log() {
        let line = String::from_utf8(lost_line(UNIX_EPOCH, 3)).unwrap();
        assert_eq!(line, "{\"At\":\"1970-01-01T00:00:00.0000000Z\",\"Event\":\"Lost\",\"Count\":3}\n");
    }
}
