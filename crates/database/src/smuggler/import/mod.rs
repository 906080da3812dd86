//! Reads a dump into a database while it arrives.
//!
//! Documents are written in batches of bounded size; some are in flight. What was stored before an error stays. Items of features
//! that are missing here are counted and passed over. An item that cannot be read ends the import, with its place; with
//! `SkipCorruptedData` it is counted, and the import goes on.

mod replacing;
mod revisions;
mod small_items;
mod tombstones;

use std::sync::Arc;

use documents::{
    Batch, Date, EMPTY_COLLECTION, Flags, FoundMetadata, HILO_COLLECTION, ImportedRevision, Outcome, ValueChange, Write,
};
use json::{Kind, Minifier, Raw, Value};
use query::analysis::CustomAnalyzers;
use storage::memory::MemoryReservation;

use crate::analyzers::{self, ANALYZERS};
use crate::attachments::ContentUpload;
use crate::flight::Flight;
use crate::limits::{BULK_BATCH_COUNT_MAX, BULK_BATCH_SIZE_MAX, BULK_BUFFER_SIZE_KEPT};
use crate::smuggler::attachments::DumpedContents;
use crate::smuggler::indexes::DefinitionRefused;
use crate::smuggler::lenient::without_trailing_commas;
use crate::smuggler::metadata::DumpedMetadata;
use crate::smuggler::pace::Pace;
use crate::smuggler::reader::{DumpError, DumpReader, Event, Part};
use crate::smuggler::transform::{Transform, Transformed};
use crate::smuggler::{ItemType, ItemTypes, SmugglerOptions, SmugglerResult, indexes, record, subscriptions, values};
use crate::{Database, Error, Operation, OperationId, OperationResult, OperationStatus, Progress, Result};
use replacing::Replacing;

/// Why bytes behind the last bracket of a dump are not read.
const BEHIND: &str =
    "the brackets of the dump end before them. The dump is damaged before this place, or something was appended to it";

/// One import, which is an operation. Its functions may wait for the disk: call them on a thread that may. Dropped without an end, the
/// operation fails.
#[derive(Debug)]
pub struct Import {
    reader: DumpReader,
    /// The memory of the reader.
    reservation: MemoryReservation,
    work: ImportWork,
}

/// What was stored.
#[derive(Clone, Copy, Debug, Default)]
struct Landed {
    documents: u64,
    counters: u64,
}

/// The half of an import that stores.
#[derive(Debug)]
struct ImportWork {
    database: Arc<Database>,
    operation: Arc<Operation>,
    options: SmugglerOptions,
    transform: Option<Transform>,
    minifier: Minifier,
    batch: Batch,
    contents: DumpedContents,
    /// Whether the dump had its documents already.
    has_begun_documents: bool,
    /// Attachments were added since all writes had landed.
    has_new_attachments: bool,
    /// Whether the bytes behind the last element are a content to be stored.
    is_content_wanted: bool,
    /// Changes of compare-exchange values that are not on their way yet, and their bytes.
    /// Revisions that wait for their write to be full.
    revisions: Vec<ImportedRevision>,
    revisions_size: usize,
    values: Vec<ValueChange>,
    values_size: usize,
    /// The type of the items in the array that is read.
    section: ItemType,
    /// The flags of the documents in the batch.
    flags: Flags,
    /// What was stored so far.
    flight: Arc<Flight<Landed>>,
    /// Operations on counters that were sent on their way.
    counters_sent: u64,
    result: SmugglerResult,
    pace: Pace,
    now: Date,
    record: Option<Value>,
    /// The file of a backup that the dump goes on from.
    goes_on_from: Option<String>,
    /// The custom analyzers of that record, which the indexes behind it may name.
    analyzers: CustomAnalyzers,
    /// Whether the definitions of the dump take the place of all that the database has.
    replacing: Option<Replacing>,
}

/// What an import came to.
#[derive(Debug)]
pub struct Imported {
    /// The counts.
    pub result: SmugglerResult,
    /// The record of the database in the dump, if its type is among those of the options.
    pub record: Option<Value>,
    /// Documents that were stored.
    pub document_count: u64,
    /// The file that the dump goes on from, if it is that of an incremental backup and says so.
    pub(crate) goes_on_from: Option<String>,
}

impl Database {
    /// Begins an import as operation `id`, reserved by [`Operations::next_id`](crate::Operations::next_id); None reserves one.
    ///
    /// * `refused`: types that the client may not write. Their items are passed over, with a warning.
    ///
    /// # Errors
    ///
    /// [`Error::OperationInUse`]; [`Error::Script`] for a transform script that is no JavaScript.
    pub fn import(
        self: &Arc<Self>,
        id: Option<OperationId>,
        mut options: SmugglerOptions,
        refused: &[ItemType],
    ) -> Result<Import> {
        let transform = Transform::of(self, &options)?;
        let id = id.unwrap_or_else(|| self.operations().next_id());
        let operation = self.operations().start(id, format!("Import to: {}", self.name()))?;
        let mut result = SmugglerResult::default();
        for item_type in refused.iter().filter(|item_type| options.types.has(**item_type)) {
            result.warn(&format!("{} were not imported: that needs the rights of an administrator.", item_type.name()));
        }
        options.types = refused.iter().fold(options.types, |types, refused| types.without(*refused));
        let pace = Pace::new(options.per_second);
        let batch = Batch::new().without_revisions(options.skips_revisions);
        Ok(Import {
            reader: DumpReader::new(),
            reservation: self.limits().bodies.reservation(),
            work: ImportWork {
                database: self.clone(),
                operation,
                options,
                transform,
                minifier: Minifier::new(),
                batch,
                contents: DumpedContents::new(self),
                has_begun_documents: false,
                has_new_attachments: false,
                is_content_wanted: false,
                values: Vec::new(),
                revisions: Vec::new(),
                revisions_size: 0,
                values_size: 0,
                section: ItemType::Unknown,
                flags: Flags::NONE,
                flight: Flight::new(),
                counters_sent: 0,
                result,
                pace,
                now: Date::now(),
                record: None,
                goes_on_from: None,
                analyzers: CustomAnalyzers::default(),
                replacing: None,
            },
        })
    }
}

impl Import {
    /// The operation that it runs as.
    pub fn operation(&self) -> &Arc<Operation> {
        &self.work.operation
    }

    /// Indexes and subscriptions that the database has now and that the dump does not name are removed when their sections end, and
    /// identities become what the dump says, also lower ones.
    ///
    /// # Errors
    ///
    /// Storage fails.
    pub(crate) fn replace_definitions(&mut self) -> Result<()> {
        self.work.replacing = Some(Replacing::of(&self.work.database)?);
        Ok(())
    }

    /// Takes the next bytes of the dump. True: it is closed. What the stream still has is to be given all the same: it can only be white
    /// space. [`finish`](Self::finish) comes behind the last byte.
    ///
    /// # Errors
    ///
    /// The bytes are no dump, something follows it and `SkipCorruptedData` is not set, an item is not acceptable, or the operation was
    /// killed. Then [`fail`](Self::fail) comes next.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<bool> {
        self.work.operation.check_kill()?;
        let capacity = self.reader.capacity_with(bytes.len());
        self.reservation.grow(capacity)?;
        self.reader.push(bytes);
        loop {
            match self.reader.next().map_err(bad_dump)? {
                Event::More => break,
                Event::Closed => return self.check_behind().map(|()| true),
                Event::Begin => self.work.begin_section(self.reader.section()),
                Event::End => self.work.end_section()?,
                Event::Value(value) => self.work.value(value)?,
                Event::Raw(bytes) => self.work.content(bytes)?,
                Event::Element(element) => {
                    let skipped = self.work.element(element)?;
                    match self.work.is_content_wanted {
                        true => self.reader.lend(skipped),
                        false if skipped > 0 => self.reader.skip(skipped),
                        false => {}
                    }
                }
            }
        }
        if self.reader.held_size() > BULK_BUFFER_SIZE_KEPT {
            self.reader.shrink(BULK_BUFFER_SIZE_KEPT);
            self.reservation.clear();
            self.reservation.grow(self.reader.held_size())?;
        }
        Ok(false)
    }

    /// Refuses what follows the dump: its brackets do not say where it ends, so what is missing was not read.
    fn check_behind(&self) -> Result<()> {
        match self.reader.behind() {
            Some(behind) if !self.work.options.skips_corrupted => {
                Err(Error::BadDump { place: Box::new(behind.place.clone()), rule: BEHIND.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Bytes of the dump that it holds in memory, about: what is not cut up yet, and the batch.
    pub fn held_size(&self) -> usize {
        self.reader.held_size() + self.work.batch.size() + self.work.values_size + self.work.revisions_size
    }

    /// Why a stream that ends here is not a whole dump.
    pub fn cut_off(&self) -> Error {
        bad_dump(self.reader.cut_off())
    }

    /// Whether documents wait for their batch to be full.
    pub fn has_open_batch(&self) -> bool {
        !self.work.batch.is_empty() || !self.work.values.is_empty() || !self.work.revisions.is_empty()
    }

    /// Stores the documents of the batch that is not full.
    ///
    /// # Errors
    ///
    /// As [`feed`](Self::feed).
    pub fn flush(&mut self) -> Result<()> {
        self.work.send()
    }

    /// Writes what is left and waits until all of it is durable. The operation goes on until [`Self::end`].
    ///
    /// # Errors
    ///
    /// A batch was refused. Then [`fail`](Self::fail) comes next.
    pub fn finish(&mut self) -> Result<Imported> {
        self.work.send()?;
        let Landed { documents: document_count, counters } = self.work.flight.wait()?;
        let left_out = self.work.counters_sent.saturating_sub(counters);
        if left_out > 0 && self.work.leaves_documents_out() {
            self.work.result.counts_mut(ItemType::CounterGroups).left_out += left_out;
            self.work.result.info(&format!("{left_out} counters were left out with their documents."));
        } else if left_out > 0 {
            self.work.result.counts_mut(ItemType::CounterGroups).errored += left_out;
            self.work.result.warn(&format!("{left_out} counters were skipped, because their documents do not exist."));
        }
        if let Some(behind) = self.reader.behind() {
            let (place, size) = (&behind.place, behind.size);
            self.work.result.warn(&format!("{size} bytes from {place} on were not read: {BEHIND}."));
        }
        if let Some(record) = &self.work.record {
            record::make_constraints(record, &self.work.database, &mut self.work.result)?;
        }
        self.work.result.finish();
        let result = self.work.result.clone();
        let goes_on_from = self.work.goes_on_from.take();
        Ok(Imported { result, record: self.work.record.take(), document_count, goes_on_from })
    }

    /// Ends the operation with its result.
    pub fn end(self, result: SmugglerResult) {
        let (total, documents) = (result.read_count(), result.counts(ItemType::Documents).read);
        self.work.operation.end(OperationStatus::Completed(OperationResult {
            total,
            documents_processed: documents,
            message: format!("Imported {total} items."),
            transfer: Some(Arc::new(result)),
            ..OperationResult::default()
        }));
    }

    /// Ends the operation because of an error, after what is on its way has landed. Gives how many documents are stored.
    pub fn fail(mut self, error: Error) -> u64 {
        if !matches!(error, Error::Canceled) {
            // What stands before the mistake is stored, unless it is refused as well; the first error counts.
            let _ = self.work.send();
        }
        let _ = self.work.flight.wait();
        self.work.report();
        self.work.operation.end(match error {
            Error::Canceled => OperationStatus::Canceled,
            error => OperationStatus::Faulted(Arc::new(error)),
        });
        self.work.flight.tally().documents
    }
}

impl Landed {
    fn of(outcome: &Outcome) -> Landed {
        Landed { documents: outcome.stored_count, counters: outcome.counter_count }
    }

    fn add(&mut self, other: Landed) {
        self.documents += other.documents;
        self.counters += other.counters;
    }
}

impl Drop for ImportWork {
    fn drop(&mut self) {
        let rule = "the stream of the dump was given up".to_owned();
        self.operation.end(OperationStatus::Faulted(Arc::new(Error::BadStream { rule })));
    }
}

/// Checked JSON that is an object, or why it is none.
fn object(checked: Result<Raw<'_>, json::Error>) -> Result<Raw<'_>, String> {
    match checked {
        Ok(object) if object.kind() == Kind::Object => Ok(object),
        Ok(_) => Err("it is no JSON object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn bad_dump(error: DumpError) -> Error {
    Error::BadDump { place: Box::new(error.place), rule: error.rule }
}

/// Whether another document may fare better. What is wrong with the database ends the import.
fn is_about_a_document(error: &Error) -> bool {
    use documents::Error as E;
    matches!(error, Error::Documents(error) if !matches!(error, E::Storage(_) | E::Corrupt { .. } | E::Bug { .. }))
}

impl ImportWork {
    fn types(&self) -> ItemTypes {
        self.options.types
    }

    /// Whether items of a type are stored.
    fn is_stored(&self, item_type: ItemType) -> bool {
        item_type.is_supported() && self.types().has(item_type)
    }

    /// Whether documents of the dump may be missing because the options say so.
    fn leaves_documents_out(&self) -> bool {
        let options = &self.options;
        !options.collections.is_empty()
            || !options.types.has(ItemType::Documents)
            || !options.includes_expired
            || !options.includes_archived
            || self.transform.is_some()
    }

    fn begin_section(&mut self, section: &str) {
        self.section = ItemType::of_section(section);
        self.has_begun_documents |= self.section == ItemType::Documents;
        if self.is_stored(self.section) {
            self.result.begin(self.section);
        } else {
            self.result.counts_mut(self.section).is_skipped = true;
        }
        self.report();
    }

    fn end_section(&mut self) -> Result<()> {
        if self.is_stored(self.section) {
            if let Some(replacing) = &mut self.replacing {
                replacing.end_section(self.section, &self.database)?;
            }
            self.result.end(self.section);
        } else {
            self.end_of_skipped(self.section);
        }
        self.report();
        Ok(())
    }

    fn end_of_skipped(&mut self, item_type: ItemType) {
        let read = self.result.counts(item_type).read;
        self.result.counts_mut(item_type).left_out = read;
        if read > 0 && item_type == ItemType::Unknown {
            self.result.warn(&format!("{read} items of a section that is not known were skipped."));
        } else if read > 0 && !item_type.is_supported() && self.types().has(item_type) {
            let name = item_type.name();
            self.result.warn(&format!("{read} items of the type '{name}' were skipped: they are not supported yet."));
        } else if read > 0 {
            self.result.info(&format!("Skipped '{}' processing. Skipped {read} items.", item_type.name()));
        }
    }

    fn report(&self) {
        self.operation.set_progress(Progress::of_transfer(&self.result));
    }

    /// Checks JSON, and goes on with it.
    fn checked<T>(
        &mut self,
        text: &[u8],
        next: impl FnOnce(&mut ImportWork, Result<Raw<'_>, json::Error>) -> Result<T>,
    ) -> Result<T> {
        let mut minifier = std::mem::take(&mut self.minifier);
        let done = next(self, minifier.minify(text));
        self.minifier = minifier;
        done
    }

    /// A property whose value is no array.
    fn value(&mut self, part: Part<'_>) -> Result<()> {
        let item_type = ItemType::of_section(part.section);
        if item_type == ItemType::Unknown {
            return self.checked(part.bytes, |work, value| match value {
                Ok(_) => Ok(()),
                Err(error) => work.refuse(item_type, part, error.to_string()),
            });
        }
        if item_type != ItemType::DatabaseRecord {
            return self.refuse(item_type, part, format!("the value of '{}' is no array", part.section));
        }
        self.result.counts_mut(item_type).read += 1;
        let parsed = Value::parse(&without_trailing_commas(part.bytes));
        self.goes_on_from = parsed.as_ref().ok().and_then(record::goes_on_from);
        if !self.is_stored(item_type) {
            self.result.counts_mut(item_type).is_skipped = true;
            return Ok(());
        }
        self.result.begin(item_type);
        match parsed {
            Ok(record @ Value::Object(_)) => {
                if self.options.has_record_type(ANALYZERS) {
                    self.analyzers = analyzers::of(record.get(ANALYZERS), self.database.name());
                }
                self.record = Some(record);
            }
            Ok(_) => self.refuse(item_type, part, "the record of a database is no object".to_owned())?,
            Err(error) => self.refuse(item_type, part, error.to_string())?,
        }
        self.result.end(item_type);
        Ok(())
    }

    /// An element of an array. Gives how many raw bytes follow it.
    fn element(&mut self, part: Part<'_>) -> Result<u64> {
        self.operation.check_kill()?;
        let item_type = self.section;
        self.is_content_wanted = false;
        match item_type {
            ItemType::Documents | ItemType::RevisionDocuments => {
                return self.checked(part.bytes, |work, document| work.document(part, document));
            }
            ItemType::TimeSeries | ItemType::Attachments => {
                return self.checked(part.bytes, |work, element| work.with_blob(part, element));
            }
            ItemType::Tombstones
            | ItemType::Identities
            | ItemType::Indexes
            | ItemType::CounterGroups
            | ItemType::CompareExchange
            | ItemType::CompareExchangeTombstones
            | ItemType::Subscriptions
                if self.is_stored(item_type) => {}
            _ => {
                self.result.counts_mut(item_type).read += 1;
                return Ok(0);
            }
        }
        let counts = self.result.counts_mut(item_type);
        counts.read += 1;
        counts.size += part.bytes.len() as u64;
        let text = without_trailing_commas(part.bytes);
        self.checked(&text, |work, element| {
            match object(element) {
                Err(rule) => work.refuse(item_type, part, rule),
                Ok(element) => match item_type {
                    ItemType::Tombstones => work.tombstone(part, element),
                    ItemType::Identities => work.identity(part, element),
                    ItemType::CounterGroups => work.counters(part, element),
                    ItemType::CompareExchange => {
                        let read = values::read(element, &work.options, work.now);
                        work.value_change(part, read)
                    }
                    ItemType::CompareExchangeTombstones => work.value_change(part, values::read_tombstone(element)),
                    ItemType::Subscriptions => work.subscription(part, element),
                    _ => work.index(part, element),
                },
            }
            .map(|()| 0)
        })
    }

    /// Counts an item that cannot be read or stored, where that is allowed.
    fn refuse(&mut self, item_type: ItemType, part: Part<'_>, rule: String) -> Result<()> {
        let place = part.place();
        if !self.options.skips_corrupted {
            return Err(Error::BadDump { place: Box::new(place), rule });
        }
        self.result.counts_mut(item_type).errored += 1;
        self.result.error(&format!("What stands at {place} was skipped: {rule}"));
        Ok(())
    }

    /// An element that raw bytes follow, of a feature that is missing.
    fn with_blob(&mut self, part: Part<'_>, element: Result<Raw<'_>, json::Error>) -> Result<u64> {
        self.result.counts_mut(self.section).read += 1;
        match object(element) {
            Ok(element) => {
                let size = element.get("@raven-blob-size").or_else(|| element.get("Size"));
                Ok(size.and_then(Raw::as_u64).unwrap_or(0))
            }
            Err(rule) => self.refuse(self.section, part, rule).map(|()| 0),
        }
    }

    fn document(&mut self, part: Part<'_>, document: Result<Raw<'_>, json::Error>) -> Result<u64> {
        let item_type = self.section;
        let document = match object(document) {
            Ok(document) => document,
            Err(rule) => {
                self.result.counts_mut(item_type).read += 1;
                return self.refuse(item_type, part, rule).map(|()| 0);
            }
        };
        let found = FoundMetadata::of(document);
        let metadata = DumpedMetadata::of(&found);
        if metadata.export_type.as_deref() == Some("Attachment") {
            return self.attachment(document);
        }
        let is_stored = self.is_stored(item_type);
        let counts = self.result.counts_mut(item_type);
        counts.read += 1;
        counts.size += part.bytes.len() as u64;
        if is_stored {
            self.pace.step(&self.operation)?;
            match item_type {
                ItemType::RevisionDocuments => self.store_revision(part, document, &metadata)?,
                _ => self.store_document(part, &found, &metadata)?,
            }
        }
        Ok(0)
    }

    /// A content, whose bytes follow. Gives how many.
    fn attachment(&mut self, head: Raw<'_>) -> Result<u64> {
        let blob_size = head.get("Size").and_then(Raw::as_u64).unwrap_or(0);
        self.is_content_wanted = self.is_stored(self.section) && self.is_stored(ItemType::Attachments);
        if self.is_content_wanted {
            self.result.begin(ItemType::Attachments);
        }
        let counts = self.result.counts_mut(ItemType::Attachments);
        counts.read += 1;
        counts.is_skipped = !self.is_content_wanted;
        counts.size = counts.size.saturating_add(blob_size);
        if self.is_content_wanted { self.contents.begin(head) } else { Ok(blob_size) }
    }

    /// Bytes of the content that arrives.
    fn content(&mut self, bytes: &[u8]) -> Result<()> {
        self.operation.check_kill()?;
        if !self.contents.take(bytes)? {
            self.result.counts_mut(ItemType::Attachments).errored += 1;
            self.result.error("The content of an attachment was skipped: it has another hash than the dump says.");
        }
        Ok(())
    }

    fn store_document(
        &mut self,
        part: Part<'_>,
        found: &FoundMetadata<'_>,
        metadata: &DumpedMetadata<'_>,
    ) -> Result<()> {
        let document = found.document();
        let Some(id) = metadata.id.as_deref().filter(|id| !id.is_empty()) else {
            let rule = "the document has no '@id' in its '@metadata'".to_owned();
            return self.refuse(ItemType::Documents, part, rule);
        };
        if !self.is_meant(id, document, metadata)? {
            self.result.counts_mut(ItemType::Documents).left_out += 1;
            return Ok(());
        }
        let transformed = self.transform.as_ref().map(|script| {
            let change_vector = metadata.change_vector();
            let stored = (&*change_vector, metadata.last_modified.unwrap_or(self.now));
            script.run(&self.database, id, document.bytes(), stored)
        });
        let transformed = match transformed {
            None => None,
            Some(Ok(Transformed::Document(changed))) => Some(changed),
            Some(Ok(Transformed::LeftOut)) => {
                self.result.counts_mut(ItemType::Documents).left_out += 1;
                return Ok(());
            }
            Some(Err(error @ Error::Script { .. })) if self.options.skips_corrupted => {
                return self.refuse(ItemType::Documents, part, error.to_string());
            }
            Some(Err(error)) => return Err(error),
        };
        let flags = metadata.flags(self.is_stored(ItemType::RevisionDocuments));
        if flags != self.flags {
            self.send()?;
            self.flags = flags;
            self.batch = self.new_batch();
        }
        let found = transformed.as_deref().map_or(*found, |changed| FoundMetadata::of(Raw::new(changed)));
        let document = found.document();
        match self.batch.push_imported(id, &found, metadata.last_modified).map_err(Error::from) {
            Ok(()) => {}
            Err(error) if is_about_a_document(&error) => {
                return self.refuse(ItemType::Documents, part, error.to_string());
            }
            Err(error) => return Err(error),
        }
        if metadata.has_attachments && self.is_stored(ItemType::Attachments) {
            self.has_new_attachments = true;
            match self.contents.add_to(&mut self.batch, id, document) {
                Ok(missing) => {
                    self.result.counts_mut(ItemType::Attachments).errored += missing.len() as u64;
                    for name in missing {
                        let rule = "its content is neither in the dump nor in the database";
                        self.result.warn(&format!("The attachment '{name}' of '{id}' was skipped: {rule}."));
                    }
                }
                Err(error) if is_about_a_document(&error) => {
                    return self.refuse(ItemType::Attachments, part, error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        self.send_if_full()
    }

    /// Whether the options mean a document.
    fn is_meant(&self, id: &str, document: Raw<'_>, metadata: &DumpedMetadata<'_>) -> Result<bool> {
        let options = &self.options;
        let collection = metadata.collection.as_deref().unwrap_or(EMPTY_COLLECTION);
        let is_left_out = !options.has_collection(collection)
            || !options.includes_artificial && metadata.is_artificial
            || !options.includes_archived && metadata.is_archived
            || !options.includes_expired && metadata.expires.is_some_and(|date| date <= self.now);
        if is_left_out || collection != HILO_COLLECTION {
            return Ok(!is_left_out);
        }
        // Numbers that were given out here must not be given out again.
        let snapshot = self.database.read();
        let max = |document: Raw<'_>| document.get("Max").and_then(Raw::as_i64);
        let stored = snapshot.get(id).map_err(Error::from)?.and_then(|document| max(document.body()));
        Ok(stored.is_none_or(|stored| max(document).is_some_and(|given| given > stored)))
    }

    fn new_batch(&self) -> Batch {
        Batch::new().with_flags(self.flags).without_revisions(self.options.skips_revisions)
    }

    fn index(&mut self, part: Part<'_>, element: Raw<'_>) -> Result<()> {
        let put = indexes::put(&self.database, element, &self.options, &self.analyzers);
        if let Some(replacing) = &mut self.replacing {
            replacing.note_index(element);
        }
        self.defined(ItemType::Indexes, "index", part, put)
    }

    fn subscription(&mut self, part: Part<'_>, element: Raw<'_>) -> Result<()> {
        let put = subscriptions::put(&self.database, element);
        if let Some(replacing) = &mut self.replacing {
            replacing.note_subscription(element);
        }
        self.defined(ItemType::Subscriptions, "subscription", part, put)
    }

    /// A definition that cannot be taken over is reported, and ends nothing: the documents count more.
    fn defined(
        &mut self,
        item_type: ItemType,
        noun: &str,
        part: Part<'_>,
        (name, put): (String, Result<(), DefinitionRefused>),
    ) -> Result<()> {
        match put {
            Ok(()) => Ok(()),
            Err(DefinitionRefused::Failed(error)) => Err(error),
            Err(DefinitionRefused::Definition(rule)) => {
                self.result.counts_mut(item_type).errored += 1;
                let place = part.place();
                self.result.error(&format!("The {noun} '{name}' ({place}) was not imported: {rule}"));
                Ok(())
            }
        }
    }

    fn send_if_full(&mut self) -> Result<()> {
        let is_full = self.batch.len() >= BULK_BATCH_COUNT_MAX || self.batch.size() >= BULK_BATCH_SIZE_MAX;
        if is_full { self.send() } else { Ok(()) }
    }

    /// Sends what was gathered on its way, when there is room: revisions last, because they hold contents that the commands before link.
    fn send(&mut self) -> Result<()> {
        self.send_values()?;
        self.send_batch()?;
        self.send_revisions()
    }

    fn send_batch(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let next = self.new_batch();
        let batch = std::mem::replace(&mut self.batch, next);
        self.report();
        self.flight.begin()?;
        self.counters_sent += batch.counter_operation_count();
        let uploads = self.contents.take_uploads();
        if self.options.skips_corrupted {
            let stored = self.store_what_can_be(batch);
            // Those that were linked are no more; the others are removed.
            drop(uploads);
            let failed = stored.as_ref().err().cloned();
            self.flight.land(stored, Landed::add);
            return failed.map_or(Ok(()), Err);
        }
        let flight = self.flight.clone();
        self.database.submit_blocking(batch, move |outcome| {
            flight.land(outcome, |landed, outcome| {
                uploads.into_iter().for_each(ContentUpload::linked);
                landed.add(Landed::of(&outcome));
            });
        });
        Ok(())
    }

    /// Stores a batch; if it is refused, command by command, so that only those are lost that are refused.
    fn store_what_can_be(&mut self, batch: Batch) -> Result<Landed> {
        let write = Write::silent_batch(batch);
        match self.database.write_blocking(&write) {
            Ok(answer) => return Ok(Landed::of(&answer.outcome()?)),
            Err(error) if is_about_a_document(&error) => {}
            Err(error) => return Err(error),
        }
        let Write::Batch { batch, .. } = write else { return Ok(Landed::default()) };
        let mut stored = Landed::default();
        for single in batch.singles() {
            let id = single.first_id().to_owned();
            match self.database.write_blocking(&Write::silent_batch(single)) {
                Ok(answer) => stored.add(Landed::of(&answer.outcome()?)),
                Err(error) if is_about_a_document(&error) => {
                    self.result.counts_mut(ItemType::Documents).errored += 1;
                    self.result.error(&format!("The document '{id}' was skipped: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(stored)
    }
}
