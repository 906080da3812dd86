//! What an export or import has counted, and what it has to say.

use std::time::{Duration, Instant};

use documents::{Date, Etag};
use json::Writer;

use super::ItemType;
use crate::limits::SMUGGLER_MESSAGES_MAX;
use crate::time_span;

/// The counts of one type of items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// When the first was met.
    pub began: Option<Date>,
    /// True if nothing more comes.
    pub is_processed: bool,
    /// True if items of this type are passed over, or there are none.
    pub is_skipped: bool,
    /// Items that were read.
    pub read: u64,
    /// Those of them that were left out.
    pub left_out: u64,
    /// Those that cannot be read or stored.
    pub errored: u64,
    /// Bytes of those that were read, as JSON.
    pub size: u64,
    /// The last etag that was exported.
    pub last_etag: Etag,
}

/// The result of an export or import: counts by type, and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmugglerResult {
    counts: Vec<Counts>,
    messages: Vec<String>,
    /// Messages beyond those that are kept.
    dropped: u64,
    began: Instant,
    /// How long it took, once it is over.
    took: Option<Duration>,
    /// Parts of the record of the database that were taken over.
    pub(crate) record: Vec<&'static str>,
}

impl Default for SmugglerResult {
    fn default() -> SmugglerResult {
        SmugglerResult {
            counts: ItemType::all().map(|_| Counts::default()).collect(),
            messages: Vec::new(),
            dropped: 0,
            began: Instant::now(),
            took: None,
            record: Vec::new(),
        }
    }
}

impl SmugglerResult {
    /// The counts of a type.
    pub fn counts(&self, item_type: ItemType) -> &Counts {
        &self.counts[item_type as usize]
    }

    pub(crate) fn counts_mut(&mut self, item_type: ItemType) -> &mut Counts {
        &mut self.counts[item_type as usize]
    }

    /// The messages, the oldest first.
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Notes a part of the record of the database that was taken over.
    ///
    /// * `part`: as options name it.
    pub fn note_record(&mut self, part: &'static str) {
        if self.record.contains(&part) {
            return;
        }
        self.record.push(part);
        self.say("INFO", &format!("The part '{part}' of the record of the database was taken over."));
    }

    pub(crate) fn info(&mut self, text: &str) {
        self.say("INFO", text);
    }

    /// Notes something that people should look at.
    pub fn warn(&mut self, text: &str) {
        self.say("WARNING", text);
    }

    pub(crate) fn error(&mut self, text: &str) {
        self.say("ERROR", text);
    }

    fn say(&mut self, level: &str, text: &str) {
        if self.messages.len() == SMUGGLER_MESSAGES_MAX {
            self.dropped += 1;
            return;
        }
        let now = Date::now().text();
        let time = std::str::from_utf8(&now[11..19]).unwrap_or_default();
        self.messages.push(format!("[{time} {level}] {text}"));
    }

    /// Items begin that are taken over.
    pub(crate) fn begin(&mut self, item_type: ItemType) {
        let counts = self.counts_mut(item_type);
        if counts.began.is_none() {
            counts.began = Some(Date::now());
            self.info(&format!("Started processing {}.", item_type.name()));
        }
    }

    /// All items of a type were read.
    pub(crate) fn end(&mut self, item_type: ItemType) {
        let counts = self.counts_mut(item_type);
        counts.is_processed = true;
        let (read, left_out, errored, size) = (counts.read, counts.left_out, counts.errored, counts.size);
        let mut text = format!("Finished processing {}. Read: {read}.", item_type.name());
        for (count, name) in [(left_out, "Skipped"), (errored, "Errored"), (size, "Bytes")] {
            if count > 0 {
                text.push_str(&format!(" {name}: {count}."));
            }
        }
        self.info(&text);
    }

    /// Counts items that are taken as they are stored.
    pub(crate) fn count(&mut self, item_type: ItemType, read: u64, size: u64) {
        let counts = self.counts_mut(item_type);
        counts.read += read;
        counts.size += size;
    }

    /// Adds the counts of a later file of the same backup.
    pub(crate) fn add(&mut self, later: &SmugglerResult) {
        for (counts, later) in self.counts.iter_mut().zip(&later.counts) {
            counts.began = counts.began.or(later.began);
            counts.read += later.read;
            counts.left_out += later.left_out;
            counts.errored += later.errored;
            counts.size += later.size;
            counts.last_etag = counts.last_etag.max(later.last_etag);
        }
        for message in &later.messages {
            if self.messages.len() == SMUGGLER_MESSAGES_MAX {
                self.dropped += 1;
            } else {
                self.messages.push(message.clone());
            }
        }
        self.dropped += later.dropped;
    }

    /// Nothing more comes. Types that never came were skipped.
    pub(crate) fn finish(&mut self) {
        for counts in &mut self.counts {
            counts.is_processed = true;
            counts.is_skipped |= counts.began.is_none();
        }
        self.took = Some(self.began.elapsed());
        if self.dropped > 0 {
            let dropped = self.dropped;
            self.messages.push(format!("{dropped} further messages were not kept."));
        }
    }

    /// Items that were read, of all types.
    pub fn read_count(&self) -> u64 {
        self.counts.iter().map(|counts| counts.read).sum()
    }

    /// Writes the properties, as clients know them.
    pub fn write_members(&self, json: &mut Writer<'_>) {
        self.write_counts(json);
        json.name("Messages").array(|json| self.messages.iter().for_each(|message| _ = json.string(message)));
        json.name("Elapsed").string(&time_span::text(self.took.unwrap_or_else(|| self.began.elapsed())));
    }

    /// Writes the counts alone, as the progress of an operation has them.
    pub fn write_counts(&self, json: &mut Writer<'_>) {
        use ItemType as T;
        for item_type in ItemType::all() {
            let Some(name) = item_type.counted_as() else { continue };
            let counts = self.counts(item_type);
            json.name(name).object(|json| {
                write_counts(json, counts, counts.is_skipped);
                let has_etag = !matches!(
                    item_type,
                    T::DatabaseRecord
                        | T::Indexes
                        | T::Subscriptions
                        | T::CompareExchangeTombstones
                        | T::ReplicationHubCertificates
                );
                if has_etag {
                    json.name("LastEtag").unsigned(counts.last_etag);
                }
                if matches!(item_type, T::Documents | T::RevisionDocuments) {
                    let attachments = match item_type {
                        T::Documents => self.counts(T::Attachments).clone(),
                        _ => Counts { is_processed: counts.is_processed, ..Counts::default() },
                    };
                    json.name("Attachments").object(|json| write_counts(json, &attachments, attachments.is_skipped));
                }
                if matches!(
                    item_type,
                    T::Documents | T::RevisionDocuments | T::CounterGroups | T::TimeSeries | T::TimeSeriesDeletedRanges
                ) {
                    json.name("SkippedCount").unsigned(counts.left_out);
                }
                if item_type == T::DatabaseRecord {
                    for part in &self.record {
                        json.name(&format!("{part}Updated")).bool(true);
                    }
                }
            });
        }
    }
}

fn write_counts(json: &mut Writer<'_>, counts: &Counts, is_skipped: bool) {
    let began = counts.began.map(|date| date.to_string());
    json.name("StartTime").optional_string(began.as_deref());
    json.name("Processed").bool(counts.is_processed).name("ReadCount").unsigned(counts.read);
    json.name("Skipped").bool(is_skipped).name("ErroredCount").unsigned(counts.errored);
    json.name("SizeInBytes").unsigned(counts.size);
}
