//! Writes a database as a dump: all of one snapshot, whatever is written meanwhile.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use documents::{ContentHash, Date, Document, EMPTY_COLLECTION, Etag, ItemKind, Revision, Snapshot, id};
use json::{Properties, Raw, Value, Writer};

use super::attachments::{self, DumpedContent};
use super::counters::CounterGroup;
use super::pace::Pace;
use super::transform::{Transform, Transformed};
use super::{ItemType, SmugglerOptions, SmugglerResult, indexes, record, subscriptions, values};
use crate::limits::{DUMP_BUILD_VERSION, SMUGGLER_PROGRESS_EVERY};
use crate::subscriptions::{Subscription, SubscriptionProgress};
use crate::{Database, Error, Index, Operation, OperationId, OperationResult, OperationStatus, Progress, Result};

/// Where a dump is written.
pub trait DumpSink {
    /// Why it takes no more.
    type Error: From<Error>;

    /// What is in work.
    fn buffer(&mut self) -> &mut Vec<u8>;

    /// Hands on what is in work, if it is large enough; called after each item.
    ///
    /// # Errors
    ///
    /// The reader is gone, or the dump cannot be compressed.
    fn part_done(&mut self) -> Result<(), Self::Error>;

    /// Hands on the rest.
    ///
    /// # Errors
    ///
    /// As [`Self::part_done`].
    fn finish(&mut self) -> Result<(), Self::Error>;

    /// An error of the sink, as the state of the operation has it.
    fn cause(error: &Self::Error) -> Error;
}

/// One export, which is an operation. Dropped without an end, the operation is cancelled.
#[derive(Debug)]
pub struct Export {
    operation: Arc<Operation>,
    writer: DumpWriter,
}

/// Writes a dump.
#[derive(Debug)]
pub(crate) struct DumpWriter {
    database: Arc<Database>,
    operation: Arc<Operation>,
    options: SmugglerOptions,
    transform: Option<Transform>,
    record: Value,
    /// Parts of the record that an export lacks.
    record_parts: &'static [&'static str],
    /// The file that an incremental backup goes on from.
    goes_on_from: Option<String>,
    /// Documents and tombstones up to this etag are left out.
    after: Etag,
    /// Contents that were written.
    contents: HashSet<ContentHash>,
    result: SmugglerResult,
    pace: Pace,
    now: Date,
}

impl Database {
    /// Begins an export as operation `id`, reserved by [`Operations::next_id`](crate::Operations::next_id); None reserves one.
    ///
    /// * `record`: the record of the database.
    ///
    /// # Errors
    ///
    /// [`Error::OperationInUse`]; [`Error::Script`] for a transform script that is no JavaScript.
    pub fn export(
        self: &Arc<Self>,
        id: Option<OperationId>,
        options: SmugglerOptions,
        record: Value,
    ) -> Result<Export> {
        let transform = Transform::of(self, &options)?;
        let id = id.unwrap_or_else(|| self.operations().next_id());
        let operation = self.operations().start(id, format!("Export database: {}", self.name()))?;
        let writer = DumpWriter {
            pace: Pace::new(options.per_second),
            database: self.clone(),
            operation: operation.clone(),
            options,
            transform,
            record,
            record_parts: &[],
            goes_on_from: None,
            after: 0,
            contents: HashSet::new(),
            result: SmugglerResult::default(),
            now: Date::now(),
        };
        Ok(Export { operation, writer })
    }
}

impl Export {
    /// Writes the dump, and ends the operation.
    ///
    /// # Errors
    ///
    /// The sink takes no more, a script fails, the operation is killed, or storage fails.
    pub fn run<S: DumpSink>(mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let written = self.writer.write(snapshot, sink);
        let result = Arc::new(std::mem::take(&mut self.writer.result));
        self.operation.end(match &written {
            Ok(()) => {
                let (total, documents) = (result.read_count(), result.counts(ItemType::Documents).read);
                OperationStatus::Completed(OperationResult {
                    total,
                    documents_processed: documents,
                    message: format!("Exported {total} items."),
                    transfer: Some(result),
                    ..OperationResult::default()
                })
            }
            Err(error) => match S::cause(error) {
                Error::Canceled => OperationStatus::Canceled,
                error => OperationStatus::Faulted(Arc::new(error)),
            },
        });
        written
    }
}

impl DumpWriter {
    /// Writes the dump of a backup, without a transform script, as a part of an operation.
    ///
    /// * `previous`: the last etag that the backup before has, and its file; `None` for a full one.
    pub fn of_backup(
        database: Arc<Database>,
        operation: &Arc<Operation>,
        options: SmugglerOptions,
        record: Value,
        previous: Option<(Etag, String)>,
    ) -> DumpWriter {
        let (after, goes_on_from) = previous.map_or((0, None), |(after, file)| (after, Some(file)));
        let pace = Pace::new(options.per_second);
        DumpWriter {
            database,
            operation: operation.clone(),
            options,
            transform: None,
            record,
            record_parts: record::OF_BACKUPS,
            goes_on_from,
            after,
            contents: HashSet::new(),
            result: SmugglerResult::default(),
            pace,
            now: Date::now(),
        }
    }

    /// What was counted.
    pub fn into_result(self) -> SmugglerResult {
        self.result
    }

    /// Writes the whole dump.
    ///
    /// # Errors
    ///
    /// As [`Export::run`].
    pub fn write<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let written = self.write_sections(snapshot, sink);
        self.result.finish();
        written
    }

    fn write_sections<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let types = self.options.types;
        sink.buffer().extend_from_slice(format!("{{\"BuildVersion\":{DUMP_BUILD_VERSION}").as_bytes());
        if types.has(ItemType::DatabaseRecord) {
            self.result.begin(ItemType::DatabaseRecord);
            sink.buffer().extend_from_slice(b",\"DatabaseRecord\":");
            let name = self.database.name();
            let constraints = snapshot.constraints().map_err(Error::from)?;
            let (json, parts) = (&mut Writer::new(sink.buffer()), self.record_parts);
            let goes_on_from = self.goes_on_from.as_deref();
            record::write(json, name, &self.record, &constraints, &self.options, parts, goes_on_from);
            self.result.counts_mut(ItemType::DatabaseRecord).read = 1;
            self.result.end(ItemType::DatabaseRecord);
        }
        if types.has(ItemType::Tombstones) {
            self.section(sink, ItemType::Tombstones, "Tombstones", |export, sink| export.tombstones(snapshot, sink))?;
        }
        if types.has(ItemType::Documents) {
            self.section(sink, ItemType::Documents, "Docs", |export, sink| export.documents(snapshot, sink))?;
        }
        if types.has(ItemType::RevisionDocuments) {
            self.section(sink, ItemType::RevisionDocuments, "RevisionDocuments", |export, sink| {
                export.revisions(snapshot, sink)
            })?;
        }
        if types.has(ItemType::CounterGroups) {
            self.section(sink, ItemType::CounterGroups, "CounterGroups", |export, sink| {
                export.counters(snapshot, sink)
            })?;
        }
        if types.has(ItemType::Indexes) {
            self.section(sink, ItemType::Indexes, "Indexes", Self::indexes)?;
        }
        if types.has(ItemType::Identities) {
            self.section(sink, ItemType::Identities, "Identities", |export, sink| export.identities(snapshot, sink))?;
        }
        if types.has(ItemType::CompareExchange) {
            self.section(sink, ItemType::CompareExchange, "CompareExchange", |export, sink| {
                export.values(snapshot, sink)
            })?;
        }
        if types.has(ItemType::CompareExchangeTombstones) {
            let name = "CompareExchangeTombstones";
            self.section(sink, ItemType::CompareExchangeTombstones, name, |export, sink| {
                export.value_tombstones(snapshot, sink)
            })?;
        }
        if types.has(ItemType::Subscriptions) {
            self.section(sink, ItemType::Subscriptions, "Subscriptions", |export, sink| {
                export.subscriptions(snapshot, sink)
            })?;
        }
        sink.buffer().push(b'}');
        sink.finish()
    }

    fn section<S: DumpSink>(
        &mut self,
        sink: &mut S,
        item_type: ItemType,
        name: &str,
        write: impl FnOnce(&mut Self, &mut S) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        self.result.begin(item_type);
        sink.buffer().extend_from_slice(format!(",\"{name}\":[").as_bytes());
        write(self, sink)?;
        sink.buffer().push(b']');
        self.result.end(item_type);
        self.report();
        sink.part_done()
    }

    fn report(&self) {
        self.operation.set_progress(Progress::of_transfer(&self.result));
    }

    /// Looks now and then whether the operation was killed, and says how far it is.
    fn look(&mut self, item_type: ItemType) -> Result<()> {
        if self.result.counts(item_type).read.is_multiple_of(SMUGGLER_PROGRESS_EVERY) {
            self.report();
            if self.operation.is_killed() || self.database.is_closed() {
                return Err(Error::Canceled);
            }
        }
        Ok(())
    }

    /// Counters, in groups of one document each. Those that were deleted come along in a dump that continues another one.
    fn counters<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let (mut group, mut is_first) = (CounterGroup::default(), true);
        let mut meant: Option<(String, bool)> = None;
        let kinds = [ItemKind::Counter];
        let changes = match self.after {
            0 if !self.options.types.has(ItemType::Tombstones) => snapshot.items(&kinds, None, 0),
            after => snapshot.changes(&kinds, None, after),
        };
        for item in changes.map_err(Error::from)? {
            let item = item.map_err(Error::from)?;
            let (document_id, name) = (item.document_id(), item.counter_name().unwrap_or_default());
            self.look(ItemType::CounterGroups)?;
            if meant.as_ref().is_none_or(|(of, _)| of != document_id) {
                let document = snapshot.get(document_id).map_err(Error::from)?;
                let collection = snapshot.collection_of(&item).map_err(Error::from)?;
                let is_meant = document.is_none_or(|document| self.is_meant(&document));
                meant = Some((document_id.to_owned(), is_meant && self.options.has_collection(&collection)));
            }
            if !meant.as_ref().is_some_and(|(_, is_meant)| *is_meant) {
                continue;
            }
            if !group.takes(document_id, name) {
                self.counter_group(&mut group, &mut is_first, sink)?;
            }
            group.add(document_id, name, item.counter(), item.change_vector());
            let counts = self.result.counts_mut(ItemType::CounterGroups);
            counts.read += 1;
            counts.last_etag = item.etag();
        }
        if group.is_empty() { Ok(()) } else { self.counter_group(&mut group, &mut is_first, sink) }
    }

    fn counter_group<S: DumpSink>(
        &mut self,
        group: &mut CounterGroup,
        is_first: &mut bool,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let out = sink.buffer();
        if !std::mem::take(is_first) {
            out.push(b',');
        }
        let start = out.len();
        group.write(&mut Writer::new(out));
        self.result.counts_mut(ItemType::CounterGroups).size += (out.len() - start) as u64;
        sink.part_done()
    }

    /// Revisions, the ones that were stored first before others.
    fn revisions<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let mut is_first = true;
        for item in snapshot.items(&[ItemKind::Revision], None, self.after).map_err(Error::from)? {
            let item = item.map_err(Error::from)?;
            let collection = snapshot.collection_of(&item).map_err(Error::from)?;
            self.look(ItemType::RevisionDocuments)?;
            self.pace.step(&self.operation)?;
            let is_meant = self.options.has_collection(&collection);
            let counts = self.result.counts_mut(ItemType::RevisionDocuments);
            counts.read += 1;
            counts.last_etag = item.etag();
            if !is_meant {
                counts.left_out += 1;
                continue;
            }
            let revision = snapshot.revision_of(&item).map_err(Error::from)?;
            if self.options.types.has(ItemType::Attachments) && item.flags().has_attachments() {
                self.contents_of_revision(snapshot, &revision, &mut is_first, sink)?;
            }
            let out = sink.buffer();
            separate(out, &mut is_first);
            let start = out.len();
            revision.document().map_err(Error::from)?.write_to(out);
            let size = (out.len() - start) as u64;
            self.result.counts_mut(ItemType::RevisionDocuments).size += size;
            sink.part_done()?;
        }
        Ok(())
    }

    fn documents<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let collections = self.options.collections.clone();
        let mut is_first = true;
        // Names of one collection in several cases are one collection.
        let mut sources: Vec<Option<&str>> = Vec::new();
        for name in &collections {
            if !sources.iter().flatten().any(|other| other.eq_ignore_ascii_case(name)) {
                sources.push(Some(name));
            }
        }
        if sources.is_empty() {
            sources.push(None);
        }
        for source in sources {
            for item in snapshot.items(&[ItemKind::Document], source, self.after).map_err(Error::from)? {
                let item = item.map_err(Error::from)?;
                let Some(document) = item.document() else { continue };
                self.look(ItemType::Documents)?;
                self.pace.step(&self.operation)?;
                if self.options.types.has(ItemType::Attachments)
                    && document.flags().has_attachments()
                    && self.is_meant(&document)
                {
                    self.contents(snapshot, &document, &mut is_first, sink)?;
                }
                self.document(&document, &mut is_first, sink)?;
                sink.part_done()?;
            }
        }
        Ok(())
    }

    /// Writes the contents of a document's attachments that stand nowhere before it. A dump that continues another one has those of new
    /// attachments alone.
    fn contents<S: DumpSink>(
        &mut self,
        snapshot: &Snapshot<'_>,
        document: &Document<'_>,
        is_first: &mut bool,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        for attachment in snapshot.attachments(document.id()).map_err(Error::from)? {
            let etag = attachment.item().etag();
            if etag > self.after {
                self.content(snapshot, DumpedContent::of(&attachment), is_first, sink)?;
                self.result.counts_mut(ItemType::Attachments).last_etag = etag;
            }
        }
        Ok(())
    }

    /// Writes the contents of a revision's attachments that stand nowhere before it. Contents that its document has had since the dump
    /// before this one are in that dump, and are left out.
    fn contents_of_revision<S: DumpSink>(
        &mut self,
        snapshot: &Snapshot<'_>,
        revision: &Revision<'_>,
        is_first: &mut bool,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let document = revision.document().map_err(Error::from)?;
        for attachment in revision.attachments().map_err(Error::from)? {
            let (document_id, name) = (document.id(), attachment.name.as_str());
            let current = snapshot.attachment(document_id, name).map_err(Error::from)?;
            let is_there =
                current.is_some_and(|current| current.hash() == attachment.hash && current.item().etag() <= self.after);
            if !is_there {
                let (content_type, hash) = (attachment.content_type.as_str(), attachment.hash);
                let content = DumpedContent { document_id, name, content_type, hash };
                self.content(snapshot, content, is_first, sink)?;
            }
        }
        Ok(())
    }

    /// Writes a content, unless it stands before.
    fn content<S: DumpSink>(
        &mut self,
        snapshot: &Snapshot<'_>,
        content: DumpedContent<'_>,
        is_first: &mut bool,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        if !self.contents.insert(content.hash) {
            return Ok(());
        }
        let missing = || documents::Error::Corrupt { rule: "the content of an attachment is stored" };
        let reading = snapshot.content(content.hash, 0..u64::MAX).map_err(Error::from)?;
        let mut reading = reading.ok_or_else(missing).map_err(Error::from)?;
        let size = reading.content_length();
        self.result.begin(ItemType::Attachments);
        let counts = self.result.counts_mut(ItemType::Attachments);
        counts.read += 1;
        counts.size = counts.size.saturating_add(size);
        separate(sink.buffer(), is_first);
        content.write_head(&mut Writer::new(sink.buffer()), size);
        while let Some(bytes) = reading.next().map_err(Error::from)? {
            sink.buffer().extend_from_slice(bytes);
            sink.part_done()?;
            if self.operation.is_killed() || self.database.is_closed() {
                return Err(Error::Canceled.into());
            }
        }
        Ok(())
    }

    /// Writes one document, unless the options or the script leave it out.
    fn document<S: DumpSink>(
        &mut self,
        document: &Document<'_>,
        is_first: &mut bool,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let counts = self.result.counts_mut(ItemType::Documents);
        counts.read += 1;
        counts.last_etag = document.etag();
        if !self.is_meant(document) {
            self.result.counts_mut(ItemType::Documents).left_out += 1;
            return Ok(());
        }
        let out = sink.buffer();
        let before = out.len();
        if !*is_first {
            out.push(b',');
        }
        let start = out.len();
        document.write_to(out);
        if let Some(transform) = &self.transform {
            let transformed = {
                let stored = (document.change_vector(), document.last_modified());
                transform.run(&self.database, document.id(), &out[start..], (&stored.0, stored.1))
            };
            out.truncate(start);
            match transformed {
                Ok(Transformed::Document(changed)) => write_changed(out, document, &changed),
                Ok(Transformed::LeftOut) => {
                    out.truncate(before);
                    self.result.counts_mut(ItemType::Documents).left_out += 1;
                    return Ok(());
                }
                Err(error @ Error::Script { .. }) if self.options.skips_corrupted => {
                    out.truncate(before);
                    self.result.counts_mut(ItemType::Documents).errored += 1;
                    self.result.error(&error.to_string());
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.result.counts_mut(ItemType::Documents).size += (out.len() - start) as u64;
        *is_first = false;
        Ok(())
    }

    fn is_meant(&self, document: &Document<'_>) -> bool {
        let options = &self.options;
        if !options.includes_artificial && document.flags().is_of_index()
            || !options.includes_archived && document.flags().is_archived()
        {
            return false;
        }
        if options.includes_expired {
            return true;
        }
        let expires = Properties::new(document.stored_metadata()).get("@expires").and_then(Raw::as_str);
        expires.and_then(|text| Date::parse(&text)).is_none_or(|date| date > self.now)
    }

    fn tombstones<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let mut is_first = true;
        for item in
            snapshot.deletions(&[ItemKind::Document, ItemKind::Attachment], None, self.after).map_err(Error::from)?
        {
            let item = item.map_err(Error::from)?;
            let collection = snapshot.collection_of(&item).map_err(Error::from)?;
            self.look(ItemType::Tombstones)?;
            if !self.options.has_collection(&collection) {
                continue;
            }
            let counts = self.result.counts_mut(ItemType::Tombstones);
            counts.read += 1;
            counts.last_etag = item.etag();
            let out = sink.buffer();
            if !std::mem::take(&mut is_first) {
                out.push(b',');
            }
            let start = out.len();
            Writer::new(out).object(|json| {
                match item.attachment_name() {
                    Some(name) => {
                        let key = attachments::tombstone_key(item.document_id(), name, item.deleted_content());
                        json.name("Key").string(&key).name("Type").string("Attachment");
                    }
                    None => {
                        // RavenDB finds them in lower case alone.
                        json.name("Key").string(&id::lower_text(item.id())).name("Type").string("Document");
                    }
                }
                json.name("Collection").string(if collection.is_empty() { EMPTY_COLLECTION } else { &collection });
                json.name("Flags").string("None").name("ChangeVector").string(&item.change_vector());
                // The etag that the document had is not kept.
                json.name("DeletedEtag").unsigned(item.etag()).name("Etag").unsigned(item.etag());
                json.name("LastModified").string(&item.last_modified().to_string());
            });
            self.result.counts_mut(ItemType::Tombstones).size += (out.len() - start) as u64;
            sink.part_done()?;
        }
        Ok(())
    }

    fn indexes<S: DumpSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        let all = self.database.indexes().all();
        // Of an index that is built to replace another of its name, the newer definition counts.
        let mut by_name: BTreeMap<String, &Index> = BTreeMap::new();
        for index in all.iter() {
            let listed = by_name.entry(index.definition().name()).or_insert(index);
            if listed.created() < index.created() {
                *listed = index;
            }
        }
        for (number, index) in by_name.values().filter(|index| indexes::is_exported(index.definition())).enumerate() {
            let out = sink.buffer();
            if number > 0 {
                out.push(b',');
            }
            let start = out.len();
            indexes::write(&mut Writer::new(out), index, &self.options);
            let counts = self.result.counts_mut(ItemType::Indexes);
            counts.read += 1;
            counts.size += (out.len() - start) as u64;
            sink.part_done()?;
        }
        Ok(())
    }

    fn values<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let mut is_first = true;
        for item in snapshot.items(&[ItemKind::CompareExchange], None, self.after).map_err(Error::from)? {
            let Some(value) = item.map_err(Error::from)?.compare_exchange_value() else { continue };
            self.look(ItemType::CompareExchange)?;
            if value.is_guard() || !values::is_meant(value.json(), &self.options, self.now) {
                continue;
            }
            let counts = self.result.counts_mut(ItemType::CompareExchange);
            counts.read += 1;
            counts.last_etag = value.index();
            separate(sink.buffer(), &mut is_first);
            values::write(sink.buffer(), &value);
            sink.part_done()?;
        }
        Ok(())
    }

    fn value_tombstones<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let mut is_first = true;
        for item in snapshot.deletions(&[ItemKind::CompareExchange], None, self.after).map_err(Error::from)? {
            let item = item.map_err(Error::from)?;
            self.look(ItemType::CompareExchangeTombstones)?;
            if documents::is_guard(item.id()) {
                continue;
            }
            self.result.counts_mut(ItemType::CompareExchangeTombstones).read += 1;
            separate(sink.buffer(), &mut is_first);
            values::write_tombstone(sink.buffer(), &item);
            sink.part_done()?;
        }
        Ok(())
    }

    fn subscriptions<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        let mut is_first = true;
        for subscription in Subscription::all(snapshot)? {
            self.look(ItemType::Subscriptions)?;
            let progress = SubscriptionProgress::of(snapshot, subscription.id)?;
            separate(sink.buffer(), &mut is_first);
            subscriptions::write(sink.buffer(), &subscription, &progress);
            self.result.counts_mut(ItemType::Subscriptions).read += 1;
            sink.part_done()?;
        }
        Ok(())
    }

    fn identities<S: DumpSink>(&mut self, snapshot: &Snapshot<'_>, sink: &mut S) -> Result<(), S::Error> {
        for (number, (name, value)) in snapshot.identities().map_err(Error::from)?.iter().enumerate() {
            let out = sink.buffer();
            if number > 0 {
                out.push(b',');
            }
            Writer::new(out).object(|json| _ = json.name("Key").string(name).name("Value").string(&value.to_string()));
            self.result.counts_mut(ItemType::Identities).read += 1;
            sink.part_done()?;
        }
        Ok(())
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.operation.end(OperationStatus::Canceled);
    }
}

/// Appends a comma behind all but the first element.
fn separate(out: &mut Vec<u8>, is_first: &mut bool) {
    if !std::mem::take(is_first) {
        out.push(b',');
    }
}

/// Writes a document that a script has changed. What the server computes of the metadata is that of the document, whatever the script did
/// to it.
fn write_changed(out: &mut Vec<u8>, document: &Document<'_>, changed: &[u8]) {
    const COMPUTED: [&str; 4] = ["@change-vector", "@flags", "@id", "@last-modified"];
    let changed = Raw::new(changed);
    Writer::new(out).object(|json| {
        for (name, value) in changed.members().filter(|(name, _)| !name.is("@metadata")) {
            json.name(&name.decode()).raw(value.bytes());
        }
        json.name("@metadata").object(|json| {
            let metadata = changed.get("@metadata").into_iter().flat_map(Raw::members);
            for (name, value) in metadata.filter(|(name, _)| !COMPUTED.iter().any(|computed| name.is(computed))) {
                json.name(&name.decode()).raw(value.bytes());
            }
            let mut computed = Vec::new();
            document.write_computed_metadata(&mut computed, None);
            json.separate().buffer().extend_from_slice(&computed);
        });
    });
}
