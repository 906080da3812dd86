//! Import of JSON Lines: one document per line. A bad line is reported with its number and loses no other.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use documents::{Batch, Expected, Write};
use json::{Minifier, Raw};

use crate::limits::{BULK_BATCH_COUNT_MAX, BULK_BATCH_SIZE_MAX, IMPORT_ERRORS_KEPT_MAX};
use crate::{Database, Error, Result};

/// How lines become documents.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The property that holds the id. None: `@metadata.@id`; a document without either gets an id from the server.
    pub id_field: Option<String>,
    /// Put before the value of `id_field`, such as `cities/`.
    pub id_prefix: String,
    /// The collection of documents whose `@metadata` names none.
    pub collection: Option<String>,
}

/// The result of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportReport {
    /// Lines that were read, empty ones included.
    pub line_count: u64,
    /// Documents that were stored.
    pub document_count: u64,
    /// Lines that were no documents.
    pub error_count: u64,
    /// The first of them, with reasons.
    pub errors: Vec<LineError>,
}

/// A line that could not be imported.
#[derive(Clone, Debug)]
pub struct LineError {
    /// Its number, from 1.
    pub line: u64,
    /// Why.
    pub reason: Error,
}

impl Database {
    /// Reads lines until the end, calling `progress` after each transaction.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or storage fails; what was stored before stays.
    pub fn import_json_lines(
        &self,
        input: &mut dyn BufRead,
        options: &ImportOptions,
        progress: &mut dyn FnMut(&ImportReport),
    ) -> Result<ImportReport> {
        let (mut report, mut batch, mut minifier) = (ImportReport::default(), Batch::new(), Minifier::new());
        // The lines of the batch in work, so that one that is refused in it is found.
        let mut lines = Lines::default();
        loop {
            let start = lines.text.len();
            let size = input.read_until(b'\n', &mut lines.text).map_err(|source| Error::Io {
                operation: "read the lines to import",
                path: "-".into(),
                source: Arc::new(source),
            })?;
            if size > 0 {
                report.line_count += 1;
                let line = &lines.text[start..];
                let pushed = match line.trim_ascii() {
                    [] => Ok(false),
                    line => push_line(&mut batch, &mut minifier, line, options).map(|()| true),
                };
                match pushed {
                    Ok(true) => lines.places.push((report.line_count, start..lines.text.len())),
                    Ok(false) => lines.text.truncate(start),
                    Err(reason) => {
                        lines.text.truncate(start);
                        report.add_error(report.line_count, reason);
                    }
                }
            }
            if size == 0 || batch.len() >= BULK_BATCH_COUNT_MAX || batch.size() >= BULK_BATCH_SIZE_MAX {
                self.import_batch(std::mem::take(&mut batch), &lines, options, &mut report)?;
                lines.clear();
                progress(&report);
            }
            if size == 0 {
                return Ok(report);
            }
        }
    }

    /// Stores a batch; if it is refused, line by line, so that only the bad ones are lost.
    fn import_batch(
        &self,
        batch: Batch,
        lines: &Lines,
        options: &ImportOptions,
        report: &mut ImportReport,
    ) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let count = batch.len() as u64;
        match self.write_blocking(&Write::silent_batch(batch)) {
            Ok(_) => report.document_count += count,
            Err(error) if is_about_a_line(&error) => {
                let mut minifier = Minifier::new();
                for (number, place) in &lines.places {
                    let mut single = Batch::new();
                    push_line(&mut single, &mut minifier, &lines.text[place.clone()], options)?;
                    match self.write_blocking(&Write::silent_batch(single)) {
                        Ok(_) => report.document_count += 1,
                        Err(reason) if is_about_a_line(&reason) => report.add_error(*number, reason),
                        Err(other) => return Err(other),
                    }
                }
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }
}

/// Lines that became documents of one batch.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// The number of each, and where it stands in `text`.
    places: Vec<(u64, Range<usize>)>,
}

impl Lines {
    fn clear(&mut self) {
        self.text.clear();
        self.places.clear();
    }
}

/// Whether another line may fare better. What is wrong with the database ends the import.
fn is_about_a_line(error: &Error) -> bool {
    use documents::Error as E;
    matches!(error, Error::Documents(error) if !matches!(error, E::Storage(_) | E::Corrupt { .. }))
}

impl ImportReport {
    fn add_error(&mut self, line: u64, reason: Error) {
        self.error_count += 1;
        if self.errors.len() < IMPORT_ERRORS_KEPT_MAX {
            self.errors.push(LineError { line, reason });
        }
    }
}

fn push_line(batch: &mut Batch, minifier: &mut Minifier, line: &[u8], options: &ImportOptions) -> Result<()> {
    let document = minifier.minify(line)?;
    if document.kind() != json::Kind::Object {
        let found = String::from_utf8_lossy(document.bytes()).chars().take(80).collect();
        return Err(documents::Error::NotAnObject { what: "a document", found }.into());
    }
    let metadata = document.get("@metadata");
    let id = match &options.id_field {
        Some(field) => document.get(field).and_then(scalar).map(|id| format!("{}{id}", options.id_prefix)),
        None => metadata.and_then(|metadata| metadata.get("@id")).and_then(scalar),
    };
    let has_collection = metadata.is_some_and(|metadata| metadata.get("@collection").is_some());
    let collection = options.collection.as_deref().filter(|_| !has_collection);
    // Without an id the server makes one from the collection.
    let id = id.unwrap_or_else(|| collection.map_or_else(String::new, |name| format!("{}/", name.to_lowercase())));
    match collection {
        None => batch.push_put(&id, document, Expected::Any)?,
        Some(collection) => {
            let document = with_collection(document, metadata, collection);
            batch.push_put(&id, Raw::new(&document), Expected::Any)?;
        }
    }
    Ok(())
}

fn scalar(value: Raw<'_>) -> Option<String> {
    let text = value.as_str().map(|text| text.into_owned());
    text.or_else(|| value.number_text().map(str::to_owned)).filter(|text| !text.is_empty())
}

/// The document with `@collection` added to its metadata.
fn with_collection(document: Raw<'_>, metadata: Option<Raw<'_>>, collection: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(document.bytes().len() + collection.len() + 40);
    json::Writer::new(&mut out).object(|json| {
        for (name, value) in document.members().filter(|(name, _)| !name.is("@metadata")) {
            json.name(&name.decode()).raw(value.bytes());
        }
        json.name("@metadata").object(|json| {
            json.name("@collection").string(collection);
            for (name, value) in metadata.into_iter().flat_map(Raw::members) {
                json.name(&name.decode()).raw(value.bytes());
            }
        });
    });
    out
}
