//! How far indexes are, what they count, what they lack.

use std::sync::Arc;

use database::documents::{Date, ItemKind, LastEtags};
use database::{Database, DatabaseRecord, Index, IndexStatistics, IndexingBatch};
use hyper::StatusCode;
use json::Value;
use query::definition::IndexSource;
use query::index::Progress as IndexProgress;

use super::control::status_name;
use super::definition::state;
use super::{by_name, named};
use crate::error::{Error, Result};
use crate::messages::date::NEVER;
use crate::messages::reply::{self, Reply};
use crate::node::Node;
use crate::routing::exchange::{Exchange, write_origin};

fn date(date: Option<Date>) -> String {
    date.map_or(NEVER.to_owned(), |date| date.to_string())
}

/// An index as it is now.
pub(crate) struct ObservedIndex {
    index: Arc<Index>,
    is_stale: bool,
    state: &'static str,
    statistics: IndexStatistics,
    /// How far each of its sources is.
    last: Vec<LastEtags>,
}

impl ObservedIndex {
    fn of(database: &Database, index: Arc<Index>) -> Result<ObservedIndex> {
        let statistics = index.statistics()?;
        // That of the index is opened before that of its documents.
        let snapshot = if index.failure().is_none() { Some(index.read()?) } else { None };
        let documents = database.read();
        let is_stale = snapshot.map_or(Ok(true), |snapshot| index.is_stale(&snapshot, 0, &documents, None))?;
        let last =
            index.sources().iter().map(|source| Ok(documents.last_etags(source.kind, source.collection.as_deref())?));
        let last = last.collect::<Result<_>>()?;
        let state = state(database, &index);
        Ok(ObservedIndex { index, is_stale, state, statistics, last })
    }

    /// All of a database.
    pub(crate) fn all(database: &Database) -> Result<Vec<ObservedIndex>> {
        database.indexes().all().iter().map(|index| ObservedIndex::of(database, index.clone())).collect()
    }

    /// When it last took something.
    pub(crate) fn last_indexed(&self) -> Option<Date> {
        self.statistics.last_indexed
    }

    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Whether it has failed: it takes nothing more.
    pub(crate) fn has_failed(&self) -> bool {
        self.index.failure().is_some()
    }

    /// Whether queries made it.
    pub(crate) fn is_automatic(&self) -> bool {
        self.index.definition().as_map().is_none()
    }

    /// Whether it groups what it maps.
    pub(crate) fn is_reduced(&self) -> bool {
        self.index.definition().is_grouped()
    }

    /// `Normal`, `Idle`, `Disabled` or `Error`.
    pub(crate) fn state(&self) -> &'static str {
        self.state
    }

    /// Documents a second, the mean of the last minute.
    pub(crate) fn speed(&self) -> f64 {
        self.statistics.indexed_per_second
    }

    /// Errors that are kept of it.
    pub(crate) fn error_count(&self) -> u64 {
        self.statistics.error_count
    }

    /// What other answers list of an index.
    pub(crate) fn write_summary(&self, json: &mut json::Writer<'_>) {
        json.object(|json| {
            json.name("IsStale").bool(self.is_stale).name("State").string(self.state);
            json.name("LastIndexingTime").string(&date(self.statistics.last_indexed));
            json.name("Name").string(self.index.name());
            let settings = self.index.settings();
            json.name("LockMode").string(settings.lock_mode.name());
            json.name("Priority").string(settings.priority.name());
            json.name("Type")
                .string(self.index.wire_type())
                .name("SourceType")
                .string(self.index.definition().source_type());
            json.name("ArchivedDataProcessingBehavior").null();
        });
    }

    /// What plug-ins of monitoring systems read.
    pub(crate) fn write_monitoring(&self, json: &mut json::Writer<'_>, now: Date) {
        let ObservedIndex { index, state, statistics, .. } = self;
        let settings = index.settings();
        let since = |date: Option<Date>| date.map(|date| now.ticks().saturating_sub(date.ticks()) as f64 / 1e7);
        json.object(|json| {
            json.name("IndexName").string(index.name()).name("Priority").string(settings.priority.name());
            json.name("State").string(state).name("Errors").unsigned(statistics.error_count);
            for (name, seconds) in [
                ("TimeSinceLastQueryInSec", since(statistics.last_query)),
                ("TimeSinceLastIndexingInSec", since(statistics.last_indexed)),
            ] {
                match seconds {
                    Some(seconds) => json.name(name).double(seconds),
                    None => json.name(name).null(),
                };
            }
            json.name("LockMode").string(settings.lock_mode.name()).name("IsInvalid").bool(self.has_failed());
            json.name("Status").string(status_name(index)).name("MappedPerSec").double(statistics.indexed_per_second);
            json.name("Type").string(index.wire_type()).name("EntriesCount").unsigned(statistics.entry_count);
        });
    }

    /// * `engine`: from [`engine_name`].
    fn write_statistics(&self, engine: &str, json: &mut json::Writer<'_>) {
        let ObservedIndex { index, is_stale, state, statistics, .. } = self;
        let settings = index.settings();
        json.object(|json| {
            json.name("Name").string(index.name());
            json.name("MapAttempts").unsigned(statistics.indexed_count);
            json.name("MapSuccesses").unsigned(statistics.indexed_count.saturating_sub(statistics.failed_count));
            json.name("MapErrors").unsigned(statistics.failed_count);
            for absent in [
                "MapReferenceAttempts",
                "MapReferenceSuccesses",
                "MapReferenceErrors",
                "ReduceAttempts",
                "ReduceSuccesses",
                "ReduceErrors",
            ] {
                json.name(absent).null();
            }
            let output = index.definition().output();
            let references = output.and_then(|output| output.references.as_ref());
            let given = index.definition().as_map().and_then(|map| map.given().get("PatternReferencesCollectionName"));
            json.name("ReduceOutputCollection").optional_string(output.map(|output| output.collection.as_str()));
            json.name("ReduceOutputReferencePattern")
                .optional_string(references.map(|references| references.pattern.as_str()));
            json.name("PatternReferencesCollectionName").optional_string(given.and_then(|given| given.as_str()));
            json.name("MappedPerSecondRate").double(statistics.indexed_per_second);
            // What is reduced is not counted.
            json.name("ReducedPerSecondRate").double(0.0);
            json.name("MaxNumberOfOutputsPerDocument").unsigned(1);
            json.name("Collections").object(|json| {
                for (source, progress, last) in self.sources().filter(|(source, ..)| !source.is_referenced) {
                    json.name(source.name()).object(|json| {
                        json.name("LastProcessedDocumentEtag").unsigned(progress.items);
                        json.name("LastProcessedTombstoneEtag").unsigned(progress.tombstones);
                        json.name("LastProcessedTimeSeriesDeletedRangeEtag").unsigned(0);
                        json.name("DocumentLag").unsigned(last.items.saturating_sub(progress.items));
                        json.name("TombstoneLag").unsigned(last.tombstones.saturating_sub(progress.tombstones));
                    });
                }
            });
            // As in the reference, an index that did nothing yet did its last work when it was made.
            json.name("LastQueryingTime").string(&date(statistics.last_query.or(Some(index.created()))));
            json.name("State").string(state).name("Priority").string(settings.priority.name());
            json.name("CreatedTimestamp").string(&index.created().to_string());
            json.name("LastIndexingTime").string(&date(statistics.last_indexed.or(Some(index.created()))));
            json.name("IsStale").bool(*is_stale).name("LockMode").string(settings.lock_mode.name());
            json.name("Type").string(index.wire_type());
            json.name("SearchEngineType").string(engine);
            let given = index.definition().as_map().and_then(|map| map.given().get("ArchivedDataProcessingBehavior"));
            json.name("ArchivedDataProcessingBehavior").optional_string(given.and_then(|given| given.as_str()));
            json.name("Status").string(status_name(index)).name("EntriesCount").unsigned(statistics.entry_count);
            json.name("ErrorsCount")
                .unsigned(statistics.error_count)
                .name("SourceType")
                .string(index.definition().source_type());
            json.name("ReferencedCollections").array(|json| {
                let is_collection = |source: &&IndexSource| source.is_referenced && source.kind == ItemKind::Document;
                for source in index.sources().iter().filter(is_collection) {
                    json.string(source.name());
                }
            });
            json.name("IsInvalidIndex").bool(false);
            json.name("IsTestIndex").bool(false).name("Memory").null().name("LastBatchStats").null();
        });
    }

    /// Its sources, how far it is with each, and how far that is.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&IndexSource, &IndexProgress, &LastEtags)> {
        let sources = self.index.sources().iter().zip(&self.statistics.progress).zip(&self.last);
        sources.map(|((source, progress), last)| (source, progress, last))
    }

    /// What it lacks, in words.
    fn staleness_reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        for (source, progress, last) in self.sources() {
            for (what, last, reached) in
                [(source.kind.name(), last.items, progress.items), ("tombstones", last.tombstones, progress.tombstones)]
            {
                if reached < last {
                    reasons.push(format!(
                        "The last of the {what} of '{}' has etag {last}, the index is at {reached}",
                        source.name()
                    ));
                }
            }
        }
        reasons.extend(self.index.failure().map(|failure| format!("The index failed: {failure}")));
        reasons
    }
}

/// Counts and dates.
pub(crate) fn statistics(exchange: &Exchange) -> Result<Reply> {
    let found = match named(exchange) {
        Err(Error::UnknownIndex { .. }) => return Ok(reply::empty(StatusCode::NOT_FOUND)),
        found => found?,
    };
    let seen =
        found.into_iter().map(|index| ObservedIndex::of(exchange.database(), index)).collect::<Result<Vec<_>>>()?;
    let node = &exchange.node;
    let record = node.databases.record(exchange.database().name())?;
    Ok(reply::object(StatusCode::OK, |json| {
        write_origin(json, exchange);
        json.name("Results").array(|json| {
            seen.iter().for_each(|seen| seen.write_statistics(engine_name(node, &record, &seen.index), json));
        });
    }))
}

/// The last batches of indexes: counts, and how long they took.
pub(crate) fn performance(exchange: &Exchange) -> Result<Reply> {
    let found = named(exchange)?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("Results").array(|json| {
            for index in &found {
                json.object(|json| {
                    json.name("Name").string(index.name());
                    json.name("Performance").array(|json| {
                        index.last_batches().iter().for_each(|batch| write_batch(batch, json));
                    });
                });
            }
        });
    }))
}

fn write_batch(batch: &IndexingBatch, json: &mut json::Writer<'_>) {
    let started = batch.completed.ticks().saturating_sub(batch.duration.as_nanos() as u64 / 100);
    json.object(|json| {
        json.name("Id").unsigned(batch.number);
        json.name("Started").string(&Date::from_ticks(started).to_string());
        json.name("Completed").string(&batch.completed.to_string());
        json.name("DurationInMs").double(batch.duration.as_micros() as f64 / 1000.0);
        json.name("InputCount").unsigned(batch.indexed).name("FailedCount").unsigned(batch.failed);
        json.name("SuccessCount").unsigned(batch.indexed - batch.failed).name("OutputCount").unsigned(batch.entries);
        json.name("TombstoneDeleteSuccesses").unsigned(batch.removed);
        // Steps inside of a batch are not measured.
        json.name("Details").null();
    });
}

/// Which of the reference's engines the settings of an index, its database or the server ask for: clients know no other name. Ours answers
/// in any case.
fn engine_name(node: &Node, record: &DatabaseRecord, index: &Index) -> &'static str {
    let (map, name) = match index.definition().as_map() {
        Some(map) => (Some(map), "Indexing.Static.SearchEngineType"),
        None => (None, "Indexing.Auto.SearchEngineType"),
    };
    let of_index = map.and_then(|map| map.given().get("Configuration")).and_then(|given| given.get(name));
    let of_server = || {
        let setting = node.settings.iter().find(|setting| setting.name.eq_ignore_ascii_case(name))?;
        setting.given.as_ref()?.value.as_deref()
    };
    match of_index.and_then(Value::as_str).or_else(|| record.setting(name)).or_else(of_server) {
        Some(engine) if engine.eq_ignore_ascii_case("Lucene") => "Lucene",
        _ => "Corax",
    }
}

/// Whether an index lacks something, and what.
pub(crate) fn staleness(exchange: &Exchange) -> Result<Reply> {
    let seen = ObservedIndex::of(exchange.database(), by_name(exchange.database(), &exchange.required("name")?)?)?;
    Ok(reply::object(StatusCode::OK, |json| {
        json.name("IsStale").bool(seen.is_stale);
        let reasons = if seen.is_stale { seen.staleness_reasons() } else { Vec::new() };
        json.name("StalenessReasons").array(|json| reasons.iter().for_each(|reason| _ = json.string(reason)));
    }))
}
