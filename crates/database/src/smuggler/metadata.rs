//! What the metadata of a document in a dump say, found in one pass.

use std::borrow::Cow;

use documents::{Date, Flags, FoundMetadata};
use json::{Kind, Raw};

/// See the module's comment.
#[derive(Debug, Default)]
pub(crate) struct DumpedMetadata<'d> {
    pub id: Option<Cow<'d, str>>,
    change_vector: Option<Raw<'d>>,
    pub collection: Option<Cow<'d, str>>,
    pub last_modified: Option<Date>,
    pub expires: Option<Date>,
    /// It was written by an index.
    pub is_artificial: bool,
    pub is_archived: bool,
    pub has_revisions: bool,
    /// It lists attachments.
    pub has_attachments: bool,
    /// The element is no document, but this.
    pub export_type: Option<Cow<'d, str>>,
}

impl<'d> DumpedMetadata<'d> {
    pub fn of(document: &FoundMetadata<'d>) -> DumpedMetadata<'d> {
        let mut found = DumpedMetadata::default();
        let metadata = document.metadata().filter(|metadata| metadata.kind() == Kind::Object);
        let date = |value: Raw<'d>| value.as_str().and_then(|text| Date::parse(&text));
        for (name, value) in metadata.into_iter().flat_map(Raw::members) {
            match name.escaped() {
                b"@id" => found.id = value.as_str(),
                b"@change-vector" => found.change_vector = Some(value),
                b"@collection" => found.collection = value.as_str().filter(|name| !name.is_empty()),
                b"@last-modified" => found.last_modified = date(value),
                b"@expires" => found.expires = date(value),
                b"@attachments" => found.has_attachments = value.kind() == Kind::Array,
                b"@archived" => found.is_archived |= value.as_bool() == Some(true),
                b"@export-type" => found.export_type = value.as_str(),
                b"@flags" => {
                    let flags = value.as_str().unwrap_or_default();
                    let has = |name| flags.split(',').any(|flag| flag.trim() == name);
                    found.is_artificial = has("Artificial");
                    found.is_archived |= has("Archived");
                    found.has_revisions = has("HasRevisions");
                }
                _ => {}
            }
        }
        found
    }

    /// Its change vector; empty if there is none.
    pub fn change_vector(&self) -> Cow<'d, str> {
        self.change_vector.and_then(Raw::as_str).unwrap_or_default()
    }

    /// The flags with which it is stored.
    ///
    /// * `with_revisions`: its revisions are stored too.
    pub fn flags(&self, with_revisions: bool) -> Flags {
        let flags = if self.is_artificial { Flags::OF_INDEX } else { Flags::NONE };
        let flags = if self.has_revisions && with_revisions { flags.with(Flags::HAS_REVISIONS) } else { flags };
        if self.is_archived { flags.with(Flags::ARCHIVED) } else { flags }
    }
}
