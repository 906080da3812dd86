//! A stored document, as a view of its record, and its form on the wire.
//!
//! On the wire `@metadata` is the last property: what is stored, then what is computed, in the order of names.
//!
//! ```text
//! {"Name":"Ann" ,"@metadata":{ "@collection":"Users" ,"@change-vector":"…" ,"@flags":"…" ,"@id":"…" ,"@last-modified":"…" }}
//!  body           ^            stored                 computed
//! ```

use std::borrow::Cow;

use crate::record::{self, HEAD_SIZE, Head, Kind};
use crate::store::Names;
use crate::{Date, Error, Etag, Flags, Result};
use json::Raw;

/// A document as a snapshot holds it. Reading it copies nothing.
pub struct Document<'t> {
    head: Head,
    record: &'t [u8],
    id: &'t str,
    /// `None`: this database's own entry alone.
    vector: Option<&'t str>,
    names: &'t Names,
}

impl<'t> Document<'t> {
    #[inline]
    pub(crate) fn new(record: &'t [u8], names: &'t Names) -> Result<Document<'t>> {
        let head = Head::decode(record)?;
        if head.kind != Kind::Document {
            return Err(Error::Corrupt { rule: "a document's key leads to a document" });
        }
        Ok(Document { id: record::id(&head, record)?, vector: record::vector(&head, record)?, head, record, names })
    }

    fn part(&self, from: usize, to: usize) -> &'t [u8] {
        self.record.get(from..to).unwrap_or_default()
    }

    /// The id as it is spelled.
    pub fn id(&self) -> &'t str {
        self.id
    }

    /// The number of the write that made this document.
    pub fn etag(&self) -> Etag {
        self.head.etag
    }

    /// When it was written.
    pub fn last_modified(&self) -> Date {
        self.head.last_modified
    }

    /// What it is or has.
    pub fn flags(&self) -> Flags {
        self.head.flags
    }

    /// The change vector.
    pub fn change_vector(&self) -> String {
        self.vector.map_or_else(|| self.names.vector(self.head.etag), str::to_owned)
    }

    /// Whether a change vector that a client sent is this document's, without building one where it differs.
    pub fn has_change_vector(&self, given: &str) -> bool {
        match self.vector {
            Some(vector) => crate::change_vector::is_same(given, vector),
            None => self.names.is_vector(given, self.head.etag),
        }
    }

    /// The body: minified JSON without `@metadata`.
    pub fn body(&self) -> Raw<'t> {
        Raw::new(self.part(self.head.body_at(), self.record.len()))
    }

    /// The stored properties of `@metadata`, JSON without braces.
    pub fn stored_metadata(&self) -> &'t [u8] {
        self.part(self.head.metadata_at(), self.head.body_at())
    }

    /// The body with the stored properties of `@metadata`, if there are any: one JSON object.
    pub fn stored_json(&self) -> Vec<u8> {
        crate::patch::whole(self.stored_metadata(), self.body().bytes())
    }

    /// The collection as this document spells it; None if it names none.
    pub fn collection(&self) -> Option<Cow<'t, str>> {
        let value = self.stored_metadata().strip_prefix(b"\"@collection\":")?;
        let size = value.get(1..)?.iter().position(|byte| *byte == b'"')? + 2;
        // A name with an escaped quote is cut short here, so it is read in full.
        let text = Raw::new(value.get(..size)?);
        if value.get(..size)?.contains(&b'\\') {
            let whole = [b"{", self.stored_metadata(), b"}"].concat();
            let name = Raw::new(&whole).get("@collection").and_then(Raw::as_str).map(|name| name.into_owned());
            return name.map(Cow::Owned);
        }
        text.as_str().filter(|name| !name.is_empty())
    }

    pub(crate) fn collection_number(&self) -> u32 {
        self.head.collection
    }

    /// Bytes of the record.
    pub fn size(&self) -> usize {
        self.record.len()
    }

    /// Bytes that [`write_to`](Self::write_to) appends, at most.
    pub fn wire_size_max(&self) -> usize {
        self.record.len() - HEAD_SIZE + 256 + usize::from(self.head.id_size) * 5
    }

    /// Appends the document as clients get it.
    #[inline]
    pub fn write_to(&self, out: &mut Vec<u8>) {
        self.write(out, false, None);
    }

    /// Appends `{"@metadata":{…}}`.
    pub fn write_metadata_only(&self, out: &mut Vec<u8>) {
        self.write(out, true, None);
    }

    /// Appends the document, or its metadata alone, with the score of an index query.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>, metadata_only: bool, index_score: Option<f64>) {
        out.reserve(self.wire_size_max());
        let body = self.body().bytes();
        match body.strip_suffix(b"}") {
            Some(body) if body.len() > 1 && !metadata_only => {
                out.extend_from_slice(body);
                out.push(b',');
            }
            _ => out.push(b'{'),
        }
        out.extend_from_slice(b"\"@metadata\":{");
        self.write_metadata(out, index_score);
        out.extend_from_slice(b"}}");
    }

    /// Appends the properties of `@metadata`, without braces.
    #[inline]
    pub fn write_metadata(&self, out: &mut Vec<u8>, index_score: Option<f64>) {
        let stored = self.stored_metadata();
        if !stored.is_empty() {
            out.extend_from_slice(stored);
            out.push(b',');
        }
        self.write_computed_metadata(out, index_score);
    }

    /// Appends the properties of `@metadata` that are not stored, without braces.
    #[inline]
    pub fn write_computed_metadata(&self, out: &mut Vec<u8>, index_score: Option<f64>) {
        out.extend_from_slice(b"\"@change-vector\":\"");
        self.write_change_vector(out);
        if !self.head.flags.is_empty() {
            out.extend_from_slice(b"\",\"@flags\":\"");
            self.head.flags.write_to(out);
        }
        out.extend_from_slice(b"\",\"@id\":\"");
        json::escape_into(out, self.id());
        if let Some(score) = index_score {
            out.extend_from_slice(b"\",\"@index-score\":");
            // What is no number would be no JSON.
            let score = if score.is_nan() { 0.0 } else { score.clamp(f64::MIN, f64::MAX) };
            out.extend_from_slice(score.to_string().as_bytes());
            out.extend_from_slice(b",\"@last-modified\":\"");
        } else {
            out.extend_from_slice(b"\",\"@last-modified\":\"");
        }
        out.extend_from_slice(&self.head.last_modified.text());
        out.push(b'"');
    }

    /// Appends the change vector.
    #[inline]
    pub fn write_change_vector(&self, out: &mut Vec<u8>) {
        match self.vector {
            Some(vector) => out.extend_from_slice(vector.as_bytes()),
            None => self.names.write_vector(out, self.head.etag),
        }
    }
}

impl std::fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("id", &self.id()).field("etag", &self.etag()).finish_non_exhaustive()
    }
}
