//! Contents on their way from a database to the network.
//!
//! A large content is sent part by part. Each part is read from a snapshot of its own, by the hash of the content: no snapshot is held
//! while a client reads slowly, and what has the hash is the content, whatever happened to the attachment meanwhile. Once it is gone,
//! the answer is cut off.

use std::ops::Range;

use bytes::Bytes;
use database::Database;
use database::documents::{ContentHash, RevisionAttachment};
use hyper::StatusCode;
use hyper::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderName, HeaderValue, IF_RANGE,
    RANGE,
};
use json::{Minifier, Raw};

use super::ranges::{Asked, asked};
use crate::bridge::Pool;
use crate::error::{Error, Result};
use crate::handlers::smuggler::escaped;
use crate::limits::SHORT_ATTACHMENT_SIZE;
use crate::messages::answers::{self, AnswerWriter, Out};
use crate::messages::reply::{self, Reply};
use crate::routing::exchange::Exchange;

const HASH: HeaderName = HeaderName::from_static("attachment-hash");
const SIZE: HeaderName = HeaderName::from_static("attachment-size");

/// The head of an answer, and the bytes that follow it.
struct Found {
    head: Reply,
    hash: ContentHash,
    range: Range<u64>,
}

/// What an answer tells of an attachment.
struct Described {
    name: String,
    content_type: String,
    hash: ContentHash,
    size: u64,
    vector: String,
}

pub(crate) fn head(exchange: &Exchange) -> Result<Reply> {
    Ok(find(exchange, None)?.map_or_else(|| reply::empty(StatusCode::NOT_FOUND), |found| found.head))
}

pub(crate) async fn get(exchange: Exchange) -> Result<Reply> {
    answer(exchange, None).await
}

/// The body says whether the attachment is of the document, or of a revision of it.
pub(crate) async fn get_by_type(mut exchange: Exchange) -> Result<Reply> {
    let vector = exchange.parse_body(revision_in).await?;
    answer(exchange, vector).await
}

/// The change vector in `{Type, ChangeVector}`; `None`: the attachment of the document is wanted.
fn revision_in(body: &[u8]) -> Result<Option<String>> {
    let mut minifier = Minifier::new();
    let object = minifier.minify(if body.trim_ascii().is_empty() { b"{}" } else { body })?;
    let vector = object.get("ChangeVector").and_then(Raw::as_str).filter(|vector| !vector.is_empty());
    match object.get("Type").and_then(Raw::as_str).as_deref() {
        Some("Document") => Ok(None),
        Some("Revision") => match vector {
            Some(vector) => Ok(Some(vector.into_owned())),
            None => Err(Error::Argument("Change Vector cannot be empty for attachment type Revision".to_owned())),
        },
        _ => {
            let rule = "The 'Type' field in the body request is mandatory: it is 'Document' or 'Revision'";
            Err(Error::Argument(rule.to_owned()))
        }
    }
}

/// * `revision`: the change vector of the revision whose attachment is wanted; `None`: that of the document.
async fn answer(exchange: Exchange, revision: Option<String>) -> Result<Reply> {
    let Some(Found { mut head, hash, range }) = find(&exchange, revision.as_deref())? else {
        return Ok(reply::empty(StatusCode::NOT_FOUND));
    };
    let size = range.end - range.start;
    if size <= SHORT_ATTACHMENT_SIZE {
        let mut bytes = Vec::with_capacity(size as usize);
        read_part(exchange.database(), hash, range, &mut bytes)?;
        head.body_mut().set_whole(Bytes::from(bytes));
        return Ok(head);
    }
    answers::produce(exchange, Pool::Streams, move |exchange, out| {
        out.begin_detached(head)?;
        send(exchange.database(), hash, range, out)?;
        Ok(None)
    })
    .await
}

fn describe(exchange: &Exchange, revision: Option<&str>) -> Result<Option<Described>> {
    let (id, name) = (exchange.required("id")?, exchange.required("name")?);
    let snapshot = exchange.database().read();
    let Some(vector) = revision else {
        return Ok(snapshot.attachment(&id, &name)?.map(|attachment| Described {
            name: attachment.name().to_owned(),
            content_type: attachment.content_type().to_owned(),
            hash: attachment.hash(),
            size: attachment.size(),
            vector: attachment.item().change_vector(),
        }));
    };
    let found = snapshot.revision_attachment(&id, vector, &name)?;
    Ok(found.map(|RevisionAttachment { name, content_type, hash, size }| {
        let vector = vector.to_owned();
        Described { name, content_type, hash, size, vector }
    }))
}

/// The attachment that a request names. `None`: there is none.
fn find(exchange: &Exchange, revision: Option<&str>) -> Result<Option<Found>> {
    let Some(attachment) = describe(exchange, revision)? else { return Ok(None) };
    let Described { hash, size, ref vector, .. } = attachment;
    let etag = reply::quoted_etag(vector.as_bytes());
    if reply::is_match(exchange.if_none_match(), vector.as_bytes()) {
        let head = reply::with_etag(reply::empty(StatusCode::NOT_MODIFIED), etag);
        return Ok(Some(Found { head, hash, range: 0..0 }));
    }
    // A download that goes on must go on with the same content.
    let is_same = match exchange.headers.get(IF_RANGE) {
        None => true,
        tag => reply::is_match(tag, vector.as_bytes()),
    };
    let range = exchange.headers.get(RANGE).filter(|_| is_same).map(|range| range.as_bytes());
    let (status, range, content_range) = match asked(range, size) {
        Asked::All => (StatusCode::OK, 0..size, None),
        Asked::Part(range) => {
            let content_range = format!("bytes {}-{}/{size}", range.start, range.end - 1);
            (StatusCode::PARTIAL_CONTENT, range, Some(content_range))
        }
        Asked::Unsatisfiable => (StatusCode::RANGE_NOT_SATISFIABLE, 0..0, Some(format!("bytes */{size}"))),
    };
    let mut head = reply::with_etag(reply::empty(status), etag);
    write_headers(&mut head, &attachment);
    let headers = head.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(range.end - range.start));
    if let Some(value) = content_range.and_then(|text| HeaderValue::try_from(text).ok()) {
        headers.insert(CONTENT_RANGE, value);
    }
    Ok(Some(Found { head, hash, range }))
}

fn write_headers(head: &mut Reply, attachment: &Described) {
    let headers = head.headers_mut();
    let content_type = HeaderValue::from_bytes(attachment.content_type.as_bytes());
    headers.insert(CONTENT_TYPE, content_type.unwrap_or(HeaderValue::from_static("application/octet-stream")));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Ok(disposition) = HeaderValue::try_from(disposition(&attachment.name)) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    if let Ok(hash) = HeaderValue::try_from(attachment.hash.to_string()) {
        headers.insert(HASH, hash);
    }
    headers.insert(SIZE, HeaderValue::from(attachment.size));
}

/// `attachment; filename="a.txt"; filename*=UTF-8''a.txt` (RFC 6266): the name without what looks like a folder.
fn disposition(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String =
        file.chars().map(|c| if (c.is_ascii_graphic() || c == ' ') && c != '"' { c } else { '_' }).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", escaped(file))
}

/// Sends a range of a content: a large one from the memory that each chunk is read into. The head is sent already.
pub(super) fn send(database: &Database, hash: ContentHash, range: Range<u64>, out: &mut AnswerWriter) -> Result<()> {
    if range.end - range.start <= SHORT_ATTACHMENT_SIZE {
        read_part(database, hash, range, out.buffer())?;
        return out.part_done();
    }
    let mut rest = range;
    while !rest.is_empty() {
        let (memory, bytes) = {
            let snapshot = database.read();
            let mut reading = snapshot.content(hash, rest.clone())?.ok_or_else(gone)?;
            reading.next_owned()?.ok_or_else(gone)?
        };
        rest.start += bytes.len() as u64;
        out.send_owned(Bytes::from(memory).slice(bytes))?;
    }
    Ok(())
}

fn gone() -> Error {
    Error::InvalidOperation("The attachment was deleted while its content was read".to_owned())
}

/// Appends a range of a content.
fn read_part(database: &Database, hash: ContentHash, range: Range<u64>, out: &mut Vec<u8>) -> Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let (size, before) = (range.end - range.start, out.len() as u64);
    let snapshot = database.read();
    let mut reading = snapshot.content(hash, range)?.ok_or_else(gone)?;
    while let Some(bytes) = reading.next()? {
        out.extend_from_slice(bytes);
    }
    match out.len() as u64 - before == size {
        true => Ok(()),
        false => Err(gone()),
    }
}

#[cfg(test)]
mod tests {
    use super::disposition;

    #[test]
    fn the_name_of_a_file_is_no_path_and_no_header() {
        assert_eq!(disposition("A.txt"), "attachment; filename=\"A.txt\"; filename*=UTF-8''A.txt");
        assert_eq!(disposition("ä \"b\"/c d.txt"), "attachment; filename=\"c d.txt\"; filename*=UTF-8''c%20d.txt");
        assert_eq!(
            disposition("x\r\ny: \"ä\".txt"),
            "attachment; filename=\"x__y: ___.txt\"; filename*=UTF-8''x%0D%0Ay%3A%20%22%C3%A4%22.txt"
        );
    }
}
