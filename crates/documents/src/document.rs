//! A stored document, as a view of its record, and its form on the wire.
//!
//! On the wire `@metadata` is the last property: what clients set, what the server maintains, then what is computed, in the order of names.
//!
//! ```text
//! {"Name":"Ann","@metadata":{ "@collection":"Users" ,"@attachments":[…] ,"@change-vector":"…" ,"@flags":"…" ,"@id":"…" ,… }}
//!  body          ^            stored metadata         server metadata     computed
//! ```

use std::borrow::Cow;

use crate::ids::id;
use crate::items::kinds::ItemKind;
use crate::items::record::{self, HEAD_SIZE};
use crate::store::Names;
use crate::wire::content;
use crate::{Date, EMPTY_COLLECTION, Error, Etag, Flags, Item, Result};
use json::{Minifier, Raw};

/// A document as a snapshot holds it. Reading it copies nothing.
#[derive(Clone, Copy)]
pub struct Document<'t> {
    pub(crate) item: Item<'t>,
}

impl<'t> Document<'t> {
    #[inline]
    pub(crate) fn new(record: &'t [u8], names: &'t Names) -> Result<Document<'t>> {
        let item = Item::new(record, names)?;
        if !item.head.is_stored(ItemKind::Document) {
            return Err(Error::Corrupt { rule: "a document's key leads to a document" });
        }
        Ok(Document { item })
    }

    /// The name of the counter that it stands for in indexes; `None`: it is a document.
    pub fn counter_name(&self) -> Option<&'t str> {
        self.item.counter_name()
    }

    /// The id as it is spelled.
    pub fn id(&self) -> &'t str {
        self.item.id()
    }

    /// The number of the write that made this document.
    pub fn etag(&self) -> Etag {
        self.item.head.etag
    }

    /// When it was written.
    pub fn last_modified(&self) -> Date {
        self.item.head.last_modified
    }

    /// What it is or has.
    pub fn flags(&self) -> Flags {
        self.item.head.flags
    }

    /// The change vector.
    pub fn change_vector(&self) -> String {
        self.item.change_vector()
    }

    /// Whether a change vector that a client sent is this document's, without building one where it differs.
    pub fn has_change_vector(&self, given: &str) -> bool {
        match self.item.vector {
            Some(vector) => crate::change_vector::is_same(given, vector),
            None => self.item.names.is_vector(given, self.item.head.etag),
        }
    }

    /// The body: minified JSON without `@metadata`.
    pub fn body(&self) -> Raw<'t> {
        Raw::new(self.item.body())
    }

    /// The properties of `@metadata` that clients set, JSON without braces.
    pub fn stored_metadata(&self) -> &'t [u8] {
        self.item.stored_metadata()
    }

    /// The properties of `@metadata` that the server maintains and a PUT keeps, JSON without braces.
    #[inline]
    pub fn server_metadata(&self) -> &'t [u8] {
        record::server_metadata(&self.item.head, self.item.record)
    }

    /// The body with the properties of [`Self::metadata_of_scripts`], if there are any: one JSON object.
    pub fn json_of_scripts(&self) -> Vec<u8> {
        crate::commands::patch::whole(&self.metadata_of_scripts(), self.body().bytes())
    }

    /// The properties of `@metadata` that clients set, those that the server maintains, and `@archived` if it is archived, JSON without
    /// braces.
    pub fn metadata_of_scripts(&self) -> Cow<'t, [u8]> {
        let stored = crate::commands::patch::with_archived(self.stored_metadata(), self.flags().is_archived());
        match (stored.is_empty(), self.server_metadata()) {
            (_, b"") => stored,
            (true, server) => Cow::Borrowed(server),
            (false, server) => Cow::Owned([&stored, &b","[..], server].concat()),
        }
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
        self.item.head.collection
    }

    /// Bytes of the record.
    pub fn size(&self) -> usize {
        self.item.size()
    }

    /// Bytes that [`write_to`](Self::write_to) appends, at most.
    pub fn wire_size_max(&self) -> usize {
        self.item.size() - HEAD_SIZE + 256 + usize::from(self.item.head.id_size) * 5
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
        let server = self.server_metadata();
        if !server.is_empty() {
            out.extend_from_slice(server);
            out.push(b',');
        }
        self.write_computed_metadata(out, index_score);
    }

    /// Appends the properties of `@metadata` that are not stored, without braces.
    #[inline]
    pub fn write_computed_metadata(&self, out: &mut Vec<u8>, index_score: Option<f64>) {
        if self.flags().is_archived() {
            out.extend_from_slice(b"\"@archived\":true,");
        }
        out.extend_from_slice(b"\"@change-vector\":\"");
        self.write_change_vector(out);
        if !self.flags().is_empty() {
            out.extend_from_slice(b"\",\"@flags\":\"");
            self.flags().write_to(out);
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
        out.extend_from_slice(&self.last_modified().text());
        out.push(b'"');
    }

    /// Appends the change vector.
    #[inline]
    pub fn write_change_vector(&self, out: &mut Vec<u8>) {
        self.item.write_change_vector(out);
    }
}

impl std::fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Document").field("id", &self.id()).field("etag", &self.etag()).finish_non_exhaustive()
    }
}

/// A line of a dump: the document as clients get it.
pub(crate) fn dump_document(item: &Item<'_>, out: &mut Vec<u8>) {
    Document { item: *item }.write_to(out);
}

/// Put together as a client would send it and taken apart again, a document must be what it is.
pub(crate) fn check_document(item: &Item<'_>, collection: &str, minifier: &mut Minifier) -> Result<(), String> {
    let (id, head) = (item.id(), &item.head);
    let server = record::server_metadata(head, item.record);
    if !server.is_empty() {
        let text = [b"{", server, b"}"].concat();
        match minifier.minify(&text) {
            Ok(stored) if stored.bytes() == text => {}
            _ => return Err(format!("the server metadata of '{id}' are not in stored form")),
        }
    }
    let text = crate::commands::patch::whole(item.stored_metadata(), item.body());
    let mut parts = Vec::new();
    let named = match minifier.minify(&text) {
        Ok(stored) if stored.bytes() == text => content::split(&mut parts, Raw::new(&text)),
        Ok(_) => return Err(format!("the parts of '{id}' are not in stored form")),
        Err(error) => return Err(format!("the parts of '{id}': {error}")),
    };
    match named {
        Err(error) => Err(format!("the parts of '{id}': {error}")),
        Ok(_) if item.record.get(head.metadata_at()..) != Some(&parts) => {
            Err(format!("the parts of '{id}' are not in stored form"))
        }
        Ok((_, named)) => {
            let named = named.as_deref().unwrap_or(EMPTY_COLLECTION);
            match id::lower(named) == id::lower(collection) {
                true => Ok(()),
                false => Err(format!("'{id}' names the collection '{named}', but is in '{collection}'")),
            }
        }
    }
}
