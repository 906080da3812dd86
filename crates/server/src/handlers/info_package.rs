//! `GET /admin/debug/info-package` and `GET /databases/{name}/debug/info-package`: what a report of a problem should have in it, as a ZIP.
//!
//! Each file in it is the answer of another route (`server-wide/admin.live.json` that of `/admin/live`) with the rights of the caller.
//! One that is refused has the ending `.error`. The package of the server has a folder for each open database; others are named in
//! `admin.live.json` and not opened. It is made while it is sent: one file at a time is in memory.
//!
//! No secret gets in: settings leave them out, the log and the metrics have none, and what a client stored under the name of one (a
//! `Password` in the settings of a database) is replaced ([`redact`]). Texts of slow queries are in it, with the values in them.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use database::documents::Date;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode, Uri};
use json::Value;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::{INFO_FILE_SIZE_MAX, STREAM_PARTS_MAX};
use crate::memory;
use crate::messages::reply::{self, BodyPart, Reply, Waits};
use crate::network::peer::Peer;
use crate::node::Node;
use crate::routing::exchange::Exchange;
use crate::routing::internal::InternalRequest;

/// Files of the server, and the requests that they answer.
const OF_SERVER: [(&str, &str); 12] = [
    ("build.version.json", "/build/version"),
    ("cluster.node-info.json", "/cluster/node-info"),
    ("cluster.topology.json", "/cluster/topology"),
    ("health.ready.json", "/health/ready"),
    ("metrics.txt", "/metrics"),
    ("admin.live.json", "/admin/live"),
    ("admin.monitoring.v1.server.json", "/admin/monitoring/v1/server"),
    ("admin.configuration.settings.json", "/admin/configuration/settings"),
    ("admin.logs.configuration.json", "/admin/logs/configuration"),
    ("admin.logs.recent.json", "/admin/logs/recent?pageSize=2048"),
    ("admin.slow-requests.json", "/admin/slow-requests"),
    ("admin.running-queries.json", "/admin/running-queries"),
];

/// The same of a database, below its path.
const OF_DATABASE: [(&str, &str); 15] = [
    ("database-record.json", "admin/record"),
    ("stats.json", "stats/detailed"),
    ("collections.stats.detailed.json", "collections/stats/detailed"),
    ("indexes.json", "indexes"),
    ("indexes.stats.json", "indexes/stats"),
    ("indexes.errors.json", "indexes/errors"),
    ("indexes.performance.json", "indexes/performance"),
    ("indexes.progress.json", "indexes/progress"),
    ("indexes.advice.json", "indexes/advice"),
    ("healthcheck.json", "healthcheck"),
    ("identities.json", "debug/identities"),
    ("queries.running.json", "debug/queries/running"),
    ("operations.json", "operations"),
    ("due.json", "due"),
    ("storage.report.json", "debug/storage/report"),
];

/// What is in the name of a property whose value may be a secret.
const SECRETS: [&str; 11] = [
    "password",
    "passphrase",
    "secret",
    "token",
    "credential",
    "accesskey",
    "accountkey",
    "privatekey",
    "encryptionkey",
    "apikey",
    "connectionstring",
];

/// What stands in place of a secret.
const LEFT_OUT: &str = "(left out)";

/// GET `/admin/debug/info-package`.
pub(crate) async fn of_server(exchange: Exchange) -> Result<Reply> {
    let databases = &exchange.node.databases;
    let mut files: Vec<FileOfPackage> =
        OF_SERVER.iter().map(|(name, target)| FileOfPackage::of_server(name, target)).collect();
    for database in databases.names() {
        if matches!(databases.peek(&database), Ok(Some(_))) {
            files
                .extend(OF_DATABASE.iter().map(|(name, path)| FileOfPackage::of_database(&database, true, name, path)));
        }
    }
    let title = format!("Node [{}]", databases.node_tag());
    Ok(send(&exchange, files, &title))
}

/// GET `/databases/{name}/debug/info-package`.
pub(crate) async fn of_database(exchange: Exchange) -> Result<Reply> {
    let database = exchange.database().name();
    let files =
        OF_DATABASE.iter().map(|(name, path)| FileOfPackage::of_database(database, false, name, path)).collect();
    Ok(send(&exchange, files, &format!("Database [{database}]")))
}

/// A file to be made.
struct FileOfPackage {
    name: String,
    target: String,
}

impl FileOfPackage {
    fn of_server(name: &str, target: &str) -> FileOfPackage {
        FileOfPackage { name: format!("server-wide/{name}"), target: target.to_owned() }
    }

    /// * `has_folder`: its name begins with that of the database, whose characters can stand in names of files and in a path.
    fn of_database(database: &str, has_folder: bool, name: &str, path: &str) -> FileOfPackage {
        let name = if has_folder { format!("{database}/{name}") } else { name.to_owned() };
        FileOfPackage { name, target: format!("/databases/{database}/{path}") }
    }
}

/// The answer that is made while it is sent.
fn send(exchange: &Exchange, files: Vec<FileOfPackage>, title: &str) -> Reply {
    let (sender, receiver) = mpsc::channel(STREAM_PARTS_MAX);
    let (node, peer) = (exchange.node.clone(), exchange.peer.clone());
    let task = tokio::spawn(async move {
        match write(&node, &peer, files, &sender).await {
            Ok(()) => drop(sender.send(BodyPart::End).await),
            Err(Error::Database(database::Error::Canceled)) => {}
            Err(error) => tracing::warn!(%error, "an info package was cut off"),
        }
    });
    let mut reply = reply::ok(Bytes::new());
    reply.body_mut().set_parts(receiver);
    // A client that goes away ends the task.
    reply.body_mut().keep_waiting(Arc::new(Waits::for_task(&task)));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/zip"));
    if let Ok(disposition) = HeaderValue::try_from(format!("attachment; filename=\"{} - {title}.zip\"", now())) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    reply
}

/// As `2026-11-27 12-04-35`.
fn now() -> String {
    let now = Date::now().to_string();
    now.get(..19).unwrap_or_default().replace('T', " ").replace(':', "-")
}

async fn write(
    node: &Arc<Node>,
    peer: &Arc<Peer>,
    files: Vec<FileOfPackage>,
    sender: &mpsc::Sender<BodyPart>,
) -> Result<()> {
    let mut archive = Archive::new();
    for FileOfPackage { name, target } in files {
        let answer = answer_to(node, peer, &target).await?;
        archive = node.bridge.run(Pool::Short, move || archive.with(name, answer)).await?;
        send_part(archive.take(), sender).await?;
    }
    send_part(archive.finish()?, sender).await
}

async fn send_part(part: Vec<u8>, sender: &mpsc::Sender<BodyPart>) -> Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    sender.send(BodyPart::Bytes(Bytes::from(part))).await.map_err(|_| database::Error::Canceled.into())
}

/// The answer of a route.
struct Answer {
    status: StatusCode,
    body: Bytes,
    is_json: bool,
}

impl Answer {
    /// What stands in place of an answer.
    fn refusal(status: StatusCode, reason: &str) -> Answer {
        Answer { status, body: Bytes::copy_from_slice(reason.as_bytes()), is_json: false }
    }
}

async fn answer_to(node: &Arc<Node>, peer: &Arc<Peer>, target: &str) -> Result<Answer> {
    let uri: Uri = target.parse().map_err(|_| Error::Argument(format!("'{target}' is not the path of a request")))?;
    let request = InternalRequest { method: Method::GET, uri, headers: HeaderMap::new(), body: Bytes::new() };
    let mut reply = request.send(node, peer).await?;
    let status = reply.status();
    let is_json =
        reply.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let Some(mut parts) = reply.body_mut().take_parts() else {
        let body = reply.body().as_whole().cloned().unwrap_or_default();
        return Ok(Answer { status, body, is_json });
    };
    let (mut body, mut reservation): (Vec<u8>, _) = (Vec::new(), node.memory.reservation());
    loop {
        match parts.recv().await {
            Some(BodyPart::Bytes(part)) if body.len() + part.len() > INFO_FILE_SIZE_MAX => {
                let reason =
                    format!("The answer exceeds INFO_FILE_SIZE_MAX = {INFO_FILE_SIZE_MAX}; request {target} alone");
                return Ok(Answer::refusal(StatusCode::PAYLOAD_TOO_LARGE, &reason));
            }
            Some(BodyPart::Bytes(part)) => {
                reservation.grow(body.len() + part.len())?;
                body.extend_from_slice(&part);
            }
            Some(BodyPart::End) => return Ok(Answer { status, body: memory::fill(reservation, body), is_json }),
            None => {
                return Ok(Answer::refusal(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "The answer broke off; the log has the reason",
                ));
            }
        }
    }
}

/// A ZIP as it grows.
struct Archive {
    writer: ZipWriter<StreamWriter<Made>>,
    made: Made,
}

/// What was made of it and not sent yet.
#[derive(Clone, Default)]
struct Made(Arc<Mutex<Vec<u8>>>);

impl Write for Made {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Archive {
    fn new() -> Archive {
        let made = Made::default();
        Archive { writer: ZipWriter::new_stream(made.clone()), made }
    }

    /// The same with one more file; without it if the answer is empty.
    fn with(mut self, name: String, answer: Answer) -> Result<Archive> {
        if answer.body.is_empty() {
            return Ok(self);
        }
        let name = if answer.status.is_success() { name } else { name + ".error" };
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).unix_permissions(0o600);
        self.writer.start_file(name, options).map_err(refused)?;
        let redacted = answer.is_json.then(|| Value::parse(&answer.body).ok()).flatten().map(|mut value| {
            redact(&mut value);
            value.to_vec()
        });
        self.writer.write_all(redacted.as_deref().unwrap_or(&answer.body)).map_err(|error| refused(error.into()))?;
        Ok(self)
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.made.0.lock())
    }

    /// The end: the list of the files.
    fn finish(self) -> Result<Vec<u8>> {
        self.writer.finish().map_err(refused)?;
        Ok(std::mem::take(&mut *self.made.0.lock()))
    }
}

fn refused(error: ZipError) -> Error {
    Error::InvalidOperation(error.to_string())
}

/// Replaces the values of all properties whose names are those of secrets.
fn redact(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::Null | Value::Bool(_) | Value::Number(_) => {}
                    value if is_secret(name) => *value = Value::String(LEFT_OUT.to_owned()),
                    value => redact(value),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(redact),
        _ => {}
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['.', '-', '_', ' '], "");
    // That of an encryption.
    name == "key" || SECRETS.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_under_the_names_of_secrets_are_replaced() {
        let text = r#"{"Name":"a","Settings":{"Security.Certificate.Password":"p"},"S3":[{"AwsAccessKey":"k","AwsSecretKey":"s","Bucket":"b"}],
            "Encryption":{"Key":"q","Mode":"UseProvidedKey"},"Keys":["Log.Level"],"ConnectionStrings":{"x":"y"},"HasPassword":true,"Token":null}"#;
        let mut value = Value::parse(text.as_bytes()).unwrap();
        redact(&mut value);
        let expected = concat!(
            r#"{"Name":"a","Settings":{"Security.Certificate.Password":"(left out)"},"#,
            r#""S3":[{"AwsAccessKey":"(left out)","AwsSecretKey":"(left out)","Bucket":"b"}],"#,
            r#""Encryption":{"Key":"(left out)","Mode":"UseProvidedKey"},"Keys":["Log.Level"],"#,
            r#""ConnectionStrings":"(left out)","HasPassword":true,"Token":null}"#
        );
        assert_eq!(String::from_utf8(value.to_vec()).unwrap(), expected);
    }
}
