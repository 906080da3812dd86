//! `/databases/{name}/smuggler`: dumps of a database, out and in.
//!
//! POST `export`: `operationId`; the options as JSON, or as the field `DownloadOptions` of a form. The answer is the dump, compressed, as
//! it is made. POST `import`: `operationId`; a form whose first part `importOptions` has the options and whose second part is a dump,
//! plain, gzip or zstd. 200 with what was counted. Both are operations of the database, which can be killed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use database::documents::{Date, DueKind};
use database::revisions::RevisionsProperty;
use database::smuggler::{DumpCompression, DumpSink, Import, Imported, ItemType, SmugglerOptions, SmugglerResult};
use database::{Database, LockMode};
use hyper::StatusCode;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use json::Value;
use tokio::sync::mpsc;

use super::upload::{self, Received};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::limits::{DUMP_PART_SIZE, IMPORT_OPTIONS_SIZE_MAX};
use crate::messages::answers::{self, AnswerWriter, Out};
use crate::messages::body::{BodyStream, RequestBody};
use crate::messages::compression::{Encoding, StreamEncoder};
use crate::messages::decoding::Decoder;
use crate::messages::form::{Form, FormEvent};
use crate::messages::query_string::QueryString;
use crate::messages::reply::{self, Reply};
use crate::network::connection::BodyPace;
use crate::node::Node;
use crate::routing::exchange::{Exchange, parse_object};

/// The open batch is stored when nothing more has arrived for so long.
const FLUSH_AFTER: Duration = Duration::from_millis(50);

pub(crate) async fn export(mut exchange: Exchange) -> Result<Reply> {
    let id = exchange.query().number("operationId")?;
    let is_form = exchange
        .headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().to_ascii_lowercase().starts_with(b"application/x-www-form-urlencoded"));
    let options = exchange.parse_body(move |body| options_of(body, is_form)).await?;
    let database = exchange.database().clone();
    let record = exchange.node.databases.record(database.name())?;
    let head = dump_head(&options, database.name());
    let encoding = match options.compression {
        DumpCompression::Gzip => Encoding::Gzip,
        DumpCompression::Zstd => Encoding::Zstd,
    };
    // Compiling a script may take a while.
    let begin = move || Ok(database.export(id, options, record.value.clone())?);
    let export = exchange.node.bridge.run(Pool::Short, begin).await?;
    answers::produce(exchange, Pool::Streams, move |exchange, out| {
        let snapshot = exchange.database().read();
        let encoder = StreamEncoder::new(encoding).map_err(|error| Error::Encoding(error.to_string()))?;
        out.begin(head, &snapshot)?;
        export.run(&snapshot, &mut CompressedDump { plain: Vec::new(), encoder: Some(encoder), out })?;
        Ok(None)
    })
    .await
}

/// The options of an export.
///
/// * `is_form`: what the head says. `curl -d` says so of JSON, too.
fn options_of(body: &[u8], is_form: bool) -> Result<SmugglerOptions> {
    let options = match is_form && !body.trim_ascii_start().starts_with(b"{") {
        false => parse_object(body)?,
        true => {
            let text = std::str::from_utf8(body).map_err(|_| Error::Argument("the form is not UTF-8".to_owned()))?;
            let text = text.replace('+', "%20");
            let form = QueryString::new(&text);
            let given = form.get("DownloadOptions");
            if given.is_none() && !body.is_empty() {
                let reason =
                    "the body is neither JSON nor a form with 'DownloadOptions', which are the options of an export";
                return Err(Error::Argument(reason.to_owned()));
            }
            parse_object(given.unwrap_or_default().as_bytes())?
        }
    };
    Ok(SmugglerOptions::from_json(&options)?)
}

/// Bytes of the name of a file that a client chose.
const FILE_NAME_SIZE_MAX: usize = 200;

fn dump_head(options: &SmugglerOptions, database: &str) -> Reply {
    let name = match &options.file_name {
        Some(name) => name[..name.floor_char_boundary(FILE_NAME_SIZE_MAX)].to_owned(),
        None => {
            // As `2026-11-27T06:22:54`.
            let now = Date::now().to_string();
            let (day, time) = now.split_once('T').unwrap_or_default();
            format!("Dump of {database} {day} {}", time.get(..5).unwrap_or_default().replace(':', "-"))
        }
    };
    let mut reply = reply::ok(Bytes::new());
    let disposition = format!("attachment; filename={}.ravendbdump", escaped(&name));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    if let Ok(disposition) = HeaderValue::try_from(disposition) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    reply
}

/// A name in a header: all but the unreserved characters as `%20`.
pub(super) fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Compresses a dump into an answer.
struct CompressedDump<'o> {
    plain: Vec<u8>,
    /// None once it is finished.
    encoder: Option<StreamEncoder>,
    out: &'o mut AnswerWriter,
}

impl CompressedDump<'_> {
    fn compress(&mut self) -> Result<()> {
        let failed = |error: std::io::Error| Error::Encoding(error.to_string());
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        let compressed = encoder.add(&self.plain).map_err(failed)?;
        self.plain.clear();
        self.plain.shrink_to(2 * DUMP_PART_SIZE);
        self.out.buffer().extend_from_slice(&compressed);
        self.out.part_done()
    }
}

impl DumpSink for CompressedDump<'_> {
    type Error = Error;

    fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.plain
    }

    fn part_done(&mut self) -> Result<()> {
        if self.plain.len() < DUMP_PART_SIZE { Ok(()) } else { self.compress() }
    }

    fn finish(&mut self) -> Result<()> {
        self.compress()?;
        if let Some(encoder) = self.encoder.take() {
            let rest = encoder.finish().map_err(|error| Error::Encoding(error.to_string()))?;
            self.out.buffer().extend_from_slice(&rest);
        }
        self.out.part_done()
    }

    fn cause(error: &Error) -> database::Error {
        cause_of(error)
    }
}

/// An error as the state of an operation has it.
fn cause_of(error: &Error) -> database::Error {
    match error {
        Error::Database(error) => error.clone(),
        other => database::Error::BadStream { rule: other.message() },
    }
}

pub(crate) async fn import(mut exchange: Exchange) -> Result<Reply> {
    let form = Form::of(&exchange.headers)?;
    let id = exchange.query().number("operationId")?;
    let body = std::mem::replace(&mut exchange.body, RequestBody::empty());
    let stream = BodyStream::new(body, &exchange.headers, &exchange.node.limits, BodyPace::Idle, usize::MAX)?;
    let (sender, receiver) = mpsc::channel(1);
    let (node, database) = (exchange.node.clone(), exchange.database().clone());
    let is_administrator = exchange.peer.identity.administers(database.name());
    let upload = Upload { node: node.clone(), database, id, is_administrator, form, stage: Stage::BeforeOptions };
    let applying = tokio::spawn(apply(node, upload, receiver));
    upload::hand_on(&exchange.node, stream, sender, applying, "the form has no end").await
}

/// An import, as far as its form has arrived.
struct Upload {
    node: Arc<Node>,
    database: Arc<Database>,
    id: Option<u64>,
    is_administrator: bool,
    form: Form,
    stage: Stage,
}

enum Stage {
    BeforeOptions,
    InOptions(Vec<u8>),
    BeforeFile(SmugglerOptions),
    InFile(Box<File>),
}

/// The dump in a form.
struct File {
    import: Import,
    options: SmugglerOptions,
    /// The first bytes, until they tell how it is compressed.
    start: Vec<u8>,
    is_known: bool,
    decoder: Option<Decoder>,
    /// Whether the dump has come to its last bracket.
    is_closed: bool,
}

/// Bytes that tell how a file is compressed.
const MAGIC_SIZE: usize = 4;

/// The storing half: feeds parts on the pool, where waiting for the disk is allowed.
async fn apply(node: Arc<Node>, mut upload: Upload, mut receiver: mpsc::Receiver<Received>) -> Result<Reply> {
    loop {
        let received = match tokio::time::timeout(FLUSH_AFTER, receiver.recv()).await {
            Ok(received) => received,
            // A client that sends slowly has its documents stored all the same.
            Err(_) if upload.has_open_batch() => Some(Received::Parts(Vec::new(), node.bodies.reservation())),
            Err(_) => receiver.recv().await,
        };
        let (parts, reservation) = match received {
            Some(Received::Parts(parts, reservation)) => (parts, reservation),
            Some(Received::End(Some(error))) => return Err(failed(upload, error).await),
            // The client is gone, and with it the task of the other half.
            Some(Received::End(None)) | None => {
                return Err(failed(upload, Error::BodyCutOff("the client went away".to_owned())).await);
            }
        };
        let permit = match node.bridge.permit(Pool::BulkInserts, None).await {
            Ok(permit) => permit,
            Err(error) => return Err(failed(upload, error).await),
        };
        let feed = move || {
            let fed = upload.feed(&parts);
            drop(reservation);
            Ok(fed)
        };
        match node.bridge.with_permit(Pool::BulkInserts, permit, feed).await? {
            Fed::On(fed) => upload = *fed,
            Fed::Ended(ended) => return ended.map(|result| result_reply(&result)),
        }
    }
}

/// Ends the operation with an error, on a thread, for what is in flight has to land first. It lands soon, and must not be refused: the
/// thread comes with no permit.
async fn failed(upload: Upload, error: Error) -> Error {
    let failing = tokio::task::spawn_blocking(move || upload.fail(error));
    failing.await.unwrap_or_else(|error| Error::Panicked(error.to_string()))
}

/// What an upload has come to.
enum Fed {
    On(Box<Upload>),
    Ended(Result<SmugglerResult>),
}

impl Upload {
    fn has_open_batch(&self) -> bool {
        matches!(&self.stage, Stage::InFile(file) if file.import.has_open_batch())
    }

    /// Takes all parts; stops at the end of the dump or at an error. Without a part the open batch is stored.
    fn feed(mut self, parts: &[Bytes]) -> Fed {
        let fed = match (&mut self.stage, parts) {
            (Stage::InFile(file), []) => file.import.flush().map(|()| false).map_err(Error::from),
            _ => self.take(parts),
        };
        match fed {
            Ok(false) => Fed::On(Box::new(self)),
            Ok(true) => Fed::Ended(self.finish()),
            Err(error) => Fed::Ended(Err(self.fail(error))),
        }
    }

    /// True: the dump is closed.
    fn take(&mut self, parts: &[Bytes]) -> Result<bool> {
        for part in parts {
            self.form.push(part);
            loop {
                let event = self.form.next()?;
                if event == FormEvent::More {
                    break;
                }
                if self.take_event(event)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn take_event(&mut self, event: FormEvent) -> Result<bool> {
        let bad = |rule: &str| Error::BadRequest(format!("The form is not acceptable: {rule}"));
        match (&mut self.stage, event) {
            (Stage::BeforeOptions, FormEvent::Part(name)) if name == "importOptions" => {
                self.stage = Stage::InOptions(Vec::new());
            }
            (Stage::BeforeOptions, _) => return Err(bad("its first part must be 'importOptions'")),
            (Stage::InOptions(options), FormEvent::Content(content)) => {
                if options.len() + content.len() > IMPORT_OPTIONS_SIZE_MAX {
                    return Err(bad(&format!(
                        "'importOptions' exceeds IMPORT_OPTIONS_SIZE_MAX = {IMPORT_OPTIONS_SIZE_MAX}"
                    )));
                }
                options.extend_from_slice(&content);
            }
            (Stage::InOptions(options), _) => {
                let options = read_options(std::mem::take(options), &self.node)?;
                self.stage = Stage::BeforeFile(options);
            }
            (Stage::BeforeFile(options), FormEvent::Part(_)) => {
                let refused: &[ItemType] = match self.is_administrator {
                    true => &[],
                    false => &[ItemType::Indexes, ItemType::DatabaseRecord],
                };
                let import = self.database.import(self.id, options.clone(), refused)?;
                let options = options.clone();
                let file =
                    File { import, options, start: Vec::new(), is_known: false, decoder: None, is_closed: false };
                self.stage = Stage::InFile(Box::new(file));
            }
            (Stage::BeforeFile(_), _) => return Err(bad("it has no part with a file behind 'importOptions'")),
            (Stage::InFile(file), FormEvent::Content(content)) => file.take(content, &self.node)?,
            (Stage::InFile(file), _) => return file.end(&self.node),
        }
        Ok(false)
    }

    /// Takes over what the dump says of the database itself, and ends the operation.
    fn finish(self) -> Result<SmugglerResult> {
        let Upload { node, database, stage, .. } = self;
        let Stage::InFile(file) = stage else {
            return Err(Error::BadRequest("The form ended before its file".to_owned()));
        };
        let File { mut import, options, .. } = *file;
        let finished = import.finish().map_err(Error::from).and_then(|mut imported| {
            take_record(&node, &database, &options, &mut imported)?;
            Ok(imported)
        });
        match finished {
            Ok(Imported { result, document_count, .. }) => {
                import.end(result.clone());
                let counter = &node.metrics.documents_bulk_inserted;
                counter.fetch_add(document_count, std::sync::atomic::Ordering::Relaxed);
                Ok(result)
            }
            Err(error) => {
                let stored = import.fail(cause_of(&error));
                Err(Error::Import { stored, cause: Box::new(error) })
            }
        }
    }

    /// Ends the operation because of an error.
    fn fail(self, error: Error) -> Error {
        match self.stage {
            Stage::InFile(file) => {
                let stored = file.import.fail(cause_of(&error));
                Error::Import { stored, cause: Box::new(error) }
            }
            _ => {
                // The state of the operation says why there was no import.
                if let Some(Ok(operation)) = self.id.map(|id| self.database.operations().start(id, "Import")) {
                    operation.end(database::OperationStatus::Faulted(Arc::new(cause_of(&error))));
                }
                error
            }
        }
    }
}

fn read_options(options: Vec<u8>, node: &Node) -> Result<SmugglerOptions> {
    let mut rest = Bytes::from(options);
    let options = match Decoder::for_content(&rest, &node.limits, IMPORT_OPTIONS_SIZE_MAX)? {
        None => rest,
        Some(mut decoder) => {
            let mut plain = Vec::new();
            while !rest.is_empty() {
                plain.extend_from_slice(&decoder.part(&mut rest)?);
            }
            plain.extend_from_slice(&decoder.finish()?);
            Bytes::from(plain)
        }
    };
    Ok(SmugglerOptions::from_json(&parse_object(&options)?)?)
}

impl File {
    /// Takes some of the content, also behind the dump: compressed content ends with its checksum.
    fn take(&mut self, content: Bytes, node: &Node) -> Result<()> {
        if self.is_known {
            return self.decode(content);
        }
        self.start.extend_from_slice(&content);
        if self.start.len() < MAGIC_SIZE { Ok(()) } else { self.begin(node) }
    }

    /// The first bytes tell how the rest is compressed.
    fn begin(&mut self, node: &Node) -> Result<()> {
        let start = Bytes::from(std::mem::take(&mut self.start));
        self.decoder = Decoder::for_content(&start, &node.limits, usize::MAX)?;
        self.is_known = true;
        self.decode(start)
    }

    fn decode(&mut self, mut content: Bytes) -> Result<()> {
        let Some(decoder) = &mut self.decoder else {
            self.is_closed = self.import.feed(&content)?;
            return Ok(());
        };
        while !content.is_empty() {
            let part = decoder.part(&mut content)?;
            self.is_closed = self.import.feed(&part)?;
        }
        Ok(())
    }

    /// The content has ended, and with it the dump.
    fn end(&mut self, node: &Node) -> Result<bool> {
        if !self.is_known {
            self.begin(node)?;
        }
        if let Some(decoder) = &mut self.decoder {
            // Compressed data that stop early are a dump that was cut off, wherever they stop.
            let rest = decoder.finish().unwrap_or_default();
            self.is_closed = self.import.feed(&rest)?;
        }
        if self.is_closed { Ok(true) } else { Err(self.import.cut_off().into()) }
    }
}

/// Takes over the parts of a record that options name.
fn take_record(node: &Node, database: &Database, options: &SmugglerOptions, imported: &mut Imported) -> Result<()> {
    let Some(record) = imported.record.take() else { return Ok(()) };
    let (databases, name) = (&node.databases, database.name());
    let result = &mut imported.result;
    let part = |part| record.get(part).filter(|value| options.has_record_type(part) && **value != Value::Null);
    if let Some(mode) = part("LockMode").and_then(Value::as_str).and_then(LockMode::from_wire) {
        note_part(result, "LockMode", databases.set_lock_mode(&[name], mode, None))?;
    }
    if let Some(client) = part("Client") {
        note_part(result, "Client", databases.put_client_configuration_of(name, client, None))?;
    }
    let due = [("Expiration", DueKind::Expiration), ("Refresh", DueKind::Refresh), ("DataArchival", DueKind::Archival)];
    for (property, kind) in due {
        if let Some(configuration) = part(property) {
            note_part(result, property, databases.put_due_configuration(name, kind, configuration, None))?;
        }
    }
    // One that is not served does not keep the others out.
    for (_, analyzer) in part("Analyzers").map(Value::members).unwrap_or_default() {
        note_part(result, "Analyzers", databases.put_analyzers(name, std::slice::from_ref(analyzer), None))?;
    }
    for property in RevisionsProperty::ALL {
        if let Some(configuration) = part(property.name()) {
            let put = databases.put_revisions_configuration(name, property, configuration, None);
            note_part(result, property.name(), put)?;
        }
    }
    Ok(())
}

/// Notes that a part of a record was taken over. One that is not acceptable here is a warning: the documents count more.
fn note_part<T>(result: &mut SmugglerResult, part: &'static str, taken: database::Result<T>) -> Result<()> {
    match taken {
        Ok(_) => result.note_record(part),
        Err(
            error @ (database::Error::BadRecord { .. }
            | database::Error::Analyzer(_)
            | database::Error::NotSupported(_)),
        ) => {
            result.warn(&format!("The part '{part}' of the record of the database was not taken over: {error}"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn result_reply(result: &SmugglerResult) -> Reply {
    reply::object(StatusCode::OK, |json| {
        json.name("$type").string("Raven.Client.Documents.Smuggler.SmugglerResult, Raven.Client");
        result.write_members(json);
    })
}
