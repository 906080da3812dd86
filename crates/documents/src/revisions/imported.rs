//! Revisions that come from another database, taken apart before the transaction.

use std::borrow::Cow;

use json::{Kind, Minifier, Raw};

use super::stored::Sizes;
use crate::attachments::content::NewContent;
use crate::ids::id;
use crate::wire::content;
use crate::{ChangeVector, Date, EMPTY_COLLECTION, Error, Flags, Result};

/// Properties of the metadata of a revision that the server maintained, and that stay.
const SERVER_PROPERTIES: [&str; 3] = ["@attachments", "@counters-snapshot", "@timeseries-snapshot"];

/// A revision that comes from another database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedRevision {
    pub(crate) document_id: String,
    pub(crate) vector: String,
    pub(crate) last_modified: Date,
    pub(crate) flags: Flags,
    pub(crate) collection: String,
    pub(crate) sizes: Sizes,
    /// Server metadata, stored metadata, body.
    pub(crate) content: Vec<u8>,
    /// Contents of its attachments that come with it; the database has the others, or they are lost.
    pub(crate) contents: Vec<NewContent>,
}

impl ImportedRevision {
    /// A revision as clients get it: a document whose metadata have id, change vector, flags and date.
    ///
    /// # Errors
    ///
    /// [`Error::BadRevision`] if one of them is missing, or what it is cannot be stored.
    pub fn of(revision: Raw<'_>) -> Result<ImportedRevision> {
        let bad = |what: &str| Error::BadRevision { rule: format!("A revision has no '{what}' in its metadata") };
        let metadata = revision.get("@metadata").filter(|metadata| metadata.kind() == Kind::Object);
        let metadata = metadata.ok_or_else(|| bad("@metadata"))?;
        let text = |name: &str| metadata.get(name).and_then(Raw::as_str);
        let document_id = text("@id").ok_or_else(|| bad("@id"))?.into_owned();
        id::check_new(&document_id)?;
        let vector = text("@change-vector").filter(|vector| !vector.is_empty());
        let vector = vector.ok_or_else(|| bad("@change-vector"))?.into_owned();
        check_vector(&vector)?;
        let last_modified = text("@last-modified").and_then(|date| Date::parse(&date));
        let last_modified = last_modified.ok_or_else(|| bad("@last-modified"))?;
        let flags = text("@flags").map_or(Flags::NONE, |flags| Flags::from_names(&flags));
        let flags = match flags.has(Flags::DELETE_REVISION) {
            true => flags.with(Flags::HAS_REVISIONS),
            false => flags.with(Flags::HAS_REVISIONS).with(Flags::REVISION),
        };
        let mut content = Vec::new();
        json::Writer::new(&mut content).object(|json| {
            for name in SERVER_PROPERTIES {
                if let Some(value) = metadata.get(name) {
                    json.name(name).raw(value.bytes());
                }
            }
        });
        // Without braces.
        content.remove(0);
        content.pop();
        let server = content.len() as u32;
        let (parts, collection) = content::split(&mut content, revision)?;
        let sizes = Sizes { server, metadata: parts.metadata_size, body: parts.body_size };
        let collection = collection.map_or_else(|| EMPTY_COLLECTION.to_owned(), Cow::into_owned);
        let contents = Vec::new();
        Ok(ImportedRevision { document_id, vector, last_modified, flags, collection, sizes, content, contents })
    }

    /// The same with contents of its attachments that nothing else in the database has.
    #[must_use]
    pub fn with_contents(self, contents: Vec<NewContent>) -> ImportedRevision {
        ImportedRevision { contents, ..self }
    }

    /// One whose parts were taken apart before, by an untrusted hand: it must be what the parts of [`Self::of`] can be.
    pub(crate) fn of_parts(
        document_id: String,
        vector: String,
        last_modified: Date,
        flags: Flags,
        collection: String,
        (server, metadata, content): (u32, u32, &[u8]),
    ) -> Result<ImportedRevision> {
        let bad = || Error::BadWrite { rule: "a revision has a state with its sizes" };
        check_vector(&vector)?;
        let before = (server as usize).checked_add(metadata as usize).ok_or_else(bad)?;
        let body = content.len().checked_sub(before).and_then(|body| u32::try_from(body).ok()).ok_or_else(bad)?;
        if content.len() > crate::limits::DOCUMENT_SIZE_MAX {
            return Err(bad());
        }
        let sizes = Sizes { server, metadata, body };
        let (content, contents) = (content.to_vec(), Vec::new());
        Ok(ImportedRevision { document_id, vector, last_modified, flags, collection, sizes, content, contents })
    }

    /// The same of any text.
    ///
    /// # Errors
    ///
    /// As [`Self::of`]; it is not JSON.
    pub fn parse(text: &[u8]) -> Result<ImportedRevision> {
        let mut minifier = Minifier::new();
        ImportedRevision::of(minifier.minify(text)?)
    }

    /// The document.
    pub fn document_id(&self) -> &str {
        &self.document_id
    }

    /// Bytes that it holds in memory, about.
    pub fn size(&self) -> usize {
        size_of::<ImportedRevision>()
            + self.document_id.len()
            + self.vector.len()
            + self.collection.len()
            + self.content.len()
            + self.contents.iter().map(|content| size_of::<NewContent>() + content.inline_size()).sum::<usize>()
    }
}

/// Whether a text can be the change vector of a stored revision.
pub(crate) fn check_vector(vector: &str) -> Result<()> {
    let is_plain = vector.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte) || byte == b' ');
    match is_plain && vector.len() <= usize::from(u16::MAX) {
        true => ChangeVector::parse(vector).map(drop),
        false => Err(Error::BadChangeVector { text: vector.chars().take(200).collect() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_taken_apart_and_what_is_none_is_refused() {
        let text = br#"{"N":1,"@metadata":{"@collection":"Users","@counters-snapshot":{"likes":3},"X":1,"@change-vector":"A:7-x",
            "@flags":"HasRevisions, Revision, HasCounters","@id":"users/1","@last-modified":"2026-11-27T22:05:24.2718362Z"}}"#;
        let revision = ImportedRevision::parse(text).unwrap();
        assert_eq!((revision.document_id(), revision.collection.as_str()), ("users/1", "Users"));
        let expected = br#""@counters-snapshot":{"likes":3}"@collection":"Users","X":1{"N":1}"#;
        assert_eq!((revision.content.as_slice(), revision.sizes.server), (&expected[..], 32));
        assert_eq!(revision.flags.to_string(), "HasRevisions, Revision, HasCounters");
        for missing in ["@id", "@change-vector", "@last-modified", "@metadata"] {
            let text = String::from_utf8_lossy(text).replace(missing, "other");
            assert!(ImportedRevision::parse(text.as_bytes()).is_err(), "{missing}");
        }
        let vector = String::from_utf8_lossy(text).replace("A:7-x", "seven");
        assert!(ImportedRevision::parse(vector.as_bytes()).is_err());
    }
}
