//! Takes a document as a client sends it apart: the body without `@metadata`, and those of its properties that are stored.
//!
//! Stored are `@collection`, first, and everything that the server does not compute itself, by name: the reference server
//! sorts the properties of `@metadata` too, but not those of the body. The parts are appended to a buffer one after the other, as
//! they stand in a record.

use std::borrow::Cow;

use json::{Kind, Raw, Text};

use crate::limits::{COLLECTION_NAME_SIZE_MAX, DOCUMENT_SIZE_MAX};
use crate::{Error, Result};

/// Where the parts of one document are in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Content {
    pub start: usize,
    pub metadata_size: u32,
    pub body_size: u32,
}

impl Content {
    /// Metadata and body, one after the other.
    pub fn bytes<'b>(&self, buffer: &'b [u8]) -> &'b [u8] {
        let size = self.metadata_size as usize + self.body_size as usize;
        buffer.get(self.start..self.start + size).unwrap_or_default()
    }

    /// The stored metadata.
    pub fn metadata<'b>(&self, buffer: &'b [u8]) -> &'b [u8] {
        buffer.get(self.start..self.start + self.metadata_size as usize).unwrap_or_default()
    }
}

/// Checked JSON of a document, in which `@metadata` was found: looking for it goes through all that stands before it, so all who need it
/// share one look.
#[derive(Clone, Copy, Debug)]
pub struct FoundMetadata<'d> {
    document: Raw<'d>,
    metadata: Option<Place<'d>>,
}

/// Where `@metadata` stands.
#[derive(Clone, Copy, Debug)]
struct Place<'d> {
    /// Where its name begins, in bytes of the document,
    name: usize,
    /// and where what follows its value begins.
    end: usize,
    value: Raw<'d>,
}

impl<'d> FoundMetadata<'d> {
    /// Looks for it.
    pub fn of(document: Raw<'d>) -> FoundMetadata<'d> {
        let size = document.bytes().len();
        let mut members = document.members();
        loop {
            let name_at = size - members.rest().len();
            match members.next() {
                None => return FoundMetadata { document, metadata: None },
                Some((name, value)) if name.is("@metadata") => {
                    // Of what follows it, `rest` leaves the first byte out: a comma, or the closing brace.
                    let end = size - members.rest().len() - 1;
                    return FoundMetadata { document, metadata: Some(Place { name: name_at, end, value }) };
                }
                Some(_) => {}
            }
        }
    }

    /// The document.
    pub fn document(&self) -> Raw<'d> {
        self.document
    }

    /// The value of `@metadata`, whatever it is.
    pub fn metadata(&self) -> Option<Raw<'d>> {
        self.metadata.map(|place| place.value)
    }
}

/// Properties of `@metadata` that the server computes; what a client sends for them is dropped.
fn is_server_owned(name: &[u8]) -> bool {
    matches!(
        name,
        b"@id"
            | b"@change-vector"
            | b"@last-modified"
            | b"@flags"
            | b"@attachments"
            | b"@counters"
            | b"@timeseries"
            | b"@counters-snapshot"
            | b"@timeseries-snapshot"
            | b"@index-score"
            | b"@spatial"
            | b"@projection"
            | b"@conflict"
            | b"@archived"
    )
}

/// The bytes of a name. Copies only if there are escapes.
fn bytes_of(name: Text<'_>) -> Cow<'_, [u8]> {
    match name.escaped() {
        plain if !plain.contains(&b'\\') => Cow::Borrowed(plain),
        _ => Cow::Owned(name.decode().into_owned().into_bytes()),
    }
}

/// A document in the form of reports: checked JSON without the computed part of its metadata.
pub(crate) fn without_computed(document: Vec<u8>) -> Vec<u8> {
    let raw = Raw::new(&document);
    let metadata = raw.get("@metadata").filter(|metadata| metadata.kind() == Kind::Object);
    if !metadata.is_some_and(|metadata| metadata.members().any(|(name, _)| is_server_owned(&bytes_of(name)))) {
        return document;
    }
    let mut out = Vec::with_capacity(document.len());
    json::Writer::new(&mut out).object(|json| {
        for (name, value) in raw.members() {
            json.name(&name.decode());
            if !name.is("@metadata") {
                json.raw(value.bytes());
                continue;
            }
            json.object(|json| {
                for (name, value) in value.members().filter(|(name, _)| !is_server_owned(&bytes_of(*name))) {
                    json.name(&name.decode()).raw(value.bytes());
                }
            });
        }
    });
    out
}

/// Appends the parts of `document`, checked JSON, to `buffer`; gives where they are and the collection.
pub(crate) fn split<'d>(buffer: &mut Vec<u8>, document: Raw<'d>) -> Result<(Content, Option<Cow<'d, str>>)> {
    split_found(buffer, &FoundMetadata::of(document))
}

/// The same, where the metadata were found already.
pub(crate) fn split_found<'d>(
    buffer: &mut Vec<u8>,
    found: &FoundMetadata<'d>,
) -> Result<(Content, Option<Cow<'d, str>>)> {
    let document = found.document;
    if document.kind() != Kind::Object {
        return Err(not_an_object("a document", document));
    }
    let text = document.bytes();
    let start = buffer.len();
    let Some(Place { name, end, value: metadata }) = found.metadata else {
        buffer.extend_from_slice(text);
        return finish(buffer, start, start, None);
    };
    let collection = match metadata.kind() {
        Kind::Object => append_metadata(buffer, metadata)?,
        Kind::Null => None,
        _ => return Err(not_an_object("'@metadata'", metadata)),
    };
    let body_at = buffer.len();
    // A comma behind it goes with it, or else the comma before it.
    let before = text.get(..name).unwrap_or_default();
    if text.get(end) == Some(&b',') {
        buffer.extend_from_slice(before);
        buffer.extend_from_slice(&text[end + 1..]);
    } else {
        buffer.extend_from_slice(before.strip_suffix(b",").unwrap_or(before));
        buffer.push(b'}');
    }
    finish(buffer, start, body_at, collection)
}

fn finish<'d>(
    buffer: &[u8],
    start: usize,
    body_at: usize,
    collection: Option<Cow<'d, str>>,
) -> Result<(Content, Option<Cow<'d, str>>)> {
    let size = buffer.len() - start;
    if size > DOCUMENT_SIZE_MAX {
        return Err(Error::TooLarge { what: "a document", size, max: DOCUMENT_SIZE_MAX });
    }
    // Both fit: the limit is far below 32 bits.
    let content =
        Content { start, metadata_size: (body_at - start) as u32, body_size: (buffer.len() - body_at) as u32 };
    Ok((content, collection))
}

/// Appends the stored properties without braces; gives the collection.
fn append_metadata<'d>(buffer: &mut Vec<u8>, metadata: Raw<'d>) -> Result<Option<Cow<'d, str>>> {
    let start = buffer.len();
    let append = |buffer: &mut Vec<u8>, name: &[u8], value: Raw<'_>| {
        if buffer.len() > start {
            buffer.push(b',');
        }
        buffer.push(b'"');
        buffer.extend_from_slice(name);
        buffer.extend_from_slice(b"\":");
        buffer.extend_from_slice(value.bytes());
    };
    let mut collection = None;
    let mut others: Vec<(&[u8], Raw<'_>)> = Vec::new();
    for (name, value) in metadata.members() {
        let known = bytes_of(name);
        if *known == *b"@collection" {
            append(buffer, b"@collection", value);
            collection = value.as_str().filter(|name| !name.is_empty());
        } else if !is_server_owned(&known) {
            others.push((name.escaped(), value));
        }
    }
    others.sort_unstable_by_key(|(name, _)| *name);
    others.into_iter().for_each(|(name, value)| append(buffer, name, value));
    match &collection {
        Some(name) if name.len() > COLLECTION_NAME_SIZE_MAX => {
            Err(Error::TooLarge { what: "a collection's name", size: name.len(), max: COLLECTION_NAME_SIZE_MAX })
        }
        // It means all documents wherever a collection is named, so a collection of that name could not be asked for.
        Some(name) if name.eq_ignore_ascii_case("@all_docs") => {
            Err(Error::BadBatch { rule: "'@all_docs' is no name for a collection".to_owned() })
        }
        _ => Ok(collection),
    }
}

pub(crate) fn not_an_object(what: &'static str, found: Raw<'_>) -> Error {
    let start = found.bytes().get(..found.bytes().len().min(80)).unwrap_or_default();
    Error::NotAnObject { what, found: String::from_utf8_lossy(start).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, metadata: &str, body: &str, collection: Option<&str>) {
        let mut buffer = b"before".to_vec();
        let (content, found) = split(&mut buffer, Raw::new(document.as_bytes())).unwrap();
        let bytes = String::from_utf8_lossy(content.bytes(&buffer)).into_owned();
        assert_eq!(
            (bytes.as_str(), found.as_deref()),
            (format!("{metadata}{body}").as_str(), collection),
            "{document}"
        );
        assert_eq!(content.metadata_size as usize, metadata.len());
    }

    #[test]
    fn metadata_is_taken_out_wherever_it_stands() {
        let users = r#""@collection":"Users""#;
        check(r#"{"a":1,"@metadata":{"@collection":"Users"}}"#, users, r#"{"a":1}"#, Some("Users"));
        check(r#"{"@metadata":{"@collection":"Users"},"a":1}"#, users, r#"{"a":1}"#, Some("Users"));
        check(r#"{"a":1,"@metadata":{"@collection":"Users"},"b":2}"#, users, r#"{"a":1,"b":2}"#, Some("Users"));
        check(r#"{"@metadata":{"@collection":"Users"}}"#, users, "{}", Some("Users"));
        check(r#"{"a":{"@metadata":1}}"#, "", r#"{"a":{"@metadata":1}}"#, None);
        check("{}", "", "{}", None);
        check(r#"{"@metadata":null,"a":1}"#, "", r#"{"a":1}"#, None);
        check(r#"{"@metadata":{},"a":1}"#, "", r#"{"a":1}"#, None);
    }

    #[test]
    fn server_owned_properties_are_dropped_and_the_collection_comes_first() {
        check(
            r#"{"@metadata":{"X":{"y":1},"@id":"u/1","@flags":"x","@collection":"Users","@expires":"2030","@foo":3,"@last-modified":"z"}}"#,
            r#""@collection":"Users","@expires":"2030","@foo":3,"X":{"y":1}"#,
            "{}",
            Some("Users"),
        );
        check(r#"{"@metadata":{"@collection":7}}"#, r#""@collection":7"#, "{}", None);
        check(r#"{"@metadata":{"@collection":""}}"#, r#""@collection":"""#, "{}", None);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for document in ["[1]", "1", r#"{"@metadata":5}"#, r#"{"@metadata":[]}"#] {
            assert!(split(&mut Vec::new(), Raw::new(document.as_bytes())).is_err(), "{document}");
        }
    }
}
