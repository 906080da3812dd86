//! Patches: scripts that clients run on documents, and their results.
//!
//! A batch with patches is *resolved* before the write transaction: each script is run on what a snapshot and the commands before it give,
//! and
//! its effects become plain commands. The documents that it reads are recorded ([`Batch::resolve`](crate::Batch::resolve)) and compared in
//! the
//! transaction: if any of it changed meanwhile, nothing is applied ([`Error::ReadChanged`]), and the batch is resolved anew. So no script
//! runs inside of a transaction, and yet it is as if it had.

use std::borrow::Cow;

use json::{Kind, Raw};
use script::Effect;

use super::command::Command;
use crate::{Date, Error, Expected, Result};

/// A script with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchScript {
    /// Its text.
    pub script: String,
    /// Its arguments by name: a JSON object.
    pub values: Vec<u8>,
}

/// A patch of several documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchRequest {
    /// Changes a document.
    pub patch: PatchScript,
    /// Makes one where there is none.
    pub if_missing: Option<PatchScript>,
    /// The document to put if there is none: JSON, an object.
    pub create_if_missing: Option<Vec<u8>>,
    /// True if the result contains the changed document.
    pub returns_document: bool,
    /// True if a document with an unexpected change vector is skipped instead of failing the batch.
    pub skips_mismatch: bool,
}

/// A change of a document by a JSON Patch, which needs no script engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPatchRequest {
    /// The operations.
    pub patch: json::Patch,
    /// True if the result contains the changed document.
    pub returns_document: bool,
}

/// How a patch changes a document.
#[derive(Clone, Debug)]
pub(crate) enum PatchForm {
    Script(PatchRequest),
    Json(JsonPatchRequest),
}

impl PatchForm {
    pub(crate) fn size(&self) -> usize {
        match self {
            PatchForm::Script(request) => request.size(),
            PatchForm::Json(request) => request.patch.size(),
        }
    }
}

/// A command to patch.
#[derive(Clone, Debug)]
pub(crate) struct PatchCommand {
    pub form: PatchForm,
    pub ids: Vec<(String, Expected)>,
    /// True for `BatchPATCH`, whose result does not list its documents.
    pub is_of_many: bool,
}

/// The outcome of a patch for one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchStatus {
    /// There is none, and none was made.
    DocumentDoesNotExist,
    /// It was made.
    Created,
    /// It was changed.
    Patched,
    /// It had another change vector.
    Skipped,
    /// The script did not change it.
    NotModified,
}

impl PatchStatus {
    /// As clients know it.
    pub fn wire_name(self) -> &'static str {
        match self {
            PatchStatus::DocumentDoesNotExist => "DocumentDoesNotExist",
            PatchStatus::Created => "Created",
            PatchStatus::Patched => "Patched",
            PatchStatus::Skipped => "Skipped",
            PatchStatus::NotModified => "NotModified",
        }
    }
}

/// The result of a script run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchRun {
    /// The document after it: checked JSON, an object.
    pub json: Vec<u8>,
    /// Further writes of the script, in order.
    pub effects: Vec<Effect>,
    /// A trace of the script for debugging, as JSON.
    pub debug: Vec<u8>,
}

/// The document that a patch reads: what its script gets as `this`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchInput {
    /// The id as it is spelled.
    pub id: String,
    /// The body with the stored properties of the metadata, if it has any: checked JSON, an object.
    pub json: Vec<u8>,
    /// Whether it is archived; then the metadata have `@archived`.
    pub is_archived: bool,
    /// Change vector and date; `None` if an earlier command of the batch wrote it.
    pub stored: Option<(String, Date)>,
}

/// A resolved patch: its commands, and its report for the client.
#[derive(Clone, Debug)]
pub(crate) struct Patched {
    pub commands: Vec<Command>,
    /// `None`: the client gets no report.
    pub report: Option<PatchReport>,
}

/// The report of a patch of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchReport {
    /// The document.
    pub id: String,
    /// Whether it was a JSON Patch.
    pub is_json: bool,
    /// The outcome.
    pub status: PatchStatus,
    /// Whether the last of the commands writes it.
    pub(crate) is_written: bool,
    /// The document after the patch, if requested.
    pub document: Option<Vec<u8>>,
    /// The document before the patch, if it existed, of a batch that keeps those.
    pub original: Option<Vec<u8>>,
    /// A trace of the script for debugging, as JSON.
    pub debug: Vec<u8>,
}

impl PatchReport {
    /// Bytes of what it tells.
    pub(crate) fn size(&self) -> usize {
        let of = |document: &Option<Vec<u8>>| document.as_ref().map_or(0, Vec::len);
        of(&self.document) + of(&self.original) + self.debug.len()
    }
}

impl PatchScript {
    /// `{"Script":…,"Values":{…}}`; `None` for null.
    ///
    /// * `name`: of the property that it was found in.
    pub(crate) fn of(name: &str, value: Option<Raw<'_>>) -> Result<Option<PatchScript>> {
        let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
        let bad = |rule: String| Error::BadBatch { rule };
        if value.kind() != Kind::Object {
            return Err(bad(format!("'{name}' must be an object")));
        }
        let script = value.get("Script").and_then(Raw::as_str);
        let script = script.ok_or_else(|| bad(format!("Missing 'Script' property on '{name}'")))?;
        let values = match value.get("Values") {
            None => b"{}".to_vec(),
            Some(values) if values.is_null() => b"{}".to_vec(),
            Some(values) if values.kind() == Kind::Object => values.bytes().to_vec(),
            Some(_) => return Err(bad(format!("'Values' of '{name}' must be an object"))),
        };
        Ok(Some(PatchScript { script: script.into_owned(), values }))
    }

    pub(crate) fn size(&self) -> usize {
        self.script.len() + self.values.len()
    }
}

impl JsonPatchRequest {
    /// The operations of a body or of the property `JsonPatch` of a command: `{"Operations":[..]}`.
    ///
    /// # Errors
    ///
    /// [`Error::BadBatch`]: they are none, or one of them cannot be.
    pub fn of(object: Option<Raw<'_>>, returns_document: bool) -> Result<JsonPatchRequest> {
        let operations = object.and_then(|object| object.get("Operations"));
        let operations = operations
            .filter(|operations| operations.kind() == Kind::Array)
            .ok_or_else(|| Error::BadBatch { rule: "a JSON Patch must have an array 'Operations'".to_owned() })?;
        let patch = json::Patch::parse(operations).map_err(|error| Error::BadBatch { rule: error.to_string() })?;
        Ok(JsonPatchRequest { patch, returns_document })
    }
}

impl PatchRequest {
    /// The properties `Patch`, `PatchIfMissing`, `CreateIfMissing` and `ReturnDocument` of a command or a body.
    ///
    /// # Errors
    ///
    /// [`Error::BadBatch`] if one of them is not what it has to be; `missing` if there is no `Patch`.
    pub fn of(object: Raw<'_>, missing: &str) -> Result<PatchRequest> {
        let create_if_missing = object.get("CreateIfMissing").filter(|document| !document.is_null());
        if create_if_missing.is_some_and(|document| document.kind() != Kind::Object) {
            return Err(Error::BadBatch { rule: "'CreateIfMissing' must be an object".to_owned() });
        }
        let if_missing = PatchScript::of("PatchIfMissing", object.get("PatchIfMissing"))?;
        if if_missing.is_some() && create_if_missing.is_some() {
            let rule = "'PatchIfMissing' and 'CreateIfMissing' exclude each other".to_owned();
            return Err(Error::BadBatch { rule });
        }
        let patch = PatchScript::of("Patch", object.get("Patch"))?;
        Ok(PatchRequest {
            patch: patch.ok_or_else(|| Error::BadBatch { rule: missing.to_owned() })?,
            if_missing,
            create_if_missing: create_if_missing.map(|document| document.bytes().to_vec()),
            returns_document: object.get("ReturnDocument").and_then(Raw::as_bool) == Some(true),
            skips_mismatch: false,
        })
    }

    pub(crate) fn size(&self) -> usize {
        self.patch.size()
            + self.if_missing.as_ref().map_or(0, PatchScript::size)
            + self.create_if_missing.as_ref().map_or(0, Vec::len)
    }
}

/// Stored metadata as scripts see them: with `@archived` if the document is archived.
pub(crate) fn with_archived(metadata: &[u8], is_archived: bool) -> Cow<'_, [u8]> {
    const ARCHIVED: &[u8] = b"\"@archived\":true";
    match (is_archived, metadata.is_empty()) {
        (false, _) => Cow::Borrowed(metadata),
        (true, true) => Cow::Borrowed(ARCHIVED),
        (true, false) => Cow::Owned([metadata, b",", ARCHIVED].concat()),
    }
}

/// A body with stored metadata, which has no braces, as one object.
pub(crate) fn whole(metadata: &[u8], body: &[u8]) -> Vec<u8> {
    if metadata.is_empty() {
        return body.to_vec();
    }
    let mut json = Vec::with_capacity(metadata.len() + body.len() + 16);
    match body.strip_suffix(b"}") {
        Some(body) if body.len() > 1 => {
            json.extend_from_slice(body);
            json.push(b',');
        }
        _ => json.push(b'{'),
    }
    json.extend_from_slice(b"\"@metadata\":{");
    json.extend_from_slice(metadata);
    json.extend_from_slice(b"}}");
    json
}
